//! Every setting that ralph knows, with its default and what it is about.

use super::{Spec, ValueShape};

pub const SPECS: &[Spec] = &[
    Spec {
        key: "agent.args",
        shape: ValueShape::Words,
        default: "",
        about: "more arguments for the program of agent.profile, such as [\"--max-budget-usd\", \"5\"]",
    },
    Spec {
        key: "agent.backoff",
        shape: ValueShape::Duration,
        default: "10s",
        about: "how long a task rests after a run that failed; twice as long each time",
    },
    Spec {
        key: "agent.command",
        shape: ValueShape::Program,
        default: "",
        about: "the agent program of the workers, such as [\"my-agent\", \"{prompt_file}\"]; see `ralph worker --help`",
    },
    Spec {
        key: "agent.model",
        shape: ValueShape::Text,
        default: "",
        about: "the model that the program of agent.profile uses; its own default if empty",
    },
    Spec {
        key: "agent.profile",
        shape: ValueShape::Choice(&["", "claude", "codex", "gemini", "opencode"]),
        default: "",
        about: "an agent program that ralph knows; agent.command overrides it",
    },
    Spec {
        key: "agent.retries",
        shape: ValueShape::Number,
        default: "2",
        about: "how often a run that failed is tried again before a person is called",
    },
    Spec {
        key: "agent.sandbox",
        shape: ValueShape::Choice(&["auto", "strict", "off"]),
        default: "auto",
        about: "confine agents with Landlock: auto (where the kernel has it), strict (refuse to run without it) or off",
    },
    Spec {
        key: "agent.strays",
        shape: ValueShape::Choice(&["escalate", "tell"]),
        default: "escalate",
        about: "what files that change in the main worktree while a task is implemented lead to",
    },
    Spec { key: "agent.timeout", shape: ValueShape::Duration, default: "30m", about: "how long one run may take" },
    agent("agent.triage.command"),
    model("agent.triage.model"),
    limit_of("agent.triage.timeout"),
    agent("agent.split.command"),
    model("agent.split.model"),
    limit_of("agent.split.timeout"),
    agent("agent.research.command"),
    model("agent.research.model"),
    limit_of("agent.research.timeout"),
    agent("agent.plan.command"),
    model("agent.plan.model"),
    limit_of("agent.plan.timeout"),
    agent("agent.review.command"),
    model("agent.review.model"),
    limit_of("agent.review.timeout"),
    agent("agent.implement.command"),
    model("agent.implement.model"),
    limit_of("agent.implement.timeout"),
    agent("agent.analyst.command"),
    model("agent.analyst.model"),
    limit_of("agent.analyst.timeout"),
    agent("agent.builder.command"),
    model("agent.builder.model"),
    limit_of("agent.builder.timeout"),
    agent("agent.validator.command"),
    model("agent.validator.model"),
    limit_of("agent.validator.timeout"),
    Spec {
        key: "agent.write",
        shape: ValueShape::Words,
        default: "",
        about: "more folders that confined agents may write to, such as [\"~/.m2\"]",
    },
    Spec {
        key: "board.name",
        shape: ValueShape::Text,
        default: "",
        about: "what the board is called; the folder's name if empty",
    },
    Spec { key: "board.prefix", shape: ValueShape::Prefix, default: "t-", about: "what new ids begin with" },
    Spec {
        key: "budget.day",
        shape: ValueShape::Budget,
        default: "",
        about: "how much agents may use on this machine from midnight to midnight: $20, \"5M tokens\" or \"50 runs\"; no limit if empty",
    },
    Spec {
        key: "budget.task",
        shape: ValueShape::Budget,
        default: "",
        about: "how much agents may use for one task; then a person decides",
    },
    Spec {
        key: "budget.team",
        shape: ValueShape::Budget,
        default: "",
        about: "how much agents may use for the tasks of one team",
    },
    Spec {
        key: "claims.exchange",
        shape: ValueShape::Choice(&["workers", "always", "off"]),
        default: "workers",
        about: "with claims.remote, who pulls and pushes the board by itself: worker, team and run (workers), every command that takes or \
                ends a claim (always), or nobody (off)",
    },
    Spec {
        key: "claims.lease",
        shape: ValueShape::Duration,
        default: "60m",
        about: "how long a claim lives without a sign of its holder",
    },
    Spec {
        key: "claims.per_worker",
        shape: ValueShape::Count,
        default: "1",
        about: "how many tasks a worker may hold; a person is not counted",
    },
    Spec {
        key: "claims.remote",
        shape: ValueShape::Text,
        default: "",
        about: "the git remote through which several machines agree who has a task; none if empty",
    },
    Spec {
        key: "git.commit",
        shape: ValueShape::Choice(&["manual", "each"]),
        default: "manual",
        about: "when the board is committed: by `ralph commit`, or after each verb",
    },
    Spec {
        key: "git.main",
        shape: ValueShape::Branch,
        default: "main",
        about: "the branch that work starts from and ends in",
    },
    Spec {
        key: "github.api",
        shape: ValueShape::Text,
        default: "",
        about: "another endpoint than the host's own; only in your own settings or the environment",
    },
    Spec {
        key: "github.estimate_field",
        shape: ValueShape::Text,
        default: "Estimate",
        about: "the project's field for estimates",
    },
    Spec {
        key: "github.host",
        shape: ValueShape::Text,
        default: "",
        about: "where the project is; as the git remote has it if empty",
    },
    Spec {
        key: "github.owner",
        shape: ValueShape::Text,
        default: "",
        about: "who owns the project; the repository's owner if empty",
    },
    Spec {
        key: "github.pace",
        shape: ValueShape::Duration,
        default: "1s",
        about: "the shortest pause between two requests that write; longer when GitHub's rate limit asks for it",
    },
    Spec {
        key: "github.priority_field",
        shape: ValueShape::Text,
        default: "Priority",
        about: "the project's field for priorities",
    },
    Spec {
        key: "github.project",
        shape: ValueShape::Limit,
        default: "",
        about: "the number of the project; none if empty",
    },
    Spec {
        key: "github.repo",
        shape: ValueShape::Text,
        default: "",
        about: "the repository with the issues, owner/name",
    },
    Spec {
        key: "github.state_field",
        shape: ValueShape::Text,
        default: "Workflow State",
        about: "the project's field for states",
    },
    Spec {
        key: "merge.checks",
        shape: ValueShape::Programs,
        default: "",
        about: "what must succeed in a task's worktree before it is merged, such as [[\"cargo\", \"test\"]]",
    },
    Spec {
        key: "merge.style",
        shape: ValueShape::Choice(&["merge", "squash", "ff"]),
        default: "merge",
        about: "how a branch comes into git.main: by a merge, as one commit, or only by going forward",
    },
    Spec {
        key: "net.ssh_sharing",
        shape: ValueShape::Choice(&["auto", "off"]),
        default: "auto",
        about: "keep an ssh connection for the next command, for a minute, unless ssh's own configuration says how to (auto), or never (off)",
    },
    Spec {
        key: "net.timeout",
        shape: ValueShape::Duration,
        default: "30s",
        about: "how long one exchange with a git remote may take, whatever the transport",
    },
    Spec {
        key: "review.max_rejections",
        shape: ValueShape::Count,
        default: "3",
        about: "the rejection of a plan that calls for a person",
    },
    Spec {
        key: "review.mode",
        shape: ValueShape::Choice(&["skip", "auto", "interactive"]),
        default: "skip",
        about: "who reviews a plan: nobody (skip), the builder (auto), a person or the validator (interactive)",
    },
    limit("roles.analyst.limit"),
    limit("roles.builder.limit"),
    limit("roles.integrator.limit"),
    limit("roles.validator.limit"),
    Spec {
        key: "scopes.mode",
        shape: ValueShape::Choice(&["tell", "strict", "off"]),
        default: "tell",
        about: "workers never build tasks at once whose plans change the same files; files outside a plan are reported (tell) or refused (strict); off disables both",
    },
    Spec {
        key: "split.limit",
        shape: ValueShape::Count,
        default: "5",
        about: "how many children a task is split into at most; one that needs more is for a person",
    },
    Spec {
        key: "worktree.before_remove",
        shape: ValueShape::Programs,
        default: "",
        about: "programs to run in a worktree before it is removed, such as [[\"docker\", \"compose\", \"down\"]]",
    },
    Spec {
        key: "worktree.before_run",
        shape: ValueShape::Programs,
        default: "",
        about: "programs to run in a worktree before each run of an agent there",
    },
    Spec {
        key: "worktree.include",
        shape: ValueShape::Choice(&["copy", "link", "off"]),
        default: "copy",
        about: "how ignored files that .worktreeinclude matches get into a new worktree: copied, folders as links, or not at all",
    },
    Spec {
        key: "worktree.ports",
        shape: ValueShape::Number,
        default: "10",
        about: "how many free ports each worktree gets, the first of them in RALPH_PORT; 0 for none",
    },
    Spec {
        key: "worktree.setup",
        shape: ValueShape::Programs,
        default: "",
        about: "programs to run in a new worktree, such as [[\"npm\", \"ci\"]]",
    },
    Spec {
        key: "worktree.timeout",
        shape: ValueShape::Duration,
        default: "10m",
        about: "how long each of the programs of worktree.* may take",
    },
    Spec {
        key: "watch.programs",
        shape: ValueShape::Count,
        default: "4",
        about: "how many programs of `[[on]]` rules may run at once",
    },
    Spec {
        key: "ui.color",
        shape: ValueShape::Choice(&["auto", "always", "never"]),
        default: "auto",
        about: "colour: on a terminal, always, or never",
    },
];

const fn agent(key: &'static str) -> Spec {
    Spec { key, shape: ValueShape::Program, default: "", about: "another agent program for this command or role" }
}

const fn model(key: &'static str) -> Spec {
    Spec { key, shape: ValueShape::Text, default: "", about: "another agent.model for this command or role" }
}

const fn limit_of(key: &'static str) -> Spec {
    Spec { key, shape: ValueShape::Lasting, default: "", about: "another agent.timeout for this command or role" }
}

const fn limit(key: &'static str) -> Spec {
    Spec {
        key,
        shape: ValueShape::Limit,
        default: "",
        about: "how many of them may be at work; as the workflow says if empty",
    }
}

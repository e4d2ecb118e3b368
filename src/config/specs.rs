//! Every setting that ralph knows, with its default and its description.

use super::{Spec, ValueShape};

pub const SPECS: &[Spec] = &[
    Spec {
        key: "agent.args",
        shape: ValueShape::Words,
        default: "",
        about: "additional arguments for the program of agent.profile, such as [\"--max-budget-usd\", \"5\"]",
    },
    Spec {
        key: "agent.backoff",
        shape: ValueShape::Duration,
        default: "10s",
        about: "how long to wait after a failed run before the task is tried again; doubles each time",
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
        about: "the model for the program of agent.profile; if empty, the program's default",
    },
    Spec {
        key: "agent.profile",
        shape: ValueShape::Choice(&["", "claude", "codex", "gemini", "opencode"]),
        default: "",
        about: "the agent host to use, unless agent.command is set",
    },
    Spec {
        key: "agent.retries",
        shape: ValueShape::Number,
        default: "2",
        about: "how many times a failed run is repeated before the task is handed to a person",
    },
    Spec {
        key: "agent.sandbox",
        shape: ValueShape::Choice(&["auto", "strict", "off"]),
        default: "auto",
        about: "sandbox agents with Landlock: auto (where the kernel has it), strict (refuse to run without it) or off",
    },
    Spec {
        key: "agent.strays",
        shape: ValueShape::Choice(&["escalate", "tell"]),
        default: "escalate",
        about: "what to do when files in the main worktree change while a task is implemented: hand it to a person (escalate) or report them (tell)",
    },
    Spec { key: "agent.timeout", shape: ValueShape::Duration, default: "30m", about: "how long one run can take" },
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
        about: "additional folders that agents can write to in the sandbox, such as [\"~/.m2\"]",
    },
    Spec {
        key: "board.name",
        shape: ValueShape::Text,
        default: "",
        about: "the name of the board; if empty, the folder's name",
    },
    Spec { key: "board.prefix", shape: ValueShape::Prefix, default: "t-", about: "the prefix of new ids" },
    Spec {
        key: "budget.day",
        shape: ValueShape::Budget,
        default: "",
        about: "how much agents can use in this clone per day: $20, \"5M tokens\" or \"50 runs\"; if empty, no limit",
    },
    Spec {
        key: "budget.task",
        shape: ValueShape::Budget,
        default: "",
        about: "how much agents can use for one task before it is handed to a person",
    },
    Spec {
        key: "budget.team",
        shape: ValueShape::Budget,
        default: "",
        about: "how much agents can use for the tasks of one team",
    },
    Spec {
        key: "claims.exchange",
        shape: ValueShape::Choice(&["workers", "always", "off"]),
        default: "workers",
        about: "which commands pull and push the board automatically if claims.remote is set: worker, team and run (workers), every \
                command that takes or ends a claim, too (always), or none (off)",
    },
    Spec {
        key: "claims.lease",
        shape: ValueShape::Duration,
        default: "60m",
        about: "how long a claim lasts if its holder does not renew it",
    },
    Spec {
        key: "claims.per_worker",
        shape: ValueShape::Count,
        default: "1",
        about: "how many tasks a worker can hold; people have no limit",
    },
    Spec {
        key: "claims.remote",
        shape: ValueShape::Text,
        default: "",
        about: "the git remote on which several machines share their claims; none if empty",
    },
    Spec {
        key: "git.commit",
        shape: ValueShape::Choice(&["manual", "each"]),
        default: "manual",
        about: "when the board is committed: by `ralph commit` (manual), or after each change (each)",
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
        about: "the API endpoint, if it is not the host's own; only in your own settings or the environment",
    },
    Spec {
        key: "github.estimate_field",
        shape: ValueShape::Text,
        default: "Estimate",
        about: "the field of the project for estimates",
    },
    Spec {
        key: "github.host",
        shape: ValueShape::Text,
        default: "",
        about: "the GitHub host; if empty, that of the git remote",
    },
    Spec {
        key: "github.owner",
        shape: ValueShape::Text,
        default: "",
        about: "the owner of the project; if empty, the owner of the repository",
    },
    Spec {
        key: "github.pace",
        shape: ValueShape::Duration,
        default: "1s",
        about: "the minimum pause between two write requests; longer if GitHub's rate limit requires it",
    },
    Spec {
        key: "github.priority_field",
        shape: ValueShape::Text,
        default: "Priority",
        about: "the field of the project for priorities",
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
        about: "the repository with the issues, as owner/name",
    },
    Spec {
        key: "github.state_field",
        shape: ValueShape::Text,
        default: "Workflow State",
        about: "the field of the project for states",
    },
    Spec {
        key: "merge.checks",
        shape: ValueShape::Programs,
        default: "",
        about: "programs that must succeed in a task's worktree before it is merged, such as [[\"cargo\", \"test\"]]",
    },
    Spec {
        key: "merge.style",
        shape: ValueShape::Choice(&["merge", "squash", "ff"]),
        default: "merge",
        about: "how a branch is merged into git.main: with a merge commit, as one commit (squash), or fast-forward only (ff)",
    },
    Spec {
        key: "net.ssh_sharing",
        shape: ValueShape::Choice(&["auto", "off"]),
        default: "auto",
        about: "when to reuse an ssh connection, for up to a minute: unless ssh's own configuration sets this (auto), or never (off)",
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
        about: "how many times a plan can be rejected before the task is handed to a person",
    },
    Spec {
        key: "review.merge",
        shape: ValueShape::Choice(&["auto", "person"]),
        default: "auto",
        about: "who merges work in review: the integrator (auto), or only a person",
    },
    Spec {
        key: "review.mode",
        shape: ValueShape::Choice(&["skip", "auto", "interactive"]),
        default: "skip",
        about: "who reviews a plan: no one (skip), the builder (auto), a person or the validator (interactive)",
    },
    limit("roles.analyst.limit"),
    limit("roles.builder.limit"),
    limit("roles.integrator.limit"),
    limit("roles.validator.limit"),
    Spec {
        key: "scopes.mode",
        shape: ValueShape::Choice(&["tell", "strict", "off"]),
        default: "tell",
        about: "keep workers from implementing tasks with overlapping plans at once, and report (tell) or refuse (strict) files outside a plan; off disables both",
    },
    Spec {
        key: "split.limit",
        shape: ValueShape::Count,
        default: "5",
        about: "the maximum number of children that split creates; a task that needs more is handed to a person",
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
        about: "how to add ignored files that .worktreeinclude matches to a new worktree: copy them, link folders, or off",
    },
    Spec {
        key: "worktree.ports",
        shape: ValueShape::Number,
        default: "10",
        about: "how many free ports to reserve for each worktree, the first of them in RALPH_PORT; 0 for none",
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
        about: "how long each program of worktree.* can take",
    },
    Spec {
        key: "watch.programs",
        shape: ValueShape::Count,
        default: "4",
        about: "how many programs of `[[on]]` rules can run at once",
    },
    Spec {
        key: "ui.color",
        shape: ValueShape::Choice(&["auto", "always", "never"]),
        default: "auto",
        about: "when to use color: on a terminal (auto), always, or never",
    },
];

const fn agent(key: &'static str) -> Spec {
    Spec {
        key,
        shape: ValueShape::Program,
        default: "",
        about: "the agent program for this command or role, instead of agent.command",
    }
}

const fn model(key: &'static str) -> Spec {
    Spec {
        key,
        shape: ValueShape::Text,
        default: "",
        about: "the model for this command or role, instead of agent.model",
    }
}

const fn limit_of(key: &'static str) -> Spec {
    Spec {
        key,
        shape: ValueShape::Lasting,
        default: "",
        about: "how long one run can take for this command or role, instead of agent.timeout",
    }
}

const fn limit(key: &'static str) -> Spec {
    Spec {
        key,
        shape: ValueShape::Limit,
        default: "",
        about: "how many workers of this role can hold a claim at once; if empty, the limit of the workflow",
    }
}

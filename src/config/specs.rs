//! Every setting that ralph knows, with its default and what it is about.

use super::{Shape, Spec};

pub const SPECS: &[Spec] = &[
    Spec {
        key: "board.name",
        shape: Shape::Text,
        default: "",
        about: "what the board is called; the folder's name if empty",
    },
    Spec { key: "board.prefix", shape: Shape::Prefix, default: "t-", about: "what new ids begin with" },
    Spec {
        key: "claims.lease",
        shape: Shape::Duration,
        default: "60m",
        about: "how long a claim lives without a sign of its holder",
    },
    Spec {
        key: "claims.per_worker",
        shape: Shape::Count,
        default: "1",
        about: "how many tasks a worker may hold; a person is not counted",
    },
    Spec {
        key: "claims.remote",
        shape: Shape::Text,
        default: "",
        about: "the git remote through which several machines agree who has a task; none if empty",
    },
    Spec {
        key: "git.commit",
        shape: Shape::Choice(&["manual", "each"]),
        default: "manual",
        about: "when the board is committed: by `ralph commit`, or after each verb",
    },
    Spec {
        key: "git.main",
        shape: Shape::Text,
        default: "main",
        about: "the branch that work starts from and ends in",
    },
    Spec {
        key: "github.api",
        shape: Shape::Text,
        default: "",
        about: "another endpoint than the host's own; only in your own settings or the environment",
    },
    Spec {
        key: "github.estimate_field",
        shape: Shape::Text,
        default: "Estimate",
        about: "the project's field for estimates",
    },
    Spec {
        key: "github.host",
        shape: Shape::Text,
        default: "",
        about: "where the project is; as the git remote has it if empty",
    },
    Spec {
        key: "github.owner",
        shape: Shape::Text,
        default: "",
        about: "who owns the project; the repository's owner if empty",
    },
    Spec {
        key: "github.pace",
        shape: Shape::Duration,
        default: "3s",
        about: "the pause after each issue or comment that is created; a third of it after other changes",
    },
    Spec {
        key: "github.priority_field",
        shape: Shape::Text,
        default: "Priority",
        about: "the project's field for priorities",
    },
    Spec { key: "github.project", shape: Shape::Limit, default: "", about: "the number of the project; none if empty" },
    Spec { key: "github.repo", shape: Shape::Text, default: "", about: "the repository with the issues, owner/name" },
    Spec {
        key: "github.state_field",
        shape: Shape::Text,
        default: "Workflow State",
        about: "the project's field for states",
    },
    Spec {
        key: "merge.checks",
        shape: Shape::Programs,
        default: "",
        about: "what must succeed in a task's worktree before it is merged, such as [[\"cargo\", \"test\"]]",
    },
    Spec {
        key: "merge.style",
        shape: Shape::Choice(&["merge", "squash", "ff"]),
        default: "merge",
        about: "how a branch comes into git.main: by a merge, as one commit, or only by going forward",
    },
    Spec {
        key: "review.max_rejections",
        shape: Shape::Count,
        default: "3",
        about: "the rejection of a plan that calls for a person",
    },
    Spec {
        key: "review.mode",
        shape: Shape::Choice(&["skip", "auto", "interactive"]),
        default: "skip",
        about: "who decides about a plan: nobody, the builder, or the validator",
    },
    limit("roles.analyst.limit"),
    limit("roles.builder.limit"),
    limit("roles.integrator.limit"),
    limit("roles.validator.limit"),
    Spec {
        key: "split.limit",
        shape: Shape::Count,
        default: "5",
        about: "how many children a task is split into at most; one that needs more is for a person",
    },
    Spec {
        key: "watch.programs",
        shape: Shape::Count,
        default: "4",
        about: "how many programs of `[[on]]` rules may run at once",
    },
    Spec {
        key: "ui.color",
        shape: Shape::Choice(&["auto", "always", "never"]),
        default: "auto",
        about: "colour: on a terminal, always, or never",
    },
];

const fn limit(key: &'static str) -> Spec {
    Spec {
        key,
        shape: Shape::Limit,
        default: "",
        about: "how many of them may be at work; as the workflow says if empty",
    }
}

//! What the board refuses, with its code and what to do next.

use super::failure::{Failure, FailureKind, Hint};
use crate::board::Refusal;

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let message = refusal.to_string();
        match refusal {
            Refusal::Cycle { .. } => Self::refused("cycle", message).advice("take one of these links out first"),
            Refusal::Needed { .. } => {
                Self::refused("needed", message).advice("`--force` takes these links out along with the task")
            }
            Refusal::Missing(_) => Self::refused("unknown-task", message).hint(Hint::List),
            Refusal::NotAssignment(_) => {
                Self::usage("not-an-assignment", message).advice("such as priority=P1 or labels+=bug")
            }
            Refusal::UnknownKey { .. } => {
                Self::usage("unknown-key", message).advice("`--custom` sets a key of your own")
            }
            Refusal::Fixed(key) if key == "state" => Self::usage("fixed-key", message)
                .advice("`ralph move TASK STATE` moves it, by the rules of the workflow"),
            Refusal::Fixed(_) => Self::usage("fixed-key", message).advice("ralph keeps it"),
            Refusal::Empty(_) | Refusal::NotASet { .. } | Refusal::Value(_) | Refusal::BadKey(_) => {
                Self::usage("bad-value", message)
            }
            Refusal::State(_) => Self::usage("unknown-state", message),
            Refusal::Id(_) => Self::refused("unknown-task", message).hint(Hint::List),
            other => Self::from_workflow(&other, message),
        }
    }
}

impl Failure {
    /// Moves and claims that the workflow, or another worker, stands against.
    fn from_workflow(refusal: &Refusal, message: String) -> Self {
        let raced = |code, message| Self::new(FailureKind::Raced, code, message);
        match refusal {
            Refusal::Held { task, .. } => raced("held", message).hint(Hint::Wait { task: task.clone() }),
            Refusal::Lacks { task, kind } => Self::refused("no-artifact", message).insistable().advice(format!(
                "`ralph artifact new {kind} {task}` makes it, `ralph artifact link {kind} {task}` hands it in; \
                 a person may insist with `--force`"
            )),
            Refusal::NoResult { task } => Self::refused("no-result", message)
                .advice(format!("say what came of it: `ralph task set {task} result=TEXT`")),
            Refusal::Stale { task, kind, .. } => Self::refused("no-artifact", message).advice(format!(
                "`ralph artifact new {kind} {task}` makes the next one, `ralph artifact link {kind} {task}` hands it in"
            )),
            Refusal::Lost { .. } => raced("claim-lost", message).advice("stop working on it, and take the next task"),
            Refusal::RoleFull { .. } => raced("role-full", message).advice("wait until one of them is done"),
            Refusal::WorkerFull { .. } => Self::refused("worker-full", message).advice("finish or release it first"),
            Refusal::NotAllowed { actor, .. } if actor == "a person" => {
                let refused = Self::refused("not-allowed", message).insistable();
                refused.hint(Hint::Workflow).advice("a person may insist with `--force`")
            }
            Refusal::NotAllowed { .. } => Self::refused("not-allowed", message).hint(Hint::Workflow),
            Refusal::NoSuchIntent { .. } | Refusal::NoPlainIntent { .. } => {
                Self::usage("no-intent", message).hint(Hint::Workflow)
            }
            Refusal::NotYourCommand { .. } => Self::refused("not-your-command", message).hint(Hint::Workflow),
            Refusal::NeedsCommand { .. } => {
                Self::usage("needs-command", message).advice("say which with `--for COMMAND`")
            }
            Refusal::NeedsPerson { .. } => {
                Self::refused("needs-person", message).advice("leave it to a person, and take the next task")
            }
            Refusal::UndoNeedsPerson { .. } | Refusal::FlagNeedsPerson { .. } => {
                Self::refused("needs-person", message).advice("leave it to a person")
            }
            Refusal::NotInitial { .. } => Self::refused("not-allowed", message).hint(Hint::Workflow),
            Refusal::ProgramNeedsCommand { .. } => {
                Self::usage("needs-command", message).advice("say which with `--for COMMAND`")
            }
            Refusal::Unproven { .. } => Self::new(FailureKind::Raced, "raced", message).hint(Hint::Retry),
            Refusal::NotClaimed { task, command } => {
                Self::refused("not-claimed", message).hint(Hint::Claim { task: task.clone(), command: command.clone() })
            }
            Refusal::Blocked { task, .. } => Self::refused("blocked", message).hint(Hint::Why { task: task.clone() }),
            Refusal::Oversized { .. } => Self::refused("oversized", message).advice("split it first"),
            Refusal::SmallEnough { .. } => {
                Self::refused("small-enough", message).advice("set its estimate first, if it is larger than it looks")
            }
            Refusal::NotPrimary { .. } => Self::refused("not-primary", message),
            Refusal::NotConverged { .. } => Self::refused("not-converged", message),
            Refusal::AheadOfChildren { .. } => {
                Self::refused("ahead-of-children", message).advice("finish the children first")
            }
            Refusal::GroupCycle { .. } => {
                Self::refused("cycle", message).advice("take one of these links out with `ralph unblock`")
            }
            Refusal::NotAGate { .. } => Self::refused("not-a-gate", message),
            Refusal::Finished { .. } => Self::refused("finished", message),
            Refusal::NotIntake { .. } | Refusal::NotStart { .. } => {
                Self::refused("not-allowed", message).hint(Hint::Workflow)
            }
            Refusal::Unclaimed { .. } => Self::refused("unclaimed", message),
            _ => Self::refused("refused", message),
        }
    }
}

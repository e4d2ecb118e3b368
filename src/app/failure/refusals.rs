//! What the board refuses, with its code and what to do next.

use super::{Code, Failure, FailureKind, Hint};
use crate::board::Refusal;

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let message = refusal.to_string();
        match refusal {
            Refusal::Cycle { .. } => Self::refused(Code::Cycle, message).advice("take one of these links out first"),
            Refusal::Needed { .. } => {
                Self::refused(Code::Needed, message).advice("`--force` takes these links out along with the task")
            }
            Refusal::Missing(_) => Self::refused(Code::UnknownTask, message).hint(Hint::List),
            Refusal::NotAssignment(_) => {
                Self::usage(Code::NotAnAssignment, message).advice("such as priority=P1 or labels+=bug")
            }
            Refusal::UnknownKey { .. } => {
                Self::usage(Code::UnknownKey, message).advice("`--custom` sets a key of your own")
            }
            Refusal::Fixed(key) if key == "state" => Self::usage(Code::FixedKey, message)
                .advice("`ralph move TASK STATE` moves it, by the rules of the workflow"),
            Refusal::Fixed(_) => Self::usage(Code::FixedKey, message).advice("ralph keeps it"),
            Refusal::Empty(_) | Refusal::NotASet { .. } | Refusal::Value(_) | Refusal::BadKey(_) => {
                Self::usage(Code::BadValue, message)
            }
            Refusal::State(_) => Self::usage(Code::UnknownState, message),
            Refusal::Id(_) => Self::refused(Code::UnknownTask, message).hint(Hint::List),
            other => Self::from_workflow(&other, message),
        }
    }
}

impl Failure {
    /// Moves and claims that the workflow, or another worker, stands against.
    fn from_workflow(refusal: &Refusal, message: String) -> Self {
        let raced = |code, message| Self::new(FailureKind::Raced, code, message);
        match refusal {
            Refusal::Held { task, .. } => raced(Code::Held, message).hint(Hint::Wait { task: task.clone() }),
            Refusal::Lacks { task, kind } => Self::refused(Code::NoArtifact, message).insistable().advice(format!(
                "`ralph artifact new {kind} {task}` makes it, `ralph artifact link {kind} {task}` hands it in; \
                 a person may insist with `--force`"
            )),
            Refusal::NoResult { task } => Self::refused(Code::NoResult, message)
                .advice(format!("say what came of it: `ralph task set {task} result=TEXT`")),
            Refusal::Stale { task, kind, .. } => Self::refused(Code::NoArtifact, message).advice(format!(
                "`ralph artifact new {kind} {task}` makes the next one, `ralph artifact link {kind} {task}` hands it in"
            )),
            Refusal::Lost { .. } => {
                raced(Code::ClaimLost, message).advice("stop working on it, and take the next task")
            }
            Refusal::RoleFull { .. } => raced(Code::RoleFull, message).advice("wait until one of them is done"),
            Refusal::WorkerFull { .. } => Self::refused(Code::WorkerFull, message).advice("finish or release it first"),
            Refusal::NotAllowed { actor, .. } if actor == "a person" => {
                let refused = Self::refused(Code::NotAllowed, message).insistable();
                refused.hint(Hint::Workflow).advice("a person may insist with `--force`")
            }
            Refusal::NotAllowed { .. } => Self::refused(Code::NotAllowed, message).hint(Hint::Workflow),
            Refusal::NoSuchIntent { .. } | Refusal::NoPlainIntent { .. } => {
                Self::usage(Code::NoIntent, message).hint(Hint::Workflow)
            }
            Refusal::NotYourCommand { .. } => Self::refused(Code::NotYourCommand, message).hint(Hint::Workflow),
            Refusal::NeedsCommand { .. } => {
                Self::usage(Code::NeedsCommand, message).advice("say which with `--for COMMAND`")
            }
            Refusal::NeedsPerson { .. } => {
                Self::refused(Code::NeedsPerson, message).advice("leave it to a person, and take the next task")
            }
            Refusal::NotClaimed { task, command } => Self::refused(Code::NotClaimed, message)
                .hint(Hint::Claim { task: task.clone(), command: command.clone() }),
            Refusal::Blocked { task, .. } => {
                Self::refused(Code::Blocked, message).hint(Hint::Why { task: task.clone() })
            }
            Refusal::Oversized { .. } => Self::refused(Code::Oversized, message).advice("split it first"),
            Refusal::SmallEnough { .. } => Self::refused(Code::SmallEnough, message)
                .advice("set its estimate first, if it is larger than it looks"),
            Refusal::NotPrimary { .. } => Self::refused(Code::NotPrimary, message),
            Refusal::NotConverged { .. } => Self::refused(Code::NotConverged, message),
            Refusal::AheadOfChildren { .. } => {
                Self::refused(Code::AheadOfChildren, message).advice("finish the children first")
            }
            Refusal::GroupCycle { .. } => {
                Self::refused(Code::Cycle, message).advice("take one of these links out with `ralph unblock`")
            }
            Refusal::NotAGate { .. } => Self::refused(Code::NotAGate, message),
            Refusal::Finished { .. } => Self::refused(Code::Finished, message),
            Refusal::NotIntake { .. } | Refusal::NotStart { .. } => {
                Self::refused(Code::NotAllowed, message).hint(Hint::Workflow)
            }
            Refusal::Unclaimed { .. } => Self::refused(Code::Unclaimed, message),
            _ => Self::refused(Code::Refused, message),
        }
    }
}

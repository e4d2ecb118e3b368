//! Converts refusals of the board into failures, each with a code and hints.

use super::{Code, Failure, FailureKind, Hint};
use crate::board::Refusal;

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let message = refusal.to_string();
        match refusal {
            Refusal::Cycle { .. } => Self::refused(Code::Cycle, message).hint(Hint::Unblock),
            Refusal::ParentCycle { .. } => {
                Self::refused(Code::Cycle, message).hint(Hint::step("choose another parent"))
            }
            Refusal::Needed { .. } => {
                Self::refused(Code::Needed, message).hint(Hint::option("--force", "to remove the task and these links"))
            }
            Refusal::Missing(_) => Self::refused(Code::UnknownTask, message).hint(Hint::List),
            Refusal::NotAssignment(_) => Self::usage(Code::NotAnAssignment, message)
                .hint(Hint::step("use KEY=VALUE, such as priority=P1 or labels+=bug")),
            Refusal::UnknownKey { .. } => Self::usage(Code::UnknownKey, message).hint(Hint::CustomKey),
            Refusal::Fixed(key) if key == "state" => Self::usage(Code::FixedKey, message).hint(Hint::Move),
            Refusal::Fixed(_) => Self::usage(Code::FixedKey, message),
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
    /// Refusals by the workflow, or because of another worker's claim.
    fn from_workflow(refusal: &Refusal, message: String) -> Self {
        let raced = |code, message| Self::new(FailureKind::Raced, code, message);
        match refusal {
            Refusal::Held { task, .. } => raced(Code::Held, message).hint(Hint::Wait { task: task.clone() }),
            Refusal::Outdated { .. } => {
                raced(Code::Outdated, message).hint(Hint::run("pull", "to bring the board up to date"))
            }
            Refusal::Overlaps { other, .. } => raced(Code::ScopeHeld, message).hint(Hint::Wait { task: other.clone() }),
            Refusal::Lacks { task, kind } => Self::refused(Code::NoArtifact, message).hint(Hint::artifact(kind, task)),
            Refusal::NoResult { task } => {
                Self::refused(Code::NoResult, message).hint(Hint::Result { task: task.clone() })
            }
            Refusal::Stale { task, kind, .. } => {
                Self::refused(Code::NoArtifact, message).hint(Hint::artifact(kind, task))
            }
            Refusal::Lost { .. } => {
                raced(Code::ClaimLost, message).hint(Hint::step("stop working on it and choose another task"))
            }
            Refusal::RoleFull { .. } => {
                raced(Code::RoleFull, message).hint(Hint::step("wait until one of them releases its claim"))
            }
            Refusal::WorkerFull { .. } => {
                Self::refused(Code::WorkerFull, message).hint(Hint::step("finish or release it first"))
            }
            Refusal::NotAllowed { .. } => Self::refused(Code::NotAllowed, message).hint(Hint::Workflow),
            Refusal::NoCanceling { task } => Self::refused(Code::UnknownState, message)
                .hint(Hint::run(&format!("rm {task}"), "to remove it from the board"))
                .hint(Hint::run(&format!("done {task}"), "to close it")),
            Refusal::NoSuchIntent { .. } | Refusal::NoPlainIntent { .. } => {
                Self::usage(Code::NoIntent, message).hint(Hint::Workflow)
            }
            Refusal::NotYourCommand { .. } => Self::refused(Code::NotYourCommand, message).hint(Hint::Workflow),
            Refusal::NeedsCommand { choices, .. } => {
                Self::usage(Code::NeedsCommand, message).hint(Hint::SayCommand { choices: choices.clone() })
            }
            Refusal::NeedsPerson { .. } => {
                Self::refused(Code::NeedsPerson, message).hint(Hint::step("choose another task"))
            }
            Refusal::NotClaimed { task, command } => Self::refused(Code::NotClaimed, message)
                .hint(Hint::Claim { task: task.clone(), command: Some(command.clone()) }),
            Refusal::Blocked { task, .. } => {
                Self::refused(Code::Blocked, message).hint(Hint::Why { task: task.clone() })
            }
            Refusal::Oversized { .. } => Self::refused(Code::Oversized, message).hint(Hint::step("split it first")),
            Refusal::SmallEnough { .. } => Self::refused(Code::SmallEnough, message)
                .hint(Hint::step("if it is larger than estimated, set a larger estimate first")),
            Refusal::AheadOfChildren { .. } => {
                Self::refused(Code::AheadOfChildren, message).hint(Hint::step("finish the children first"))
            }
            Refusal::NotAGate { .. } => Self::refused(Code::NotAGate, message),
            Refusal::Finished { .. } => Self::refused(Code::Finished, message),
            Refusal::NotIntake { .. } | Refusal::NotStart { .. } => {
                Self::refused(Code::NotAllowed, message).hint(Hint::Workflow)
            }
            Refusal::Unclaimed { .. } => Self::refused(Code::Unclaimed, message),
            other => Self::from_group(other, message),
        }
    }

    /// Refusals because of the other members of a group.
    fn from_group(refusal: &Refusal, message: String) -> Self {
        match refusal {
            Refusal::NotPrimary { .. } => Self::refused(Code::NotPrimary, message),
            Refusal::NotConverged { for_person: true, .. } => Self::refused(Code::NotConverged, message)
                .hint(Hint::step("a person has to move or cancel what was handed to one")),
            Refusal::NotConverged { .. } => Self::refused(Code::NotConverged, message)
                .hint(Hint::step("move those to the same state first, or out of the group")),
            Refusal::GroupCycle { .. } => Self::refused(Code::Cycle, message).hint(Hint::Unblock),
            other => Self::from_actor(other, message),
        }
    }

    /// Moves that this worker is not allowed to make, or that lack evidence.
    fn from_actor(refusal: &Refusal, message: String) -> Self {
        match refusal {
            Refusal::UndoesState { .. } => Self::refused(Code::UnknownState, message)
                .hint(Hint::run("workflow use NAME", "to return to a workflow with this state")),
            Refusal::PeopleOnly { .. } | Refusal::FlagNeedsPerson { .. } => {
                Self::refused(Code::NeedsPerson, message).hint(Hint::step("leave it to a person"))
            }
            Refusal::NotInitial { .. } => Self::refused(Code::NotAllowed, message).hint(Hint::Workflow),
            Refusal::ProgramNeedsCommand { .. } => {
                Self::usage(Code::NeedsCommand, message).hint(Hint::SayCommand { choices: Vec::new() })
            }
            Refusal::Unproven { .. } => Self::new(FailureKind::Raced, Code::Raced, message).hint(Hint::Retry),
            _ => Self::refused(Code::Refused, message),
        }
    }
}

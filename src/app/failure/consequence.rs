//! The consequence of each failure code for a worker, in one table.

use super::{Code, Failure, FailureKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consequence {
    /// Another worker was faster: leave the task for a while.
    Raced,
    /// The task has changed since it was chosen: choose other work.
    Overtaken,
    /// Something else has to finish first: choose other work, or wait if the worker already has the task.
    Blocked,
    /// Somebody on GitHub has to act first: try the same task again later.
    Wait,
    /// A person has to trust the programs first: nothing is started, and a merge waits.
    Approval,
    /// The work goes back to be corrected.
    Mend,
    /// Waiting does not help: hand the task to a person.
    Person,
    /// No program can be started for any task.
    Environment,
    /// The attempt on this task failed.
    Task,
}

impl Failure {
    pub fn for_worker(&self) -> Consequence {
        match self.kind {
            FailureKind::Raced => Consequence::Raced,
            FailureKind::Offline => Consequence::Wait,
            _ => self.code.consequence(),
        }
    }

    /// Whether a reviewer, a check or a merge conflict on GitHub requires changes.
    pub fn is_about_feedback(&self) -> bool {
        let codes = [Code::ChangesRequested, Code::ChecksFailed, Code::OpenThreads, Code::PullConflict];
        codes.contains(&self.code)
    }

    /// Whether a worker that could not take the task chooses another one.
    pub fn is_overtaken(&self) -> bool {
        matches!(self.for_worker(), Consequence::Raced | Consequence::Overtaken | Consequence::Blocked)
    }
}

impl Code {
    const fn consequence(self) -> Consequence {
        match self {
            Self::UnknownTask
            | Self::Archived
            | Self::Finished
            | Self::NotConverged
            | Self::NotPrimary
            | Self::Oversized
            | Self::SmallEnough
            | Self::NotAllowed
            | Self::NotYourCommand
            | Self::NeedsPerson
            | Self::WorkerFull
            | Self::Cycle => Consequence::Overtaken,
            Self::Blocked => Consequence::Blocked,
            Self::ReviewRequired | Self::Draft | Self::ClosedPullRequest => Consequence::Wait,
            Self::NotTrusted => Consequence::Approval,
            Self::CheckFailed
            | Self::ChangesRequested
            | Self::ChecksFailed
            | Self::Behind
            | Self::OpenThreads
            | Self::PullConflict => Consequence::Mend,
            Self::InTheWay => Consequence::Person,
            Self::NoMain
            | Self::NoProgram
            | Self::CannotStart
            | Self::Io
            | Self::AgentUnavailable
            | Self::SetupFailed
            | Self::NoPorts => Consequence::Environment,
            _ => Consequence::Task,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_one_consequence() {
        use Consequence::{Approval, Blocked, Environment, Mend, Overtaken, Person, Task, Wait};
        let table: [(Consequence, &[Code]); 9] = [
            (
                Overtaken,
                &[
                    Code::UnknownTask,
                    Code::Archived,
                    Code::Finished,
                    Code::NotConverged,
                    Code::NotPrimary,
                    Code::Oversized,
                    Code::SmallEnough,
                    Code::NotAllowed,
                    Code::NotYourCommand,
                    Code::NeedsPerson,
                    Code::WorkerFull,
                    Code::Cycle,
                ],
            ),
            (Blocked, &[Code::Blocked]),
            (Wait, &[Code::ReviewRequired, Code::Draft, Code::ClosedPullRequest]),
            (Approval, &[Code::NotTrusted]),
            (Mend, &[Code::CheckFailed, Code::ChangesRequested, Code::ChecksFailed, Code::Behind]),
            (Mend, &[Code::OpenThreads, Code::PullConflict]),
            (Person, &[Code::InTheWay]),
            (
                Environment,
                &[
                    Code::NoMain,
                    Code::NoProgram,
                    Code::CannotStart,
                    Code::Io,
                    Code::AgentUnavailable,
                    Code::SetupFailed,
                    Code::NoPorts,
                ],
            ),
            (Task, &[Code::Conflict, Code::Dirty, Code::NoArtifact, Code::Strayed, Code::NoWorktree]),
        ];
        for (wanted, codes) in table {
            for code in codes {
                assert_eq!(Failure::refused(*code, "").for_worker(), wanted, "{code}");
            }
        }
        let rest = Code::ALL.iter().filter(|code| code.consequence() == Task);
        let named: usize = table.iter().filter(|(wanted, _)| *wanted != Task).map(|(_, codes)| codes.len()).sum();
        assert_eq!(rest.count() + named, Code::ALL.len(), "a code has a consequence that this table does not list");
    }

    #[test]
    fn the_kind_decides_before_the_code() {
        let of = |kind, code| Failure::new(kind, code, "").for_worker();
        assert_eq!(of(FailureKind::Raced, Code::Behind), Consequence::Raced);
        assert_eq!(of(FailureKind::Offline, Code::Denied), Consequence::Wait);
        assert_eq!(of(FailureKind::Refused, Code::Behind), Consequence::Mend);
    }

    #[test]
    fn only_what_others_did_is_overtaken() {
        assert!(Failure::new(FailureKind::Raced, Code::Held, "").is_overtaken());
        assert!(Failure::refused(Code::Blocked, "").is_overtaken());
        assert!(Failure::refused(Code::NeedsPerson, "").is_overtaken());
        assert!(!Failure::refused(Code::NotTrusted, "").is_overtaken());
        assert!(!Failure::new(FailureKind::Offline, Code::Offline, "").is_overtaken());
    }
}

//! The error type of all verbs, and the only one that faces see.

mod code;
mod consequence;
mod from;
mod hint;
mod refusals;
mod shell;

use serde::{Deserialize, Serialize};

pub use code::Code;
pub use consequence::Consequence;
pub use hint::Hint;

#[derive(Debug, Clone, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    pub kind: FailureKind,
    pub code: Code,
    pub message: String,
    pub causes: Vec<String>,
    pub hints: Vec<Hint>,
}

/// The kind of a failure; each has its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// A rule forbids it.
    Refused,
    /// The call is invalid.
    Usage,
    /// Another process or worker was faster: try again.
    Raced,
    /// A file cannot be read or written.
    Broken,
    /// There is no work, or a wait timed out.
    Nothing,
    /// A remote cannot be reached, or denies access.
    Offline,
}

impl Failure {
    pub fn new(kind: FailureKind, code: Code, message: impl Into<String>) -> Self {
        Self { kind, code, message: message.into(), causes: Vec::new(), hints: Vec::new() }
    }

    pub fn refused(code: Code, message: impl Into<String>) -> Self {
        Self::new(FailureKind::Refused, code, message)
    }

    pub fn usage(code: Code, message: impl Into<String>) -> Self {
        Self::new(FailureKind::Usage, code, message)
    }

    pub fn broken(code: Code, message: impl Into<String>) -> Self {
        Self::new(FailureKind::Broken, code, message)
    }

    #[must_use]
    pub fn hint(mut self, hint: Hint) -> Self {
        self.hints.push(hint);
        self
    }

    /// Whether a person can override it with `--force`.
    pub fn can_be_forced(&self) -> bool {
        self.hints.contains(&Hint::Force)
    }

    /// Whether to ask a person at a terminal whether to continue: force would not override another worker's claim.
    pub fn is_question(&self) -> bool {
        self.can_be_forced() && matches!(self.code, Code::Blocked | Code::Unmerged)
    }

    /// Whether `causes` is the output of a program, line by line.
    pub fn has_output(&self) -> bool {
        matches!(self.code, Code::SetupFailed | Code::CheckFailed)
    }

    /// Whether it concerns only the task, not the board or the machine.
    pub(in crate::app) fn is_about_one_task(&self) -> bool {
        !matches!(self.code, Code::Busy | Code::Io | Code::Switched) && !matches!(self.kind, FailureKind::Offline)
    }

    fn caused_by(mut self, error: &dyn std::error::Error) -> Self {
        self.causes = crate::fs::causes(error);
        self
    }
}

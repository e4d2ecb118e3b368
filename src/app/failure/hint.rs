//! The next step after a failure, as a value that each face words for its reader.

use serde::{Deserialize, Serialize};

use crate::board::Candidate;
use crate::task::TaskId;

/// A `purpose` completes the sentence that starts with the command or option, such as "to create it".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Hint {
    Init,
    GitInit,
    DidYouMean {
        candidates: Vec<Candidate>,
    },
    Edit {
        file: String,
        line: u32,
        /// What to write there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        change: Option<String>,
    },
    Retry,
    List,
    Workflow,
    Ready,
    Wait {
        task: TaskId,
    },
    Why {
        task: TaskId,
    },
    Claim {
        task: TaskId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
    },
    /// Create the document, then link it.
    Artifact {
        kind: String,
        task: TaskId,
    },
    CheckArtifact {
        kind: String,
        task: TaskId,
    },
    Result {
        task: TaskId,
    },
    Worktree {
        task: TaskId,
    },
    /// The state is changed with a move, not by setting a field.
    Move,
    /// Remove one of the links that the message names.
    Unblock,
    /// Custom keys are set in another way.
    CustomKey,
    SayCommand {
        choices: Vec<String>,
    },
    SayRole {
        roles: Vec<String>,
    },
    SayWho,
    /// A person reviews and trusts the programs.
    Trust,
    /// A command of ralph, without the leading `ralph`.
    Run {
        command: Vec<String>,
        purpose: String,
    },
    /// A command of another program, such as git.
    Shell {
        command: Vec<String>,
        purpose: String,
    },
    Set {
        key: String,
        value: String,
        purpose: String,
    },
    /// An environment variable.
    Variable {
        name: String,
        purpose: String,
    },
    /// An option of the same command.
    Option {
        flag: String,
        purpose: String,
    },
    /// The same command without an option.
    Omit {
        flag: String,
        purpose: String,
    },
    /// A person may force it.
    Force,
    Open {
        url: String,
        purpose: String,
    },
    /// Plain words that read the same in every face: no command, no option.
    Do {
        text: String,
    },
}

impl Hint {
    /// `command` is split at blanks.
    pub fn run(command: &str, purpose: &str) -> Self {
        Self::Run { command: words(command), purpose: purpose.to_owned() }
    }

    pub fn shell(command: &str, purpose: &str) -> Self {
        Self::Shell { command: words(command), purpose: purpose.to_owned() }
    }

    pub fn set(key: &str, value: &str, purpose: &str) -> Self {
        Self::Set { key: key.to_owned(), value: value.to_owned(), purpose: purpose.to_owned() }
    }

    pub fn variable(name: &str, purpose: &str) -> Self {
        Self::Variable { name: name.to_owned(), purpose: purpose.to_owned() }
    }

    pub fn option(flag: &str, purpose: &str) -> Self {
        Self::Option { flag: flag.to_owned(), purpose: purpose.to_owned() }
    }

    pub fn omit(flag: &str, purpose: &str) -> Self {
        Self::Omit { flag: flag.to_owned(), purpose: purpose.to_owned() }
    }

    pub fn open(url: &str, purpose: &str) -> Self {
        Self::Open { url: url.to_owned(), purpose: purpose.to_owned() }
    }

    pub fn step(text: impl Into<String>) -> Self {
        Self::Do { text: text.into() }
    }

    pub fn artifact(kind: impl ToString, task: &TaskId) -> Self {
        Self::Artifact { kind: kind.to_string(), task: task.clone() }
    }
}

fn words(command: &str) -> Vec<String> {
    command.split_whitespace().map(str::to_owned).collect()
}

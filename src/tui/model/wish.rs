//! What the person wants done or read, and what came of it, as values.

use super::board::Snapshot;
use super::screens::Reading;
use crate::app::{Doubts, Failure, LineComment};
use crate::task::TaskId;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    Read(Read),
    Do(Verb),
    /// The whole file in the person's editor.
    Edit(TaskId),
    /// A note in the person's editor.
    Compose(TaskId, String),
    /// What to do with an edited file that was not saved.
    Settle(TaskId, Settle),
    /// Back to the shell for a while.
    Pause,
    Quit,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Read {
    Board { filter: String },
    Task(TaskId),
    Chain(TaskId),
    Workers,
    Inbox,
    Review(TaskId),
    DocumentPage(String),
    RunLog(String),
    Targets(TaskId),
    Search(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verb {
    Move {
        task: TaskId,
        to: String,
        insist: bool,
    },
    Claim(TaskId),
    Release(TaskId),
    Note {
        task: TaskId,
        text: String,
    },
    /// The answer to a question, or to whatever waits for a person.
    Answer {
        task: TaskId,
        text: String,
    },
    Approve(TaskId),
    /// Its work into main.
    Merge(TaskId),
    /// Back to be done again, and why.
    Reject {
        task: TaskId,
        why: String,
        comments: Vec<LineComment>,
    },
    StopRun {
        task: TaskId,
        run: String,
    },
    /// Have workers try it again.
    Retry(TaskId),
    Block {
        task: TaskId,
        on: TaskId,
    },
    Unblock {
        task: TaskId,
        from: TaskId,
    },
    Add {
        title: String,
    },
    /// An edited file: as it was, and as it is to be.
    Save {
        task: TaskId,
        old: String,
        new: String,
        doubts: Doubts,
    },
}

impl Verb {
    pub fn task(&self) -> Option<&TaskId> {
        match self {
            Self::Claim(task) | Self::Release(task) | Self::Approve(task) | Self::Merge(task) | Self::Retry(task) => {
                Some(task)
            }
            Self::Move { task, .. }
            | Self::Note { task, .. }
            | Self::Answer { task, .. }
            | Self::Reject { task, .. }
            | Self::StopRun { task, .. }
            | Self::Block { task, .. }
            | Self::Unblock { task, .. }
            | Self::Save { task, .. } => Some(task),
            Self::Add { .. } => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settle {
    EditAgain,
    SaveAnyway,
    /// The text stays in a file.
    Leave,
}

/// The result of a wish.
#[derive(Debug)]
pub enum Answer {
    Board(Box<Snapshot>),
    Read(Reading),
    Unread {
        read: Read,
        failure: Failure,
    },
    Done {
        verb: Verb,
        text: String,
        task: TaskId,
    },
    Refused {
        verb: Verb,
        failure: Failure,
    },
    /// The watcher has seen something.
    Changed,
    /// The board is not followed any more, or again.
    Live(Result<(), String>),
}

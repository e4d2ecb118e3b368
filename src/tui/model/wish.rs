//! The wishes of the person, and their results, as values.

use super::board::Snapshot;
use super::screens::Reading;
use crate::app::{Doubts, Failure, LineComment};
use crate::task::TaskId;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    Read(Read),
    Do(Verb),
    /// Edit the whole file in the person's editor.
    Edit(TaskId),
    /// Write a note in the person's editor.
    Compose(TaskId, String),
    /// Handle an edited file that was not saved.
    Settle(TaskId, Settle),
    /// Return to the shell for a while.
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
    /// The answer to a question.
    Answer {
        task: TaskId,
        text: String,
    },
    Approve(TaskId),
    /// Merge its work into main.
    Merge(TaskId),
    /// Reject the work, with a reason.
    Reject {
        task: TaskId,
        why: String,
        comments: Vec<LineComment>,
    },
    StopRun {
        task: TaskId,
        run: String,
    },
    /// Let workers try the task again.
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
    /// Save an edited file, given its old and its new text.
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
    /// Keep the text in a file.
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
    /// The board has changed.
    Changed,
    /// Whether changes of the board are followed, or why not.
    Live(Result<(), String>),
}

//! A popup above a screen, with a choice, a text, or both; and the message in it.

use super::Tone;
use super::input::{Input, Lines};
use super::wish::{Verb, Wish};
use crate::app::Failure;
use crate::task::TaskId;
use crate::tui::words;

/// The purpose of the choice or the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Move,
    Block,
    Unblock,
    Note,
    Answer,
    Reject,
    /// On a line of the review.
    Comment,
    Add,
    Search,
    Filter,
    /// An edited file that was not saved yet.
    Edited,
    Help,
}

#[derive(Debug, Clone)]
pub struct Popup {
    pub purpose: Purpose,
    pub title: String,
    pub task: Option<TaskId>,
    pub input: Option<Input>,
    pub entries: Vec<Entry>,
    pub at: usize,
    pub said: Option<Said>,
    /// The running wish of the popup, for which it receives the answer.
    pub waits: Option<Wish>,
    /// The previous value, restored if the popup is closed without a choice.
    pub before: String,
}

/// One entry of a choice.
#[derive(Debug, Clone, Default)]
pub struct Entry {
    pub mark: &'static str,
    pub name: String,
    pub text: String,
    pub more: String,
    pub tone: Tone,
    /// The reason why it will probably be refused; it can be chosen nevertheless.
    pub against: Option<String>,
}

impl Popup {
    pub fn new(purpose: Purpose, title: impl Into<String>) -> Self {
        Self {
            purpose,
            title: title.into(),
            task: None,
            input: None,
            entries: Vec::new(),
            at: 0,
            said: None,
            waits: None,
            before: String::new(),
        }
    }

    #[must_use]
    pub fn of(mut self, task: TaskId) -> Self {
        self.task = Some(task);
        self
    }

    #[must_use]
    pub fn typing(mut self, text: &str, lines: Lines) -> Self {
        self.input = Some(Input::new(text, lines));
        self.before = text.to_owned();
        self
    }

    pub fn typed(&self) -> &str {
        self.input.as_ref().map_or("", Input::text)
    }

    /// Its action is running; until it ends, text and choice cannot change.
    pub fn is_busy(&self) -> bool {
        matches!(self.waits, Some(Wish::Do(_)))
    }

    pub fn step(&mut self, by: isize) {
        self.select(self.at.saturating_add_signed(by).min(self.entries.len().saturating_sub(1)));
    }

    /// Selects an entry. A refusal of a move is removed, because it applied to another state.
    pub fn select(&mut self, at: usize) {
        if self.is_busy() || at == self.at {
            return;
        }
        if self.purpose == Purpose::Move {
            self.said = None;
        }
        self.at = at;
    }
}

/// The result of a verb, worded for the terminal board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub message: String,
    pub hints: Vec<String>,
    pub kind: SaidKind,
    /// A person may force it here.
    pub insist: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaidKind {
    Done,
    /// Information: nothing was done, and nothing is wrong.
    Told,
    Refused,
}

impl Said {
    pub fn done(message: impl Into<String>) -> Self {
        Self { message: message.into(), hints: Vec::new(), kind: SaidKind::Done, insist: false }
    }

    pub fn told(message: impl Into<String>) -> Self {
        Self { kind: SaidKind::Told, ..Self::done(message) }
    }

    pub fn is_refusal(&self) -> bool {
        self.kind == SaidKind::Refused
    }

    pub fn refusal(failure: &Failure) -> Self {
        let hints = failure.hints.iter().flat_map(words::hint).collect();
        let causes: String = failure.causes.iter().map(|cause| format!("; {cause}")).collect();
        Self { message: format!("{}{causes}", failure.message), hints, kind: SaidKind::Refused, insist: false }
    }

    /// The refusal of a verb; if it is a move, a person may be able to force it here.
    pub fn refused(verb: &Verb, failure: &Failure) -> Self {
        let mut said = Self::refusal(failure);
        said.insist = matches!(verb, Verb::Move { insist: false, .. }) && failure.can_be_forced();
        said.hints.extend(said.insist.then(|| words::FORCING.to_owned()));
        said
    }
}

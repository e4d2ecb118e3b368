//! The end: waits for running verbs, and keeps unsaved texts in files that the error names.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::desk;
use super::editing::not_saved;
use super::model::{Answer, Comments, Purpose};
use super::session::Session;
use crate::app::{Code, Draft, Failure};

/// A little longer than a verb waits for the board's lock or a remote.
const PATIENCE: Duration = Duration::from_secs(40);
const BEAT: Duration = Duration::from_millis(50);

impl Session {
    /// Waits for running verbs after the terminal was restored, because a claim that is published but not taken would block
    /// others.
    pub(super) fn wind_up(&mut self, answers: &Receiver<Answer>, asked_to_end: &AtomicUsize) -> Result<(), Failure> {
        let begun = Instant::now();
        let mut result = Ok(());
        while self.model.busy > 0 {
            // A second request ends at once.
            if begun.elapsed() > PATIENCE || asked_to_end.load(Ordering::Relaxed) != 0 {
                return Err(Failure::broken(Code::Unfinished, "the board ended before all changes were saved"));
            }
            match answers.recv_timeout(BEAT) {
                Ok(answer) => {
                    if let Answer::Refused { failure, .. } = &answer {
                        result = Err(failure.clone());
                    }
                    self.take(answer);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(desk::gone()),
            }
        }
        result
    }

    /// Keeps unsaved texts in files; the error names them.
    pub(super) fn leave(mut self, mut result: Result<(), Failure>) -> Result<(), Failure> {
        let typed = self.model.popup.take().filter(|popup| popup.purpose == Purpose::Note);
        if let Some((task, text)) = typed.and_then(|popup| Some((popup.task.clone()?, popup.typed().to_owned()))) {
            self.model.unsaved.insert(task, text);
        }
        let written = self.model.unsaved.values().filter(|text| !text.trim().is_empty());
        let notes = written.filter_map(|text| Draft::new("NOTE.md", text).ok());
        let comments = self.model.comments.values().filter(|comments| !comments.is_empty());
        let said = |comments: &Comments| -> String {
            comments.iter().map(|((path, line), text)| format!("{path}:{line}: {text}\n")).collect()
        };
        let notes = notes.chain(comments.filter_map(|comments| Draft::new("COMMENTS.md", &said(comments)).ok()));
        for draft in notes.chain(self.works.into_values().map(|work| work.draft)) {
            result = Err(draft.kept(result.err().unwrap_or_else(not_saved)));
        }
        result
    }
}

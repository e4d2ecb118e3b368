//! The person's editor: a task's file, or a note; what was written is saved, or stays in a file.

use super::model::{Purpose, Settle, Verb, Wish};
use super::session::Session;
use super::update;
use crate::app::{self, Draft, Failure};
use crate::task::TaskId;

impl Session {
    pub(super) fn edit(&mut self, id: &TaskId) -> Result<(), Failure> {
        let begun = app::begin_edit(&self.ws, id).and_then(|editing| {
            let draft = Draft::new(&format!("{id}.toml"), &editing.text)?;
            Ok((draft, editing, String::new()))
        });
        match begun {
            Ok(begun) => self.draft = Some(begun),
            Err(failure) => {
                update::refused(&mut self.model, Some(id.clone()), &failure);
                return Ok(());
            }
        }
        self.edit_again()
    }

    fn edit_again(&mut self) -> Result<(), Failure> {
        let Some((draft, editing, written)) = &mut self.draft else { return Ok(()) };
        match self.screen.lend(|| draft.edit())? {
            Ok(text) => {
                written.clone_from(&text);
                let (task, old) = (editing.id.clone(), editing.text.clone());
                self.carry_out(vec![Wish::Do(Verb::Save { task, old, new: text, anyway: false })])
            }
            Err(failure) => {
                update::unsaved(&mut self.model, editing.id.clone(), &failure);
                Ok(())
            }
        }
    }

    /// What to do with a file that was not saved.
    pub(super) fn settle(&mut self, settle: Settle) -> Result<(), Failure> {
        match (settle, self.draft.take()) {
            (Settle::EditAgain, Some(draft)) => {
                self.draft = Some(draft);
                self.edit_again()
            }
            (Settle::SaveAnyway, Some(draft)) => {
                let (task, old, new) = (draft.1.id.clone(), draft.1.text.clone(), draft.2.clone());
                self.draft = Some(draft);
                self.carry_out(vec![Wish::Do(Verb::Save { task, old, new, anyway: true })])
            }
            (Settle::Leave, Some((draft, ..))) => {
                // Not on the card: a path is to be read as a whole.
                update::refused(&mut self.model, None, &draft.kept(not_saved()));
                Ok(())
            }
            (_, None) => Ok(()),
        }
    }

    pub(super) fn compose(&mut self, id: TaskId, text: &str) -> Result<(), Failure> {
        let draft = match Draft::new("NOTE.md", text) {
            Ok(draft) => draft,
            Err(failure) => {
                update::refused(&mut self.model, Some(id), &failure);
                return Ok(());
            }
        };
        let written = self.screen.lend(|| draft.edit())?;
        match written {
            Ok(text) => {
                let wishes = update::composed(&mut self.model, id, &text);
                self.carry_out(wishes)
            }
            Err(failure) => {
                update::refused(&mut self.model, None, &draft.kept(failure));
                Ok(())
            }
        }
    }

    /// What was written and not saved stays in files; they are named once the terminal is as it was.
    pub(super) fn leave(mut self) -> Option<Failure> {
        let mut failure = None;
        let typed = self.model.popup.take().filter(|popup| popup.purpose == Purpose::Note);
        if let Some((task, text)) = typed.and_then(|popup| Some((popup.task.clone()?, popup.typed().to_owned()))) {
            self.model.unsaved.insert(task, text);
        }
        for (_, text) in self.model.unsaved.iter().filter(|(_, text)| !text.trim().is_empty()) {
            if let Ok(draft) = Draft::new("NOTE.md", text) {
                failure = Some(draft.kept(failure.unwrap_or_else(not_saved)));
            }
        }
        if let Some((draft, ..)) = self.draft.take() {
            failure = Some(draft.kept(failure.unwrap_or_else(not_saved)));
        }
        failure
    }
}

fn not_saved() -> Failure {
    Failure::refused("unsaved", "what you wrote is not saved")
}

//! The person's editor, for a task's file or a note. The text is saved, or kept in a file.

use super::model::{Settle, Verb, Wish};
use super::session::Session;
use super::update;
use crate::app::{self, Code, Doubts, Draft, Editing, Failure, Workspace};
use crate::task::TaskId;

/// A file that the person is editing, until it is saved.
pub(super) struct Work {
    pub(super) draft: Draft,
    editing: Editing,
    /// The text from the editor, if the editor ended well.
    written: Option<String>,
}

impl Work {
    fn begin(ws: &Workspace, id: &TaskId) -> Result<Self, Failure> {
        let editing = app::begin_edit(ws, id)?;
        Ok(Self { draft: named(id, &editing.text)?, editing, written: None })
    }

    /// Merges the text with the current file. Otherwise, a change by another worker would be a conflict forever.
    fn rebase(&mut self, ws: &Workspace) -> Result<(), Failure> {
        let Some(text) = &self.written else { return Ok(()) };
        let (editing, merged) = app::resume_edit(ws, &self.editing, text)?;
        if merged != *text {
            self.draft = named(&editing.id, &merged)?;
        }
        self.editing = editing;
        Ok(())
    }
}

fn named(id: &TaskId, text: &str) -> Result<Draft, Failure> {
    Draft::new(&format!("{id}.toml"), text)
}

impl Session {
    pub(super) fn edit(&mut self, id: &TaskId) -> Result<(), Failure> {
        if self.works.contains_key(id) {
            // A second save of the same file would be refused because of the first one.
            update::say(&mut self.model, &format!("{id} is being saved: try again in a moment"));
            return Ok(());
        }
        match Work::begin(&self.ws, id) {
            Ok(work) => {
                self.works.insert(id.clone(), work);
                self.in_editor(id)
            }
            Err(failure) => {
                update::refused(&mut self.model, Some(id.clone()), &failure);
                Ok(())
            }
        }
    }

    fn in_editor(&mut self, id: &TaskId) -> Result<(), Failure> {
        let Some(work) = self.works.get_mut(id) else { return Ok(()) };
        match self.screen.lend(|| work.draft.edit())? {
            Ok(text) => {
                work.written = Some(text);
                self.save(id, Doubts::Refuse)
            }
            Err(failure) => {
                work.written = None;
                update::unsaved(&mut self.model, id.clone(), &failure);
                Ok(())
            }
        }
    }

    fn save(&mut self, id: &TaskId, doubts: Doubts) -> Result<(), Failure> {
        let written = self.works.get(id).and_then(|work| Some((work.editing.text.clone(), work.written.clone()?)));
        let Some((old, new)) = written else { return Ok(()) };
        self.carry_out(vec![Wish::Do(Verb::Save { task: id.clone(), old, new, doubts })])
    }

    /// The choices for a file that was not saved.
    pub(super) fn settle(&mut self, id: &TaskId, settle: Settle) -> Result<(), Failure> {
        match settle {
            Settle::EditAgain => match self.works.get_mut(id).map_or(Ok(()), |work| work.rebase(&self.ws)) {
                Ok(()) => return self.in_editor(id),
                Err(failure) => update::unsaved(&mut self.model, id.clone(), &failure),
            },
            Settle::SaveAnyway => return self.save(id, Doubts::Accept),
            Settle::Leave => {
                if let Some(work) = self.works.remove(id) {
                    // Shown in the status line and not on the card, so that the path is not cut.
                    update::refused(&mut self.model, None, &work.draft.kept(not_saved()));
                }
            }
        }
        Ok(())
    }

    pub(super) fn compose(&mut self, id: TaskId, text: &str) -> Result<(), Failure> {
        let draft = match Draft::new("NOTE.md", text) {
            Ok(draft) => draft,
            Err(failure) => {
                update::refused(&mut self.model, Some(id), &failure);
                return Ok(());
            }
        };
        match self.screen.lend(|| draft.edit()) {
            Ok(Ok(text)) => {
                let wishes = update::composed(&mut self.model, id, &text);
                self.carry_out(wishes)
            }
            Ok(Err(failure)) => {
                update::refused(&mut self.model, None, &draft.kept(failure));
                Ok(())
            }
            // The terminal cannot be used any more, so the text is kept in a file.
            Err(failure) => Err(draft.kept(failure)),
        }
    }
}

pub(super) fn not_saved() -> Failure {
    Failure::refused(Code::Unsaved, "your text was not saved")
}

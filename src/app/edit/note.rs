//! `note`: adds, changes and removes notes.

use serde::Serialize;

use crate::app::{Code, Failure, Hint, Workspace};
use crate::board::{Change, Op, Place};
use crate::store::{Note, new_note, rewritten_note};
use crate::task::TaskId;

#[derive(Debug, Serialize)]
pub struct Noted {
    pub task: TaskId,
    pub file: String,
}

pub fn note(ws: &Workspace, id: &TaskId, text: &str) -> Result<Noted, Failure> {
    if text.trim().is_empty() {
        return Err(Failure::usage(Code::EmptyNote, "a note cannot be empty"));
    }
    let lock = ws.lock()?;
    if !ws.store.exists(id) {
        return Err(ws.store.absent(id).into());
    }
    let change = new_note(id, &ws.me()?, ws.now(), &mut ws.rng(), text);
    let Change::File { file: place @ Place::Note(_), .. } = &change else { unreachable!("a note is a file") };
    let file = ws.store.shown(&ws.store.path(id, place));
    ws.commit(&lock, Op::new("note", vec![change]))?;
    Ok(Noted { task: id.clone(), file })
}

/// Replaces the text of a note; `number` counts from 1, the oldest first.
pub fn edit_note(ws: &Workspace, id: &TaskId, number: usize, text: &str) -> Result<Noted, Failure> {
    if text.trim().is_empty() {
        return Err(Failure::usage(Code::EmptyNote, "a note cannot be empty"));
    }
    replace(ws, id, number, "note --edit", |raw| Some(rewritten_note(raw, text)))
}

pub fn remove_note(ws: &Workspace, id: &TaskId, number: usize) -> Result<Noted, Failure> {
    replace(ws, id, number, "note --rm", |_| None)
}

/// The text of a note, to edit it.
pub fn note_text(ws: &Workspace, id: &TaskId, number: usize) -> Result<String, Failure> {
    numbered(ws, id, number).map(|note| note.text)
}

/// `number` counts from 1, the oldest first.
fn numbered(ws: &Workspace, id: &TaskId, number: usize) -> Result<Note, Failure> {
    let mut notes = ws.notes(id)?;
    match number.checked_sub(1).filter(|at| *at < notes.len()) {
        Some(at) => Ok(notes.swap_remove(at)),
        None => {
            let message = format!("{id} has no note {number}: it has {}", notes.len());
            Err(Failure::usage(Code::NoNote, message).hint(Hint::run(&format!("show {id}"), "to list them")))
        }
    }
}

fn replace(
    ws: &Workspace,
    id: &TaskId,
    number: usize,
    verb: &str,
    new: impl FnOnce(&str) -> Option<String>,
) -> Result<Noted, Failure> {
    let lock = ws.lock()?;
    let note = numbered(ws, id, number)?;
    let actor = ws.actor()?;
    let others = note.by.as_deref() != Some(actor.worker.as_str());
    if others && actor.is_held(ws.rules()) {
        return Err(Failure::refused(Code::NotYou, format!("note {number} of {id} was written by another worker"))
            .hint(Hint::step("add a note of your own")));
    }
    let place = Place::Note(note.file);
    let path = ws.store.path(id, &place);
    let old = ws.store.text_of(&path)?.unwrap_or_default();
    let new = new(&old);
    let change = Change::File { task: id.clone(), file: place, old: Some(old), new };
    ws.commit(&lock, Op::new(verb, vec![change]))?;
    Ok(Noted { task: id.clone(), file: ws.store.shown(&path) })
}

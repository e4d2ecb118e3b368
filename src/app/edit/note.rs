//! `note`: a comment on a task.

use serde::Serialize;

use crate::app::{Code, Failure, Workspace};
use crate::board::{Change, Op, Place};
use crate::store::new_note;
use crate::task::TaskId;

#[derive(Debug, Serialize)]
pub struct Noted {
    pub task: TaskId,
    pub file: String,
}

pub fn note(ws: &Workspace, id: &TaskId, text: &str) -> Result<Noted, Failure> {
    if text.trim().is_empty() {
        return Err(Failure::usage(Code::EmptyNote, "a note needs a text"));
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

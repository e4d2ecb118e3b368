//! `save`: fields of a task, a note on it and its move, in one verb: all of it or nothing.

use std::collections::BTreeMap;

use serde::Serialize;

use super::moves::{Asked, move_with};
use super::set::{SetDone, assignments, field_change};
use super::{Failure, FailureKind, FieldChange, Moved, Workspace};
use crate::task::{Key, TaskId};

/// What is to be so afterwards.
#[derive(Debug, Clone, Default)]
pub struct SaveAsk {
    /// `KEY=VALUE`, `KEY+=VALUE` and `KEY-=VALUE`.
    pub fields: Vec<String>,
    /// Keys that ralph does not know are meant.
    pub custom: bool,
    /// A state in any spelling, or an intent.
    pub to: Option<String>,
    pub command: Option<String>,
    pub note: Option<String>,
    /// A person insists on the move.
    pub force: bool,
}

#[derive(Debug, Serialize)]
pub struct Saved {
    pub task: TaskId,
    pub changes: Vec<FieldChange>,
    pub moved: Option<Moved>,
}

pub fn save(ws: &Workspace, id: &TaskId, asked: &SaveAsk) -> Result<Saved, Failure> {
    let fields = assignments(ws, &asked.fields, asked.custom)?;
    let note = asked.note.as_deref().filter(|text| !text.trim().is_empty());
    let Some(typed) = &asked.to else {
        let SetDone { changes } = super::set::assign_with(ws, "set", std::slice::from_ref(id), &fields, note)?;
        return Ok(Saved { task: id.clone(), changes, moved: None });
    };
    if let Some(link) = fields.iter().find(|field| field.relinks()) {
        let message = format!("{} is not changed in one step with a move", link.key());
        return Err(Failure::usage("links-apart", message).advice("set it first, then move the task"));
    }
    let before = super::set::changes(ws, id, &fields)?;
    let command = asked.command.as_deref();
    let moved = move_with(ws, &Asked { id, typed, command, force: asked.force, fields: &fields, note })?;
    Ok(Saved { task: id.clone(), changes: before.into_iter().filter_map(field_change).collect(), moved: Some(moved) })
}

/// Refuses where a task no longer says what its editor has seen: somebody else has written there since.
pub fn refuse_changed(ws: &Workspace, id: &TaskId, seen: &BTreeMap<String, String>) -> Result<(), Failure> {
    if seen.is_empty() {
        return Ok(());
    }
    let file = ws.file(id)?;
    for (key, was) in seen {
        let now = match key.as_str() {
            "description" => file.description.clone(),
            other => file.task.value(&Key::new(other)).map(|value| value.to_string()).unwrap_or_default(),
        };
        if now.trim_end() != was.replace("\r\n", "\n").trim_end() {
            let message = format!("the {key} of {id} has changed since you began");
            return Err(Failure::new(FailureKind::Raced, "changed-since", message)
                .advice("copy what you wrote, look at what is there now, and save again"));
        }
    }
    Ok(())
}

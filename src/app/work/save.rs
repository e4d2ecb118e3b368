//! `save`: changes fields of a task, adds a note and moves it, all or nothing.

use serde::Serialize;

use crate::app::edit::set::{SetDone, assignments, field_change};
use crate::app::work::moves::{MoveAsk, move_in_group};
use crate::app::{Code, Expected, Failure, FieldChange, Hint, Moved, Workspace};
use crate::board::Grouping;
use crate::task::TaskId;

/// The requested changes.
#[derive(Debug, Clone, Default)]
pub struct SaveAsk {
    /// `KEY=VALUE`, `KEY+=VALUE` and `KEY-=VALUE`.
    pub fields: Vec<String>,
    /// Accept keys that ralph does not know.
    pub custom: bool,
    /// A state in any spelling, or an intent.
    pub to: Option<String>,
    pub command: Option<String>,
    pub note: Option<String>,
    /// Force the move; only a person can.
    pub force: bool,
    /// Which tasks count as a group in the move.
    pub grouping: Grouping,
}

#[derive(Debug, Serialize)]
pub struct Saved {
    pub task: TaskId,
    pub changes: Vec<FieldChange>,
    pub moved: Option<Moved>,
}

pub fn save(ws: &Workspace, id: &TaskId, asked: &SaveAsk) -> Result<Saved, Failure> {
    save_over(ws, id, asked, &Expected::default())
}

/// Like `save`, for an editor: refuses if a field differs from its value in `seen`.
pub fn save_over(ws: &Workspace, id: &TaskId, asked: &SaveAsk, seen: &Expected) -> Result<Saved, Failure> {
    let fields = assignments(ws, &asked.fields, asked.custom)?;
    let note = asked.note.as_deref().filter(|text| !text.trim().is_empty());
    let Some(typed) = &asked.to else {
        let SetDone { changes } =
            crate::app::edit::set::assign_with(ws, "set", std::slice::from_ref(id), &fields, note, seen)?;
        return Ok(Saved { task: id.clone(), changes, moved: None });
    };
    if let Some(link) = fields.iter().find(|field| field.relinks()) {
        let message = format!("{} cannot be changed together with the state", link.key());
        return Err(Failure::usage(Code::LinksApart, message).hint(Hint::step("set it first, then move the task")));
    }
    let before = crate::app::edit::set::changes(ws, id, &fields)?;
    let (command, force, grouping) = (asked.command.as_deref(), asked.force, asked.grouping);
    let ask = MoveAsk { command, force, fields: &fields, note, grouping, ..MoveAsk::new(id, typed, seen) };
    let moved = move_in_group(ws, &ask)?;
    Ok(Saved { task: id.clone(), changes: before.into_iter().filter_map(field_change).collect(), moved: Some(moved) })
}

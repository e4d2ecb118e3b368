//! `task set`: sets fields of one or more tasks in one change.

use serde::Serialize;

use crate::app::{Expected, Failure, Workspace};
use crate::board::{Assignment, Change, Op, parse_assignment, set_keys};
use crate::store::codec::Doc;
use crate::store::new_note;
use crate::task::{Key, TaskId, Value};

#[derive(Debug, Serialize)]
pub struct SetDone {
    pub changes: Vec<FieldChange>,
}

#[derive(Debug, Clone, Serialize)]
pub struct FieldChange {
    pub task: TaskId,
    pub key: Key,
    pub old: Option<Value>,
    pub new: Option<Value>,
}

/// `typed` are `KEY=VALUE`, `KEY+=VALUE` and `KEY-=VALUE`; with `custom`, also keys that ralph does not know.
pub fn set(ws: &Workspace, ids: &[TaskId], typed: &[String], custom: bool) -> Result<SetDone, Failure> {
    assign(ws, "set", ids, &assignments(ws, typed, custom)?)
}

/// Refuses invalid assignments before anything else is done.
pub fn check_fields(ws: &Workspace, typed: &[String]) -> Result<(), Failure> {
    assignments(ws, typed, false).map(drop)
}

pub(in crate::app) fn assignments(ws: &Workspace, typed: &[String], custom: bool) -> Result<Vec<Assignment>, Failure> {
    let mut wanted = Vec::new();
    for text in typed {
        let removes = text.split('=').next().is_some_and(|left| left.ends_with('-'));
        let mut find = |typed: &str| {
            let found = if removes { ws.find_or_literal(typed) } else { ws.find(typed) };
            found.map_err(|failure| failure.message)
        };
        wanted.push(parse_assignment(text, custom, &mut find)?);
    }
    Ok(wanted)
}

pub(in crate::app) fn assign(
    ws: &Workspace,
    verb: &'static str,
    ids: &[TaskId],
    wanted: &[Assignment],
) -> Result<SetDone, Failure> {
    assign_with(ws, verb, ids, wanted, None, &Expected::default())
}

/// Like `assign`, but adds a note to each task, and refuses if a field differs from its value in `seen`.
pub(in crate::app) fn assign_with(
    ws: &Workspace,
    verb: &'static str,
    ids: &[TaskId],
    wanted: &[Assignment],
    note: Option<&str>,
    seen: &Expected,
) -> Result<SetDone, Failure> {
    ws.rules().refuse_fields(&ws.actor()?, wanted)?;
    let lock = ws.lock()?;
    let relinks = wanted.iter().any(Assignment::relinks);
    let mut changes = Vec::new();
    for id in ids {
        changes.extend(self::changes(ws, id, wanted)?);
        seen.refuse_changed(ws, id)?;
    }
    if relinks {
        let board = ws.board()?;
        board.refuse_cycles(&changes)?;
        changes.extend(board.after(&changes).parents_over(ids, ws.rules()));
    }
    if let Some(text) = note {
        for id in ids {
            changes.push(new_note(id, &ws.me()?, ws.now(), &mut ws.rng(), text));
        }
    }
    if !changes.is_empty() {
        ws.commit(&lock, Op::new(verb, changes.clone()))?;
    }
    Ok(SetDone { changes: changes.into_iter().filter_map(field_change).collect() })
}

/// The changes that assignments make to one task.
pub(in crate::app) fn changes(ws: &Workspace, id: &TaskId, wanted: &[Assignment]) -> Result<Vec<Change>, Failure> {
    let file = ws.store.load(id)?;
    let doc = Doc::new(file.text).map_err(|source| crate::store::StoreError::Edit { task: id.clone(), source })?;
    Ok(set_keys(id, wanted, |key| doc.get(key)))
}

pub(in crate::app) fn field_change(change: Change) -> Option<FieldChange> {
    match change {
        Change::Set { task, key, old, new } => Some(FieldChange { task, key, old, new }),
        Change::File { .. } => None,
    }
}

//! `block` and `unblock`: the blockers of a task.

use serde::Serialize;

use crate::app::{Failure, Workspace};
use crate::board::Assignment;
use crate::task::{Key, TaskId};

#[derive(Debug, Serialize)]
pub struct Linked {
    pub task: TaskId,
    pub blocked_by: Vec<TaskId>,
    /// Whether anything changed.
    pub changed: bool,
}

pub fn block(ws: &Workspace, task: &TaskId, on: &[TaskId]) -> Result<Linked, Failure> {
    relink(ws, "block", task, Assignment::Add(Key::new("blocked_by"), texts(on)))
}

/// Removes all blockers if `from` is empty.
pub fn unblock(ws: &Workspace, task: &TaskId, from: &[TaskId]) -> Result<Linked, Failure> {
    let key = Key::new("blocked_by");
    let wanted = if from.is_empty() { Assignment::Put(key, None) } else { Assignment::Drop(key, texts(from)) };
    relink(ws, "unblock", task, wanted)
}

fn texts(ids: &[TaskId]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}

fn relink(ws: &Workspace, verb: &'static str, task: &TaskId, wanted: Assignment) -> Result<Linked, Failure> {
    let done = crate::app::edit::set::assign(ws, verb, std::slice::from_ref(task), &[wanted])?;
    let blocked_by = ws.store.load(task)?.task.blocked_by;
    Ok(Linked { task: task.clone(), blocked_by, changed: !done.changes.is_empty() })
}

//! `advance`: the children of a task, or the members of its group, brought up to a state.

use serde::Serialize;

use crate::app::{Failure, Workspace};
use crate::board::Op;
use crate::task::{StateName, TaskId};

#[derive(Debug, Serialize)]
pub struct Advanced {
    pub to: StateName,
    pub moved: Vec<TaskId>,
    pub skipped: Vec<Skipped>,
}

#[derive(Debug, Serialize)]
pub struct Skipped {
    pub task: TaskId,
    pub reason: String,
}

/// To a gate, which nobody works in; each child as its mover may, and the reason is told of those that stay.
pub fn advance(ws: &Workspace, id: &TaskId, typed: &str, force: bool) -> Result<Advanced, Failure> {
    let lock = ws.lock()?;
    let board = ws.board()?;
    let at = board.index_of(id).ok_or_else(|| crate::app::workspace::open::missing(ws, &board, id))?;
    let target = ws.flow().find_state(board.tasks()[at].kind, typed)?.name.clone();
    let advance = board.advance(at, &target, ws.rules(), &ws.actor()?, force)?;
    if !advance.changes.is_empty() {
        ws.commit(&lock, Op::new(if force { "advance --force" } else { "advance" }, advance.changes))?;
    }
    for id in &advance.ended {
        ws.drop_claim(id)?;
    }
    let skipped = advance.stay.into_iter().map(|(task, reason)| Skipped { task, reason }).collect();
    Ok(Advanced { to: target, moved: advance.moved, skipped })
}

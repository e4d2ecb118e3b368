//! `advance`: the children of a task, or the members of its group, brought up to a state.

use serde::Serialize;

use super::{Failure, Workspace};
use crate::board::{Change, Links, Op};
use crate::task::{StateName, TaskId, Value};

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

/// To a gate, which nobody works in; children that are locked, finished or with a person stay, and the reason is told.
pub fn advance(ws: &Workspace, id: &TaskId, typed: &str, force: bool) -> Result<Advanced, Failure> {
    let lock = ws.store.lock()?;
    let board = ws.family(id)?;
    let at = board.index_of(id).ok_or_else(|| super::moves::missing(ws, &board, id))?;
    let target = ws.flow().find_state(board.tasks()[at].kind, typed)?;
    if !target.gate && !force {
        let gates: Vec<&str> = ws.flow().states().iter().filter(|s| s.gate).map(|s| s.name.as_str()).collect();
        let message =
            format!("{} is no gate, and many are brought on only to one of {}", target.name, gates.join(", "));
        return Err(Failure::refused("not-a-gate", message));
    }
    let target = target.name.clone();
    let links = Links::new(&board);
    let (moving, stay) = board.behind(at, &target, &links, ws.rules());
    let moved: Vec<(usize, StateName)> = moving.iter().map(|&child| (child, target.clone())).collect();
    let parents = board.parents_after(&moved, &links, ws.rules());
    let change = |(at, state): &(usize, StateName)| {
        let task = &board.tasks()[*at];
        Change::set(&task.id, "state", Some(Value::text(&task.state)), Some(Value::text(state)))
    };
    let changes: Vec<Change> = moved.iter().chain(&parents).map(change).collect();
    if !changes.is_empty() {
        ws.commit(&lock, Op::new("advance", changes))?;
    }
    Ok(Advanced {
        to: target,
        moved: moving.iter().map(|&at| board.tasks()[at].id.clone()).collect(),
        skipped: stay.into_iter().map(|(task, reason)| Skipped { task, reason }).collect(),
    })
}

//! `task archive`: moves finished tasks to the archive, where they can still be found by id.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::app::{Code, Failure, Workspace};
use crate::board::{Board, Change, Op, Place};
use crate::task::{Task, TaskId};

#[derive(Debug, Serialize)]
pub struct Archived {
    pub tasks: Vec<TaskId>,
}

/// Archives the given tasks, or else all that have been finished and unchanged for `older`.
pub fn archive(ws: &Workspace, ids: &[TaskId], older: SignedDuration) -> Result<Archived, Failure> {
    let lock = ws.lock()?;
    let board = ws.board()?;
    let chosen: Vec<TaskId> = if ids.is_empty() { long_finished(ws, &board, older) } else { checked(ws, &board, ids)? };
    let mut changes = Vec::new();
    for id in &chosen {
        let text = ws.store.load(id)?.text;
        changes.push(Change::File { task: id.clone(), file: Place::Archive, old: None, new: Some(text.clone()) });
        changes.push(Change::File { task: id.clone(), file: Place::Task, old: Some(text), new: None });
    }
    if !changes.is_empty() {
        ws.commit(&lock, Op::new("archive", changes))?;
    }
    Ok(Archived { tasks: chosen })
}

fn long_finished(ws: &Workspace, board: &Board, older: SignedDuration) -> Vec<TaskId> {
    let limit = ws.now().checked_sub(older).unwrap_or(Timestamp::MIN);
    let old = |task: &&Task| is_finished(ws, task) && task.updated.is_some_and(|at| at <= limit);
    board.tasks().iter().filter(old).map(|task| task.id.clone()).collect()
}

fn checked(ws: &Workspace, board: &Board, ids: &[TaskId]) -> Result<Vec<TaskId>, Failure> {
    for id in ids {
        let Some(task) = board.get(id) else { return Err(ws.store.absent(id).into()) };
        if !is_finished(ws, task) {
            let message = format!("{id} is in {}; only finished tasks can be archived", task.state);
            return Err(Failure::refused(Code::NotFinished, message));
        }
    }
    Ok(ids.to_vec())
}

fn is_finished(ws: &Workspace, task: &Task) -> bool {
    ws.flow().is_terminal(task.kind, &task.state)
}

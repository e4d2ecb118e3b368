//! `move`, `done`, `cancel`, `escalate`: a task to another state, as the judge allows.

use serde::Serialize;

use super::{Failure, Workspace};
use crate::board::{Board, Move, Op, Target, Verdict};
use crate::store::BoardLock;
use crate::task::{StateName, TaskId};
use crate::workflow::Intent;

#[derive(Debug, Serialize)]
pub struct Moved {
    pub task: TaskId,
    pub from: StateName,
    pub to: StateName,
    pub command: Option<String>,
    /// Parents and members of its group that moved along.
    pub along: Vec<Along>,
    /// Against the table, because a person insisted.
    pub forced: bool,
    pub changed: bool,
}

#[derive(Debug, Serialize)]
pub struct Along {
    pub task: TaskId,
    pub to: StateName,
}

/// `typed` is a state in any spelling, or an intent such as `__COMPLETE__`.
pub fn move_task(
    ws: &Workspace,
    id: &TaskId,
    typed: &str,
    command: Option<&str>,
    force: bool,
) -> Result<Moved, Failure> {
    let lock = ws.store.lock()?;
    let board = ws.family(id)?;
    let kind = board.get(id).map(|task| task.kind).ok_or_else(|| missing(ws, &board, id))?;
    let to = match Intent::parse(typed) {
        Some(intent) => Target::Intent(intent),
        None => Target::State(ws.flow().find_state(kind, typed)?.name.clone()),
    };
    let actor = ws.actor()?;
    let verdict = board.judge(ws.rules(), &actor, &Move { task: id, to, command, force })?;
    carry_out(ws, &lock, &board, id, verdict)
}

/// A task that is not there, or whose file cannot be read.
pub(super) fn missing(ws: &Workspace, board: &Board, id: &TaskId) -> Failure {
    match board.broken_file(id) {
        Some(problem) => problem.clone().into(),
        None => ws.store.absent(id).into(),
    }
}

/// The claim goes last: a verb that dies in between leaves one on a task that has moved on, where its holder, whose verb it
/// was, is the only one to be hindered.
fn carry_out(ws: &Workspace, lock: &BoardLock, board: &Board, id: &TaskId, verdict: Verdict) -> Result<Moved, Failure> {
    let Verdict { from, to, command, changes, hands_off, forced, along } = verdict;
    let changed = !changes.is_empty();
    if changed {
        ws.commit(lock, Op::new(if forced { "move --force" } else { "move" }, changes))?;
    }
    if hands_off && board.claim(id).is_some() {
        ws.store.remove_claim(id)?;
    }
    let along = along.into_iter().map(|(task, to)| Along { task, to }).collect();
    Ok(Moved { task: id.clone(), from, to, command, along, forced, changed })
}

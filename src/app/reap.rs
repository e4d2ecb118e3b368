//! `reap`: claims whose holders are gone come free.

use serde::Serialize;

use super::{Failure, Workspace};
use crate::board::{Actor, Board, Op};
use crate::store::BoardLock;
use crate::task::{StateName, TaskId, Worker};

#[derive(Debug, Clone, Serialize)]
pub struct Reaped {
    pub task: TaskId,
    pub worker: Option<Worker>,
    pub from: StateName,
    pub to: StateName,
}

pub fn reap(ws: &Workspace) -> Result<Vec<Reaped>, Failure> {
    if let Err(failure) = ws.refresh_claims() {
        ws.notice(format!("{}: what other machines held stays", failure.message));
    }
    let lock = ws.lock()?;
    let board = ws.board()?;
    reap_from(ws, &lock, &board, Orphans::All)
}

/// Who is given up for dead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Orphans {
    /// Whose claim has ended, and every lock that has none.
    All,
    Claimed,
}

/// What the board shows to be dead, freed in one verb each.
pub(super) fn reap_from(
    ws: &Workspace,
    lock: &BoardLock,
    board: &Board,
    which: Orphans,
) -> Result<Vec<Reaped>, Failure> {
    let mut reaped = Vec::new();
    let known = |id: &TaskId| ws.knows_all_claims() || board.claim(id).is_some_and(|claim| !claim.foreign);
    for back in board.orphans(ws.rules()).into_iter().filter(|back| known(&back.task)) {
        if which == Orphans::Claimed && board.claim(&back.task).is_none() {
            continue;
        }
        ws.drop_claim(&back.task)?;
        if !back.changes.is_empty() {
            let actor = Actor { proof: None, ..ws.actor()? };
            ws.commit_as(lock, Op::new("reap", back.changes), &actor)?;
        }
        reaped.push(Reaped { task: back.task, worker: back.worker, from: back.from, to: back.to });
    }
    // A claim on a task that is no longer there binds nobody.
    for (id, claim) in board.claims() {
        if !claim.live && board.get(id).is_none() && board.broken_file(id).is_none() {
            ws.drop_claim(id)?;
        }
    }
    Ok(reaped)
}

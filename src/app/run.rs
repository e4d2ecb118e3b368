//! `run`: a program that works on a task, and the claim that lives exactly as long as it does.

use std::process::{Child, Command};

use super::claim::{Kind, give_up, grant};
use super::{Claimed, Failure, Released, Workspace};
use crate::board::ClaimAsk;
use crate::store::Hold;
use crate::task::TaskId;

/// A program at work. Dropping it without `finish` leaves the claim to be reaped.
pub struct Running {
    pub claimed: Claimed,
    pub child: Child,
    _hold: Hold,
}

/// Claims the task and starts `program`. When ralph dies, however it dies, the kernel ends the program too (through the
/// `guard` that starts it) and lets go of the lock, so that nobody works on unguarded.
pub fn start_run(
    ws: &Workspace,
    id: &TaskId,
    command: Option<&str>,
    guard: Command,
    program: &[String],
) -> Result<Running, Failure> {
    let lock = ws.store.lock()?;
    let board = ws.family(id)?;
    let dead = board.claim(id).is_some_and(|claim| !claim.live);
    let board = if dead { reaped(ws, &lock, board, id)? } else { board };
    let renewing = board.claim(id).is_some_and(|claim| claim.live && claim.held);
    if renewing {
        let claim = board.claim(id).expect("it was just there");
        return Err(crate::board::Refusal::held(id, claim).into());
    }
    let hold = ws.store.hold(id)?;
    let claimed = grant(ws, &lock, &board, &ClaimAsk { task: id, command, force: false }, Kind::Held)?;
    let child = spawn(ws, &claimed, guard, program);
    match child {
        Ok(child) => Ok(Running { claimed, child, _hold: hold }),
        Err(failure) => {
            let board = ws.family(id)?;
            give_up(ws, &lock, &board, id, &claimed.worker, "release")?;
            Err(failure)
        }
    }
}

fn reaped(
    ws: &Workspace,
    lock: &crate::store::BoardLock,
    board: crate::board::Board,
    id: &TaskId,
) -> Result<crate::board::Board, Failure> {
    let worker = board.claim(id).map(|claim| claim.worker.clone());
    if let Some(worker) = worker {
        give_up(ws, lock, &board, id, &worker, "reap")?;
    }
    ws.family(id)
}

fn spawn(ws: &Workspace, claimed: &Claimed, mut guard: Command, program: &[String]) -> Result<Child, Failure> {
    guard.args(program);
    guard.env("RALPH_TASK", claimed.task.as_str());
    guard.env("RALPH_WORKER", claimed.worker.as_str());
    guard.env("RALPH_BOARD", ws.store.root());
    guard.env("RALPH_CLAIM", &claimed.claim);
    if let Some(command) = &claimed.command {
        guard.env("RALPH_COMMAND", command);
    }
    if let Some(role) = ws.rules().role_of(&claimed.worker) {
        guard.env("RALPH_ROLE", role);
    }
    guard
        .spawn()
        .map_err(|error| Failure::broken("cannot-start", format!("cannot start {:?}: {error}", program.join(" "))))
}

impl Running {
    /// The program has ended: the claim goes, and a task that it left in its lock returns to where the workflow says.
    pub fn finish(self, ws: &Workspace) -> Result<Option<Released>, Failure> {
        let id = self.claimed.task.clone();
        let lock = ws.store.lock()?;
        let board = ws.family(&id)?;
        let proof = self.claimed.claim.clone();
        let mine = board.claim(&id).is_some_and(|claim| claim.proof(&id) == proof);
        if !mine {
            return Ok(None);
        }
        give_up(ws, &lock, &board, &id, &self.claimed.worker, "release").map(Some)
    }
}

//! The running workers on this machine: each name is used by one process at a time.

use std::path::PathBuf;

use crate::app::{Code, Failure, FailureKind, Hint, Workspace};
use crate::board::{Board, Claim};
use crate::fs;
use crate::store::FileLock;
use crate::task::Worker;

/// A name in use.
pub struct Name {
    pub worker: Worker,
    _lock: FileLock,
}

fn path(ws: &Workspace, worker: &Worker) -> PathBuf {
    ws.store.local().join("workers").join(format!("{worker}.lock"))
}

fn take(ws: &Workspace, worker: Worker) -> Result<Option<Name>, Failure> {
    fs::make_dir(&ws.store.local().join("workers"))?;
    let lock = FileLock::try_take(&path(ws, &worker))?;
    Ok(lock.map(|lock| Name { worker, _lock: lock }))
}

/// The given name, or the first unused name of a role.
pub fn take_name(ws: &Workspace, role: &str, asked: Option<&str>) -> Result<Name, Failure> {
    if let Some(asked) = asked {
        let worker = Worker::new(asked)?;
        if worker.as_str().contains('/') {
            return Err(Failure::usage(Code::BadName, format!("{worker:?} is not a valid worker name")));
        }
        return take(ws, worker.clone())?.ok_or_else(|| {
            Failure::new(FailureKind::Raced, Code::NameTaken, format!("{worker} is already running"))
                .hint(Hint::omit("--as", "to get a free name"))
        });
    }
    // Another process may take a free name first.
    loop {
        if let Some(name) = take(ws, free_name(ws, role, &[])?)? {
            return Ok(name);
        }
    }
}

/// The first unused name of a role, except those in `not`: builder, builder-2, builder-3 …
pub fn free_name(ws: &Workspace, role: &str, not: &[Worker]) -> Result<Worker, Failure> {
    let board = ws.board()?;
    let mut number = 1;
    loop {
        let text = if number == 1 { role.to_owned() } else { format!("{role}-{number}") };
        let worker = Worker::new(text)?;
        if !not.contains(&worker) && !is_at_work(ws, &worker) && !is_full(ws, &board, &worker) {
            return Ok(worker);
        }
        number += 1;
    }
}

/// Whether somebody has claimed as many tasks under this name as a worker may, without a process: it would never get
/// another one. A claim that a process holds will end with it.
fn is_full(ws: &Workspace, board: &Board, worker: &Worker) -> bool {
    let leased = |claim: &Claim| claim.live && !claim.held && claim.is_of(worker);
    board.claims().values().filter(|claim| leased(claim)).count() >= ws.rules().per_worker
}

/// Whether a process with this name is running.
pub fn is_at_work(ws: &Workspace, worker: &Worker) -> bool {
    let path = path(ws, worker);
    path.exists() && matches!(FileLock::try_take(&path), Ok(None))
}

//! `wait`: waits until a task is in a state, ready or free, by watching the board instead of polling.

use std::path::Path;
use std::time::{Duration, Instant};

use jiff::SignedDuration;
use serde::Serialize;

use crate::app::{Code, Failure, FailureKind, Stop, Workspace};
use crate::board::{Board, Standings};
use crate::fs;
use crate::store::FileLock;
use crate::task::{StateName, TaskId};
use crate::watch::{ChangedPaths, Changes};

/// How often a wait asks the remote.
const ASK_REMOTE: Duration = Duration::from_secs(5);

/// The condition of a wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitFor {
    State(StateName),
    Ready,
    Free,
}

#[derive(Debug, Serialize)]
pub struct Waited {
    pub task: TaskId,
    pub state: StateName,
    pub waited_seconds: u64,
}

/// Parses a condition: a state in any spelling, `ready` or `free`.
pub fn wait_for(ws: &Workspace, id: &TaskId, typed: &str) -> Result<WaitFor, Failure> {
    let kind = ws.store.load(id)?.task.kind;
    Ok(match typed {
        "ready" => WaitFor::Ready,
        "free" => WaitFor::Free,
        typed => WaitFor::State(ws.flow().find_state(kind, typed)?.name.clone()),
    })
}

/// Whether the condition is met on this board.
pub fn wait_is_over(ws: &Workspace, board: &Board, id: &TaskId, wanted: &WaitFor) -> Result<bool, Failure> {
    let Some(at) = board.index_of(id) else { return Err(crate::app::workspace::open::missing(ws, board, id)) };
    Ok(match wanted {
        WaitFor::State(state) => board.tasks()[at].state == *state,
        WaitFor::Ready => Standings::new(board, ws.rules()).is_ready(at),
        WaitFor::Free => !board.claim(id).is_some_and(|claim| claim.live),
    })
}

pub fn wait(ws: &Workspace, id: &TaskId, wanted: &WaitFor, limit: SignedDuration) -> Result<Waited, Failure> {
    let start = Instant::now();
    let ask = || -> Result<Option<StateName>, Failure> {
        let board = ws.around(id)?;
        let over = wait_is_over(ws, &board, id, wanted)?;
        Ok(board.get(id).filter(|_| over).map(|task| task.state.clone()))
    };
    let state = until(ws, limit, &Stop::default(), || match ask() {
        Ok(Some(state)) => Ok(Ok(state)),
        Ok(None) => Err(None),
        Err(failure) => Ok(Err(failure)),
    })??;
    Ok(Waited { task: id.clone(), state, waited_seconds: start.elapsed().as_secs() })
}

/// How soon a wait ends after it was stopped.
const HEED: Duration = Duration::from_millis(200);

/// How often a waiter checks whether it is first in line.
const MOVE_UP: Duration = Duration::from_millis(50);

/// How often a waiter that is not first in line asks for itself: the first may be suspended, and a task that a worker
/// already holds is work only for that worker.
const OWN_LOOK: Duration = Duration::from_secs(2);

/// Like `until`, for many processes that wait for the same thing of which one gets it. Only the first in line watches
/// the board, so that a change wakes one process instead of all. A process that gets something leaves the line, and the
/// next one asks at once. `line` is a lock file: the kernel releases it when its holder dies.
pub(in crate::app) fn until_in_line<T>(
    ws: &Workspace,
    line: &Path,
    limit: SignedDuration,
    stop: &Stop,
    mut ask: impl FnMut() -> Result<T, Option<Failure>>,
) -> Result<T, Failure> {
    let end = end_of(limit);
    let mut asked: Option<Instant> = None;
    loop {
        if let Some(_first) = FileLock::try_take(line)? {
            return until_end(ws, end, stop, ask);
        }
        if stop.soon() {
            return Err(stopped());
        }
        let late = Instant::now() >= end;
        if late || asked.is_none_or(|at| at.elapsed() >= OWN_LOOK) {
            match ask() {
                Ok(answer) => return Ok(answer),
                Err(last) if late => return Err(last.unwrap_or_else(timed_out)),
                Err(_) => asked = Some(Instant::now()),
            }
        }
        std::thread::sleep(MOVE_UP.min(end.saturating_duration_since(Instant::now())));
    }
}

/// Asks once, then whenever the board changes or a lease expires. `Err` from `ask` means not yet; it contains the
/// failure to return on a timeout. After `stop`, `ask` is not called again.
pub(in crate::app) fn until<T>(
    ws: &Workspace,
    limit: SignedDuration,
    stop: &Stop,
    ask: impl FnMut() -> Result<T, Option<Failure>>,
) -> Result<T, Failure> {
    until_end(ws, end_of(limit), stop, ask)
}

fn end_of(limit: SignedDuration) -> Instant {
    Instant::now() + Duration::from_secs(limit.as_secs().unsigned_abs())
}

fn stopped() -> Failure {
    Failure::new(FailureKind::Raced, Code::Stopped, "the wait was stopped")
}

fn timed_out() -> Failure {
    Failure::new(FailureKind::Nothing, Code::Timeout, "timed out")
}

fn until_end<T>(
    ws: &Workspace,
    end: Instant,
    stop: &Stop,
    mut ask: impl FnMut() -> Result<T, Option<Failure>>,
) -> Result<T, Failure> {
    fs::make_dir(&ws.store.claims_dir())?;
    fs::make_dir(&ws.store.tasks_dir())?;
    // Watch before asking, so that no change is missed in between.
    let mut changes = Changes::of(&[&ws.store.tasks_dir(), &ws.store.claims_dir()])?;
    loop {
        if ws.claims_remote().is_some() {
            ws.look_again();
        }
        if stop.soon() {
            return Err(stopped());
        }
        let last = match ask() {
            Ok(answer) => return Ok(answer),
            Err(last) => last,
        };
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(last.unwrap_or_else(timed_out));
        }
        // A change on a remote is not visible in files.
        let remote = if ws.claims_remote().is_some() { ASK_REMOTE } else { Duration::MAX };
        let due = Instant::now() + left.min(next_expiry(ws)?).min(remote);
        let left = || due.saturating_duration_since(Instant::now());
        while !stop.soon() && changes.wait_briefly(HEED.min(left())) == ChangedPaths::Nothing && !left().is_zero() {}
    }
}

/// How long until the next lease expires, which changes no file.
fn next_expiry(ws: &Workspace) -> Result<Duration, Failure> {
    let now = ws.now();
    let claims = ws.claims()?;
    let ends = claims.values().filter(|claim| claim.live && !claim.held).map(|claim| claim.until.duration_since(now));
    let soonest = ends.min().map_or(Duration::MAX, |left| left.unsigned_abs() + Duration::from_millis(10));
    Ok(soonest)
}

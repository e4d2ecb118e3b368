//! `run`: runs a program on a task, with a claim that lasts exactly as long as the program.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use crate::app::repo::bootstrap;
use crate::app::work::claim::drafted;
use crate::app::work::claim::{Lease, give_up, grant};
use crate::app::work::next::as_reaped;
use crate::app::workspace::remote::{Lapsed, LeaseKeeper, Reach, publish};
use crate::app::{Claimed, Code, Failure, FailureKind, Released, Workspace};
use crate::board::{Board, Refusal, Request};
use crate::os::Signal;
use crate::os::process::{send_signal, spawn_bound};
use crate::store::{BoardLock, Hold};
use crate::task::TaskId;

/// A running program with its guard. If this is dropped without `finish`, the claim is left to be reaped.
pub struct Running {
    pub claimed: Claimed,
    pub child: Child,
    /// Why the program was stopped.
    lapsed: Option<Lapsed>,
}

/// How long a program has to exit after each signal.
const GRACE: Duration = Duration::from_secs(5);

/// Claims the task and starts `guard`, which takes the lock of the claim and runs `program`. If ralph dies, the guard
/// kills all that it started and then releases the lock, so that no program runs without a claim.
pub fn start_run(
    ws: &Workspace,
    request: &Request<'_>,
    reach: Reach,
    guard: Command,
    program: &[String],
) -> Result<Running, Failure> {
    let id = request.task;
    ws.exchange_by_itself();
    let draft = |board: &Board| {
        refuse_running(ws, board, id)?;
        drafted(ws, board, request)
    };
    let published =
        publish(ws, reach, draft, || Ok(as_reaped(ws, seen(ws, request)?)))?.map(|(_, published)| published);
    let lock = ws.lock()?;
    let board = unless_dead(ws, &lock, seen(ws, request)?, request)?;
    refuse_running(ws, &board, id)?;
    // The board stays locked until the program holds the lock of the claim: without the lock, the claim looks dead.
    let claimed = grant(ws, &lock, &board, request, Lease::Held, published.as_ref())?;
    let started = spawn(ws, &claimed, guard, program).and_then(|child| once_held(ws, id, child));
    match started {
        Ok(child) => Ok(Running { claimed, child, lapsed: None }),
        Err(failure) => {
            give_up(ws, &lock, &ws.family(id)?, id, &claimed.worker, "release")?;
            Err(failure)
        }
    }
}

/// The part of the board that a claim depends on. A step's tasks are not found through links, so it needs the whole
/// board.
pub(in crate::app) fn seen(ws: &Workspace, request: &Request<'_>) -> Result<Board, Failure> {
    if request.step.is_some() { ws.board() } else { ws.family(request.task) }
}

/// Refuses if a program is already running on the task.
pub(in crate::app) fn refuse_running(ws: &Workspace, board: &Board, id: &TaskId) -> Result<(), Failure> {
    if let Some(claim) = board.claim(id).filter(|claim| claim.live && claim.held) {
        return Err(Refusal::held(id, claim).into());
    }
    if ws.store.is_held(id) {
        let message = format!("a program started on {id} is still running, although its claim has ended");
        return Err(Failure::new(FailureKind::Raced, Code::StillRunning, message).hint(crate::app::Hint::Retry));
    }
    Ok(())
}

/// Releases a claim whose holder is gone before a new one is granted.
pub(in crate::app) fn unless_dead(
    ws: &Workspace,
    lock: &BoardLock,
    board: Board,
    request: &Request<'_>,
) -> Result<Board, Failure> {
    let id = request.task;
    let Some(worker) = board.claim(id).filter(|claim| !claim.live).map(|claim| claim.worker.clone()) else {
        return Ok(board);
    };
    give_up(ws, lock, &board, id, &worker, "reap")?;
    seen(ws, request)
}

pub(in crate::app) fn spawn(
    ws: &Workspace,
    claimed: &Claimed,
    mut guard: Command,
    program: &[String],
) -> Result<Child, Failure> {
    guard.arg("--lock").arg(ws.store.claim_lock(&claimed.task)).arg("--").args(program);
    guard.envs(claim_environment(ws, claimed));
    spawn_bound(&mut guard)
        .map_err(|error| Failure::broken(Code::CannotStart, format!("cannot start {:?}: {error}", program.join(" "))))
}

/// The environment variables of a program that works under a claim.
pub(in crate::app) fn claim_environment(ws: &Workspace, claimed: &Claimed) -> Vec<(&'static str, OsString)> {
    let mut found: Vec<(&str, OsString)> = vec![
        ("RALPH_TASK", claimed.task.as_str().into()),
        ("RALPH_WORKER", claimed.worker.as_str().into()),
        ("RALPH_BOARD", ws.store.root().into()),
        ("RALPH_CLAIM", claimed.claim.as_str().into()),
    ];
    if !claimed.paths.is_empty() {
        found.push(("RALPH_PATHS", claimed.paths.paths().join("\n").into()));
    }
    found.extend(claimed.command.as_ref().map(|command| ("RALPH_COMMAND", command.into())));
    found.extend(ws.rules().role_of(&claimed.worker).map(|role| ("RALPH_ROLE", role.into())));
    found.extend(bootstrap::environment(ws, &claimed.task));
    found
}

/// Waits until the guard holds the lock of the claim. The board stays locked, so that nobody sees the claim without it.
pub(in crate::app) fn once_held(ws: &Workspace, id: &TaskId, mut child: Child) -> Result<Child, Failure> {
    let start = Instant::now();
    while !ws.store.is_held(id) {
        // A program that has already exited does not need the lock any more.
        if child.try_wait().is_ok_and(|status| status.is_some()) {
            return Ok(child);
        }
        if start.elapsed() > Duration::from_secs(10) {
            let _ = child.kill().and_then(|()| child.wait());
            return Err(Failure::broken(Code::CannotStart, "the guard process of the program did not start"));
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    Ok(child)
}

/// Called by the guard: takes the lock of the claim until the result is dropped.
pub fn hold_lock(path: &Path) -> Result<Hold, Failure> {
    Ok(Hold::take(path)?)
}

impl Running {
    /// Waits for the program to end. Other machines cannot see its lock, so the lease is renewed for them. The program
    /// is stopped if its claim is lost, or may be.
    pub fn wait(&mut self, ws: &Workspace) -> Result<ExitStatus, Failure> {
        let broken = |error| Failure::broken(Code::Wait, format!("cannot wait for the program: {error}"));
        if !self.claimed.remote {
            return self.child.wait().map_err(broken);
        }
        let mut lease = LeaseKeeper::new(ws, &self.claimed.task, true);
        loop {
            if let Some(status) = self.child.try_wait().map_err(broken)? {
                return Ok(status);
            }
            if let Some(lapsed) = lease.check(ws) {
                let status = self.end().map_err(broken)?;
                self.lapsed = Some(lapsed);
                return Ok(status);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Asks the program to exit, then has the guard kill it and all of its descendants.
    fn end(&mut self) -> std::io::Result<ExitStatus> {
        for signal in [Signal::Terminate, Signal::ParentExited, Signal::Kill] {
            send_signal(self.child.id(), signal);
            let start = Instant::now();
            while start.elapsed() < GRACE {
                if let Some(status) = self.child.try_wait()? {
                    return Ok(status);
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        self.child.wait()
    }

    /// Fails with the reason if the program was stopped.
    pub fn lapse(&self) -> Result<(), Failure> {
        let id = &self.claimed.task;
        match self.lapsed {
            None => Ok(()),
            Some(Lapsed::TakenOver) => Err(Refusal::Lost { task: id.clone() }.into()),
            Some(Lapsed::CutOff) => {
                let message =
                    format!("the program was stopped: its claim on {id} expired, and the remote could not be reached");
                Err(Failure::new(FailureKind::Offline, Code::Unconfirmed, message)
                    .hint(crate::app::Hint::step("its work is on the branch of the task"))
                    .hint(crate::app::Hint::Retry))
            }
        }
    }

    /// Releases the claim after the program has ended. A task that is still in its lock state moves to the state that
    /// the workflow names.
    pub fn finish(self, ws: &Workspace) -> Result<Option<Released>, Failure> {
        hand_back(ws, &self.claimed)
    }
}

pub(in crate::app) fn hand_back(ws: &Workspace, claimed: &Claimed) -> Result<Option<Released>, Failure> {
    let id = &claimed.task;
    let lock = ws.lock()?;
    let board = ws.family(id)?;
    let mine = board.claim(id).is_some_and(|claim| claim.proof(id) == claimed.claim);
    if !mine {
        return Ok(None);
    }
    if board.get(id).is_none() {
        ws.drop_claim(id, None)?;
        return Err(crate::app::workspace::open::missing(ws, &board, id));
    }
    give_up(ws, &lock, &board, id, &claimed.worker, "release").map(Some)
}

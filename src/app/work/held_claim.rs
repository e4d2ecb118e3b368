//! A claim that this process holds and lends to a program while it runs, so that it always has a holder.

use std::process::{Child, Command};
use std::thread::JoinHandle;

use crate::app::work::claim::drafted;
use crate::app::work::claim::{Lease, grant};
use crate::app::work::next::as_reaped;
use crate::app::work::run::{hand_back, once_held, refuse_running, seen, spawn, unless_dead};
use crate::app::workspace::remote::{Reach, publish};
use crate::app::{Claimed, Failure, Released, Workspace};
use crate::board::{Board, Request};
use crate::fs;
use crate::store::Hold;

pub(in crate::app) struct HeldClaim {
    pub claimed: Claimed,
    hold: Option<Hold>,
    /// A thread that waits until the program ends, to take its lock at once.
    heir: Option<JoinHandle<Option<Hold>>>,
}

pub(in crate::app) fn take(ws: &Workspace, request: &Request<'_>, reach: Reach) -> Result<HeldClaim, Failure> {
    let draft = |board: &Board| {
        refuse_running(ws, board, request.task)?;
        drafted(ws, board, request)
    };
    let published =
        publish(ws, reach, draft, || Ok(as_reaped(ws, seen(ws, request)?)))?.map(|(_, published)| published);
    let lock = ws.lock()?;
    let board = unless_dead(ws, &lock, seen(ws, request)?, request)?;
    refuse_running(ws, &board, request.task)?;
    fs::make_dir(&ws.store.claims_dir())?;
    // The lock is taken before the claim is written, so that nobody sees the claim without a holder.
    let hold = Hold::take(&ws.store.claim_lock(request.task))?;
    let claimed = grant(ws, &lock, &board, request, Lease::Held, published.as_ref())?;
    Ok(HeldClaim { claimed, hold: Some(hold), heir: None })
}

impl HeldClaim {
    /// Starts a program under a guard that takes over the lock of the claim. The board stays locked meanwhile:
    /// otherwise another command could reap the claim while nobody holds its lock.
    pub fn lend(&mut self, ws: &Workspace, guard: Command, program: &[String]) -> Result<Child, Failure> {
        let _lock = ws.lock()?;
        // Released before the guard starts: the guard would inherit our lock for a moment, which would look like its
        // own.
        self.hold = None;
        let path = ws.store.claim_lock(&self.claimed.task);
        let started =
            spawn(ws, &self.claimed, guard, program).and_then(|child| once_held(ws, &self.claimed.task, child));
        let child = match started {
            Ok(child) => child,
            Err(failure) => {
                self.hold = Hold::take(&path).ok();
                return Err(failure);
            }
        };
        self.heir = Some(std::thread::spawn(move || Hold::inherit(&path).ok()));
        Ok(child)
    }

    /// Whether another worker has the claim now.
    pub fn is_lost(&self, ws: &Workspace) -> bool {
        let id = &self.claimed.task;
        let claim = ws.store.claim_file(id).ok().flatten();
        claim.is_some_and(|claim| claim.proof(id) != self.claimed.claim)
    }

    /// Holds the claim again after the program has ended, until its outcome is settled.
    pub fn take_back(&mut self) {
        if let Some(heir) = self.heir.take() {
            self.hold = heir.join().ok().flatten();
        }
    }

    /// Releases the claim after the work, unless the task was handed on already.
    pub fn finish(self, ws: &Workspace) -> Result<Option<Released>, Failure> {
        let released = hand_back(ws, &self.claimed);
        drop(self.hold);
        released
    }
}

//! Renews the lease of a claim while a program runs under it, because other machines cannot see that it runs.

use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

use crate::app::{Options, Workspace};
use crate::task::TaskId;

use super::publish::renew_remote;
use super::view::millis;

/// Why a program must stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum Lapsed {
    /// Another worker has taken over its claim.
    TakenOver,
    /// Its lease has expired and the remote cannot be reached, so another machine may hold the task.
    CutOff,
}

/// How often the claim's file is read.
const LOOK: Duration = Duration::from_millis(500);

pub(in crate::app) struct LeaseKeeper {
    options: Option<Options>,
    id: TaskId,
    renewal: Option<Receiver<Option<bool>>>,
    next: Instant,
    looked: Instant,
}

impl LeaseKeeper {
    /// Does nothing for a claim that is not on a remote.
    pub fn new(ws: &Workspace, id: &TaskId, remote: bool) -> Self {
        let now = Instant::now();
        let options = remote.then(|| ws.options());
        Self { options, id: id.clone(), renewal: None, next: now + ws.remote_lease() / 3, looked: now }
    }

    /// Renews the lease in the background when it is due. Returns why the program must stop, if it must.
    pub fn check(&mut self, ws: &Workspace) -> Option<Lapsed> {
        let options = self.options.as_ref()?;
        if let Some(renewal) = &self.renewal {
            let told = renewal.try_recv();
            if told == Ok(Some(false)) {
                return Some(Lapsed::TakenOver);
            }
            if !matches!(told, Err(TryRecvError::Empty)) {
                self.renewal = None;
                let part = if told == Ok(Some(true)) { 3 } else { 10 };
                self.next = Instant::now() + (ws.remote_lease() / part).max(Duration::from_millis(300));
            }
        } else if Instant::now() >= self.next {
            self.renewal = Some(renew(options.clone(), self.id.clone()));
        }
        if self.looked.elapsed() < LOOK {
            return None;
        }
        self.looked = Instant::now();
        is_over(ws, &self.id).then_some(Lapsed::CutOff)
    }
}

/// Whether the lease and a grace period have passed. Until then the remote may answer again.
fn is_over(ws: &Workspace, id: &TaskId) -> bool {
    let lease = ws.remote_lease();
    let grace = (lease / 10).min(Duration::from_secs(60));
    let claim = ws.store.claim_file(id).ok().flatten();
    claim
        .and_then(|claim| claim.leased)
        .is_some_and(|began| millis(ws.ticks()).saturating_sub(began) > millis(lease + grace))
}

fn renew(options: Options, id: TaskId) -> Receiver<Option<bool>> {
    let (tell, told) = channel();
    std::thread::spawn(move || {
        let renewed = Workspace::open(&options).and_then(|ws| renew_remote(&ws, &id));
        let _ = tell.send(renewed.ok());
    });
    told
}

//! The claims of a connected session. This process holds their locks, so they end with the process, or when their lease
//! expires.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::app::{Failure, Workspace};
use crate::board::Claim;
use crate::fs;
use crate::store::Hold;
use crate::task::{TaskId, Worker};

/// The session of an unnamed program while it is connected.
#[derive(Clone)]
pub struct ClientSession {
    pub holds: Arc<HeldLocks>,
}

/// Whom a program without a role is treated as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakenFor {
    /// A program: moves outside the workflow are reserved for people.
    Program,
    /// The person that its host names.
    Person,
}

/// The claims that this process holds.
#[derive(Default)]
pub struct HeldLocks(Mutex<BTreeMap<TaskId, Hold>>);

impl HeldLocks {
    pub fn is_empty(&self) -> bool {
        self.open().is_empty()
    }

    /// A panic cannot leave this map inconsistent, so a poisoned lock can be used.
    fn open(&self) -> MutexGuard<'_, BTreeMap<TaskId, Hold>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, ws: &Workspace, id: &TaskId) -> Result<(), Failure> {
        if self.open().contains_key(id) {
            return Ok(());
        }
        fs::make_dir(&ws.store.claims_dir())?;
        let hold = Hold::take(&ws.store.claim_lock(id))?;
        self.open().insert(id.clone(), hold);
        Ok(())
    }

    pub(in crate::app) fn held(&self) -> Vec<TaskId> {
        self.open().keys().cloned().collect()
    }

    pub(in crate::app) fn let_go(&self, id: &TaskId) {
        self.open().remove(id);
    }

    /// Releases claims that the session has lost or not renewed in time.
    pub fn settle(&self, ws: &Workspace, session: &str) -> Result<(), Failure> {
        if self.idle(ws, session)?.is_empty() {
            return Ok(());
        }
        // While a claim is being granted, its lock is held but the claim is not written yet; the board's lock excludes
        // that.
        let _lock = ws.lock()?;
        for id in self.idle(ws, session)? {
            self.let_go(&id);
        }
        Ok(())
    }

    fn idle(&self, ws: &Workspace, session: &str) -> Result<Vec<TaskId>, Failure> {
        let (now, claims) = (ws.now(), ws.claims()?);
        let cared = |id: &&TaskId| claims.get(*id).is_some_and(|claim| is_mine(claim, session) && now < claim.until);
        Ok(self.open().keys().filter(|id| !cared(id)).cloned().collect())
    }
}

impl Workspace {
    /// Acts for a session, under the given name.
    pub fn act_for(&mut self, session: ClientSession, name: String) {
        self.act_as(name);
        self.session = Some(session);
    }

    /// Takes the lock before the claim is written, so that nobody sees the claim without a holder.
    pub(in crate::app) fn take_in_hand(&self, id: &TaskId, claim: &mut Claim) -> Result<(), Failure> {
        if let Some(session) = &self.session {
            session.holds.take(self, id)?;
            claim.held = true;
        }
        Ok(())
    }
}

pub(in crate::app) fn is_mine(claim: &Claim, session: &str) -> bool {
    !claim.foreign && is_of_session(&claim.worker, session)
}

/// Whether a worker is this session, in any of its roles.
pub fn is_of_session(worker: &Worker, session: &str) -> bool {
    let name = worker.as_str();
    name.strip_suffix(session).is_some_and(|role| role.is_empty() || role.ends_with('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_knows_its_own_roles_and_no_others() {
        let of = |name: &str| is_of_session(&Worker::new(name).unwrap(), "codex-7");
        assert!(of("codex-7") && of("builder@codex-7"));
        assert!(!of("builder@codex-77") && !of("xcodex-7") && !of("builder-7"));
    }
}

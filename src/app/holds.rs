//! Claims of a session that is this process: they end with it, however it ends, and no later than their lease.

use std::collections::BTreeMap;

use super::acting::is_of_session;
use super::claim::give_up;
use super::{Failure, Workspace};
use crate::board::Claim;
use crate::fs;
use crate::store::Hold;
use crate::task::TaskId;

/// What this process has in its hands.
#[derive(Default)]
pub struct Holds(BTreeMap<TaskId, Hold>);

impl Holds {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes in hand what the session has claimed, and lets go of what it has no more, or has not cared for in time.
    pub fn settle(&mut self, ws: &Workspace, session: &str) -> Result<(), Failure> {
        let now = ws.now();
        let claims = ws.claims()?;
        self.0.retain(|id, _| claims.get(id).is_some_and(|claim| is_mine(claim, session) && now < claim.until));
        let loose: Vec<TaskId> =
            claims.iter().filter(|(_, claim)| is_loose(claim, session)).map(|(id, _)| id.clone()).collect();
        if loose.is_empty() {
            return Ok(());
        }
        let _lock = ws.lock()?;
        fs::make_dir(&ws.store.claims_dir())?;
        for id in loose {
            // Read under the lock: it may have been taken over in between.
            let Some(claim) = ws.claims()?.remove(&id).filter(|claim| is_loose(claim, session)) else { continue };
            let hold = Hold::take(&ws.store.claim_lock(&id))?;
            ws.store.write_claim(&id, &Claim { held: true, ..claim })?;
            self.0.insert(id, hold);
        }
        Ok(())
    }

    /// The session is over: its tasks go back to where the workflow says.
    pub fn release(&mut self, ws: &Workspace, session: &str) -> Result<(), Failure> {
        self.settle(ws, session)?;
        let held = std::mem::take(&mut self.0);
        for id in held.keys() {
            let lock = ws.lock()?;
            let board = ws.family(id)?;
            if let Some(claim) = board.claim(id).filter(|claim| is_mine(claim, session)) {
                give_up(ws, &lock, &board, id, &claim.worker, "release")?;
            }
        }
        Ok(())
    }
}

/// A lease that nobody holds yet.
fn is_loose(claim: &Claim, session: &str) -> bool {
    claim.live && is_mine(claim, session) && !claim.held
}

fn is_mine(claim: &Claim, session: &str) -> bool {
    !claim.foreign && is_of_session(&claim.worker, session)
}

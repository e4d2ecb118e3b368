//! The claims that this clone knows: its own, and those of other machines as of the last fetch.
//!
//! Only this machine's monotonic clock decides whether a claim of another machine is live: the claim expires when its object has been
//! seen unchanged for the length of its lease. A renewal is a new object, so the lease starts again.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::app::workspace::open::test_switch;
use crate::app::{Code, Failure, FailureKind, Hint, Workspace};
use crate::board::{Board, Claim};
use crate::store::{OutboxNote, Outgoing, Sightings, Why};
use crate::task::TaskId;

use super::entry::ClaimEntry;
use super::exchange;

/// Where a claim is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reach {
    /// On `claims.remote`, if it is set.
    #[default]
    Remote,
    /// Only on this machine.
    Local,
}

/// A claim on the remote, as of the last fetch.
pub(super) struct Seen {
    pub object: String,
    pub entry: ClaimEntry,
}

/// After this time without a fetch, the remote is asked before the known claims are relied on.
const OLD: Duration = Duration::from_secs(5 * 60);

impl Workspace {
    /// The remote through which machines agree, if there is one.
    pub(in crate::app) fn claims_remote(&self) -> Option<&str> {
        Some(self.settings.text("claims.remote")).filter(|name| !name.is_empty())
    }

    /// A clock that nobody can set.
    pub(in crate::app) fn ticks(&self) -> Duration {
        let steady = test_switch("RALPH_TICKS").and_then(|ticks| ticks.parse().ok()).map(Duration::from_secs_f64);
        // A test that sets only the wall clock sets both clocks.
        let wall = || test_switch("RALPH_NOW").map(|_| Duration::from_secs(self.now().as_second().unsigned_abs()));
        steady.or_else(wall).unwrap_or_else(crate::os::clock::ticks)
    }

    pub(super) fn remote_lease(&self) -> Duration {
        Duration::from_secs(self.lease().as_secs().unsigned_abs())
    }

    /// All claims that this clone knows.
    pub(in crate::app) fn claims(&self) -> Result<BTreeMap<TaskId, Claim>, Failure> {
        let mut claims = self.store.claims(self.now())?;
        let Some(remote) = self.claims_remote() else { return Ok(claims) };
        let (sightings, seen) = (self.store.sightings(), self.seen(remote)?);
        for (id, claim) in &mut claims {
            let there = seen.get(id).map(|seen| &seen.object);
            let is_own = there.is_some() && (there == claim.remote.as_ref() || there == claim.renewing.as_ref());
            // A claim is lost if the remote has another one, or none, in its place. A fetch from before it was published does not
            // count.
            let is_lost =
                claim.remote.is_some() && !is_own && claim.published.is_none_or(|then| sightings.looks > then);
            claim.live |= !claim.held && self.is_certain(claim);
            claim.live &= !is_lost;
        }
        let outbox = self.store.outbox()?;
        let leaves = |id: &TaskId, object: &str| outbox.iter().any(|gone| gone.task == *id && gone.object == object);
        for (id, Seen { object, entry }) in seen {
            let is_own = |claim: &Claim| [&claim.remote, &claim.renewing].contains(&&Some(object.clone()));
            let ours = claims.get(&id).is_some_and(|claim| claim.live || is_own(claim));
            if !ours && entry.moved.is_none() && !leaves(&id, &object) {
                let left = self.left_of(&sightings, &object, &entry);
                claims.insert(id, entry.claim(object, self.now(), left));
            }
        }
        Ok(claims)
    }

    /// The time that is left of the lease of another machine's claim.
    pub(super) fn left_of(&self, sightings: &Sightings, object: &str, entry: &ClaimEntry) -> Duration {
        let now = millis(self.ticks());
        // After a restart the monotonic clock starts again, so older times do not count. An object without a time is seen now.
        let first = sightings.first.get(object).copied().filter(|first| *first <= now).unwrap_or(now);
        entry.lease().saturating_sub(Duration::from_millis(now - first))
    }

    /// Whether no other machine can have taken over this claim of our own. Our lease started before the remote accepted the claim, so
    /// it expires here before it expires anywhere else. Only `--force` ends it earlier.
    pub(super) fn is_certain(&self, claim: &Claim) -> bool {
        let now = millis(self.ticks());
        claim.remote.is_some()
            && claim
                .leased
                .is_some_and(|began| began <= now && Duration::from_millis(now - began) < self.remote_lease())
    }

    pub(super) fn seen(&self, remote: &str) -> Result<BTreeMap<TaskId, Seen>, Failure> {
        let read = |found: crate::git::ClaimRef| {
            Some((TaskId::new(found.task).ok()?, Seen { object: found.object, entry: ClaimEntry::read(&found.text) }))
        };
        Ok(self.repository.claims_of(remote)?.into_iter().filter_map(read).collect())
    }

    /// The object of a task's claim on the remote, as of the last fetch.
    pub(super) fn object_of(&self, remote: &str, id: &TaskId) -> Result<Option<String>, Failure> {
        Ok(self.seen(remote)?.remove(id).map(|seen| seen.object))
    }

    /// Fetches the claims. Only after that is a task in a lock state without a claim known to be free.
    pub(in crate::app) fn refresh_claims(&self) -> Result<(), Failure> {
        if self.claims_remote().is_none() {
            return Ok(());
        }
        self.look()?;
        self.send_outbox()
    }

    /// Fetches claims and the board's branch.
    pub(super) fn look(&self) -> Result<(), Failure> {
        let Some(remote) = self.claims_remote() else { return Ok(()) };
        let asked = self.store.sightings().looks;
        let _one = self.store.remote_lock()?;
        let mut sightings = self.store.sightings();
        // If another process started a look after we asked, its result is recent enough.
        if sightings.looks < asked + 2 {
            self.repository.fetch_claims(remote, exchange::upstream(self, remote).as_ref())?;
            let now = millis(self.ticks());
            let there: BTreeSet<String> =
                self.repository.claims_of(remote)?.into_iter().map(|seen| seen.object).collect();
            sightings.first.retain(|object, first| there.contains(object) && *first <= now);
            for object in there {
                sightings.first.entry(object).or_insert(now);
            }
            sightings.looks += 1;
            (sightings.last, sightings.at) = (now, Some(self.now()));
            self.store.write_sightings(&sightings)?;
        }
        self.fresh.set(true);
        Ok(())
    }

    /// Whether the last fetch is recent enough to act on. It may be some minutes old, because the remote refuses what is out of date.
    pub(super) fn has_looked(&self) -> bool {
        let (sightings, now) = (self.store.sightings(), millis(self.ticks()));
        sightings.looks > 0 && sightings.last <= now && Duration::from_millis(now - sightings.last) < OLD
    }

    /// Whether this clone knows every claim.
    pub(in crate::app) fn knows_all_claims(&self) -> bool {
        self.claims_remote().is_none() || self.fresh.get()
    }

    /// Before a move: a claim of our own that is certain needs no fetch. Otherwise the fetch shows whether the claim was lost; if the
    /// remote cannot be reached, an expired claim is refused.
    pub(in crate::app) fn look_for_claims(&self, id: &TaskId) -> Result<(), Failure> {
        let Some(remote) = self.claims_remote().filter(|_| !self.fresh.get()) else { return Ok(()) };
        let own = self.store.claim_file(id)?.filter(|claim| claim.remote.is_some());
        if own.as_ref().is_some_and(|claim| self.is_certain(claim)) {
            return Ok(());
        }
        match (self.look(), own) {
            (Ok(()), Some(claim)) => self.revive(id, remote, &claim),
            (Ok(()), None) => Ok(()),
            (Err(failure), Some(_)) if failure.kind == FailureKind::Offline => Err(unconfirmed(id, remote, &failure)),
            (Err(failure), _) => {
                self.tell_unseen(&failure);
                Ok(())
            }
        }
    }

    /// Renews an expired claim that nobody has taken over. If another machine takes it at this moment, the push at the end of the command
    /// is refused.
    fn revive(&self, id: &TaskId, remote: &str, claim: &Claim) -> Result<(), Failure> {
        let is_there = self.object_of(remote, id)?.is_some_and(|there| claim.remote.as_ref() == Some(&there));
        if is_there && !claim.held && self.me().is_ok_and(|me| me == claim.worker) {
            let until = self.now().checked_add(self.lease()).unwrap_or(claim.until);
            self.store.write_claim(id, &Claim { until, ..claim.clone() })?;
            self.touched.borrow_mut().insert(id.clone());
        }
        Ok(())
    }

    /// For a new turn: fetch again, and try again to push the board.
    pub(in crate::app) fn look_anew(&self) {
        self.fresh.set(false);
        self.board_kept_back.set(false);
    }

    /// Fetches again. A remote that cannot be reached is only reported.
    pub(in crate::app) fn look_again(&self) {
        if let Err(failure) = self.look() {
            self.tell_unseen(&failure);
        }
    }

    fn tell_unseen(&self, failure: &Failure) {
        self.notice(format!("{}: using the last known claims of other machines", failure.message));
    }

    /// The board with the claims of other machines and the tasks that they have changed.
    pub(in crate::app) fn with_others(&self, board: Board) -> Result<Board, Failure> {
        let board = board.with_claims(self.claims()?);
        match self.claims_remote() {
            Some(remote) => Ok(board.with_elsewhere(self.changed_elsewhere(remote)?)),
            None => Ok(board),
        }
    }

    /// Tasks that other machines have moved or changed and this clone does not have yet, with the place of the change.
    fn changed_elsewhere(&self, remote: &str) -> Result<BTreeMap<TaskId, String>, Failure> {
        let mut found = exchange::changed_upstream(self, remote)?;
        let moved: Vec<(TaskId, ClaimEntry)> = self
            .seen(remote)?
            .into_iter()
            .map(|(id, seen)| (id, seen.entry))
            .filter(|(_, entry)| entry.moved.is_some())
            .collect();
        if !moved.is_empty() {
            let known: BTreeSet<String> = self.store.journal()?.0.into_iter().map(|line| line.id).collect();
            for (id, entry) in moved {
                if entry.moved.is_some_and(|line| !known.contains(&line)) {
                    found.insert(id, entry.host);
                }
            }
        }
        Ok(found)
    }

    /// Ends a claim here, and on the remote once the board's lock is free. `moved` is the journal line of the move that ended it.
    pub(in crate::app) fn drop_claim(&self, id: &TaskId, moved: Option<String>) -> Result<(), Failure> {
        let claim = self.claims()?.remove(id).filter(|_| self.claims_remote().is_some());
        if let Some(claim) = claim {
            let why = if moved.is_some() { Why::Moved } else { Why::GivenUp };
            if let Some(object) = claim.renewing {
                self.put_out(id, object, Why::Unsettled, None)?;
            }
            if let Some(object) = claim.remote {
                let note = OutboxNote { why, line: moved, since: self.ticks().as_secs(), looks: claim.published };
                self.store.put_in_outbox(&Outgoing { task: id.clone(), object, note })?;
            }
        }
        self.store.remove_claim(id)?;
        if let Some(session) = &self.session {
            session.holds.let_go(id);
        }
        Ok(())
    }

    pub(super) fn put_out(&self, id: &TaskId, object: String, why: Why, line: Option<String>) -> Result<(), Failure> {
        let note = OutboxNote { why, line, since: self.ticks().as_secs(), looks: None };
        Ok(self.store.put_in_outbox(&Outgoing { task: id.clone(), object, note })?)
    }
}

fn unconfirmed(id: &TaskId, remote: &str, failure: &Failure) -> Failure {
    let message = format!(
        "your claim on {id} has expired, and {remote} could not be asked whether you still hold it: {}",
        failure.message
    );
    Failure::new(FailureKind::Offline, Code::Unconfirmed, message)
        .hint(Hint::step("nothing was changed; your work stays where it is"))
        .hint(Hint::Retry)
}

pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The task that a path of the board belongs to.
pub(super) fn task_of(path: &str) -> Option<TaskId> {
    let name = path.strip_prefix(".ralph/")?.strip_prefix("tasks/")?;
    TaskId::new(name.strip_suffix(".toml")?).ok()
}

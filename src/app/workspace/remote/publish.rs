//! A claim is published before it is taken here, so that the remote decides who was first.
//!
//! The push is optimistic: it goes by what this clone last saw, and the remote refuses it where that is out of date. Only then is the
//! remote asked. Whoever dies in between has left a note in the outbox, which the next command of this clone settles.

use std::time::{Duration, Instant};

use crate::app::{Code, Failure, FailureKind, Hint, Workspace};
use crate::board::{Board, Claim};
use crate::git::{RefAnswer, RefUpdate};
use crate::store::{FileLock, Sightings, Why};
use crate::task::TaskId;

use super::entry::ClaimEntry;
use super::round::{Round, Settled};
use super::view::{Reach, millis};

/// A claim that is on the remote and not yet here. A first one that is dropped is left to be taken back; one that renews is
/// its holder's either way.
pub(in crate::app) struct Published {
    object: String,
    until: jiff::Timestamp,
    /// How often the remote had been looked at when it took the claim.
    looks: u64,
    /// When its lease began.
    leased: u64,
    _hold: FileLock,
}

impl Published {
    /// The claim as it is here, now that the remote has it.
    pub fn mark(&self, claim: &mut Claim) {
        claim.remote = Some(self.object.clone());
        claim.published = Some(self.looks);
        claim.leased = Some(self.leased);
        claim.until = self.until;
        claim.renewing = None;
    }

    /// It is this clone's now: there is nothing to take back.
    pub fn settle(&self, ws: &Workspace, id: &TaskId) -> Result<(), Failure> {
        Ok(ws.store.drop_from_outbox(id, &self.object)?)
    }
}

const TRIES: u32 = 20;
/// How often a claim whose files another machine has just claimed is tried again.
const OVERLAPS: u32 = 4;
/// A remote that takes longer than this to fail is left alone for a while by what can wait.
const SLOW: Duration = Duration::from_secs(2);
const REST: Duration = Duration::from_secs(60);

/// Publishes the claim that would be granted, before it is; `None` where claims stay on this machine.
pub(in crate::app) fn publish(
    ws: &Workspace,
    reach: Reach,
    draft: impl Fn(&Board) -> Result<(TaskId, Claim), Failure>,
    board: impl Fn() -> Result<Board, Failure>,
) -> Result<Option<(TaskId, Published)>, Failure> {
    let Some(remote) = ws.claims_remote().filter(|_| reach == Reach::Remote) else { return Ok(None) };
    let mut looked = ws.fresh.get();
    if !looked && !ws.has_looked() {
        ws.look().map_err(unless_local)?;
        looked = true;
    }
    for attempt in 0..TRIES {
        let (id, _) = match draft(&board()?) {
            // What is known here may be old.
            Err(failure) if !looked && may_be_outdated(&failure) => {
                ws.look().map_err(unless_local)?;
                looked = true;
                continue;
            }
            drafted => drafted?,
        };
        let hold = ws.store.hold_remote(&id)?;
        // What is expected is read before it is judged again: a claim that comes in after that makes the remote say no.
        let there = ws.object_of(remote, &id)?;
        let (same, claim) = draft(&board()?)?;
        if same != id {
            continue;
        }
        match put(ws, remote, &id, &claim, there, hold).map_err(unless_local)? {
            Some(published) => {
                // Another machine may have published an overlapping scope at the same moment. Whoever comes second sees the
                // first in this look, before anything is granted here.
                if !claim.paths.is_empty() {
                    ws.look()?;
                    if attempt < OVERLAPS && draft(&board()?).is_err_and(|failure| failure.code == Code::ScopeHeld) {
                        // Both may have seen each other, and withdraw.
                        drop(published);
                        ws.send_outbox()?;
                        pause(ws, attempt + 4);
                        ws.look()?;
                        continue;
                    }
                }
                return Ok(Some((id, published)));
            }
            None => {
                looked = true;
                pause(ws, attempt);
                ws.look().map_err(unless_local)?;
            }
        }
    }
    let message = format!("other machines changed the claims first, {TRIES} times in a row");
    Err(Failure::new(FailureKind::Raced, Code::Raced, message).hint(Hint::Retry))
}

/// So that those who lost together do not try again together.
fn pause(ws: &Workspace, attempt: u32) {
    if attempt > 0 {
        std::thread::sleep(Duration::from_millis(ws.rng().u64(5..=20) << attempt.min(5)));
    }
}

/// Whether another look at the remote could bring another answer.
fn may_be_outdated(failure: &Failure) -> bool {
    matches!(failure.kind, FailureKind::Raced | FailureKind::Nothing | FailureKind::Refused)
}

fn unless_local(failure: Failure) -> Failure {
    match failure.kind {
        FailureKind::Offline => {
            failure.hint(Hint::option("--local", "to claim it on this machine only, until the next pull or push"))
        }
        _ => failure,
    }
}

/// Publishes a claim in the place of what is expected there, together with what else the remote has yet to hear. What is to become of
/// it if we die now is written down first: a new one is to be taken back, one that renews is its holder's whether the remote has
/// heard of it or not.
fn put(
    ws: &Workspace,
    remote: &str,
    id: &TaskId,
    claim: &Claim,
    expected: Option<String>,
    hold: FileLock,
) -> Result<Option<Published>, Failure> {
    let (until, leased) = (ws.now().checked_add(ws.lease()).unwrap_or(claim.until), millis(ws.ticks()));
    let object = ws.repository.object_of(&ClaimEntry::of(claim, ws.remote_lease()).text())?;
    let renews = claim.remote.is_some();
    if renews {
        if !replace_claim(ws, id, claim, |claim| claim.renewing = Some(object.clone()))? {
            return Ok(None);
        }
    } else {
        ws.put_out(id, object.clone(), Why::Unsettled, None)?;
    }
    let looks = ws.looks_by_now()?;
    let update = RefUpdate::claim(id.as_str(), expected, Some(object.clone()));
    let round = if renews { Round::alone(ws, remote) } else { Round::gather(ws, remote, Some(id))? };
    match round.push_with(update)? {
        Settled::All => Ok(Some(Published { object, until, looks, leased, _hold: hold })),
        Settled::Claim(RefAnswer::Done) => Ok(Some(Published { object, until, looks, leased, _hold: hold })),
        Settled::Claim(_) | Settled::Stale => {
            if !renews {
                ws.store.drop_from_outbox(id, &object)?;
            }
            Ok(None)
        }
    }
}

impl Workspace {
    /// How many looks say nothing about what is published now; one that is under way may have begun before.
    fn looks_by_now(&self) -> Result<u64, Failure> {
        let idle = self.store.try_remote_lock()?.is_some();
        Ok(self.store.sightings().looks + u64::from(!idle))
    }

    /// What a verb leaves to be done on the remote. For the end of a command, when no lock is held.
    ///
    /// # Errors
    /// Where a move of this command was made under a claim that somebody else had taken over: it is undone.
    pub fn finish<T>(&self, result: Result<T, Failure>) -> Result<T, Failure> {
        if self.claims_remote().is_none() || self.is_past() {
            return result;
        }
        if let Err(failure) = self.unless_silent(|| self.send_outbox().and_then(|()| self.renew_touched())) {
            self.notice(format!("{}: the changes to your claims will be sent by the next command", failure.message));
        }
        self.refuse_lost_moves().and(result)
    }

    /// Nobody waits again and again for a remote that does not answer, only to tell it something.
    fn unless_silent(&self, tell: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
        let (sightings, now) = (self.store.sightings(), millis(self.ticks()));
        let rests = |since: u64| since <= now && Duration::from_millis(now - since) < REST;
        if sightings.silent.is_some_and(rests) {
            return Ok(());
        }
        let began = Instant::now();
        let told = tell();
        let silent = told.is_err() && began.elapsed() > SLOW;
        if silent || sightings.silent.is_some() {
            let silent = silent.then_some(now);
            self.store.write_sightings(&Sightings { silent, ..self.store.sightings() })?;
        }
        told
    }

    /// A sign of the holder renews its lease on the remote, too, once half of it is over.
    fn renew_touched(&self) -> Result<(), Failure> {
        for id in self.touched.take() {
            let due = self.claims()?.remove(&id).is_some_and(|claim| {
                let age = claim.leased.map_or(u64::MAX, |began| millis(self.ticks()).saturating_sub(began));
                claim.live && !claim.foreign && claim.remote.is_some() && age > millis(self.remote_lease()) / 2
            });
            if due {
                renew_remote(self, &id)?;
            }
        }
        Ok(())
    }
}

/// Changes a claim's file if it is still the one that was read; whether it was.
fn replace_claim(ws: &Workspace, id: &TaskId, read: &Claim, change: impl FnOnce(&mut Claim)) -> Result<bool, Failure> {
    let _lock = ws.lock()?;
    let Some(mut claim) = ws.store.claim_file(id)?.filter(|claim| claim.token == read.token) else { return Ok(false) };
    change(&mut claim);
    ws.store.write_claim(id, &claim)?;
    Ok(true)
}

/// Another lease on the remote for a claim of this clone; `false` where it has been lost.
pub(super) fn renew_remote(ws: &Workspace, id: &TaskId) -> Result<bool, Failure> {
    let Some(remote) = ws.claims_remote() else { return Ok(true) };
    for _ in 0..3 {
        let hold = ws.store.hold_remote(id)?;
        let Some(claim) = ws.claims()?.remove(id).filter(|claim| claim.live && !claim.foreign) else {
            return Ok(false);
        };
        if claim.remote.is_none() {
            return Ok(true);
        }
        // Its own object, and never what somebody else has put there.
        let there = ws.object_of(remote, id)?;
        let expected = if there.is_some() && there == claim.renewing { there } else { claim.remote.clone() };
        if let Some(published) = put(ws, remote, id, &claim, expected, hold)? {
            return keep(ws, id, &claim, &published);
        }
        ws.look()?;
    }
    Ok(false)
}

/// Writes down what the remote has taken, unless the claim has gone or changed hands here in the meantime.
fn keep(ws: &Workspace, id: &TaskId, claim: &Claim, published: &Published) -> Result<bool, Failure> {
    let kept = replace_claim(ws, id, claim, |claim| published.mark(claim))?;
    match kept {
        true => published.settle(ws, id)?,
        false => ws.put_out(id, published.object.clone(), Why::GivenUp, None)?,
    }
    Ok(kept)
}

/// Claims that were made while the remote could not be reached: it hears of them now, and may know better.
pub(in crate::app) fn publish_missing(ws: &Workspace) -> Result<(), Failure> {
    let Some(remote) = ws.claims_remote() else { return Ok(()) };
    ws.refresh_claims()?;
    let local = ws.store.claims(ws.now())?;
    for (id, claim) in local.into_iter().filter(|(_, claim)| claim.live && claim.remote.is_none()) {
        let hold = ws.store.hold_remote(&id)?;
        let there = ws.others_claim(remote, &id)?;
        if let Some(other) = there.as_ref().filter(|other| other.live) {
            let both = format!(
                "{id} is claimed here by {}, and on {remote} by {} (machine {})",
                claim.worker, other.worker, other.host
            );
            ws.notice(format!("{both}: one of them has to release it"));
            continue;
        }
        let expected = ws.object_of(remote, &id)?;
        let Some(published) = put(ws, remote, &id, &claim, expected, hold)? else { continue };
        if keep(ws, &id, &claim, &published)? {
            ws.notice(format!("the claim of {} on {id} is now published to {remote}", claim.worker));
        }
    }
    Ok(())
}

//! Publishes a claim before it is granted here, so that the remote decides which machine was first.
//!
//! The push is optimistic: it expects what this clone last fetched, and the remote refuses it if that is out of date. Only then does
//! this clone fetch. If the process dies in between, its note in the outbox tells the next command of this clone what to take back.

use std::time::{Duration, Instant};

use crate::app::{Code, Failure, FailureKind, Hint, Workspace};
use crate::board::{Board, Claim};
use crate::git::{RefAnswer, RefUpdate};
use crate::store::{FileLock, Sightings, Why};
use crate::task::TaskId;

use super::entry::ClaimEntry;
use super::round::{Round, Settled};
use super::view::{Reach, millis};

/// A claim that the remote has accepted and that is not granted here yet. If a new claim is dropped, its entry in the
/// outbox removes it from the remote; if a renewal is dropped, the holder keeps the claim.
pub(in crate::app) struct Published {
    object: String,
    until: jiff::Timestamp,
    /// How often the remote had been fetched when it accepted the claim.
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

    /// The claim has been granted here, so it must not be taken back.
    pub fn settle(&self, ws: &Workspace, id: &TaskId) -> Result<(), Failure> {
        Ok(ws.store.drop_from_outbox(id, &self.object)?)
    }
}

const TRIES: u32 = 20;
/// How often a claim is tried again if another machine has just claimed some of the same files.
const OVERLAPS: u32 = 4;
/// If the remote takes longer than this to fail, commands that can wait do not ask it for a while.
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
            // The claims known here may be out of date.
            Err(failure) if !looked && may_be_outdated(&failure) => {
                ws.look().map_err(unless_local)?;
                looked = true;
                continue;
            }
            drafted => drafted?,
        };
        let hold = ws.store.hold_remote(&id)?;
        // Read the expected object before deciding again: if another claim arrives after that, the remote refuses the push.
        let there = ws.object_of(remote, &id)?;
        let (same, claim) = draft(&board()?)?;
        if same != id {
            continue;
        }
        match put(ws, remote, &id, &claim, there, hold).map_err(unless_local)? {
            Some(published) => {
                // Another machine may have published an overlapping scope at the same moment. The later of the two sees the other
                // in this look, before the claim is granted here.
                if !claim.paths.is_empty() {
                    ws.look()?;
                    if attempt < OVERLAPS && draft(&board()?).is_err_and(|failure| failure.code == Code::ScopeHeld) {
                        // Each may have seen the other, so both withdraw and try again.
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

/// A random pause, so that machines that lost at the same moment do not try again at the same moment.
fn pause(ws: &Workspace, attempt: u32) {
    if attempt > 0 {
        std::thread::sleep(Duration::from_millis(ws.rng().u64(5..=20) << attempt.min(5)));
    }
}

/// Whether the answer could be different after another fetch.
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

/// Replaces the expected object on the remote with this claim, in one push with everything else that is outgoing. Before that, a note
/// says what to do if this process dies: take back a new claim, or keep a renewal, whether or not the remote has accepted it.
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
    /// The number of looks that cannot show what is pushed now. A look that is under way may have started before the push.
    fn looks_by_now(&self) -> Result<u64, Failure> {
        let idle = self.store.try_remote_lock()?.is_some();
        Ok(self.store.sightings().looks + u64::from(!idle))
    }

    /// Tells the remote what a command has changed. Called at the end of the command, when no lock is held.
    ///
    /// # Errors
    /// If this command moved a task under a claim that another machine had taken over. The move has been undone.
    pub fn finish<T>(&self, result: Result<T, Failure>) -> Result<T, Failure> {
        self.tell_remote().and(result)
    }

    // Apart from `finish`, so that it is compiled once and not for each type of result.
    fn tell_remote(&self) -> Result<(), Failure> {
        if self.claims_remote().is_none() || self.is_past() {
            return Ok(());
        }
        if let Err(failure) = self.unless_silent(|| self.send_outbox().and_then(|()| self.renew_touched())) {
            self.notice(format!("{}: the changes to your claims will be sent by the next command", failure.message));
        }
        self.refuse_lost_moves()
    }

    /// Does nothing for a minute after the remote did not answer, so that not every command waits for it.
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

    /// Renews the leases of touched tasks on the remote, once half of a lease has passed.
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

/// Changes a claim's file, unless it has been replaced since it was read. Returns whether it was changed.
fn replace_claim(ws: &Workspace, id: &TaskId, read: &Claim, change: impl FnOnce(&mut Claim)) -> Result<bool, Failure> {
    let _lock = ws.lock()?;
    let Some(mut claim) = ws.store.claim_file(id)?.filter(|claim| claim.token == read.token) else { return Ok(false) };
    change(&mut claim);
    ws.store.write_claim(id, &claim)?;
    Ok(true)
}

/// Renews the lease of a claim of this clone on the remote; `false` if the claim has been lost.
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
        // Expect only our own object, never one of another machine.
        let there = ws.object_of(remote, id)?;
        let expected = if there.is_some() && there == claim.renewing { there } else { claim.remote.clone() };
        if let Some(published) = put(ws, remote, id, &claim, expected, hold)? {
            return keep(ws, id, &claim, &published);
        }
        ws.look()?;
    }
    Ok(false)
}

/// Stores that the remote has accepted the claim, unless the claim here has ended or been replaced in the meantime.
fn keep(ws: &Workspace, id: &TaskId, claim: &Claim, published: &Published) -> Result<bool, Failure> {
    let kept = replace_claim(ws, id, claim, |claim| published.mark(claim))?;
    match kept {
        true => published.settle(ws, id)?,
        false => ws.put_out(id, published.object.clone(), Why::GivenUp, None)?,
    }
    Ok(kept)
}

/// Publishes claims that were granted while the remote could not be reached. Another machine may hold the same task by now.
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

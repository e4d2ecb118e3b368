//! Claims across machines: a reference on a git remote for each, so that the remote decides who was first.
//!
//! The remote is never asked while the board's lock is held. A claim is published first, then taken here; whoever dies in
//! between has left a note of what to take back, which the next command of this clone does. What was released while the
//! remote could not be reached is taken back in the same way.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::app::{Code, Failure, FailureKind, Hint, Workspace};
use crate::board::{Board, Claim, Scope};
use crate::store::FileLock;
use crate::task::{TaskId, Worker};

/// How far a claim reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reach {
    /// As far as `claims.remote` says.
    #[default]
    Remote,
    /// This machine only.
    Local,
}

/// What the reference holds. The nonce makes it unlike any other: an equal one would "win" for two at once.
#[derive(Debug, Serialize, Deserialize)]
struct ClaimEntry {
    worker: Worker,
    host: String,
    since: Timestamp,
    until: Timestamp,
    command: Option<String>,
    #[serde(default, skip_serializing_if = "Scope::is_empty")]
    paths: Scope,
    nonce: String,
}

/// A claim that is on the remote and not yet here. A first one that is dropped is left to be taken back; one that renews is
/// its holder's either way.
pub(in crate::app) struct Published {
    object: String,
    until: Timestamp,
    at: Timestamp,
    _hold: FileLock,
}

impl Published {
    /// The claim as it is here, now that the remote has it.
    pub fn mark(&self, claim: &mut Claim) {
        claim.remote = Some(self.object.clone());
        claim.published = Some(self.at);
        claim.until = self.until;
        claim.renewing = None;
    }

    /// It is this clone's now: there is nothing to take back.
    pub fn settle(&self, ws: &Workspace, id: &TaskId) -> Result<(), Failure> {
        Ok(ws.store.forget_retired(id, &self.object)?)
    }
}

const TRIES: usize = 5;

impl Workspace {
    /// The remote through which machines agree, if there is one.
    pub(in crate::app) fn claims_remote(&self) -> Option<&str> {
        Some(self.settings.text("claims.remote")).filter(|name| !name.is_empty())
    }

    /// All claims that this clone knows: its own, and those of others as they were last seen on the remote.
    pub(in crate::app) fn claims(&self) -> Result<BTreeMap<TaskId, Claim>, Failure> {
        let mut claims = self.store.claims(self.now())?;
        let Some(remote) = self.claims_remote() else { return Ok(claims) };
        let (looked, seen) = (self.store.claims_seen(), seen(self, remote)?);
        for (id, claim) in &mut claims {
            // Who finds another's claim, or none, where its own was has lost it; but what was seen before it was there says
            // nothing.
            let there = seen.get(id).map(|(object, _)| object);
            let is_own = there.is_some() && (there == claim.remote.as_ref() || there == claim.renewing.as_ref());
            let knows_better = looked > claim.published;
            claim.live &= claim.remote.is_none() || is_own || !knows_better;
        }
        let retired = self.store.retired_claims()?;
        for (id, (object, entry)) in seen {
            let is_own = |claim: &Claim| [&claim.remote, &claim.renewing].contains(&&Some(object.clone()));
            let ours = claims.get(&id).is_some_and(|claim| claim.live || is_own(claim));
            let leaving = retired.iter().any(|(task, gone)| *task == id && *gone == object);
            if !ours && !leaving {
                claims.insert(id, entry.claim(object, self.now()));
            }
        }
        Ok(claims)
    }

    /// Asks the remote who has what. Only then is a lock without a claim known to be nobody's.
    pub(in crate::app) fn refresh_claims(&self) -> Result<(), Failure> {
        let Some(remote) = self.claims_remote() else { return Ok(()) };
        take_back(self, remote)?;
        let asked = Timestamp::now();
        let _one = self.store.remote_lock()?;
        // Whoever was before us may have brought what we want to know.
        if self.store.claims_seen().is_none_or(|seen| seen < asked) {
            let began = Timestamp::now();
            self.repository.fetch_claims(remote)?;
            self.store.note_claims_seen(began)?;
        }
        self.fresh.set(true);
        Ok(())
    }

    /// Whether nobody can hold a task without this clone's knowing.
    pub(in crate::app) fn knows_all_claims(&self) -> bool {
        self.claims_remote().is_none() || self.fresh.get()
    }

    /// Gives up a claim here; on the remote, once the board's lock is free.
    pub(in crate::app) fn drop_claim(&self, id: &TaskId) -> Result<(), Failure> {
        let object = self.claims()?.remove(id).and_then(|claim| claim.remote);
        if let Some(object) = object.filter(|_| self.claims_remote().is_some()) {
            self.store.retire_claim(id, &object)?;
        }
        self.store.remove_claim(id)?;
        if let Some(session) = &self.session {
            session.holds.let_go(id);
        }
        Ok(())
    }

    /// Before a move: whoever lost a claim elsewhere should hear of it now. What cannot be asked is taken as last seen.
    pub(in crate::app) fn look_for_claims(&self) {
        if self.claims_remote().is_some()
            && !self.fresh.get()
            && let Err(failure) = self.refresh_claims()
        {
            self.notice(format!("{}: claims of other machines are taken as they were last seen", failure.message));
        }
    }

    /// What a verb leaves to be done on the remote. For the end of a command, when no lock is held.
    pub fn finish(&self) {
        let Some(remote) = self.claims_remote() else { return };
        if let Err(failure) = take_back(self, remote).and_then(|()| renew_touched(self)) {
            self.notice(format!("{}: what changed of your claims is told there next time", failure.message));
        }
    }
}

impl ClaimEntry {
    fn of(claim: &Claim, nonce: String) -> Self {
        let Claim { worker, host, since, until, command, paths, .. } = claim.clone();
        Self { worker, host, since, until, command, paths, nonce }
    }

    fn unreadable() -> Self {
        let epoch = Timestamp::UNIX_EPOCH;
        let worker = Worker::new("unreadable").expect("a plain word is a name");
        let (host, nonce) = (String::new(), String::new());
        Self { worker, host, since: epoch, until: epoch, command: None, paths: Scope::default(), nonce }
    }

    fn claim(self, object: String, now: Timestamp) -> Claim {
        Claim {
            live: now < self.until,
            worker: self.worker,
            host: self.host,
            since: self.since,
            until: self.until,
            held: false,
            token: String::new(),
            command: self.command,
            paths: self.paths,
            remote: Some(object),
            renewing: None,
            published: None,
            session: None,
            foreign: true,
        }
    }
}

fn seen(ws: &Workspace, remote: &str) -> Result<BTreeMap<TaskId, (String, ClaimEntry)>, Failure> {
    let read = |found: crate::git::ClaimRef| {
        // What cannot be read binds nobody, and whoever claims the task puts it right.
        let entry = toml::from_str(&found.text).unwrap_or_else(|_| ClaimEntry::unreadable());
        Some((TaskId::new(found.task).ok()?, (found.object, entry)))
    };
    Ok(ws.repository.claims_of(remote)?.into_iter().filter_map(read).collect())
}

/// Publishes the claim that would be granted, before it is; `None` where claims stay on this machine.
pub(in crate::app) fn publish(
    ws: &Workspace,
    reach: Reach,
    draft: impl Fn(&Board) -> Result<(TaskId, Claim), Failure>,
    board: impl Fn() -> Result<Board, Failure>,
) -> Result<Option<(TaskId, Published)>, Failure> {
    let Some(remote) = ws.claims_remote().filter(|_| reach == Reach::Remote) else { return Ok(None) };
    for _ in 0..TRIES {
        ws.refresh_claims().map_err(unless_local)?;
        let (id, _) = draft(&board()?)?;
        let hold = ws.store.hold_remote(&id)?;
        // What is expected is read before it is judged again: a claim that comes in after that makes the remote say no.
        let there = seen(ws, remote)?.remove(&id).map(|(object, _)| object);
        let (same, claim) = draft(&board()?)?;
        if same != id {
            continue;
        }
        if let Some(object) = put(ws, remote, &id, &claim, there.as_deref())? {
            let (until, at) = (claim.until, Timestamp::now());
            // Another machine may have published an overlapping scope at the same moment. Whoever comes second sees the
            // first in this look, before anything is granted here.
            if !claim.paths.is_empty() {
                ws.refresh_claims()?;
            }
            return Ok(Some((id, Published { object, until, at, _hold: hold })));
        }
    }
    let message = "somebody else claims it again and again";
    Err(Failure::new(FailureKind::Raced, Code::Raced, message).hint(Hint::Retry))
}

fn unless_local(failure: Failure) -> Failure {
    match failure.code {
        Code::Offline => {
            failure.hint(Hint::option("--local", "to claim it on this machine only, until the next pull or push"))
        }
        _ => failure,
    }
}

/// Publishes a claim in the place of what is expected there. What is to become of it if we die now is written down first: a
/// new one is to be taken back, one that renews is its holder's whether the remote has heard of it or not.
fn put(
    ws: &Workspace,
    remote: &str,
    id: &TaskId,
    claim: &Claim,
    expected: Option<&str>,
) -> Result<Option<String>, Failure> {
    let nonce: String = (0..16).map(|_| fastrand::alphanumeric()).collect();
    let text = toml::to_string(&ClaimEntry::of(claim, nonce)).expect("an entry is a flat table");
    let object = ws.repository.object_of(&text)?;
    let renews = claim.remote.is_some();
    if renews {
        if !replace_claim(ws, id, claim, |claim| claim.renewing = Some(object.clone()))? {
            return Ok(None);
        }
    } else {
        ws.store.retire_claim(id, &object)?;
    }
    let put = ws.repository.push_claim(remote, id.as_str(), expected, Some(&text))?;
    if put.is_none() && !renews {
        ws.store.forget_retired(id, &object)?;
    }
    Ok(put)
}

/// Changes a claim's file if it is still the one that was read; whether it was.
fn replace_claim(ws: &Workspace, id: &TaskId, read: &Claim, change: impl FnOnce(&mut Claim)) -> Result<bool, Failure> {
    let _lock = ws.lock()?;
    let Some(mut claim) = ws.store.claim_file(id)?.filter(|claim| claim.token == read.token) else { return Ok(false) };
    change(&mut claim);
    ws.store.write_claim(id, &claim)?;
    Ok(true)
}

/// Takes back on the remote what this clone has given up.
fn take_back(ws: &Workspace, remote: &str) -> Result<(), Failure> {
    for (id, object) in ws.store.retired_claims()? {
        // Somebody is just publishing it.
        let Some(_hold) = ws.store.try_hold_remote(&id)? else { continue };
        let known = |ws: &Workspace| -> Result<bool, Failure> {
            Ok(ws.repository.claims_of(remote)?.iter().any(|there| there.task == id.as_str() && there.object == object))
        };
        if ws.repository.push_claim(remote, id.as_str(), Some(&object), None)?.is_none() && known(ws)? {
            // Not taken away, and perhaps not there any more: it has to be asked.
            ws.repository.fetch_claims(remote)?;
            if known(ws)? {
                let message = format!("{remote} keeps the claim on {id}");
                return Err(Failure::new(FailureKind::Offline, Code::Denied, message));
            }
        }
        ws.store.forget_retired(&id, &object)?;
    }
    Ok(())
}

/// A sign of the holder renews its lease on the remote, too, once half of it is over.
fn renew_touched(ws: &Workspace) -> Result<(), Failure> {
    for id in ws.touched.take() {
        let due = ws.claims()?.remove(&id).is_some_and(|claim| {
            let left = claim.until.duration_since(ws.now());
            claim.live && !claim.foreign && claim.remote.is_some() && left.as_secs() < ws.lease().as_secs() / 2
        });
        if due {
            renew_remote(ws, &id)?;
        }
    }
    Ok(())
}

/// Another lease on the remote for a claim of this clone; `false` where it has been lost.
pub fn renew_remote(ws: &Workspace, id: &TaskId) -> Result<bool, Failure> {
    let Some(remote) = ws.claims_remote() else { return Ok(true) };
    let hold = ws.store.hold_remote(id)?;
    let Some(claim) = ws.claims()?.remove(id).filter(|claim| claim.live && !claim.foreign) else { return Ok(false) };
    if claim.remote.is_none() {
        return Ok(true);
    }
    let there = seen(ws, remote)?.remove(id).map(|(object, _)| object).or_else(|| claim.remote.clone());
    let until = ws.now().checked_add(ws.lease()).unwrap_or(claim.until);
    let Some(object) = put(ws, remote, id, &Claim { until, ..claim.clone() }, there.as_deref())? else {
        return Ok(false);
    };
    let published = Published { object, until, at: Timestamp::now(), _hold: hold };
    keep(ws, id, &claim, &published)
}

/// Writes down what the remote has taken, unless the claim has gone or changed hands here in the meantime.
fn keep(ws: &Workspace, id: &TaskId, claim: &Claim, published: &Published) -> Result<bool, Failure> {
    let kept = replace_claim(ws, id, claim, |claim| published.mark(claim))?;
    match kept {
        true => published.settle(ws, id)?,
        false => ws.store.retire_claim(id, &published.object)?,
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
        let there = seen(ws, remote)?.remove(&id);
        if let Some((_, other)) = there.as_ref().filter(|(_, other)| ws.now() < other.until) {
            let both = format!(
                "{id} is held here by {} and, on {remote}, by {} of {}",
                claim.worker, other.worker, other.host
            );
            ws.notice(format!("{both}: one of them has to release it"));
            continue;
        }
        let expected = there.map(|(object, _)| object);
        let Some(object) = put(ws, remote, &id, &claim, expected.as_deref())? else { continue };
        let published = Published { object, until: claim.until, at: Timestamp::now(), _hold: hold };
        if keep(ws, &id, &claim, &published)? {
            ws.notice(format!("{remote} knows now that {} has {id}", claim.worker));
        }
    }
    Ok(())
}

//! Claims across machines: a reference on a git remote for each, so that the remote decides who was first.
//!
//! The remote is never asked while the board's lock is held. A claim is published first, then taken here; whoever dies in
//! between has left a note of what to take back, which the next command of this clone does. What was released while the
//! remote could not be reached is taken back in the same way.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Failure, FailureKind, Hint, Workspace};
use crate::board::{Board, Claim, ClaimAsk};
use crate::store::BoardLock;
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
struct Entry {
    worker: Worker,
    host: String,
    since: Timestamp,
    until: Timestamp,
    command: Option<String>,
    nonce: String,
}

/// A claim that is on the remote and not yet here. Dropped, it is left to be taken back.
pub(super) struct Published {
    pub object: String,
    pub until: Timestamp,
    _hold: BoardLock,
}

const TRIES: usize = 5;

impl Workspace {
    /// The remote through which machines agree, if there is one.
    pub(super) fn claims_remote(&self) -> Option<&str> {
        Some(self.settings.text("claims.remote")).filter(|name| !name.is_empty())
    }

    /// All claims that this clone knows: its own, and those of others as they were last seen on the remote.
    pub(super) fn claims(&self) -> Result<BTreeMap<TaskId, Claim>, Failure> {
        let mut claims = self.store.claims(self.now())?;
        let Some(remote) = self.claims_remote() else { return Ok(claims) };
        let retired = self.store.retired_claims()?;
        let seen: BTreeMap<TaskId, (String, Entry)> = seen(self, remote)?;
        for (id, claim) in &mut claims {
            // Who finds another's claim, or none, where its own was has lost it; what is just being renewed is its own.
            let there = seen.get(id).map(|(object, _)| object);
            let renewing = there.is_some() && retired.get(id) == there;
            claim.live &= claim.remote.is_none() || claim.remote.as_ref() == there || renewing;
        }
        for (id, (object, entry)) in seen {
            let ours = claims.get(&id).is_some_and(|claim| claim.live || claim.remote.as_ref() == Some(&object));
            let leaving = retired.get(&id) == Some(&object);
            if !ours && !leaving {
                claims.insert(id, entry.claim(object, self.now()));
            }
        }
        Ok(claims)
    }

    /// Asks the remote who has what. Only then is a lock without a claim known to be nobody's.
    pub(super) fn refresh_claims(&self) -> Result<(), Failure> {
        let Some(remote) = self.claims_remote() else { return Ok(()) };
        take_back(self, remote)?;
        let _one = self.store.remote_lock()?;
        self.repository.fetch_claims(remote)?;
        self.fresh.set(true);
        Ok(())
    }

    /// Whether nobody can hold a task without this clone's knowing.
    pub(super) fn knows_all_claims(&self) -> bool {
        self.claims_remote().is_none() || self.fresh.get()
    }

    /// Gives up a claim here; on the remote, once the board's lock is free.
    pub(super) fn drop_claim(&self, id: &TaskId) -> Result<(), Failure> {
        let object = self.claims()?.remove(id).and_then(|claim| claim.remote);
        if let Some(object) = object.filter(|_| self.claims_remote().is_some()) {
            self.store.retire_claim(id, &object)?;
        }
        Ok(self.store.remove_claim(id)?)
    }

    /// Before a move: whoever lost a claim elsewhere should hear of it now. What cannot be asked is taken as last seen.
    pub(super) fn look_for_claims(&self) {
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

impl Entry {
    fn of(claim: &Claim, nonce: String) -> Self {
        let Claim { worker, host, since, until, command, .. } = claim.clone();
        Self { worker, host, since, until, command, nonce }
    }

    fn unreadable() -> Self {
        let epoch = Timestamp::UNIX_EPOCH;
        let worker = Worker::new("unreadable").expect("a plain word is a name");
        let (host, nonce) = (String::new(), String::new());
        Self { worker, host, since: epoch, until: epoch, command: None, nonce }
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
            remote: Some(object),
            foreign: true,
        }
    }
}

fn seen(ws: &Workspace, remote: &str) -> Result<BTreeMap<TaskId, (String, Entry)>, Failure> {
    let read = |found: crate::git::ClaimRef| {
        // What cannot be read binds nobody, and whoever claims the task puts it right.
        let entry = toml::from_str(&found.text).unwrap_or_else(|_| Entry::unreadable());
        Some((TaskId::new(found.task).ok()?, (found.object, entry)))
    };
    Ok(ws.repository.claims_of(remote)?.into_iter().filter_map(read).collect())
}

/// Publishes the claim that would be granted, before it is; `None` where claims stay on this machine.
pub(super) fn publish(
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
            return Ok(Some((id, Published { object, until: claim.until, _hold: hold })));
        }
    }
    let message = "somebody else claims it again and again";
    Err(Failure::new(FailureKind::Raced, "raced", message).hint(Hint::Retry))
}

fn unless_local(failure: Failure) -> Failure {
    match failure.code {
        "offline" => failure.advice("`--local` claims it on this machine only, which is told at the next pull or push"),
        _ => failure,
    }
}

/// Writes down what is to be taken back before it is published: whoever dies in between leaves no claim of nobody's.
fn put(
    ws: &Workspace,
    remote: &str,
    id: &TaskId,
    claim: &Claim,
    expected: Option<&str>,
) -> Result<Option<String>, Failure> {
    let nonce: String = (0..16).map(|_| fastrand::alphanumeric()).collect();
    let text = toml::to_string(&Entry::of(claim, nonce)).expect("an entry is a flat table");
    ws.store.retire_claim(id, &ws.repository.object_of(&text)?)?;
    let put = ws.repository.push_claim(remote, id.as_str(), expected, Some(&text))?;
    if put.is_none() {
        ws.store.forget_retired(id)?;
    }
    Ok(put)
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
                return Err(Failure::new(FailureKind::Offline, "denied", message));
            }
        }
        ws.store.forget_retired(&id)?;
    }
    Ok(())
}

/// The claim is this clone's now: there is nothing to take back.
pub(super) fn settle(ws: &Workspace, id: &TaskId) -> Result<(), Failure> {
    Ok(ws.store.forget_retired(id)?)
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
    let _hold = ws.store.hold_remote(id)?;
    let Some(claim) = ws.claims()?.remove(id).filter(|claim| claim.live && !claim.foreign) else { return Ok(false) };
    let Some(before) = claim.remote.clone() else { return Ok(true) };
    let until = ws.now().checked_add(ws.lease()).unwrap_or(claim.until);
    let renewed = Claim { until, ..claim };
    let Some(object) = put(ws, remote, id, &renewed, Some(&before))? else { return Ok(false) };
    let lock = ws.store.lock()?;
    ws.store.write_claim(id, &Claim { remote: Some(object), ..renewed })?;
    drop(lock);
    settle(ws, id)?;
    Ok(true)
}

/// Claims that were made while the remote could not be reached: it hears of them now, and may know better.
pub(super) fn publish_missing(ws: &Workspace) -> Result<(), Failure> {
    let Some(remote) = ws.claims_remote() else { return Ok(()) };
    ws.refresh_claims()?;
    let local = ws.store.claims(ws.now())?;
    for (id, claim) in local.into_iter().filter(|(_, claim)| claim.live && claim.remote.is_none()) {
        let _hold = ws.store.hold_remote(&id)?;
        if let Some((_, other)) = seen(ws, remote)?.remove(&id).filter(|(_, other)| ws.now() < other.until) {
            let message = format!(
                "{id} is held here by {} and, on {}, by {} of {}",
                claim.worker, remote, other.worker, other.host
            );
            ws.notice(format!("{message}: one of them has to release it"));
            continue;
        }
        let dead = seen(ws, remote)?.remove(&id).map(|(object, _)| object);
        let holder = claim.worker.clone();
        if let Some(object) = put(ws, remote, &id, &claim, dead.as_deref())? {
            let lock = ws.store.lock()?;
            ws.store.write_claim(&id, &Claim { remote: Some(object), ..claim })?;
            drop(lock);
            settle(ws, &id)?;
            ws.notice(format!("{remote} knows now that {holder} has {id}"));
        }
    }
    Ok(())
}

#[derive(Debug, Serialize)]
pub struct ClaimLine {
    pub task: TaskId,
    pub title: String,
    pub worker: Worker,
    pub host: String,
    pub command: Option<String>,
    pub since: Timestamp,
    pub until: Timestamp,
    /// Lives as long as a process does.
    pub held: bool,
    pub live: bool,
    /// `here`, `here only` where the remote does not know it, or `elsewhere`.
    pub place: &'static str,
}

/// Every claim that is known; with `ask`, the remote is asked first.
pub fn list_claims(ws: &Workspace, ask: bool) -> Result<Vec<ClaimLine>, Failure> {
    if ask {
        if ws.claims_remote().is_none() {
            return Err(Failure::refused("no-remote", "this board keeps its claims on one machine")
                .advice("`ralph config set claims.remote origin` lets several machines agree through it"));
        }
        publish_missing(ws)?;
    }
    let board = ws.board()?;
    let several = ws.claims_remote().is_some();
    let line = |(id, claim): (&TaskId, &Claim)| ClaimLine {
        task: id.clone(),
        title: board.get(id).map(|task| task.title.clone()).unwrap_or_default(),
        worker: claim.worker.clone(),
        host: claim.host.clone(),
        command: claim.command.clone(),
        since: claim.since,
        until: claim.until,
        held: claim.held,
        live: claim.live,
        place: match (claim.foreign, &claim.remote) {
            (true, _) => "elsewhere",
            (false, None) if several => "here only",
            _ => "here",
        },
    };
    Ok(board.claims().iter().map(line).collect())
}

/// The claim as it would be granted on this board, for publishing.
pub(super) fn drafted(ws: &Workspace, board: &Board, asked: &ClaimAsk<'_>) -> Result<(TaskId, Claim), Failure> {
    let (_, claim) = super::claim::draft(ws, board, asked, super::claim::Kind::Leased)?;
    Ok((asked.task.clone(), claim))
}

//! What this clone did under a claim that another machine has taken over: it is undone before the two boards are joined.
//!
//! Otherwise a task that another machine is working on, or has finished, would be moved by both.

use crate::app::{Failure, Workspace};
use crate::board::{Actor, Change, Claim, Op, Refusal};
use crate::store::{BoardLock, Line, Outgoing, Why, codec};
use crate::task::{Key, Task, TaskId, Value};

use super::exchange;
use super::view::Seen;

/// A move that was undone because the claim had been lost.
#[derive(Debug, Clone)]
pub(in crate::app) struct LostMove {
    line: String,
    refusal: Refusal,
}

impl Workspace {
    /// Undoes the moves, and ends the claims, that this clone has lost as of the last fetch.
    pub(super) fn withdraw_lost(&self, lock: &BoardLock) -> Result<(), Failure> {
        let Some(remote) = self.claims_remote() else { return Ok(()) };
        for outgoing in self.store.outbox()?.into_iter().filter(|outgoing| outgoing.note.why == Why::Moved) {
            if let Some(refusal) = self.loss_of_move(remote, &outgoing)? {
                self.withdraw_move(lock, remote, &outgoing, refusal)?;
                self.store.drop_from_outbox(&outgoing.task, &outgoing.object)?;
            }
        }
        for (id, claim) in self.store.claims(self.now())? {
            if self.is_claim_lost(remote, &id, &claim)? {
                self.withdraw_claim(lock, remote, &id, &claim)?;
            }
        }
        self.withdraw_returns(lock, remote)
    }

    /// Takes the state that another machine has published, for tasks of which the unpublished lines here say nothing: claims that have
    /// ended, releases, and moves that were undone. Only one of the two states can be right, and these say nothing about the work.
    /// Several machines may release the same task of a dead worker.
    fn withdraw_returns(&self, lock: &BoardLock, remote: &str) -> Result<(), Failure> {
        let moved = exchange::moved_upstream(self, remote)?;
        if moved.is_empty() {
            return Ok(());
        }
        let (journal, published) = (self.store.journal()?.0, exchange::journal_there(self, remote)?);
        let claims = self.store.claims(self.now())?;
        for id in moved {
            let moves = journal.iter().filter(|line| line.changes.iter().any(|change| change.is_state_of(&id)));
            let own: Vec<_> = moves.filter(|line| !published.contains(&line.id)).collect();
            let is_claimed = claims.get(&id).is_some_and(|claim| claim.live);
            if own.is_empty() || own.iter().any(|line| matters(line, &own, is_claimed)) {
                continue;
            }
            let changes = self.changes_to_theirs(remote, &id)?.unwrap_or_default();
            if !changes.is_empty() {
                self.commit_as(lock, Op::new(TAKEN, changes), &Actor { proof: None, ..self.actor()? })?;
            }
        }
        Ok(())
    }

    /// Whether a move was made under a claim that this clone had lost before it could publish the move.
    fn loss_of_move(&self, remote: &str, outgoing: &Outgoing) -> Result<Option<Refusal>, Failure> {
        let (task, line) = (&outgoing.task, outgoing.note.line.as_deref().unwrap_or_default());
        if !self.has_looked_since(outgoing.note.looks) {
            return Ok(None);
        }
        match self.seen(remote)?.remove(task) {
            Some(seen) if seen.object == outgoing.object || self.is_own_object(task, &seen.object)? => Ok(None),
            Some(seen) if seen.entry.moved.as_deref() == Some(line) => {
                // The remote has heard of the move, but its answer was lost.
                self.put_out(task, seen.object, Why::Told, Some(line.to_owned()))?;
                self.store.drop_from_outbox(task, &outgoing.object)?;
                Ok(None)
            }
            Some(seen) => Ok(Some(Refusal::held(task, &self.claim_of(seen)))),
            None if exchange::has_line(self, remote, line)?.unwrap_or(true) => Ok(None),
            None => Ok(Some(Refusal::Lost { task: task.clone() })),
        }
    }

    /// Whether a claim in this clone's files is no longer on the remote, and no program runs under it.
    fn is_claim_lost(&self, remote: &str, id: &TaskId, claim: &Claim) -> Result<bool, Failure> {
        if claim.remote.is_none() || !self.has_looked_since(claim.published) || self.store.is_held(id) {
            return Ok(false);
        }
        let there = self.object_of(remote, id)?;
        Ok(there.is_none() || (there != claim.remote && there != claim.renewing))
    }

    /// Whether the remote was fetched after it had been fetched this many times: an earlier look cannot show what was pushed then.
    pub(super) fn has_looked_since(&self, looks: Option<u64>) -> bool {
        looks.is_none_or(|then| self.store.sightings().looks > then)
    }

    fn is_own_object(&self, id: &TaskId, object: &str) -> Result<bool, Failure> {
        let object = Some(object.to_owned());
        let claim = self.store.claim_file(id)?;
        Ok(claim.is_some_and(|claim| claim.remote == object || claim.renewing == object)
            || self.store.outbox()?.into_iter().any(|outgoing| outgoing.task == *id && Some(outgoing.object) == object))
    }

    fn claim_of(&self, seen: Seen) -> Claim {
        let left = self.left_of(&self.store.sightings(), &seen.object, &seen.entry);
        seen.entry.claim(seen.object, self.now(), left)
    }

    fn withdraw_move(
        &self,
        lock: &BoardLock,
        remote: &str,
        outgoing: &Outgoing,
        refusal: Refusal,
    ) -> Result<(), Failure> {
        let Some(line) = &outgoing.note.line else { return Ok(()) };
        match self.undo_line(lock, remote, &outgoing.task, line) {
            Ok(true) => self.notice(format!("{refusal}; your move of {} was undone", outgoing.task)),
            Ok(false) => {}
            Err(why) => {
                self.notice(format!("{refusal}; your move of {} could not be undone: {}", outgoing.task, why.message));
            }
        }
        self.lost.borrow_mut().push(LostMove { line: line.clone(), refusal });
        Ok(())
    }

    /// Undoes a line of the journal; `false` if the journal does not have it.
    fn undo_line(&self, lock: &BoardLock, remote: &str, id: &TaskId, line: &str) -> Result<bool, Failure> {
        let Some(line) = self.store.journal()?.0.into_iter().find(|known| known.id == line) else { return Ok(false) };
        let of_task = self.changes_to_theirs(remote, id)?;
        let is_taken_over = |change: &Change| of_task.is_some() && THEIRS.iter().any(|key| is_key(change, id, key));
        let undone = line.changes.iter().rev().map(Change::inverse).filter(|change| !is_taken_over(change));
        let changes: Vec<Change> = undone.chain(of_task.iter().flatten().cloned()).collect();
        let op = Op { verb: "undo".into(), changes, undoes: Some(line.id) };
        self.commit_as(lock, op, &Actor { proof: None, ..self.actor()? })?;
        Ok(true)
    }

    fn withdraw_claim(&self, lock: &BoardLock, remote: &str, id: &TaskId, claim: &Claim) -> Result<(), Failure> {
        let changes = self.changes_to_theirs(remote, id)?.unwrap_or_default();
        if let Some(object) = &claim.renewing {
            self.put_out(id, object.clone(), Why::Unsettled, None)?;
        }
        self.store.remove_claim(id)?;
        if !changes.is_empty() {
            self.commit_as(lock, Op::new(TAKEN, changes), &Actor { proof: None, ..self.actor()? })?;
        }
        Ok(())
    }

    /// The changes that give a task the state and the owner that it has on the remote; `None` if it cannot be read there.
    fn changes_to_theirs(&self, remote: &str, id: &TaskId) -> Result<Option<Vec<Change>>, Failure> {
        let Some(text) = exchange::task_there(self, remote, id)? else { return Ok(None) };
        let Ok(theirs) = codec::read(id, "", &text, self.flow()) else { return Ok(None) };
        let ours = self.store.load(id)?.task;
        let change = |key: &str| {
            let (old, new) = (value(&ours, key), value(&theirs.task, key));
            (old != new).then(|| Change::set(id, key, old, new))
        };
        Ok(Some(THEIRS.into_iter().filter_map(change).collect()))
    }

    /// Refuses the command whose own move was undone.
    pub(super) fn refuse_lost_moves(&self) -> Result<(), Failure> {
        let own = self.own_lines.borrow();
        match self.lost.take().into_iter().find(|lost| own.contains(&lost.line)) {
            Some(lost) => Err(lost.refusal.into()),
            None => Ok(()),
        }
    }
}

/// Whether an unpublished line still says something about the state of its task. It does not if it was undone, undoes another one,
/// returns the task, or belongs to a claim that has ended.
fn matters(line: &Line, own: &[&Line], is_claimed: bool) -> bool {
    let is_own = |id: &String| own.iter().any(|other| other.id == *id);
    let is_undone = own.iter().any(|other| other.undoes.as_ref() == Some(&line.id));
    let undoes = line.undoes.as_ref().is_some_and(is_own);
    let claims = line.verb == "claim" && !is_claimed;
    !(is_undone || undoes || claims || RETURNS.contains(&line.verb.as_str()))
}

/// The verb under which this clone takes the state that the remote has.
const TAKEN: &str = "pull";

/// The verbs that say nothing about work on a task.
const RETURNS: [&str; 3] = ["reap", "release", TAKEN];

/// What a claim and its end change in a task's file.
const THEIRS: [&str; 2] = ["state", "owner"];

fn is_key(change: &Change, id: &TaskId, name: &str) -> bool {
    matches!(change, Change::Set { task, key, .. } if task == id && key.as_str() == name)
}

fn value(task: &Task, key: &str) -> Option<Value> {
    task.value(&Key::new(key))
}

//! The reactions to a change, by one watcher: journaling, checking, enforcing, moving parents, reaping.

use std::time::Duration;

use super::Watch;
use super::explain::{HandEdit, Leaves, leaves};
use crate::app::work::admit::{Commit, apply};
use crate::app::work::reap::{Orphans, reap_from};
use crate::app::{Failure, FailureKind};
use crate::board::{Actor, Admission, Change, Event, EventKind, Goal, Op, Request, Via};
use crate::store::BoardLock;
use crate::task::{Key, Kind, StateName, TaskId, Value, Worker};
use crate::watch::ChangedPaths;

/// How long lock states that git brought are left alone: a checkout may be temporary.
const CALM: Duration = Duration::from_secs(60);

impl Watch {
    /// Reacts to edits by hand, and to expired claims. Each of its commits is reported like any other.
    pub(super) fn react(&mut self, lock: &BoardLock, edits: Vec<HandEdit>) -> Result<Vec<Event>, Failure> {
        let person = self.person()?;
        let mut events = Vec::new();
        let mut edits = edits;
        // Files that are saved during these reactions are processed too, before claims are reaped; limited to ten
        // rounds.
        for _ in 0..10 {
            for edit in std::mem::take(&mut edits) {
                events.extend(self.answered(lock, &edit, &person));
            }
            let look = self.take_in(&ChangedPaths::Nothing)?;
            events.extend(look.events);
            edits = look.by_hand;
            if edits.is_empty() {
                break;
            }
        }
        if !edits.is_empty() {
            self.pending.extend(edits);
            self.alarm.ring();
        }
        // Claims are only reaped on a completely read board.
        if self.half.is_some() {
            return Ok(events);
        }
        let calm = self.git_was_here.is_none_or(|at| at.elapsed() > CALM);
        let which = if calm { Orphans::All } else { Orphans::Claimed };
        if !reap_from(&self.ws, lock, &self.board, which)?.is_empty() {
            let look = self.take_in(&ChangedPaths::Nothing)?;
            events.extend(look.events);
            self.pending.extend(look.by_hand);
        }
        Ok(events)
    }

    /// Reacts to one edit; an error does not stop the others.
    fn answered(&mut self, lock: &BoardLock, edit: &HandEdit, person: &Worker) -> Vec<Event> {
        if self.board.get(&edit.id).is_none() && edit.exists {
            return Vec::new();
        }
        match self.answer(lock, edit, person) {
            Ok(events) => events,
            // The file was saved again in the meantime; the next look finds it.
            Err(failure) if failure.kind == FailureKind::Raced => Vec::new(),
            Err(failure) => {
                let event = Event::new(EventKind::Problem, self.ws.now(), Via::Board, Some(&edit.id));
                vec![event.saying(failure.message)]
            }
        }
    }

    /// Records one edit in the journal as the person's. A move is checked, and its consequences are carried out.
    fn answer(&mut self, lock: &BoardLock, edit: &HandEdit, person: &Worker) -> Result<Vec<Event>, Failure> {
        let HandEdit { id, old, new, existed, changes, .. } = edit;
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        let (ws, at) = (&self.ws, self.ws.now());
        let recorded = ws.store.record(lock, Op::new("hand-edit", changes.clone()), person, at, &mut ws.rng())?;
        self.mirror.knows_line(&recorded.id);
        let parent = Key::new("parent");
        if let Some((from, to)) = self.moved(edit) {
            // A state that could not be restored still counts as the state before the edit.
            let from = self.owed.remove(id).unwrap_or(from);
            return self.take_in_move(lock, edit, &from, &to, person);
        }
        if !existed || old.get(&parent) != new.get(&parent) {
            self.settle_parents(lock, id, person)?;
        }
        Ok(Vec::new())
    }

    /// The state that a file means: it may omit the state, or spell it differently.
    pub(super) fn state_of(&self, id: &TaskId, leaves: &Leaves) -> StateName {
        let kind = self.board.get(id).map_or(Kind::Issue, |task| task.kind);
        let Some(typed) = leaves.get(&Key::new("state")) else { return self.ws.flow().initial(kind).clone() };
        let found = self.ws.flow().find_state(kind, &typed.to_string());
        found.map_or_else(|_| StateName::new(typed.to_string()), |state| state.name.clone())
    }

    /// The event for an edit that the workflow does not allow, for watchers that only report.
    pub(super) fn illegal(&self, edit: &HandEdit) -> Option<Event> {
        let (from, to) = self.moved(edit)?;
        let person = self.person().ok()?;
        let admission = self.admitted(edit, &from, &to, &person).ok()?;
        self.illegal_event(edit, &admission, &person)
    }

    /// The move that an edit makes, if any.
    fn moved(&self, edit: &HandEdit) -> Option<(StateName, StateName)> {
        let (from, to) = (self.state_of(&edit.id, &edit.old), self.state_of(&edit.id, &edit.new));
        (from != to && edit.existed && edit.exists).then_some((from, to))
    }

    /// The consequences of a move by hand.
    fn admitted(
        &self,
        edit: &HandEdit,
        from: &StateName,
        to: &StateName,
        person: &Worker,
    ) -> Result<Admission, Failure> {
        let board = self.board.with_state(&edit.id, from);
        // The new owner in the same save becomes the holder.
        let owner = Key::new("owner");
        let named = edit.new.get(&owner).filter(|new| edit.old.get(&owner) != Some(*new));
        let named = named.and_then(|owner| Worker::new(owner.to_string()).ok());
        let actor = Actor::outside(named.unwrap_or_else(|| person.clone()));
        let request = Request::new(&edit.id, Goal::State(to.clone()));
        Ok(board.admit(self.ws.rules(), &actor, &request)?)
    }

    fn illegal_event(&self, edit: &HandEdit, admission: &Admission, person: &Worker) -> Option<Event> {
        let refusal = admission.flag.as_ref()?;
        let event =
            Event::new(EventKind::Illegal, self.ws.now(), Via::Hand, Some(&edit.id)).saying(refusal.to_string());
        let (from, to) = (Some(admission.from.clone()), Some(admission.to.clone()));
        Some(Event { by: Some(person.clone()), from, to, ..event })
    }

    fn take_in_move(
        &mut self,
        lock: &BoardLock,
        edit: &HandEdit,
        from: &StateName,
        to: &StateName,
        person: &Worker,
    ) -> Result<Vec<Event>, Failure> {
        let id = &edit.id;
        let mut admission = self.admitted(edit, from, to, person)?;
        let event = self.illegal_event(edit, &admission, person);
        let actor = Actor::named(person.clone());
        if event.is_some() && self.wanted.enforce {
            self.put_back(lock, id, from, &actor)?;
            return Ok(event.into_iter().collect());
        }
        // The file already contains the new state.
        admission.changes.retain(|change| !change.is_state_of(id));
        match apply(&self.ws, lock, &self.board, id, &admission, &Commit::new("move", &actor)) {
            // The file was saved again in the meantime: correct the parents; the next look processes the rest.
            Err(failure) if failure.kind == FailureKind::Raced => self.settle_parents(lock, id, person)?,
            done => drop(done?),
        }
        Ok(event.into_iter().collect())
    }

    /// Restores the state before the edit. If the file was saved again in the meantime, the next save is compared with
    /// that state.
    fn put_back(&mut self, lock: &BoardLock, id: &TaskId, from: &StateName, actor: &Actor) -> Result<(), Failure> {
        let said = leaves(self.mirror.text(id)).remove(&Key::new("state"));
        let back = Change::set(id, "state", said, Some(Value::text(from)));
        if self.ws.commit_as(lock, Op::new("enforce", vec![back]), actor).is_err() {
            self.owed.insert(id.clone(), from.clone());
        }
        Ok(())
    }

    /// Keeps parents neither ahead of their children nor behind the least advanced child.
    fn settle_parents(&self, lock: &BoardLock, id: &TaskId, person: &Worker) -> Result<(), Failure> {
        let changes = self.board.parents_over(std::slice::from_ref(id), self.ws.rules());
        if !changes.is_empty() {
            let actor = Actor::named(person.clone());
            self.ws.commit_as(lock, Op::new("advance", changes), &actor)?;
        }
        Ok(())
    }

    /// The person at this machine; a worker that watches did not save the file.
    fn person(&self) -> Result<Worker, Failure> {
        match self.ws.repository.user_name().and_then(|name| Worker::new(name).ok()) {
            Some(person) => Ok(person),
            None => self.ws.me(),
        }
    }
}

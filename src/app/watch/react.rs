//! What follows from a change, done by the one watcher that reacts: journaling, judging, putting right, bringing along, reaping.

use std::time::Duration;

use super::Watch;
use super::explain::{HandEdit, Leaves, leaves};
use crate::app::reap::{Orphans, reap_from};
use crate::app::{Failure, FailureKind};
use crate::board::{Actor, Change, Event, EventKind, Move, Op, Target, Verdict, Via};
use crate::store::BoardLock;
use crate::task::{Key, Kind, StateName, TaskId, Value, Worker};
use crate::watch::Dirt;

/// After git has changed tasks, locks that it brought are left alone for so long: it may only pass by.
const CALM: Duration = Duration::from_secs(60);

impl Watch {
    /// What follows from edits by hand, and what is due. Each commit of it is told like any other.
    pub(super) fn react(&mut self, lock: &BoardLock, edits: Vec<HandEdit>) -> Result<Vec<Event>, Failure> {
        let person = self.person()?;
        let mut events = Vec::new();
        let mut edits = edits;
        // What is saved while we answer is answered, too, before anybody is given up for dead; a storm does not hold us up.
        for _ in 0..10 {
            for edit in std::mem::take(&mut edits) {
                events.extend(self.answered(lock, &edit, &person));
            }
            let look = self.take_in(&Dirt::Nothing)?;
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
        // Who is dead is judged by a board that is read whole.
        if self.half.is_some() {
            return Ok(events);
        }
        let calm = self.git_was_here.is_none_or(|at| at.elapsed() > CALM);
        let which = if calm { Orphans::All } else { Orphans::Claimed };
        if !reap_from(&self.ws, lock, &self.board, which)?.is_empty() {
            let look = self.take_in(&Dirt::Nothing)?;
            events.extend(look.events);
            self.pending.extend(look.by_hand);
        }
        Ok(events)
    }

    /// Whatever goes wrong with one save stops nothing.
    fn answered(&mut self, lock: &BoardLock, edit: &HandEdit, person: &Worker) -> Vec<Event> {
        if self.board.get(&edit.id).is_none() && edit.exists {
            return Vec::new();
        }
        match self.answer(lock, edit, person) {
            Ok(events) => events,
            // Saved again in the meantime: the next look finds it.
            Err(failure) if failure.kind == FailureKind::Raced => Vec::new(),
            Err(failure) => {
                let event = Event::new(EventKind::Problem, self.ws.now(), Via::Board, Some(&edit.id));
                vec![event.saying(failure.message)]
            }
        }
    }

    /// One save: journaled as the person's; a move of it judged, and all that comes along with it done.
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
            // What could not be put right was never left.
            let from = self.owed.remove(id).unwrap_or(from);
            return self.judge(lock, id, &from, &to, person);
        }
        if !existed || old.get(&parent) != new.get(&parent) {
            self.settle_parents(lock, id, person)?;
        }
        Ok(Vec::new())
    }

    /// A file may leave its state out, or spell it carelessly: what it means is what counts.
    pub(super) fn state_of(&self, id: &TaskId, leaves: &Leaves) -> StateName {
        let kind = self.board.get(id).map_or(Kind::Issue, |task| task.kind);
        let Some(typed) = leaves.get(&Key::new("state")) else { return self.ws.flow().initial(kind).clone() };
        let found = self.ws.flow().find_state(kind, &typed.to_string());
        found.map_or_else(|_| StateName::new(typed.to_string()), |state| state.name.clone())
    }

    /// For those who only tell: what the one who reacts will find illegal.
    pub(super) fn illegal(&self, edit: &HandEdit) -> Option<Event> {
        let (from, to) = self.moved(edit)?;
        self.judged(&edit.id, &from, &to, &self.person().ok()?).err().map(|event| *event)
    }

    /// The move that a save is, if it is one.
    fn moved(&self, edit: &HandEdit) -> Option<(StateName, StateName)> {
        let (from, to) = (self.state_of(&edit.id, &edit.old), self.state_of(&edit.id, &edit.new));
        (from != to && edit.existed && edit.exists).then_some((from, to))
    }

    /// As a move of the person's own would be judged; what is refused is told as an event.
    fn judged(&self, id: &TaskId, from: &StateName, to: &StateName, person: &Worker) -> Result<Verdict, Box<Event>> {
        let actor = Actor { worker: person.clone(), proof: None };
        let asked = Move { task: id, to: Target::State(to.clone()), command: None, force: false };
        self.board.with_state(id, from).judge(self.ws.rules(), &actor, &asked).map_err(|refusal| {
            let event = Event::new(EventKind::Illegal, self.ws.now(), Via::Hand, Some(id)).saying(refusal.to_string());
            Box::new(Event { by: Some(person.clone()), from: Some(from.clone()), to: Some(to.clone()), ..event })
        })
    }

    fn judge(
        &mut self,
        lock: &BoardLock,
        id: &TaskId,
        from: &StateName,
        to: &StateName,
        person: &Worker,
    ) -> Result<Vec<Event>, Failure> {
        let actor = Actor { worker: person.clone(), proof: None };
        let verdict = match self.judged(id, from, to, person) {
            Ok(verdict) => verdict,
            Err(event) => {
                self.put_right(lock, id, from, &actor)?;
                return Ok(vec![*event]);
            }
        };
        let ws = &self.ws;
        let along: Vec<Change> = verdict.changes.into_iter().filter(|change| !change.is_state_of(id)).collect();
        if !along.is_empty() && ws.commit_as(lock, Op::new("move", along), &actor).is_err() {
            self.settle_parents(lock, id, person)?;
        } else if verdict.hands_off && self.board.claim(id).is_some() {
            ws.drop_claim(id)?;
        }
        self.take_lock(lock, id, to, &actor)?;
        Ok(Vec::new())
    }

    /// Back to where it was, if that is wanted; else its parents are brought to where they belong.
    fn put_right(&mut self, lock: &BoardLock, id: &TaskId, from: &StateName, actor: &Actor) -> Result<(), Failure> {
        if !self.wanted.enforce {
            return self.settle_parents(lock, id, &actor.worker);
        }
        let said = leaves(self.mirror.text(id)).remove(&Key::new("state"));
        let back = Change::set(id, "state", said, Some(Value::text(from)));
        if self.ws.commit_as(lock, Op::new("enforce", vec![back]), actor).is_err() {
            self.owed.insert(id.clone(), from.clone());
        }
        Ok(())
    }

    /// Who saves a lock works on it; a lock that is nobody's would be given back at once.
    fn take_lock(&self, lock: &BoardLock, id: &TaskId, to: &StateName, actor: &Actor) -> Result<(), Failure> {
        let Some(task) = self.board.get(id) else { return Ok(()) };
        let is_lock = self.ws.flow().state(task.kind, to).is_some_and(|state| state.lock);
        if is_lock && task.owner.is_none() && self.board.claim(id).is_none() {
            let owner = Change::set(id, "owner", None, Some(Value::text(&actor.worker)));
            self.ws.commit_as(lock, Op::new("claim", vec![owner]), actor)?;
        }
        Ok(())
    }

    /// A parent is never ahead of its children, and never behind the least of them.
    fn settle_parents(&self, lock: &BoardLock, id: &TaskId, person: &Worker) -> Result<(), Failure> {
        let changes = self.board.parents_over(std::slice::from_ref(id), self.ws.rules());
        if !changes.is_empty() {
            let actor = Actor { worker: person.clone(), proof: None };
            self.ws.commit_as(lock, Op::new("advance", changes), &actor)?;
        }
        Ok(())
    }

    /// Whoever sits at this machine; a worker that watches is not the one who saved.
    fn person(&self) -> Result<Worker, Failure> {
        match self.ws.repository.user_name().and_then(|name| Worker::new(name).ok()) {
            Some(person) => Ok(person),
            None => self.ws.me(),
        }
    }
}

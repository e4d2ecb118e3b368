//! What a move that is allowed changes: the task, its group, its parents, its owner, and the count of rejections.

use super::case::Case;
use super::{Admission, ClaimEffect};
use crate::board::{Change, Refusal};
use crate::task::{Key, StateName, Value};
use crate::workflow::{Command, Sizes};

const ITERATION: &str = "needs-iteration";

impl Case<'_> {
    pub fn effect(&self, command: Option<&Command>, to: StateName) -> Result<Admission, Refusal> {
        let rejected = command.is_some_and(|c| c.iterate.as_ref() == Some(&to) && self.task.state != to);
        let rejections = self.task.rejections + u32::from(rejected);
        // A person goes where they say. What happened elsewhere stays as it is there, or it would be sent back and forth.
        let obeyed = self.is_person() || self.actor.is_outside();
        let too_often = rejected && rejections >= self.rules.max_rejections && !obeyed;
        let to = if too_often { self.rules.flow.escalation().cloned().unwrap_or(to) } else { to };
        let lock = command.and_then(|command| command.lock.as_ref()) == Some(&to);
        let free_lock = self.is_free() && self.rules.flow.state(self.task.kind, &to).is_some_and(|state| state.lock);
        // To leave a task where it is, is an end too, where the command has a mark for it.
        let stays = self.task.state == to && command.is_some_and(|command| command.stay.is_some());
        let splits = self.task.state == to && self.splits(command);
        let hands_off = !lock && !free_lock && (self.task.state != to || stays || splits);
        let moved = self.moved_along(command, &to)?;
        let mut changes = Vec::new();
        for (at, state) in moved.iter().filter(|(at, state)| self.board.tasks()[*at].state != *state) {
            let task = &self.board.tasks()[*at];
            changes.push(Change::set(&task.id, "state", Some(Value::text(&task.state)), Some(Value::text(state))));
        }
        if rejected {
            let old = (self.task.rejections > 0).then_some(Value::Integer(self.task.rejections.into()));
            changes.push(Change::set(&self.task.id, "review.rejections", old, Some(Value::Integer(rejections.into()))));
        }
        changes.extend(self.labels(rejected, stays, command, &to));
        changes.extend(self.settled());
        if hands_off && self.task.owner.is_some() {
            changes.push(Change::set(&self.task.id, "owner", self.task.value(&Key::new("owner")), None));
        }
        let parents = self.board.parents_after(&moved, self.links, self.rules);
        for (at, state) in &parents {
            let task = &self.board.tasks()[*at];
            changes.push(Change::set(&task.id, "state", Some(Value::text(&task.state)), Some(Value::text(state))));
        }
        let others = moved.iter().chain(&parents).filter(|(at, _)| *at != self.at);
        let along = others.map(|(at, state)| (self.board.tasks()[*at].id.clone(), state.clone())).collect();
        let changes = if self.task.state == to && !stays && !splits { Vec::new() } else { changes };
        Ok(Admission {
            to,
            command: command.map(|c| c.name.clone()),
            changes,
            claim: if hands_off { ClaimEffect::Ended } else { ClaimEffect::Unchanged },
            along,
            ..Admission::staying(self.task.state.clone())
        })
    }

    /// The task itself, and for a command of the group the open members that stand where it stands.
    fn moved_along(&self, command: Option<&Command>, to: &StateName) -> Result<Vec<(usize, StateName)>, Refusal> {
        let mut moved = vec![(self.at, to.clone())];
        // A person is called for one task; the others go on without the lock.
        let escalates = self.rules.flow.escalation() == Some(to);
        if !escalates && command.is_some_and(|command| command.group) {
            let group = match self.board.group_of(self.at, self.links, self.rules) {
                Err(_) if self.actor.is_outside() || self.is_person() => return Ok(moved),
                group => group?,
            };
            let along = |&&at: &&usize| at != self.at && self.board.tasks()[at].state == self.task.state;
            for &at in group.members.iter().filter(along) {
                let id = &self.board.tasks()[at].id;
                match self.board.claim(id).filter(|claim| claim.live) {
                    None => moved.push((at, to.clone())),
                    // One that somebody else holds stays theirs.
                    Some(_) if self.actor.is_outside() => {}
                    Some(claim) => return Err(Refusal::held(id, claim)),
                }
            }
        }
        Ok(moved)
    }

    /// Whoever has the task to split it is done with it, though it may stay where it is.
    fn splits(&self, command: Option<&Command>) -> bool {
        command.is_some_and(|command| command.sizes == Sizes::Oversized) && self.is_mine()
    }

    /// Whoever moves a task on has seen what was flagged.
    fn settled(&self) -> Option<Change> {
        let key = Key::new("attention");
        let old = self.task.value(&key)?;
        Some(Change::Set { task: self.task.id.clone(), key, old: Some(old), new: None })
    }

    /// A rejected plan is marked, until a new one is there; so is what a command left where it was, until it moves.
    fn labels(&self, rejected: bool, stays: bool, command: Option<&Command>, to: &StateName) -> Option<Change> {
        let planned = command.is_some_and(|c| c.lock.is_some() && c.complete.as_ref() == Some(to));
        let mut labels = self.task.labels.clone();
        if planned {
            labels.retain(|label| label != ITERATION);
        }
        if self.task.state != *to {
            let marks: Vec<&String> = self.rules.flow.commands().iter().filter_map(|c| c.stay.as_ref()).collect();
            labels.retain(|label| !marks.contains(&label));
        }
        let left = command.and_then(|command| command.stay.clone()).filter(|_| stays);
        labels.extend(left.into_iter().chain(rejected.then(|| ITERATION.to_owned())));
        labels.sort();
        labels.dedup();
        let same =
            labels.iter().all(|label| self.task.labels.contains(label)) && labels.len() >= self.task.labels.len();
        let new = (!labels.is_empty()).then(|| Value::texts(labels));
        (!same).then(|| Change::set(&self.task.id, "labels", self.task.value(&Key::new("labels")), new))
    }
}

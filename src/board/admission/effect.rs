//! The changes that an allowed move makes: to the task, its group, its parents, its owner, and the count of rejections.

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
        // A person decides where the task goes. A move that happened elsewhere is kept, or each side would send the task back to
        // its own state.
        let obeyed = self.is_decided_by_person();
        let too_often = rejected && rejections >= self.rules.max_rejections && !obeyed;
        let to = if too_often { self.rules.flow.escalation().cloned().unwrap_or(to) } else { to };
        let lock = command.and_then(|command| command.lock.as_ref()) == Some(&to);
        let free_lock = self.is_free() && self.rules.flow.state(self.task.kind, &to).is_some_and(|state| state.lock);
        // A command with a mark for tasks that stay also ends when it leaves the task in its state.
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

    /// The task itself and, for a command of a group, the open members in the same state.
    fn moved_along(&self, command: Option<&Command>, to: &StateName) -> Result<Vec<(usize, StateName)>, Refusal> {
        let mut moved = vec![(self.at, to.clone())];
        // Only this task is handed to a person; the other members continue without the lock.
        let escalates = self.rules.flow.escalation() == Some(to);
        if !escalates && command.is_some_and(|command| command.group) {
            let group = match self.board.group_of(self.at, self.links, self.rules) {
                Err(_) if self.is_decided_by_person() => return Ok(moved),
                group => group?,
            };
            let along = |&&at: &&usize| at != self.at && self.board.tasks()[at].state == self.task.state;
            for &at in group.members.iter().filter(along) {
                let id = &self.board.tasks()[at].id;
                match self.board.claim(id).filter(|claim| claim.live) {
                    None => moved.push((at, to.clone())),
                    // A member that another worker holds is not moved.
                    Some(_) if self.actor.is_outside() => {}
                    Some(claim) => return Err(Refusal::held(id, claim)),
                }
            }
        }
        Ok(moved)
    }

    /// Whether this ends a command that splits: its holder is done with the task, even if the task stays in its state.
    fn splits(&self, command: Option<&Command>) -> bool {
        command.is_some_and(|command| command.sizes == Sizes::Oversized) && self.is_mine()
    }

    /// Removes the flag: a worker who moves the task has seen it.
    fn settled(&self) -> Option<Change> {
        let key = Key::new("attention");
        let old = self.task.value(&key)?;
        Some(Change::Set { task: self.task.id.clone(), key, old: Some(old), new: None })
    }

    /// Labels a rejected plan until there is a new one, and a task that a command left in its state until the task moves.
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

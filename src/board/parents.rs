//! Parents move with their children: one rule, in one function, inside the same commit.

use super::{Actor, Admission, Board, Change, ClaimEffect, Goal, Links, Refusal, Request, Rules, joined};
use crate::task::{StateName, TaskId, Value};

/// When a parent goes back.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fall {
    /// A child that was level with it falls behind it.
    WhenPassed,
    /// A child is behind it, however it came there.
    Always,
}

/// Children that were brought on, and those that stay with the reason.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Advance {
    pub changes: Vec<Change>,
    pub moved: Vec<TaskId>,
    /// Of these, those whose claims end.
    pub ended: Vec<TaskId>,
    pub stay: Vec<(TaskId, String)>,
}

impl Board {
    /// Where the ancestors of the moved tasks go, given what their children come to. `moved` are places and new states.
    ///
    /// Forward to the least gate that all children which are not canceled have reached; back only when a child that was
    /// level with its parent falls behind it, since a parent is never ahead of its children.
    pub fn parents_after(
        &self,
        moved: &[(usize, StateName)],
        links: &Links<'_>,
        rules: &Rules,
    ) -> Vec<(usize, StateName)> {
        self.settle_parents(moved, links, rules, Fall::WhenPassed)
    }

    fn settle_parents(
        &self,
        moved: &[(usize, StateName)],
        links: &Links<'_>,
        rules: &Rules,
        fall: Fall,
    ) -> Vec<(usize, StateName)> {
        let mut states: Vec<(usize, StateName)> = moved.to_vec();
        let mut changed = Vec::new();
        let mut queue: Vec<usize> = moved.iter().map(|(at, _)| *at).collect();
        let mut steps = 0;
        while let Some(child) = queue.pop() {
            // A ring of parents would go round for ever.
            steps += 1;
            if steps > self.tasks().len() + moved.len() {
                break;
            }
            let Some(parent) = self.parent_of(child) else { continue };
            let Some(next) = self.parent_state(parent, child, &states, links, rules, fall) else { continue };
            states.retain(|(at, _)| *at != parent);
            changed.retain(|(at, _): &(usize, StateName)| *at != parent);
            states.push((parent, next.clone()));
            changed.push((parent, next));
            queue.push(parent);
        }
        changed
    }

    fn parent_state(
        &self,
        parent: usize,
        child: usize,
        states: &[(usize, StateName)],
        links: &Links<'_>,
        rules: &Rules,
        fall: Fall,
    ) -> Option<StateName> {
        let flow = &rules.flow;
        let now = |at: usize| {
            states.iter().find(|(place, _)| *place == at).map_or(&self.tasks()[at].state, |(_, state)| state)
        };
        let rank = |at: usize, state: &StateName| {
            let found = flow.state(self.tasks()[at].kind, state)?;
            (!found.off).then(|| flow.position(self.tasks()[at].kind, state))
        };
        let own = flow.state(self.tasks()[parent].kind, now(parent))?;
        if own.off || own.lock {
            return None;
        }
        let mine = rank(parent, now(parent))?;
        let counted: Vec<usize> =
            links.children(parent).iter().copied().filter(|&at| Some(now(at)) != flow.canceling()).collect();
        let ranks: Vec<usize> = counted.iter().filter_map(|&at| rank(at, now(at))).collect();
        let least = ranks.iter().copied().min()?;
        // One that is beside the pipeline, with a person or unknown, keeps the parent from going on, not from going back.
        let together = ranks.len() == counted.len();
        let all = flow.states_of(self.tasks()[parent].kind);
        let gate = all[..=least.min(all.len() - 1)].iter().rposition(|state| state.gate && !state.off);
        // A child that comes back from beside the pipeline was not counted until now.
        let was_level =
            fall == Fall::Always || rank(child, &self.tasks()[child].state).is_none_or(|before| before >= mine);
        let fell_behind = was_level && least < mine;
        match gate {
            Some(gate) if together && gate > mine => Some(all[gate].name.clone()),
            Some(gate) if fell_behind => Some(all[gate].name.clone()),
            None if fell_behind => Some(flow.initial(self.tasks()[parent].kind).clone()),
            _ => None,
        }
    }

    /// Brings the children that are strictly behind up to a state, each as its mover may; the others stay, with the reason.
    pub fn advance(
        &self,
        parent: usize,
        target: &StateName,
        rules: &Rules,
        actor: &Actor,
        force: bool,
    ) -> Result<Advance, Refusal> {
        let flow = &rules.flow;
        let gates: Vec<StateName> =
            flow.states().iter().filter(|state| state.gate).map(|state| state.name.clone()).collect();
        if !gates.is_empty() && !gates.contains(target) {
            return Err(Refusal::NotAGate { state: target.clone(), gates });
        }
        let mut advance = Advance::default();
        let mut board = self.clone();
        let children: Vec<TaskId> = Links::new(self).ids(Links::new(self).children(parent));
        for id in &children {
            // A member of a group goes with its primary.
            if advance.moved.contains(id) {
                continue;
            }
            match board.advanced(id, target, rules, actor, force) {
                Err(reason) => advance.stay.push((id.clone(), reason)),
                Ok(admission) => {
                    if admission.claim == ClaimEffect::Ended && board.claim(id).is_some() {
                        advance.ended.push(id.clone());
                    }
                    let along = admission.along.iter().map(|(other, _)| other).filter(|other| children.contains(other));
                    advance.moved.extend(std::iter::once(id).chain(along).cloned());
                    board = board.with(&admission.changes);
                    advance.changes = joined(std::mem::take(&mut advance.changes), admission.changes);
                }
            }
        }
        Ok(advance)
    }

    /// One child on its way, or why it stays.
    fn advanced(
        &self,
        id: &TaskId,
        target: &StateName,
        rules: &Rules,
        actor: &Actor,
        force: bool,
    ) -> Result<Admission, String> {
        let at = self.index_of(id).ok_or_else(|| Refusal::Missing(id.clone()).to_string())?;
        let task = &self.tasks()[at];
        let place = |state: &StateName| rules.flow.position(task.kind, state);
        match rules.flow.state(task.kind, &task.state) {
            None => Err("its state is not known".to_owned()),
            Some(state) if state.terminal => Err(format!("it is {}", state.name)),
            Some(state) if state.off => Err(format!("it is {}, for a person", state.name)),
            Some(state) if state.lock => Err(format!("somebody works on it ({})", state.name)),
            Some(_) if !Links::new(self).children(at).is_empty() => Err("it moves with its own children".into()),
            Some(_) if place(&task.state) >= place(target) => Err(format!("it is there already ({})", task.state)),
            Some(_) => {
                let request = Request { force, ..Request::new(id, Goal::State(target.clone())) };
                self.admit(rules, actor, &request).map_err(|refusal| refusal.to_string())
            }
        }
    }

    /// Where the parents of these go because they are new under them: a parent is never ahead of its children.
    pub fn parents_over(&self, children: &[TaskId], rules: &Rules) -> Vec<Change> {
        let links = Links::new(self);
        let places: Vec<(usize, StateName)> =
            children.iter().filter_map(|id| self.index_of(id)).map(|at| (at, self.tasks()[at].state.clone())).collect();
        let moved = self.settle_parents(&places, &links, rules, Fall::Always);
        let change = |(at, state): &(usize, StateName)| {
            let task = &self.tasks()[*at];
            Change::set(&task.id, "state", Some(Value::text(&task.state)), Some(Value::text(state)))
        };
        moved.iter().map(change).collect()
    }
}

//! Parents move with their children: one rule, in one function, inside the same commit.

use super::{Board, Links, Rules};
use crate::task::{StateName, TaskId};

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
            let Some(next) = self.parent_state(parent, child, &states, links, rules) else { continue };
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
        // Nobody left to follow, or one is beside the pipeline: with a person, or unknown.
        let ranks: Option<Vec<usize>> = counted.iter().map(|&at| rank(at, now(at))).collect();
        let least = ranks.and_then(|ranks| ranks.into_iter().min())?;
        let all = flow.states_of(self.tasks()[parent].kind);
        let gate = all[..=least.min(all.len() - 1)].iter().rposition(|state| state.gate && !state.off);
        let fell_behind = rank(child, &self.tasks()[child].state).is_some_and(|before| before >= mine) && least < mine;
        match gate {
            Some(gate) if gate > mine => Some(all[gate].name.clone()),
            Some(gate) if fell_behind => Some(all[gate].name.clone()),
            None if fell_behind => Some(flow.initial(self.tasks()[parent].kind).clone()),
            _ => None,
        }
    }

    /// The children that are strictly behind a state, and the others with the reason why they stay.
    pub fn behind(
        &self,
        parent: usize,
        target: &StateName,
        links: &Links<'_>,
        rules: &Rules,
    ) -> (Vec<usize>, Vec<(TaskId, String)>) {
        let (mut move_on, mut stay) = (Vec::new(), Vec::new());
        for &at in links.children(parent) {
            let task = &self.tasks()[at];
            let state = rules.flow.state(task.kind, &task.state);
            let reason = match state {
                None => Some("its state is not known".to_owned()),
                Some(state) if state.terminal => Some(format!("it is {}", state.name)),
                Some(state) if state.off => Some(format!("it is {}, for a person", state.name)),
                Some(state) if state.lock => Some(format!("somebody works on it ({})", state.name)),
                Some(_) if self.claim(&task.id).is_some_and(|claim| claim.live) => Some("it is claimed".into()),
                Some(_) if rules.flow.position(task.kind, &task.state) >= rules.flow.position(task.kind, target) => {
                    Some(format!("it is there already ({})", task.state))
                }
                Some(_) => None,
            };
            match reason {
                Some(reason) => stay.push((task.id.clone(), reason)),
                None => move_on.push(at),
            }
        }
        (move_on, stay)
    }
}

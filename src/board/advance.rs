//! Moves several tasks forward to a state at once, and says why the others stay.

use std::collections::BTreeMap;

use super::{Actor, Admission, Board, Change, ClaimEffect, Goal, Links, Refusal, Request, Rules, Turn, joined};
use crate::task::{StateName, Task, TaskId};

/// What keeps children from advancing, apart from the workflow.
#[derive(Debug, Clone, Default)]
pub struct AdvanceLimits {
    /// Tasks with a branch that is not merged, each with the reason.
    pub unmerged: BTreeMap<TaskId, String>,
    /// A person uses force.
    pub force: bool,
}

/// The children that advance, and those that do not, each with the reason.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Advance {
    pub changes: Vec<Change>,
    pub moved: Vec<TaskId>,
    /// Those of the moved tasks whose claims end.
    pub ended: Vec<TaskId>,
    pub stay: Vec<(TaskId, String)>,
}

impl Board {
    /// Moves the children that are behind a state to it, if the rules allow it. The others stay, each with the reason.
    pub fn advance(
        &self,
        parent: usize,
        target: &StateName,
        rules: &Rules,
        actor: &Actor,
        limits: &AdvanceLimits,
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
        // A child may move along with one that comes after it, so those that stay are known only at the end.
        for id in &children {
            // A member of a group moves with its primary.
            if advance.moved.contains(id) {
                continue;
            }
            match board.advanced(id, target, rules, actor, limits) {
                Err(reason) => advance.stay.push((id.clone(), reason)),
                Ok((mover, admission)) => {
                    if admission.claim == ClaimEffect::Ended && board.claim(&mover).is_some() {
                        advance.ended.push(mover.clone());
                    }
                    let along = admission.along.iter().map(|(other, _)| other).filter(|other| children.contains(other));
                    advance.moved.extend(std::iter::once(&mover).chain(along).cloned());
                    if !advance.moved.contains(id) {
                        advance.stay.push((id.clone(), format!("it does not move with {mover}")));
                    }
                    board = board.with(&admission.changes);
                    advance.changes = joined(std::mem::take(&mut advance.changes), admission.changes);
                }
            }
        }
        advance.stay.retain(|(id, _)| !advance.moved.contains(id));
        Ok(advance)
    }

    /// The admission for one child with the task that makes the move (its primary in a group), or the reason why it stays.
    fn advanced(
        &self,
        id: &TaskId,
        target: &StateName,
        rules: &Rules,
        actor: &Actor,
        limits: &AdvanceLimits,
    ) -> Result<(TaskId, Admission), String> {
        let force = limits.force;
        let at = self.index_of(id).ok_or_else(|| Refusal::Missing(id.clone()).to_string())?;
        if let Some(reason) = self.holds_back(at, target, rules, actor, force) {
            return Err(reason);
        }
        let goal = Goal::State(target.clone());
        // With force, each member moves those in its state along, wherever the others are.
        let turn = match force {
            true => Turn::Own,
            false => self.turn(at, &goal, None, rules).map_err(|refusal| refusal.to_string())?,
        };
        let mover = if let Turn::Primary(primary) = &turn { primary } else { id };
        let request = Request { force, ..Request::new(mover, goal) };
        let admission = self.admit(rules, actor, &request).map_err(|refusal| refusal.to_string())?;
        let mut moved = std::iter::once(mover).chain(admission.along.iter().map(|(other, _)| other));
        if let Some(reason) = moved.find_map(|moved| limits.unmerged.get(moved)) {
            return Err(reason.clone());
        }
        // Only moves inside the workflow are made in bulk; a person makes others one by one, or with force.
        match admission.departure.as_ref().filter(|_| !force) {
            Some(departure) => Err(departure.to_string()),
            None => Ok((mover.clone(), admission)),
        }
    }

    /// Why a task is left out when several are moved forward to a state, whatever the workflow allows for it alone.
    pub fn holds_back(
        &self,
        at: usize,
        target: &StateName,
        rules: &Rules,
        actor: &Actor,
        force: bool,
    ) -> Option<String> {
        let (flow, task) = (&rules.flow, &self.tasks()[at]);
        let here = &task.state;
        let place = |state: &StateName| flow.position(task.kind, state);
        let aside = flow.state(task.kind, target).is_some_and(|goal| goal.off);
        match flow.state(task.kind, here) {
            None => Some(format!("its state is unknown ({here})")),
            Some(_) if here == target => Some(format!("it is already in {here}")),
            Some(state) if state.terminal => Some(format!("it is finished ({here})")),
            Some(_) if flow.escalation() == Some(here) => Some(format!("it was handed to a person ({here})")),
            Some(state) if state.off || aside => Some(format!("{target} is not ahead of {here}")),
            Some(_) if !Links::new(self).children(at).is_empty() => Some("it moves with its own children".to_owned()),
            Some(_) if place(here) > place(target) => Some(format!("it is already past {target} ({here})")),
            Some(_) if force => None,
            Some(_) => self.in_work(at, rules, actor).or_else(|| unfinished(task, target, rules)),
        }
    }

    /// Why only its worker moves a task forward: somebody works on it, or it is in the middle of a command that nobody has
    /// completed. Only a live claim counts, so the answer is the same for a dead one as for none.
    fn in_work(&self, at: usize, rules: &Rules, actor: &Actor) -> Option<String> {
        let task = &self.tasks()[at];
        let here = &task.state;
        if let Some((_, claim)) = self.binding_claim(at) {
            return (!claim.is_of(&actor.worker)).then(|| format!("it is claimed by {} ({here})", claim.worker));
        }
        let state = rules.flow.state(task.kind, here).filter(|state| state.lock)?;
        match task.owner.as_ref().filter(|_| self.claim(&task.id).is_none()) {
            Some(owner) if *owner == actor.worker => None,
            Some(owner) if rules.role_of(owner).is_none() => Some(format!("it is owned by {owner} ({here})")),
            // Reviews and releases leave tasks in a lock state that a release does not leave.
            _ => state.release.is_some().then(|| format!("it is in a work state, but not claimed ({here})")),
        }
    }
}

/// Why a task is not closed together with others: a command completes with this state, and the task is in a state before it. To
/// close a task that nobody has worked on is a decision about that task alone.
fn unfinished(task: &Task, target: &StateName, rules: &Rules) -> Option<String> {
    let flow = &rules.flow;
    if !flow.is_terminal(task.kind, target) {
        return None;
    }
    let completing = flow.commands().iter().filter(|command| command.complete.as_ref() == Some(target));
    let before: Vec<&StateName> = completing
        .flat_map(|command| command.lock.as_ref().map_or(command.from.as_slice(), std::slice::from_ref))
        .collect();
    let nearest = before.iter().max_by_key(|state| flow.position(task.kind, state))?;
    (!before.contains(&&task.state)).then(|| format!("it has not reached {nearest} ({})", task.state))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Claim;
    use crate::board::testing::{Sample, at, claim, id, ids, rules, state, worker};
    use crate::workflow::Workflow;

    /// Those that advance, and those that stay with the reason, when a person advances the children of `p`.
    fn advanced(sample: Sample, to: &str) -> (Vec<TaskId>, Vec<(String, String)>) {
        let board = sample.build();
        let limits = AdvanceLimits::default();
        let anna = Actor::named(worker("anna"));
        let done = board.advance(at(&board, "p"), &state(to), &rules(), &anna, &limits).unwrap();
        (done.moved, done.stay.into_iter().map(|(id, reason)| (id.to_string(), reason)).collect())
    }

    #[test]
    fn no_child_is_closed_with_others_before_it_has_been_built() {
        for atomic in [false, true] {
            let family = |states: &[(&str, &str)]| {
                let top = Sample::board().task("p", "Backlog");
                let top = if atomic { top.atomic() } else { top };
                states
                    .iter()
                    .fold(top, |sample, (name, state)| sample.task(name, state).parent("p").document("plan", "plan.md"))
            };
            let (moved, stay) = advanced(family(&[("a", "In Review"), ("b", "Backlog")]), "Done");
            assert!(!moved.contains(&id("b")), "{moved:?}");
            let reason = |name: &str| stay.iter().filter(|(id, _)| id == name).map(|(_, why)| why.as_str()).collect();
            assert_eq!(reason("b"), vec!["it has not reached In Review (Backlog)"]);
            let of_a: Vec<&str> = reason("a");
            match atomic {
                true => assert_eq!((of_a, moved), (vec!["a waits for b (Backlog)"], vec![])),
                false => assert_eq!((of_a, moved), (vec![], ids(&["a"]))),
            }
            let (moved, stay) = advanced(family(&[("a", "In Review"), ("b", "In Review")]), "Done");
            assert_eq!((moved, stay), (ids(&["a", "b"]), vec![]));
        }
    }

    #[test]
    fn no_child_is_among_those_that_advance_and_those_that_stay() {
        // The first is refused while the second is behind it, which then takes it along.
        let text = "format = 1\nname = \"odd\"\ninitial = \"Todo\"\n[[state]]\nname = \"Todo\"\n[[state]]\nname = \"Next\"\n\
                    [[state]]\nname = \"Done\"\nterminal = true\ngate = true\n[targets]\nclose = \"Done\"\n\
                    [[command]]\nname = \"build\"\nroles = [\"builder\"]\nfrom = [\"Todo\", \"Next\"]\ncomplete = \"Done\"\ngroup = true\n\
                    [[role]]\nname = \"builder\"\nlimit = 1\nhands_off = \"Done\"\n";
        let odd = Rules::of(Workflow::parse(text).unwrap());
        let sample = Sample::board().task("p", "Todo").atomic().children("p", &[("a", "Next"), ("b", "Todo")]);
        let board = sample.build();
        let anna = Actor::named(worker("anna"));
        let done = board.advance(at(&board, "p"), &state("Done"), &odd, &anna, &AdvanceLimits::default()).unwrap();
        let stay: Vec<&TaskId> = done.stay.iter().map(|(id, _)| id).collect();
        assert!(done.moved.iter().all(|moved| !stay.contains(&moved)), "{done:?}");
        assert_eq!(done.moved.len() + stay.len(), 2, "{done:?}");
    }

    #[test]
    fn a_child_in_a_lock_state_stays_whether_its_claim_is_dead_or_was_never_there() {
        let reason = |change: &dyn Fn(Sample) -> Sample| {
            let sample = Sample::board().task("p", "Backlog").task("a", "Research in Progress").parent("p");
            let (moved, stay) = advanced(change(sample), "Ready for Plan");
            assert_eq!(moved, []);
            stay[0].1.clone()
        };
        let idle = "it is in a work state, but not claimed (Research in Progress)";
        let dead = |by: &str| Claim { live: false, ..claim(by) };
        assert_eq!(reason(&|sample| sample), idle);
        assert_eq!(reason(&|sample| sample.owner("analyst")), idle);
        assert_eq!(reason(&|sample| sample.claimed(dead("analyst")).owner("analyst")), idle);
        assert_eq!(reason(&|sample| sample.claimed(dead("mcp-x7")).owner("mcp-x7")), idle);
        assert_eq!(reason(&|s| s.claimed_by("analyst")), "it is claimed by analyst (Research in Progress)");
        assert_eq!(reason(&|s| s.owner("ben")), "it is owned by ben (Research in Progress)");
    }

    #[test]
    fn a_child_that_is_further_is_past_the_goal_and_not_there() {
        let children = [("a", "In Review"), ("b", "Ready for Plan"), ("c", "Canceled"), ("d", "Human Needed")];
        let (moved, stay) = advanced(Sample::board().task("p", "Backlog").children("p", &children), "Ready for Plan");
        assert_eq!(moved, []);
        let reasons: Vec<&str> = stay.iter().map(|(_, reason)| reason.as_str()).collect();
        assert_eq!(
            reasons,
            [
                "it is already past Ready for Plan (In Review)",
                "it is already in Ready for Plan",
                "it is finished (Canceled)",
                "it was handed to a person (Human Needed)",
            ]
        );
    }
}

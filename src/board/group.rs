//! Groups: the open leaf children of a parent that is marked atomic; and whether they have come to one point.

use serde::Serialize;

use super::{Board, Links, Refusal, Rules};
use crate::task::{StateName, TaskId};

/// Tasks that are planned, built and merged together, in the order of their phases; the first is the primary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    pub members: Vec<usize>,
    pub parent: Option<usize>,
}

impl Group {
    pub fn primary(&self) -> usize {
        self.members[0]
    }

    pub fn is_one(&self) -> bool {
        self.members.len() == 1
    }
}

/// Whether all members have reached a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Convergence {
    pub required: bool,
    pub met: bool,
    pub waiting_for: Vec<TaskId>,
    pub recommendation: &'static str,
}

impl Board {
    /// The same set whichever member is asked. An atomic parent itself answers with its children.
    pub fn group_of(&self, at: usize, links: &Links<'_>, rules: &Rules) -> Result<Group, Refusal> {
        let open_leaf = |&child: &usize| {
            let task = &self.tasks()[child];
            links.children(child).is_empty() && !rules.flow.is_terminal(task.kind, &task.state)
        };
        let members_under =
            |parent: usize| -> Vec<usize> { links.children(parent).iter().copied().filter(open_leaf).collect() };
        if self.tasks()[at].atomic {
            let members = members_under(at);
            if !members.is_empty() {
                return Ok(Group { members: self.in_phases(&members)?, parent: Some(at) });
            }
        }
        match self.parent_of(at).filter(|&parent| self.tasks()[parent].atomic) {
            Some(parent) if open_leaf(&at) => {
                Ok(Group { members: self.in_phases(&members_under(parent))?, parent: Some(parent) })
            }
            _ => Ok(Group { members: vec![at], parent: None }),
        }
    }

    /// Topological among themselves, ties by id.
    fn in_phases(&self, members: &[usize]) -> Result<Vec<usize>, Refusal> {
        let mut left = members.to_vec();
        left.sort_unstable();
        let mut order = Vec::with_capacity(left.len());
        while !left.is_empty() {
            let free = |&at: &usize| !self.blockers_of(at).any(|(_, place)| place.is_some_and(|b| left.contains(&b)));
            let Some(place) = left.iter().position(free) else {
                let ring: Vec<TaskId> = left.iter().map(|&at| self.tasks()[at].id.clone()).collect();
                return Err(Refusal::GroupCycle { members: ring });
            };
            order.push(left.remove(place));
        }
        Ok(order)
    }

    /// Every member is at the gate, past it, or finished.
    pub fn converged(&self, members: &[usize], gate: &StateName, rules: &Rules) -> Convergence {
        let flow = &rules.flow;
        let rank = |at: usize| {
            let task = &self.tasks()[at];
            let state = flow.state(task.kind, &task.state)?;
            (!state.off).then(|| flow.position(task.kind, &task.state))
        };
        let Some(goal) = members.first().map(|&at| flow.position(self.tasks()[at].kind, gate)) else {
            return Convergence { required: false, met: true, waiting_for: Vec::new(), recommendation: "proceed" };
        };
        let reached = |&&at: &&usize| {
            let task = &self.tasks()[at];
            flow.is_terminal(task.kind, &task.state) || rank(at).is_some_and(|rank| rank >= goal)
        };
        let behind: Vec<usize> = members.iter().filter(|at| !reached(at)).copied().collect();
        let stuck = members.iter().any(|&at| Some(&self.tasks()[at].state) == flow.escalation());
        Convergence {
            required: members.len() > 1,
            met: behind.is_empty() && !stuck,
            waiting_for: behind.iter().map(|&at| self.tasks()[at].id.clone()).collect(),
            recommendation: match (stuck, behind.is_empty()) {
                (true, _) => "escalate",
                (false, true) => "proceed",
                (false, false) => "wait",
            },
        }
    }
}

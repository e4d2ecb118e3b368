//! Groups: the open leaf children of an atomic parent, and whether all of them have reached a gate.

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
    /// The group of a task, the same for each of its members. The group of an atomic parent is that of its children.
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

    /// The member that makes the shared moves of this one: the first that is in the same state. It is the primary unless that one
    /// is elsewhere, such as when a member that was added late follows the others.
    pub fn acting_primary(&self, at: usize, group: &Group) -> usize {
        let together = |&&member: &&usize| self.tasks()[member].state == self.tasks()[at].state;
        group.members.iter().find(together).copied().unwrap_or(at)
    }

    /// Why a shared command cannot start on a member: others are behind it, or wait for a person.
    pub(super) fn not_converged(&self, at: usize, group: &Group, rules: &Rules) -> Option<Refusal> {
        let task = &self.tasks()[at];
        let convergence = self.converged(&group.members, &task.state, rules);
        let waiting_for = convergence.waiting_for.iter().filter_map(|id| self.get(id));
        let waiting_for = waiting_for.map(|other| (other.id.clone(), other.state.clone()));
        let for_person = group.members.iter().any(|&other| rules.needs_person(&self.tasks()[other]));
        let waiting_for = waiting_for.collect();
        (!convergence.met).then(|| Refusal::NotConverged { task: task.id.clone(), waiting_for, for_person })
    }

    /// Sorts members so that blockers come first, and otherwise by id.
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

    /// Whether every member is at the gate, past it, or finished.
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
        let stuck = members.iter().any(|&at| rules.needs_person(&self.tasks()[at]));
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::board::testing::{Sample, any_board, at, ids, laws, names, rules, state};

    fn group(board: &Board, of: &str) -> Vec<String> {
        names(board, &board.group_of(at(board, of), &Links::new(board), &rules()).unwrap().members)
    }

    #[test]
    fn a_group_is_the_open_leaves_of_an_atomic_parent_in_the_order_of_their_blockers() {
        let sample = Sample::board().task("p", "Backlog").atomic().task("a", "Backlog").parent("p").blocked_by(&["c"]);
        let children = [("b", "Backlog"), ("c", "In Review"), ("done", "Done"), ("void", "Canceled"), ("q", "Backlog")];
        let board = sample.children("p", &children).children("q", &[("x", "Backlog")]).build();
        for member in ["a", "b", "c", "p"] {
            assert_eq!(group(&board, member), ["b", "c", "a"], "{member}");
        }
        for alone in ["done", "void", "q", "x"] {
            assert_eq!(group(&board, alone), [alone]);
        }
        let apart = Sample::board().task("p", "Backlog").children("p", &[("a", "Backlog"), ("b", "Backlog")]).build();
        assert_eq!((group(&apart, "a"), group(&apart, "p")), (vec!["a".to_owned()], vec!["p".to_owned()]));
    }

    #[test]
    fn an_atomic_parent_whose_children_are_finished_stands_alone() {
        let board = Sample::board().task("p", "Backlog").atomic().children("p", &[("a", "Done")]).build();
        let links = Links::new(&board);
        let got = board.group_of(at(&board, "p"), &links, &rules()).unwrap();
        assert_eq!(got, Group { members: vec![at(&board, "p")], parent: None });
        assert_eq!(got.primary(), at(&board, "p"));
    }

    #[test]
    fn members_that_wait_for_each_other_are_no_group() {
        let board = Sample::board()
            .task("p", "Backlog")
            .atomic()
            .children("p", &[("a", "Backlog"), ("b", "Backlog")])
            .blocked_by(&["c"])
            .task("c", "Backlog")
            .parent("p")
            .blocked_by(&["b"])
            .build();
        let got = board.group_of(at(&board, "a"), &Links::new(&board), &rules());
        assert_eq!(got, Err(Refusal::GroupCycle { members: ids(&["b", "c"]) }));
    }

    #[test]
    fn members_meet_at_a_gate_when_each_is_there_or_past_it_or_finished() {
        for (states, waiting, advice) in [
            (vec!["Ready for Plan", "Ready for Plan"], vec![], "proceed"),
            (vec!["Ready for Plan", "In Review", "Done", "Canceled"], vec![], "proceed"),
            (vec!["Ready for Plan", "Research in Progress"], vec!["b"], "wait"),
            (vec!["Backlog", "Nowhere"], vec!["a", "b"], "wait"),
            (vec!["Ready for Plan", "Human Needed"], vec!["b"], "escalate"),
        ] {
            let rows: Vec<(&str, &str)> = ["a", "b", "c", "d"].into_iter().zip(states.iter().copied()).collect();
            let board = Sample::board().tasks(&rows).build();
            let members: Vec<usize> = (0..rows.len()).collect();
            let got = board.converged(&members, &state("Ready for Plan"), &rules());
            let met = advice == "proceed";
            let expected = Convergence { required: true, met, waiting_for: ids(&waiting), recommendation: advice };
            assert_eq!(got, expected, "{states:?}");
        }
        let board = Sample::board().task("a", "Backlog").build();
        assert!(!board.converged(&[0], &state("Ready for Plan"), &rules()).required, "one waits for nobody");
        let nobody = board.converged(&[], &state("Ready for Plan"), &rules());
        assert!(nobody.met && !nobody.required && nobody.recommendation == "proceed");
    }

    proptest! {
        #![proptest_config(laws(400))]

        #[test]
        fn a_group_is_the_same_from_whichever_member_is_asked_and_keeps_the_order_of_blockers(board in any_board()) {
            let (links, rules) = (Links::new(&board), rules());
            for at in 0..board.tasks().len() {
                let Ok(group) = board.group_of(at, &links, &rules) else { continue };
                if group.parent.is_none() {
                    prop_assert_eq!(&group.members, &[at]);
                    continue;
                }
                for (place, &member) in group.members.iter().enumerate() {
                    prop_assert_eq!(&board.group_of(member, &links, &rules).unwrap(), &group);
                    prop_assert_eq!(board.parent_of(member), group.parent);
                    let later = &group.members[place..];
                    prop_assert!(!board.blockers_of(member).any(|(_, at)| at.is_some_and(|at| later.contains(&at))));
                    // A member comes as early as its blockers allow: the one before it has the smaller id or blocks it.
                    if let Some(before) = place.checked_sub(1).map(|place| group.members[place]) {
                        prop_assert!(before < member || board.blockers_of(member).any(|(_, at)| at == Some(before)));
                    }
                }
            }
        }
    }
}

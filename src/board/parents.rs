//! Parents move with their children: one rule, applied in the same commit.

use super::{Board, Change, Links, Rules};
use crate::task::{StateName, Task, TaskId, Value};

/// The number of levels of parents that are followed; `doctor` reports deeper ones.
pub const DEEPEST_PARENTS: usize = 100;

/// When a parent moves back.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fall {
    /// When a child that was level with it falls behind it.
    WhenPassed,
    /// Whenever a child is behind it.
    Always,
}

/// Why a parent stays where it is.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub enum ParentHold {
    /// The parent is in a state that its children do not change: somebody works on it, or it is beside the pipeline.
    Apart(StateName),
    /// A child is outside the pipeline, so that nobody knows how far it is.
    Outside { child: TaskId, state: StateName },
    /// Every child is canceled.
    AllCanceled,
    /// The least advanced child is not at a gate that the parent could move to.
    NoGate { least: StateName },
    /// The parent has already reached the last gate of its children.
    There(StateName),
}

impl std::fmt::Display for ParentHold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Apart(state) => write!(f, "a parent in {state} does not move with its children"),
            Self::Outside { child, state } => write!(f, "{child} is in {state}, which holds its parent"),
            Self::AllCanceled => f.write_str("all children are canceled"),
            Self::NoGate { least } => write!(f, "the least advanced child is in {least}, which is not a gate state"),
            Self::There(state) => write!(f, "the parent is already in {state}"),
        }
    }
}

impl Board {
    /// The moves of the ancestors that follow when tasks move. `moved` are places and new states.
    ///
    /// A parent moves forward to the last gate that all of its children have reached, apart from canceled ones. It moves back
    /// only if a child that was level with it falls behind it, since a parent is never ahead of its children.
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
        let mut queue: Vec<(usize, usize)> = moved.iter().map(|(at, _)| (*at, 0)).collect();
        while let Some((child, depth)) = queue.pop() {
            // A cycle of parents would never end.
            if depth == DEEPEST_PARENTS {
                continue;
            }
            let Some(parent) = self.parent_of(child) else { continue };
            let Some(next) = self.parent_state(parent, child, &states, links, rules, fall) else { continue };
            states.retain(|(at, _)| *at != parent);
            changed.retain(|(at, _): &(usize, StateName)| *at != parent);
            states.push((parent, next.clone()));
            changed.push((parent, next));
            queue.push((parent, depth + 1));
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
        // A child outside the pipeline (handed to a person, or in an unknown state) only keeps the parent from moving forward.
        let together = ranks.len() == counted.len();
        let all = flow.states_of(self.tasks()[parent].kind);
        let gate = all[..=least.min(all.len() - 1)].iter().rposition(|state| state.gate && !state.off);
        // A child that returns to the pipeline was not counted before.
        let was_level =
            fall == Fall::Always || rank(child, &self.tasks()[child].state).is_none_or(|before| before >= mine);
        let fell_behind = was_level && least < mine;
        let next = match gate {
            Some(gate) if together && gate > mine => Some(&all[gate].name),
            Some(gate) if fell_behind => Some(&all[gate].name),
            None if fell_behind => Some(flow.initial(self.tasks()[parent].kind)),
            _ => None,
        };
        // The initial state need not be the first one: a parent in it cannot move back any further.
        next.filter(|next| *next != now(parent)).cloned()
    }

    /// Why a parent does not move forward to its children; the same rule as [`parents_after`](Self::parents_after).
    pub fn parent_hold(&self, parent: usize, links: &Links<'_>, rules: &Rules) -> ParentHold {
        let flow = &rules.flow;
        let task = &self.tasks()[parent];
        if flow.state(task.kind, &task.state).is_none_or(|state| state.off || state.lock) {
            return ParentHold::Apart(task.state.clone());
        }
        let children = links.children(parent).iter().map(|&at| &self.tasks()[at]);
        let counted: Vec<&Task> = children.filter(|child| Some(&child.state) != flow.canceling()).collect();
        let outside = |child: &&&Task| flow.state(child.kind, &child.state).is_none_or(|state| state.off);
        if let Some(child) = counted.iter().find(outside) {
            return ParentHold::Outside { child: child.id.clone(), state: child.state.clone() };
        }
        let Some(least) = counted.iter().min_by_key(|child| flow.position(child.kind, &child.state)) else {
            return ParentHold::AllCanceled;
        };
        let gate = flow.state(least.kind, &least.state).is_some_and(|state| state.gate);
        let reached = task.state == least.state || flow.state(task.kind, &task.state).is_some_and(|state| state.gate);
        match gate || reached {
            true => ParentHold::There(task.state.clone()),
            false => ParentHold::NoGate { least: least.state.clone() },
        }
    }

    /// The changes that move the parents of a task forward as far as their children allow; never back.
    pub fn parents_due(&self, at: usize, rules: &Rules) -> Vec<Change> {
        let place = |at: usize, state: &StateName| rules.flow.position(self.tasks()[at].kind, state);
        let here = [(at, self.tasks()[at].state.clone())];
        let moved = self.parents_after(&here, &Links::new(self), rules);
        let forward = moved.iter().filter(|(at, state)| place(*at, state) > place(*at, &self.tasks()[*at].state));
        forward.map(|(at, state)| self.state_change(*at, state)).collect()
    }

    fn state_change(&self, at: usize, state: &StateName) -> Change {
        let task = &self.tasks()[at];
        Change::set(&task.id, "state", Some(Value::text(&task.state)), Some(Value::text(state)))
    }

    /// The moves of parents that have got these tasks as new children: a parent is never ahead of its children.
    pub fn parents_over(&self, children: &[TaskId], rules: &Rules) -> Vec<Change> {
        let links = Links::new(self);
        let places: Vec<(usize, StateName)> =
            children.iter().filter_map(|id| self.index_of(id)).map(|at| (at, self.tasks()[at].state.clone())).collect();
        let moved = self.settle_parents(&places, &links, rules, Fall::Always);
        moved.iter().map(|(at, state)| self.state_change(*at, state)).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::board::testing::{Sample, any_forest, any_state, at, id, ids, laws, names, rules, state};
    use crate::workflow::Workflow;

    /// The new state of the parent `p` when child `a` moves.
    fn goes(parent: &str, children: &[(&str, &str)], to: &str) -> Option<String> {
        let board = Sample::board().task("p", parent).children("p", children).build();
        let moved = board.parents_after(&[(at(&board, "a"), state(to))], &Links::new(&board), &rules());
        moved.first().map(|(place, state)| {
            assert_eq!((*place, moved.len()), (at(&board, "p"), 1));
            state.to_string()
        })
    }

    #[test]
    fn a_parent_goes_on_to_the_last_gate_that_all_children_have_reached() {
        for (to, others, expected) in [
            ("Ready for Plan", vec![], Some("Ready for Plan")),
            ("Research Needed", vec![], None),
            ("In Progress", vec![("b", "In Review")], Some("Plan in Review")),
            ("In Progress", vec![("b", "Ready for Plan")], Some("Ready for Plan")),
            ("In Review", vec![("b", "Done"), ("c", "Canceled")], Some("In Review")),
            ("Done", vec![("b", "Done")], Some("Done")),
            ("Ready for Plan", vec![("b", "Backlog")], None),
            ("Ready for Plan", vec![("b", "Human Needed")], None),
            ("Ready for Plan", vec![("b", "Nowhere")], None),
            ("Canceled", vec![("b", "Canceled")], None),
            ("Canceled", vec![("b", "Done")], Some("Done")),
        ] {
            let children = [vec![("a", "Backlog")], others].concat();
            assert_eq!(goes("Backlog", &children, to).as_deref(), expected, "{children:?} → {to}");
        }
    }

    #[test]
    fn a_parent_goes_back_when_a_child_that_was_level_with_it_falls_behind() {
        for (parent, from, to, expected) in [
            ("Plan in Review", "Plan in Review", "Ready for Plan", Some("Ready for Plan")),
            ("Plan in Review", "In Progress", "Research Needed", Some("Backlog")),
            ("Done", "Done", "Backlog", Some("Backlog")),
            ("Done", "Canceled", "In Review", Some("In Review")),
            ("Done", "Human Needed", "Backlog", Some("Backlog")),
            // The child was behind before, so the parent was put ahead on purpose.
            ("In Review", "Ready for Plan", "Backlog", None),
            ("Plan in Review", "Plan in Review", "In Progress", None),
            // A parent in a lock state, or with a person, does not move.
            ("In Progress", "In Progress", "Backlog", None),
            ("Human Needed", "Done", "Backlog", None),
            ("Canceled", "Done", "Backlog", None),
            ("Nowhere", "Done", "Backlog", None),
        ] {
            assert_eq!(goes(parent, &[("a", from)], to).as_deref(), expected, "{parent}: {from} → {to}");
        }
        let stuck = [("a", "Plan in Review"), ("b", "Human Needed")];
        assert_eq!(goes("Plan in Review", &stuck, "Ready for Plan").as_deref(), Some("Ready for Plan"));
    }

    #[test]
    fn a_move_goes_up_to_the_last_ancestor_that_it_changes() {
        let board = Sample::board()
            .tasks(&[("top", "Backlog")])
            .children("top", &[("middle", "Backlog"), ("other", "Ready for Plan")])
            .children("middle", &[("a", "Backlog"), ("b", "Backlog")])
            .build();
        let both = ["a", "b"].map(|name| (at(&board, name), state("In Review")));
        let moved = board.parents_after(&both, &Links::new(&board), &rules());
        let moved: Vec<(String, &str)> =
            moved.iter().map(|(at, state)| (names(&board, &[*at])[0].clone(), state.as_str())).collect();
        assert_eq!(moved, [("middle".to_owned(), "In Review"), ("top".to_owned(), "Ready for Plan")]);
    }

    #[test]
    fn a_parent_that_was_left_behind_is_brought_on_and_one_that_is_ahead_stays() {
        let due = |parent: &str| {
            let children = [("a", "In Review"), ("b", "Done"), ("c", "Canceled")];
            let board = Sample::board().task("p", parent).children("p", &children).build();
            let changes = board.parents_due(at(&board, "b"), &rules());
            changes.first().and_then(Change::new_state).map(|(_, state)| state.to_string())
        };
        assert_eq!(due("Backlog").as_deref(), Some("In Review"));
        assert_eq!((due("In Review"), due("Done"), due("Human Needed")), (None, None, None));
    }

    #[test]
    fn the_reason_why_a_parent_stays_is_true() {
        let hold = |parent: &str, children: &[(&str, &str)]| {
            let board = Sample::board().task("p", parent).children("p", children).build();
            assert_eq!(board.parents_due(at(&board, "a"), &rules()), [], "{parent} {children:?}");
            board.parent_hold(at(&board, "p"), &Links::new(&board), &rules())
        };
        let outside = |name: &str, state_name: &str| ParentHold::Outside { child: id(name), state: state(state_name) };
        for (parent, children, expected) in [
            (
                "Backlog",
                vec!["Research Needed", "Research Needed"],
                ParentHold::NoGate { least: state("Research Needed") },
            ),
            ("Backlog", vec!["In Review", "Research Needed"], ParentHold::NoGate { least: state("Research Needed") }),
            ("Backlog", vec!["Backlog", "Done"], ParentHold::There(state("Backlog"))),
            ("In Review", vec!["In Review", "Done"], ParentHold::There(state("In Review"))),
            ("Plan in Review", vec!["In Progress", "Done"], ParentHold::There(state("Plan in Review"))),
            ("Done", vec!["Done", "Canceled"], ParentHold::There(state("Done"))),
            ("Backlog", vec!["Canceled", "Canceled"], ParentHold::AllCanceled),
            ("Backlog", vec!["Done", "Human Needed"], outside("b", "Human Needed")),
            ("Human Needed", vec!["Done", "Done"], ParentHold::Apart(state("Human Needed"))),
            ("In Progress", vec!["Done", "Done"], ParentHold::Apart(state("In Progress"))),
        ] {
            let rows: Vec<(&str, &str)> = ["a", "b"].into_iter().zip(children.iter().copied()).collect();
            assert_eq!(hold(parent, &rows), expected, "{parent} {children:?}");
        }
    }

    #[test]
    fn a_parent_goes_back_for_a_new_child_even_if_it_was_ahead_before() {
        let board = Sample::board().task("p", "In Review").children("p", &[("a", "Backlog")]).build();
        let back = Change::set(&id("p"), "state", Some(Value::text("In Review")), Some(Value::text("Backlog")));
        assert_eq!(board.parents_over(&ids(&["a", "gone"]), &rules()), [back]);
        assert_eq!(board.parents_over(&ids(&["p"]), &rules()), []);
    }

    #[test]
    fn a_parent_in_the_initial_state_does_not_move_for_a_child_before_it() {
        let text = "format = 1\nname = \"cold\"\ninitial = \"Todo\"\n[[state]]\nname = \"Icebox\"\n\
                    [[state]]\nname = \"Todo\"\n[[state]]\nname = \"Done\"\nterminal = true\ngate = true\n";
        let cold = Rules::of(Workflow::parse(text).unwrap());
        for (parent, expected) in [("Todo", None), ("Done", Some("Todo"))] {
            let board = Sample::board().task("p", parent).children("p", &[("a", parent)]).build();
            let moved = board.parents_after(&[(at(&board, "a"), state("Icebox"))], &Links::new(&board), &cold);
            assert_eq!(moved.first().map(|(_, state)| state.as_str()), expected);
        }
    }

    #[test]
    fn a_parent_whose_kind_has_fewer_states_than_its_childs_stays() {
        let sample = Sample::board().step("p", "Pending", "t", "plan", &["t"]).children("p", &[("a", "Backlog")]);
        let board = sample.build();
        let moved = board.parents_after(&[(at(&board, "a"), state("Done"))], &Links::new(&board), &rules());
        assert_eq!(moved, []);
    }

    #[test]
    fn a_ring_of_parents_ends() {
        let ring = Sample::board().task("a", "Done").parent("b").task("b", "Done").parent("a").build();
        let moved = board_moved(&ring, &[(0, state("Backlog"))]);
        assert_eq!(moved.tasks().len(), 2);
    }

    /// The board after a move, with the moves of the parents.
    fn board_moved(board: &Board, moved: &[(usize, StateName)]) -> Board {
        let parents = board.parents_after(moved, &Links::new(board), &rules());
        let states = moved.iter().chain(&parents);
        states.fold(board.clone(), |board, (at, to)| board.with_state(&board.tasks()[*at].id, to))
    }

    /// The position of a task in the pipeline; none outside of it.
    fn rank(board: &Board, at: usize) -> Option<usize> {
        let (task, flow) = (&board.tasks()[at], rules().flow);
        flow.state(task.kind, &task.state).filter(|state| !state.off).map(|_| flow.position(task.kind, &task.state))
    }

    /// Parents that are ahead of a child, and parents that could move forward to a gate. There should be none of either.
    fn out_of_step(board: &Board) -> (Vec<usize>, Vec<usize>) {
        let (links, flow) = (Links::new(board), rules().flow);
        let parents = (0..board.tasks().len()).filter(|&at| {
            let state = flow.state(board.tasks()[at].kind, &board.tasks()[at].state);
            state.is_some_and(|state| !state.off && !state.lock)
        });
        let gates: Vec<usize> = (0..flow.states().len()).filter(|&place| flow.states()[place].gate).collect();
        let (mut ahead, mut behind) = (Vec::new(), Vec::new());
        for parent in parents {
            let counted = |&child: &usize| Some(&board.tasks()[child].state) != flow.canceling();
            let children: Vec<Option<usize>> =
                links.children(parent).iter().copied().filter(counted).map(|child| rank(board, child)).collect();
            let (mine, least) = (rank(board, parent), children.iter().flatten().min());
            if least.is_some_and(|least| mine > Some(*least)) {
                ahead.push(parent);
            }
            let all = !children.is_empty() && !children.contains(&None);
            if all && gates.iter().any(|gate| Some(*gate) > mine && least >= Some(gate)) {
                behind.push(parent);
            }
        }
        (ahead, behind)
    }

    /// A board on which every parent is where its children put it.
    fn settled(board: Board) -> Board {
        let all: Vec<TaskId> = board.tasks().iter().map(|task| task.id.clone()).collect();
        (0..board.tasks().len()).fold(board, |board, _| {
            let changes = board.parents_over(&all, &rules());
            board.with(&changes)
        })
    }

    proptest! {
        #![proptest_config(laws(400))]

        #[test]
        fn no_parent_ends_ahead_of_its_children_or_short_of_their_gate_after_any_move(
            board in any_forest(),
            moves in proptest::collection::vec((0..6_usize, any_state()), 1..4),
        ) {
            let mut board = settled(board);
            prop_assert_eq!(out_of_step(&board), (vec![], vec![]));
            let links = Links::new(&board);
            let leaves: Vec<usize> = (0..board.tasks().len()).filter(|&at| links.children(at).is_empty()).collect();
            for (which, to) in moves {
                board = board_moved(&board, &[(leaves[which % leaves.len()], to)]);
                prop_assert_eq!(out_of_step(&board), (vec![], vec![]));
            }
        }
    }
}

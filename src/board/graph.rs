//! The standing of each task: its blockers, and whether it is ready.

use super::{Board, Links, Rules, left_by};
use crate::task::{Kind, Task, TaskId};
use crate::workflow::{Meaning, State};

/// The standings of all tasks, computed in one pass.
pub struct Standings {
    /// The position of each task's state in the workflow.
    ranks: Vec<usize>,
    finished: Vec<bool>,
    blocked: Vec<Option<bool>>,
    taken_up: Vec<bool>,
    left: Vec<bool>,
    meanings: Vec<Meaning>,
}

/// One task's standing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Standing {
    pub meaning: Meaning,
    pub blocked: bool,
    pub ready: bool,
    /// In a lock state and owned, but without a live claim.
    pub stale: bool,
    /// Its own blockers that are not finished, including missing ones.
    pub open_blockers: Vec<TaskId>,
}

impl Standings {
    pub fn new(board: &Board, rules: &Rules) -> Self {
        let flow = &rules.flow;
        let tasks = board.tasks();
        let ranks: Vec<usize> = tasks.iter().map(|task| flow.position(task.kind, &task.state)).collect();
        let state = |at: usize| flow.states_of(tasks[at].kind).get(ranks[at]);
        let finished = (0..tasks.len()).map(|at| state(at).is_some_and(|state| state.terminal)).collect();
        // Turns only matter if the board has groups.
        let links = tasks.iter().any(|task| task.atomic).then(|| Links::new(board));
        let turn = |at: usize| links.as_ref().is_none_or(|links| board.is_its_turn(at, links, rules));
        // A task that a person must decide on is not ready for anyone.
        let open = |at: usize| tasks[at].attention.is_none() && !rules.needs_person(&tasks[at]);
        let free = |at: usize| {
            state(at).is_some_and(|state| is_taken_up(&tasks[at], state, rules)) && !board.is_kept(at, rules)
        };
        let taken_up = (0..tasks.len()).map(|at| free(at) && turn(at) && open(at)).collect();
        let left = |at: usize| {
            let task = &tasks[at];
            let works = task.owner.is_some() && state(at).is_some_and(|state| state.lock);
            works && !board.claim(&task.id).is_some_and(|claim| claim.live)
        };
        let left = (0..tasks.len()).map(left).collect();
        let meaning = |at: usize| match state(at) {
            Some(state) if state.terminal || !rules.needs_person(&tasks[at]) => flow.meaning(state),
            _ => Meaning::Person,
        };
        let meanings = (0..tasks.len()).map(meaning).collect();
        let mut all = Self { finished, taken_up, left, blocked: vec![None; tasks.len()], ranks, meanings };
        for at in 0..tasks.len() {
            all.settle(board, at);
        }
        all
    }

    pub fn of(&self, board: &Board, at: usize) -> Standing {
        let open = board.blockers_of(at).filter(|(id, place)| !self.is_over(board, at, id, *place));
        let open_blockers = open.map(|(id, _)| id.clone()).collect();
        let (blocked, ready) = (self.is_blocked(at), self.is_ready(at));
        Standing { meaning: self.meanings[at], blocked, ready, stale: self.left[at], open_blockers }
    }

    pub fn rank(&self, at: usize) -> usize {
        self.ranks[at]
    }

    pub fn is_finished(&self, at: usize) -> bool {
        self.finished[at]
    }

    /// Whether a task is blocked; finished tasks never are.
    pub fn is_blocked(&self, at: usize) -> bool {
        self.blocked[at] == Some(true) && !self.finished[at]
    }

    pub fn is_ready(&self, at: usize) -> bool {
        self.taken_up[at] && !self.is_blocked(at)
    }

    fn is_over(&self, board: &Board, at: usize, id: &TaskId, place: Option<usize>) -> bool {
        place.map_or_else(|| board.archived(id).is_some(), |other| self.finished[other] || board.are_phases(at, other))
    }

    /// Whether a task has an open blocker of its own, apart from those of its ancestors.
    fn waits(&self, board: &Board, at: usize) -> bool {
        board.blockers_of(at).any(|(id, place)| !self.is_over(board, at, id, place))
    }

    /// Iterative, because a chain of parents may be as long as the board. A cycle of parents alone blocks nothing.
    fn settle(&mut self, board: &Board, at: usize) {
        let mut path = Vec::new();
        let mut walked = std::collections::HashSet::new();
        let mut next = Some(at);
        let mut blocked = false;
        while let Some(here) = next {
            if let Some(known) = self.blocked[here] {
                blocked = known;
                break;
            }
            if !walked.insert(here) {
                // Each task in a cycle is an ancestor of the others, and is blocked by their blockers.
                blocked = path.iter().skip_while(|&&other| other != here).any(|&other| self.waits(board, other));
                break;
            }
            path.push(here);
            next = board.parent_of(here);
        }
        for here in path.into_iter().rev() {
            blocked = blocked || self.waits(board, here);
            self.blocked[here] = Some(blocked);
        }
    }
}

/// Whether some role takes tasks from this state. Epics are not taken, because a parent moves with its children.
fn is_taken_up(task: &Task, state: &State, rules: &Rules) -> bool {
    let intake = match task.kind {
        Kind::Step => !state.terminal && !state.lock,
        Kind::Epic => false,
        Kind::Issue => rules.flow.is_intake(state, rules.mode) && left_by(task, rules).is_none(),
    };
    intake && task.problems.is_empty()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::board::Claim;
    use crate::board::testing::{Sample, any_board, at, claim, ids, laws, rules};

    fn standing(sample: Sample, name: &str) -> Standing {
        let board = sample.build();
        Standings::new(&board, &rules()).of(&board, at(&board, name))
    }

    #[test]
    fn a_blocker_blocks_until_it_is_done_or_canceled() {
        for (state, blocked) in
            [("Backlog", true), ("In Review", true), ("Human Needed", true), ("Done", false), ("Canceled", false)]
        {
            let got = standing(Sample::board().task("a", "Backlog").blocked_by(&["b"]).task("b", state), "a");
            assert_eq!((got.blocked, got.ready), (blocked, !blocked), "{state}");
            assert_eq!(got.open_blockers, ids(if blocked { &["b"] } else { &[] }), "{state}");
        }
    }

    #[test]
    fn a_missing_blocker_blocks_and_an_archived_one_does_not() {
        let waits = Sample::board().task("a", "Backlog").blocked_by(&["gone"]);
        assert!(standing(waits.clone(), "a").blocked);
        assert!(!standing(waits.archived("gone", "Done"), "a").blocked);
    }

    #[test]
    fn a_blocked_parent_blocks_its_children_however_deep() {
        let sample = Sample::board().task("x", "Backlog").task("p", "Backlog").blocked_by(&["x"]);
        let got = standing(sample.children("p", &[("c", "Backlog")]).children("c", &[("g", "Backlog")]), "g");
        assert!(got.blocked && got.open_blockers.is_empty());
    }

    #[test]
    fn a_ring_of_parents_ends_and_blocks_nothing_by_itself() {
        let ring = Sample::board().task("b", "Backlog").parent("a").task("a", "Backlog").parent("b");
        assert!(!standing(ring.clone(), "a").blocked);
        // Each member of the cycle has the blockers of all.
        let waits = ring.blocked_by(&["x"]).task("x", "Backlog");
        assert!(standing(waits.clone(), "a").blocked && standing(waits, "b").blocked);
    }

    #[test]
    fn finished_work_is_neither_ready_nor_blocked() {
        let got = standing(Sample::board().task("a", "Done").blocked_by(&["b"]).task("b", "Backlog"), "a");
        assert!(!got.ready && !got.blocked);
    }

    #[test]
    fn between_the_phases_of_a_group_a_blocker_is_only_an_order() {
        let group = Sample::board().task("p", "Backlog").atomic().children("p", &[("a", "Backlog"), ("b", "Backlog")]);
        let got = standing(group.blocked_by(&["a"]), "b");
        assert!(!got.blocked && got.open_blockers.is_empty());
    }

    #[test]
    fn what_can_be_taken_up_now_is_ready() {
        let task = |state: &str| Sample::board().task("a", state);
        for (sample, ready) in [
            (task("Backlog"), true),
            (task("In Review"), true),
            (task("Done"), false),
            (task("Human Needed"), false),
            (task("Nowhere"), false),
            (task("Plan in Progress"), false),
            (task("Backlog").epic(), false),
            (task("Backlog").problem("no title"), false),
            (task("Backlog").labels(&["ralph-triage"]), false),
            (task("Backlog").owner("anna"), false),
            (task("Backlog").owner("analyst"), true),
            (task("Backlog").claimed_by("analyst"), false),
            (Sample::board().step("a", "Pending", "t", "plan", &["t"]), true),
            (Sample::board().step("a", "In Progress", "t", "plan", &["t"]), false),
            (Sample::board().step("a", "Completed", "t", "plan", &["t"]), false),
        ] {
            assert_eq!(standing(sample.clone(), "a").ready, ready, "{sample:?}");
        }
    }

    #[test]
    fn a_member_of_a_group_is_ready_when_it_is_the_groups_turn() {
        let group = |states: [&str; 2]| {
            Sample::board().task("p", "Backlog").atomic().children("p", &[("a", states[0]), ("b", states[1])])
        };
        for (states, ready) in [
            (["Ready for Plan", "Ready for Plan"], [true, false]),
            (["Ready for Plan", "Research Needed"], [false, true]),
            (["Backlog", "Backlog"], [true, true]),
        ] {
            let got = ["a", "b"].map(|name| standing(group(states), name).ready);
            assert_eq!(got, ready, "{states:?}");
        }
    }

    #[test]
    fn work_without_a_living_claim_is_stale() {
        let dead = Claim { live: false, ..claim("anna") };
        let works = || Sample::board().task("a", "In Progress");
        for (sample, stale) in [
            (works().owner("anna"), true),
            (works().owner("anna").claimed(dead), true),
            (works().claimed_by("anna"), false),
            (works(), false),
            (Sample::board().task("a", "Backlog").owner("anna"), false),
        ] {
            assert_eq!(standing(sample.clone(), "a").stale, stale, "{sample:?}");
        }
    }

    proptest! {
        #![proptest_config(laws(400))]

        #[test]
        fn an_open_task_is_blocked_exactly_while_it_or_an_ancestor_waits(board in any_board()) {
            let rules = rules();
            let standings = Standings::new(&board, &rules);
            for (at, task) in board.tasks().iter().enumerate() {
                let finished = rules.flow.is_terminal(task.kind, &task.state);
                prop_assert_eq!(standings.is_finished(at), finished);
                prop_assert_eq!(standings.rank(at), rules.flow.position(task.kind, &task.state));
                let waits = !board.open_blockers(at, &rules).is_empty();
                prop_assert_eq!(standings.is_blocked(at), waits && !finished, "{}", task.id);
                prop_assert!(!(standings.is_ready(at) && (waits || finished)));
            }
        }
    }
}

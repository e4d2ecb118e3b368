//! Where each task stands: what blocks it, and whether somebody could take it now.

use super::{Board, Links, Rules, left_by};
use crate::task::{Kind, Task, TaskId};
use crate::workflow::State;

/// Computed once for a whole board, in one pass.
pub struct Standings {
    /// Where each task's state stands in the workflow.
    ranks: Vec<usize>,
    finished: Vec<bool>,
    blocked: Vec<Option<bool>>,
    taken_up: Vec<bool>,
    left: Vec<bool>,
}

/// One task's standing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Standing {
    pub blocked: bool,
    pub ready: bool,
    /// In a state in which somebody works, by its owner, whose claim is gone.
    pub stale: bool,
    /// Its own blockers that are not finished, missing ones among them.
    pub open_blockers: Vec<TaskId>,
}

impl Standings {
    pub fn new(board: &Board, rules: &Rules) -> Self {
        let flow = &rules.flow;
        let tasks = board.tasks();
        let ranks: Vec<usize> = tasks.iter().map(|task| flow.position(task.kind, &task.state)).collect();
        let state = |at: usize| flow.states_of(tasks[at].kind).get(ranks[at]);
        let finished = (0..tasks.len()).map(|at| state(at).is_some_and(|state| state.terminal)).collect();
        // Only where there are groups at all does it matter whose turn it is.
        let links = tasks.iter().any(|task| task.atomic).then(|| Links::new(board));
        let turn = |at: usize| links.as_ref().is_none_or(|links| board.is_its_turn(at, links, rules));
        let free = |at: usize| {
            state(at).is_some_and(|state| is_taken_up(&tasks[at], state, rules)) && !board.is_kept(at, rules)
        };
        let taken_up = (0..tasks.len()).map(|at| free(at) && turn(at)).collect();
        let left = |at: usize| {
            let task = &tasks[at];
            let works = task.owner.is_some() && state(at).is_some_and(|state| state.lock);
            works && !board.claim(&task.id).is_some_and(|claim| claim.live)
        };
        let left = (0..tasks.len()).map(left).collect();
        let mut all = Self { finished, taken_up, left, blocked: vec![None; tasks.len()], ranks };
        for at in 0..tasks.len() {
            all.settle(board, at);
        }
        all
    }

    pub fn of(&self, board: &Board, at: usize) -> Standing {
        let open = board.blockers_of(at).filter(|(id, place)| !self.is_over(board, at, id, *place));
        let open_blockers = open.map(|(id, _)| id.clone()).collect();
        Standing { blocked: self.is_blocked(at), ready: self.is_ready(at), stale: self.left[at], open_blockers }
    }

    pub fn rank(&self, at: usize) -> usize {
        self.ranks[at]
    }

    pub fn is_finished(&self, at: usize) -> bool {
        self.finished[at]
    }

    /// Finished tasks wait for nothing.
    pub fn is_blocked(&self, at: usize) -> bool {
        self.blocked[at] == Some(true) && !self.finished[at]
    }

    pub fn is_ready(&self, at: usize) -> bool {
        self.taken_up[at] && !self.is_blocked(at)
    }

    fn is_over(&self, board: &Board, at: usize, id: &TaskId, place: Option<usize>) -> bool {
        place.map_or_else(|| board.archived(id).is_some(), |other| self.finished[other] || board.are_phases(at, other))
    }

    /// Iterative, since a chain of parents may be as long as the board; a ring of parents blocks nothing by itself.
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
                break;
            }
            path.push(here);
            next = board.parent_of(here);
        }
        for here in path.into_iter().rev() {
            blocked = blocked || board.blockers_of(here).any(|(id, place)| !self.is_over(board, here, id, place));
            self.blocked[here] = Some(blocked);
        }
    }
}

/// Whether some role takes work from its state; a parent is moved by its children.
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
    use super::*;
    use crate::task::StateName;
    use crate::workflow::Workflow;

    fn task(name: &str, state: &str) -> Task {
        Task::new(TaskId::new(name).unwrap(), name, StateName::new(state))
    }

    fn standing(tasks: Vec<Task>, name: &str) -> Standing {
        let board = Board::new(tasks, Vec::new(), Vec::new());
        Standings::new(&board, &Rules::of(Workflow::builtin()))
            .of(&board, board.index_of(&TaskId::new(name).unwrap()).unwrap())
    }

    fn waits(mut task: Task, on: &str) -> Task {
        task.blocked_by.push(TaskId::new(on).unwrap());
        task
    }

    #[test]
    fn a_blocker_blocks_until_it_is_done_or_canceled() {
        for (state, blocked) in
            [("Backlog", true), ("In Review", true), ("Human Needed", true), ("Done", false), ("Canceled", false)]
        {
            let got = standing(vec![waits(task("a", "Backlog"), "b"), task("b", state)], "a");
            assert_eq!((got.blocked, got.ready), (blocked, !blocked), "{state}");
        }
    }

    #[test]
    fn a_missing_blocker_blocks_and_an_archived_one_does_not() {
        assert!(standing(vec![waits(task("a", "Backlog"), "gone")], "a").blocked);
        let archived = vec![(TaskId::new("gone").unwrap(), StateName::new("Done"))];
        let board = Board::new(vec![waits(task("a", "Backlog"), "gone")], Vec::new(), archived);
        assert!(!Standings::new(&board, &Rules::of(Workflow::builtin())).is_blocked(0));
    }

    #[test]
    fn a_blocked_parent_blocks_its_children_however_deep() {
        let mut child = task("c", "Backlog");
        child.parent = Some(TaskId::new("p").unwrap());
        let mut grandchild = task("g", "Backlog");
        grandchild.parent = Some(TaskId::new("c").unwrap());
        let tasks = vec![waits(task("p", "Backlog"), "x"), child, grandchild, task("x", "Backlog")];
        let got = standing(tasks, "g");
        assert!(got.blocked && got.open_blockers.is_empty());
    }

    #[test]
    fn a_ring_of_parents_ends() {
        let mut a = task("a", "Backlog");
        a.parent = Some(TaskId::new("b").unwrap());
        let mut b = task("b", "Backlog");
        b.parent = Some(TaskId::new("a").unwrap());
        assert!(!standing(vec![a, b], "a").blocked);
    }

    #[test]
    fn finished_work_is_neither_ready_nor_blocked() {
        let got = standing(vec![waits(task("a", "Done"), "b"), task("b", "Backlog")], "a");
        assert!(!got.ready && !got.blocked);
    }
}

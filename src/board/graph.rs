//! Where each task stands: what blocks it, and whether somebody could take it now.

use super::Board;
use crate::task::{StateName, Task, TaskId};
use crate::workflow::Workflow;

/// Computed once for a whole board, in one pass.
pub struct Standings<'a> {
    board: &'a Board,
    flow: &'a Workflow,
    blocked: Vec<Option<bool>>,
}

/// One task's standing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Standing {
    pub blocked: bool,
    pub ready: bool,
    /// Its own blockers that are not finished, missing ones among them.
    pub open_blockers: Vec<TaskId>,
}

impl<'a> Standings<'a> {
    pub fn new(board: &'a Board, flow: &'a Workflow) -> Self {
        let mut all = Self { board, flow, blocked: vec![None; board.tasks().len()] };
        for at in 0..board.tasks().len() {
            all.settle(at);
        }
        all
    }

    pub fn of(&self, at: usize) -> Standing {
        let task = &self.board.tasks()[at];
        let blocked = self.is_blocked(at);
        Standing { blocked, ready: !blocked && self.is_taken_up(task), open_blockers: self.open_blockers(task) }
    }

    /// Finished tasks wait for nothing.
    pub fn is_blocked(&self, at: usize) -> bool {
        let task = &self.board.tasks()[at];
        self.blocked[at] == Some(true) && !self.flow.is_terminal(task.kind, &task.state)
    }

    pub fn is_ready(&self, at: usize) -> bool {
        !self.is_blocked(at) && self.is_taken_up(&self.board.tasks()[at])
    }

    fn open_blockers(&self, task: &Task) -> Vec<TaskId> {
        task.blocked_by.iter().filter(|id| !self.is_finished(id)).cloned().collect()
    }

    fn is_finished(&self, id: &TaskId) -> bool {
        let terminal = |state: &StateName, kind| self.flow.is_terminal(kind, state);
        match self.board.get(id) {
            Some(task) => terminal(&task.state, task.kind),
            None => self.board.archived(id).is_some(),
        }
    }

    /// Somebody owns it, or some role takes work from its state; an epic is moved by its children.
    fn is_taken_up(&self, task: &Task) -> bool {
        let Some(state) = self.flow.state(task.kind, &task.state) else { return false };
        let free = task.owner.is_none() || !state.lock;
        let taken = if self.flow.roles().is_empty() { !state.terminal } else { !state.intake.is_empty() };
        task.kind != crate::task::Kind::Epic && free && taken && task.problems.is_empty()
    }

    /// Iterative, since a chain of parents may be as long as the board; a ring of parents blocks nothing by itself.
    fn settle(&mut self, at: usize) {
        let mut path = Vec::new();
        let mut next = Some(at);
        let mut blocked = false;
        while let Some(here) = next {
            if let Some(known) = self.blocked[here] {
                blocked = known;
                break;
            }
            if path.contains(&here) {
                break;
            }
            path.push(here);
            next = self.board.tasks()[here].parent.as_ref().and_then(|id| self.board.index_of(id));
        }
        for here in path.into_iter().rev() {
            let task = &self.board.tasks()[here];
            blocked = blocked || task.blocked_by.iter().any(|id| !self.is_finished(id));
            self.blocked[here] = Some(blocked);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(name: &str, state: &str) -> Task {
        Task::new(TaskId::new(name).unwrap(), name, StateName::new(state))
    }

    fn standing(tasks: Vec<Task>, name: &str) -> Standing {
        let board = Board::new(tasks, Vec::new(), Vec::new());
        let flow = Workflow::builtin();
        Standings::new(&board, &flow).of(board.index_of(&TaskId::new(name).unwrap()).unwrap())
    }

    fn waits(mut task: Task, on: &str) -> Task {
        task.blocked_by.push(TaskId::new(on).unwrap());
        task
    }

    #[test]
    fn a_blocker_blocks_until_it_is_done_or_canceled() {
        for (state, blocked) in [("Backlog", true), ("In Review", true), ("Human Needed", true), ("Done", false), ("Canceled", false)] {
            let got = standing(vec![waits(task("a", "Backlog"), "b"), task("b", state)], "a");
            assert_eq!((got.blocked, got.ready), (blocked, !blocked), "{state}");
        }
    }

    #[test]
    fn a_missing_blocker_blocks_and_an_archived_one_does_not() {
        assert!(standing(vec![waits(task("a", "Backlog"), "gone")], "a").blocked);
        let archived = vec![(TaskId::new("gone").unwrap(), StateName::new("Done"))];
        let board = Board::new(vec![waits(task("a", "Backlog"), "gone")], Vec::new(), archived);
        assert!(!Standings::new(&board, &Workflow::builtin()).is_blocked(0));
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

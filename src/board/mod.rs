//! All tasks at one instant, and every question about them that needs no disk access.

mod admission;
mod advance;
mod audit;
mod change;
mod check;
mod choose;
mod event;
mod fit;
mod flow_times;
mod graph;
mod group;
mod holders;
mod links;
mod op;
mod parents;
mod position;
mod query;
mod refer;
mod refs;
mod refusal;
mod rules;
mod scope;
mod search;
mod siblings;
mod streams;
mod team;
mod trends;
mod why;

use std::collections::BTreeMap;

use crate::task::{Problem, StateName, Task, TaskId};
use refs::Refs;

pub use admission::{Admission, ClaimEffect, Departure, Ending, Evidence, Goal, Proof, Request};
pub use advance::{Advance, AdvanceLimits};
pub use audit::{IrregularMove, JournalEntry, MovedBy};
pub use change::{Assignment, joined, parse_assignment, set_keys};
pub use check::{Finding, inspect};
pub use choose::{Choice, command_for, left_by};
pub use event::{Event, EventKind, Facts, Via, changed as changed_event};
pub use flow_times::{FlowTimes, StateStep};
pub use graph::{Standing, Standings};
pub use group::{Convergence, Group};
pub use holders::Return;
pub use links::{Cycle, Links};
pub use op::{Change, Op, Place};
pub use parents::{DEEPEST_PARENTS, ParentHold};
pub use position::{Position, Roster};
pub use query::{Query, SortKey, UnknownSort};
pub use refer::{Candidate, Named, RefError, issue_number, resolve, resolve_exact, unmarked};
pub use refusal::Refusal;
pub use rules::{Actor, ActorKind, Claim, Rules};
pub use scope::{Scope, ScopeMode, is_unscoped};
pub use search::{Searched, score};
pub use siblings::{Declaration, Grouping, Turn};
pub use streams::{Footprint, Stream, streams};
pub use team::pipeline::Unit;
pub use team::step_choice::{Ended, StepChoice};
pub use team::step_plan::{NewStep, StepPlan, StepRef, TeamAsk};
pub use trends::{Day, TrendPast, Undo, days_of};
pub use why::Cause;

/// All tasks at one instant, sorted by id, with the claims that were known then.
///
/// Guarantees: references between tasks are resolved. A file that could not be read is in [`broken`](Board::broken), so
/// that nothing mistakes it for missing. No method reads a file or a clock. A decision does not change the board: it
/// returns [`Change`]s, which the store commits.
///
/// Callers read it under the board lock if they commit what they decide. It may hold only part of a board: a task with
/// what it is linked to (`Workspace::around`), or with everything that a move of it can touch (`Workspace::family`).
/// Decisions about one task need the family; choosing work and finding orphans need the whole board.
#[derive(Debug, Clone, Default)]
pub struct Board {
    tasks: Vec<Task>,
    refs: Refs,
    broken: Vec<Broken>,
    archived: Vec<(TaskId, StateName)>,
    claims: BTreeMap<TaskId, Claim>,
    /// The files that tasks' plans change, for tasks that could be taken, as far as the caller has read the plans.
    scopes: BTreeMap<TaskId, Scope>,
    /// Tasks that were changed in places that this clone has not read yet, each with the place.
    elsewhere: BTreeMap<TaskId, String>,
}

/// A task whose file cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    pub id: TaskId,
    pub problem: Problem,
}

impl Board {
    pub fn new(mut tasks: Vec<Task>, mut broken: Vec<Broken>, mut archived: Vec<(TaskId, StateName)>) -> Self {
        if !tasks.is_sorted_by(|a, b| a.id < b.id) {
            tasks.sort_by(|a, b| a.id.cmp(&b.id));
        }
        broken.sort_by(|a, b| a.id.cmp(&b.id));
        archived.sort();
        Self { refs: Refs::new(&tasks), tasks, broken, archived, ..Self::default() }
    }

    pub fn into_tasks(self) -> Vec<Task> {
        self.tasks
    }

    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    pub fn broken(&self) -> &[Broken] {
        &self.broken
    }

    pub fn index_of(&self, id: &TaskId) -> Option<usize> {
        self.tasks.binary_search_by(|task| task.id.cmp(id)).ok()
    }

    /// The place of a task's parent, if it is on the board.
    pub fn parent_of(&self, at: usize) -> Option<usize> {
        self.refs.parent(at)
    }

    /// The blockers of a task, each with its place if it is on the board.
    pub fn blockers_of(&self, at: usize) -> impl Iterator<Item = (&TaskId, Option<usize>)> {
        self.tasks[at].blocked_by.iter().zip(self.refs.blockers(at))
    }

    pub fn get(&self, id: &TaskId) -> Option<&Task> {
        self.index_of(id).map(|at| &self.tasks[at])
    }

    pub fn broken_file(&self, id: &TaskId) -> Option<&Problem> {
        self.broken.iter().find(|broken| broken.id == *id).map(|broken| &broken.problem)
    }

    /// The state in which a task was archived, for archived tasks that a task on the board refers to.
    pub fn archived(&self, id: &TaskId) -> Option<&StateName> {
        self.archived.binary_search_by(|(other, _)| other.cmp(id)).ok().map(|at| &self.archived[at].1)
    }

    /// Whether the task that a reference names exists.
    pub fn knows(&self, id: &TaskId) -> bool {
        self.index_of(id).is_some() || self.broken_file(id).is_some() || self.archived(id).is_some()
    }

    pub fn with_claims(mut self, claims: BTreeMap<TaskId, Claim>) -> Self {
        self.claims = claims;
        self
    }

    /// The same board with the tasks that were changed in places that this clone has not read yet.
    #[must_use]
    pub fn with_elsewhere(mut self, elsewhere: BTreeMap<TaskId, String>) -> Self {
        self.elsewhere = elsewhere;
        self
    }

    /// The place where a task was changed without this clone having read the change.
    pub fn changed_at(&self, id: &TaskId) -> Option<&str> {
        self.elsewhere.get(id).map(String::as_str)
    }

    /// The tasks that were changed in places that this clone has not read yet.
    pub fn changed_elsewhere(&self) -> impl Iterator<Item = &TaskId> {
        self.elsewhere.keys()
    }

    /// The same board with one task in another state.
    #[must_use]
    pub fn with_state(&self, id: &TaskId, state: &StateName) -> Self {
        let mut tasks = self.tasks.clone();
        for task in tasks.iter_mut().filter(|task| task.id == *id) {
            task.state = state.clone();
        }
        Self::new(tasks, self.broken.clone(), self.archived.clone())
            .with_claims(self.claims.clone())
            .with_scopes(self.scopes.clone())
            .with_elsewhere(self.elsewhere.clone())
    }

    /// The same board with this task added or replaced.
    #[must_use]
    pub fn with_task(mut self, task: Task) -> Self {
        match self.index_of(&task.id) {
            Some(at) => self.tasks[at] = task,
            None => return self,
        }
        self.refs = Refs::new(&self.tasks);
        self
    }

    /// The claim on a task, live or dead.
    pub fn claim(&self, id: &TaskId) -> Option<&Claim> {
        self.claims.get(id)
    }

    pub fn claims(&self) -> &BTreeMap<TaskId, Claim> {
        &self.claims
    }

    /// Whether two tasks are phases of one group, in which a blocker only determines the order.
    pub fn are_phases(&self, one: usize, other: usize) -> bool {
        let atomic = |at: usize| self.parent_of(at).filter(|&parent| self.tasks[parent].atomic);
        atomic(one).is_some() && atomic(one) == atomic(other)
    }

    /// The parents and blockers that are not tasks on this board: they are archived or do not exist.
    pub fn unresolved(&self) -> Vec<TaskId> {
        let mut ids: Vec<TaskId> = Vec::new();
        for (at, task) in self.tasks.iter().enumerate() {
            ids.extend(task.parent.iter().filter(|_| self.parent_of(at).is_none()).cloned());
            ids.extend(self.blockers_of(at).filter(|(_, place)| place.is_none()).map(|(id, _)| id.clone()));
        }
        ids.retain(|id| !self.knows(id));
        ids.sort();
        ids.dedup();
        ids
    }

    pub fn put_archived(&mut self, found: Vec<(TaskId, StateName)>) {
        self.archived.extend(found);
        self.archived.sort();
    }

    /// Every problem of every file, in the order of the files.
    pub fn problems(&self) -> Vec<&Problem> {
        let mut all: Vec<&Problem> = self.broken.iter().map(|broken| &broken.problem).collect();
        all.extend(self.tasks.iter().flat_map(|task| &task.problems));
        all.sort();
        all
    }
}

#[cfg(test)]
mod testing;

#[cfg(test)]
mod tests {
    use super::testing::{Sample, at, id, ids, names, state};

    #[test]
    fn tasks_are_found_by_id_in_whatever_order_they_were_read() {
        let board = Sample::board().task("b", "Done").task("c", "Backlog").task("a", "Backlog").build();
        assert_eq!(names(&board, &[0, 1, 2]), ["a", "b", "c"]);
        assert_eq!(board.get(&id("b")).map(|task| task.state.as_str()), Some("Done"));
        assert_eq!(board.get(&id("x")), None);
    }

    #[test]
    fn a_reference_is_known_on_the_board_in_the_archive_and_in_a_file_that_cannot_be_read() {
        let board =
            Sample::board().task("a", "Backlog").archived("y", "Canceled").archived("x", "Done").broken("z").build();
        let known = |name: &str| board.knows(&id(name));
        assert!(known("a") && known("x") && known("y") && known("z") && !known("gone"));
        assert_eq!((board.archived(&id("x")), board.archived(&id("a"))), (Some(&state("Done")), None));
        assert_eq!(board.broken_file(&id("z")).map(|problem| problem.file.as_str()), Some("z.toml"));
        assert_eq!(board.broken_file(&id("a")), None);
    }

    #[test]
    fn each_dangling_reference_is_unresolved_once() {
        let mut board = Sample::board()
            .task("a", "Backlog")
            .parent("q")
            .blocked_by(&["b", "x", "z"])
            .task("b", "Backlog")
            .parent("a")
            .blocked_by(&["q"])
            .broken("z")
            .build();
        assert_eq!(board.unresolved(), ids(&["q", "x"]));
        board.put_archived(vec![(id("x"), state("Done")), (id("q"), state("Done"))]);
        assert_eq!(board.unresolved(), []);
    }

    #[test]
    fn a_change_of_state_touches_one_task_and_keeps_the_rest() {
        let board = Sample::board()
            .task("a", "Backlog")
            .claimed_by("anna")
            .task("b", "Backlog")
            .archived("x", "Done")
            .broken("z")
            .build();
        let moved = board.with_state(&id("b"), &state("Done"));
        let states: Vec<&str> = moved.tasks().iter().map(|task| task.state.as_str()).collect();
        assert_eq!(states, ["Backlog", "Done"]);
        assert!(moved.claim(&id("a")).is_some() && moved.knows(&id("x")) && moved.knows(&id("z")));
    }

    #[test]
    fn only_children_of_one_atomic_parent_are_phases() {
        let group = Sample::board().task("p", "Backlog").atomic().children("p", &[("a", "Backlog"), ("b", "Backlog")]);
        let board = group
            .task("q", "Backlog")
            .atomic()
            .children("q", &[("c", "Backlog")])
            .task("r", "Backlog")
            .children("r", &[("d", "Backlog"), ("e", "Backlog")])
            .build();
        let phases = |one: &str, other: &str| board.are_phases(at(&board, one), at(&board, other));
        assert!(phases("a", "b"));
        for (one, other) in [("a", "c"), ("a", "p"), ("d", "e"), ("p", "q"), ("a", "d")] {
            assert!(!phases(one, other), "{one} {other}");
        }
    }

    #[test]
    fn problems_come_in_the_order_of_the_files() {
        let board = Sample::board()
            .task("c", "Backlog")
            .problem("no title")
            .task("a", "Backlog")
            .problem("no kind")
            .broken("b")
            .build();
        let files: Vec<&str> = board.problems().iter().map(|problem| problem.file.as_str()).collect();
        assert_eq!(files, ["a.toml", "b.toml", "c.toml"]);
    }
}

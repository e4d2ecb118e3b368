//! Boards for tests, written as call chains: `Sample::board().task("a", "Backlog").parent("p").claimed_by("builder")`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jiff::Timestamp;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::{Board, Broken, Claim, Rules, Scope};
use crate::task::{Estimate, GithubLink, Kind, Priority, Problem, StateName, Step, Task, TaskId, Worker};
use crate::workflow::{ReviewMode, Workflow};

/// Each method after `task` or `step` describes the task that was added last.
#[derive(Debug, Clone, Default)]
pub(super) struct Sample {
    tasks: Vec<Task>,
    broken: Vec<Broken>,
    archived: Vec<(TaskId, StateName)>,
    claims: BTreeMap<TaskId, Claim>,
}

impl Sample {
    pub fn board() -> Self {
        Self::default()
    }

    pub fn task(mut self, name: &str, state: &str) -> Self {
        self.tasks.push(Task::new(id(name), name, StateName::new(state)));
        self
    }

    /// Several tasks, by their names and states.
    pub fn tasks(self, rows: &[(&str, &str)]) -> Self {
        rows.iter().fold(self, |sample, (name, state)| sample.task(name, state))
    }

    pub fn children(self, parent: &str, rows: &[(&str, &str)]) -> Self {
        rows.iter().fold(self, |sample, (name, state)| sample.task(name, state).parent(parent))
    }

    /// A step of `team` that runs `command` on some tasks.
    pub fn step(self, name: &str, state: &str, team: &str, command: &str, of: &[&str]) -> Self {
        let step = Step {
            team: id(team),
            command: command.into(),
            of: ids(of),
            active_form: String::new(),
            round: 0,
            result: None,
        };
        self.task(name, state).with(|task| (task.kind, task.step) = (Kind::Step, Some(Box::new(step))))
    }

    pub fn with(mut self, change: impl FnOnce(&mut Task)) -> Self {
        change(self.tasks.last_mut().expect("a task comes first"));
        self
    }

    pub fn epic(self) -> Self {
        self.with(|task| task.kind = Kind::Epic)
    }

    pub fn atomic(self) -> Self {
        self.with(|task| task.atomic = true)
    }

    pub fn titled(self, title: &str) -> Self {
        self.with(|task| task.title = title.into())
    }

    pub fn parent(self, parent: &str) -> Self {
        self.with(|task| task.parent = Some(id(parent)))
    }

    pub fn blocked_by(self, blockers: &[&str]) -> Self {
        self.with(|task| task.blocked_by = ids(blockers))
    }

    pub fn priority(self, priority: Priority) -> Self {
        self.with(|task| task.priority = Some(priority))
    }

    pub fn estimate(self, estimate: Estimate) -> Self {
        self.with(|task| task.estimate = Some(estimate))
    }

    pub fn labels(self, labels: &[&str]) -> Self {
        self.with(|task| task.labels = labels.iter().map(ToString::to_string).collect())
    }

    pub fn owner(self, owner: &str) -> Self {
        self.with(|task| task.owner = Some(worker(owner)))
    }

    pub fn created(self, at: i64) -> Self {
        self.with(|task| task.created = Some(hour(at)))
    }

    pub fn document(self, kind: &str, path: &str) -> Self {
        self.with(|task| drop(task.artifacts.insert(kind.into(), path.into())))
    }

    pub fn issue(self, number: u64) -> Self {
        self.with(|task| task.github = Some(GithubLink { number, url: None }))
    }

    pub fn rejections(self, count: u32) -> Self {
        self.with(|task| task.rejections = count)
    }

    pub fn problem(self, message: &str) -> Self {
        self.with(|task| task.problems.push(Problem::whole(format!("{}.toml", task.id), message)))
    }

    /// Claimed and owned, as after a claim.
    pub fn claimed_by(self, worker: &str) -> Self {
        let claim = claim(worker);
        self.claimed(claim).owner(worker)
    }

    pub fn claimed(mut self, claim: Claim) -> Self {
        let task = self.tasks.last().expect("a task comes first").id.clone();
        self.claims.insert(task, claim);
        self
    }

    pub fn archived(mut self, name: &str, state: &str) -> Self {
        self.archived.push((id(name), StateName::new(state)));
        self
    }

    pub fn broken(mut self, name: &str) -> Self {
        let problem = Problem::whole(format!("{name}.toml"), "cannot be read");
        self.broken.push(Broken { id: id(name), problem });
        self
    }

    pub fn build(self) -> Board {
        Board::new(self.tasks, self.broken, self.archived).with_claims(self.claims)
    }
}

pub(super) fn id(name: &str) -> TaskId {
    TaskId::new(name).unwrap()
}

pub(super) fn ids(names: &[&str]) -> Vec<TaskId> {
    names.iter().map(|name| id(name)).collect()
}

pub(super) fn state(name: &str) -> StateName {
    StateName::new(name)
}

pub(super) fn worker(name: &str) -> Worker {
    Worker::new(name).unwrap()
}

/// This number of hours after the epoch of the tests.
pub(super) fn hour(at: i64) -> Timestamp {
    Timestamp::from_second(1_794_823_200 + at * 3_600).unwrap()
}

/// A live claim with a lease of an hour.
pub(super) fn claim(by: &str) -> Claim {
    Claim {
        worker: worker(by),
        host: "h".into(),
        since: hour(0),
        until: hour(1),
        held: false,
        token: "t".into(),
        command: None,
        paths: Scope::default(),
        remote: None,
        renewing: None,
        published: None,
        leased: None,
        session: None,
        live: true,
        foreign: false,
    }
}

/// The built-in workflow with its usual settings.
pub(super) fn rules() -> Rules {
    static BUILTIN: LazyLock<Rules> = LazyLock::new(|| Rules::of(Workflow::builtin()));
    BUILTIN.clone()
}

pub(super) fn rules_in(mode: ReviewMode) -> Rules {
    Rules { mode, ..rules() }
}

/// The place of a task, by its name.
pub(super) fn at(board: &Board, name: &str) -> usize {
    board.index_of(&id(name)).unwrap()
}

/// The names of tasks, by their places.
pub(super) fn names(board: &Board, places: &[usize]) -> Vec<String> {
    places.iter().map(|&at| board.tasks()[at].id.to_string()).collect()
}

/// The same cases in every run, and no files of failed cases.
pub(super) fn laws(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(20_261_116), ..Default::default() }
}

/// Small boards with arbitrary links, including dangling ones, cycles, groups, finished tasks and unknown states.
pub(super) fn any_board() -> impl Strategy<Value = Board> {
    let names = || proptest::sample::select(vec!["a", "b", "c", "d", "e", "f", "gone"]);
    let row = (
        any_state(),
        proptest::option::weighted(0.4, names()),
        proptest::collection::btree_set(names(), 0..3),
        any::<bool>(),
        proptest::option::of(proptest::sample::select(Priority::ALL)),
        proptest::option::of(0..3_i64),
    );
    proptest::collection::vec(row, 1..7).prop_map(|rows| {
        let tasks = rows.into_iter().zip(["a", "b", "c", "d", "e", "f"]);
        let tasks = tasks.map(|((state, parent, blockers, atomic, priority, created), name)| {
            let mut task = Task::new(id(name), name, state);
            task.parent = parent.map(id);
            task.blocked_by = blockers.into_iter().map(id).collect();
            task.atomic = atomic;
            task.priority = priority;
            task.created = created.map(hour);
            task
        });
        Board::new(tasks.collect(), Vec::new(), Vec::new())
    })
}

/// Boards without cycles: each task's parent and blockers have smaller ids.
pub(super) fn any_forest() -> impl Strategy<Value = Board> {
    any_board().prop_map(|board| {
        let mut tasks = board.into_tasks();
        for task in &mut tasks {
            task.parent = task.parent.take().filter(|parent| *parent < task.id);
            task.blocked_by.retain(|blocker| *blocker < task.id);
        }
        Board::new(tasks, Vec::new(), Vec::new())
    })
}

/// A state of the built-in workflow, or an unknown one.
pub(super) fn any_state() -> impl Strategy<Value = StateName> {
    let known = Workflow::builtin().states().iter().map(|state| state.name.clone()).collect::<Vec<_>>();
    prop_oneof![20 => proptest::sample::select(known), 1 => Just(StateName::new("Nowhere"))]
}

//! What is asked for a team's steps, and the plan that brings them up to date, as values.

use std::collections::{BTreeMap, BTreeSet};

use super::{Board, Change, Rules};
use crate::task::{Kind, StateName, Step, Task, TaskId, Worker};

/// For whom, and how, steps are built.
#[derive(Debug, Clone, Default)]
pub struct TeamAsk {
    /// The tasks that are worked on, each a team of its own.
    pub teams: Vec<TaskId>,
    /// Only what can be done now; the rest when it comes to that.
    pub bough: bool,
    /// The workers of each role, for steps that can be taken up at once.
    pub crew: BTreeMap<String, Vec<Worker>>,
    /// The files that each task's plan touches.
    pub touches: BTreeMap<TaskId, BTreeSet<String>>,
}

/// What brings the steps up to date.
#[derive(Debug, Clone, Default)]
pub struct StepPlan {
    pub changes: Vec<Change>,
    pub new: Vec<NewStep>,
    /// Steps that wait for others than before.
    pub rewired: Vec<(TaskId, Vec<StepRef>)>,
}

impl StepPlan {
    /// The board as it is once this is done, with these ids for what is new.
    pub fn applied(&self, board: &Board, ids: &[TaskId], rules: &Rules) -> Board {
        let mut tasks = board.tasks().to_vec();
        let mut with = |id: &TaskId, change: &mut dyn FnMut(&mut Task)| {
            tasks.iter_mut().filter(|task| task.id == *id).for_each(change);
        };
        for change in &self.changes {
            let Change::Set { task, key, new, .. } = change else { continue };
            let text = new.as_ref().map(ToString::to_string);
            with(task, &mut |task| match key.as_str() {
                "state" => task.state = StateName::new(text.clone().unwrap_or_default()),
                "result" => task.step.iter_mut().for_each(|step| step.result.clone_from(&text)),
                _ => task.owner = None,
            });
        }
        for (id, after) in &self.rewired {
            with(id, &mut |task| task.blocked_by = after.iter().map(|step| step.id(ids)).collect());
        }
        tasks.extend(self.new.iter().zip(ids).map(|(new, id)| new.task(id, ids, rules)));
        Board::new(tasks, board.broken().to_vec(), Vec::new()).with_claims(board.claims().clone())
    }

    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.new.is_empty() && self.rewired.is_empty()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewStep {
    pub title: String,
    pub step: Step,
    pub owner: Option<Worker>,
    pub after: Vec<StepRef>,
}

/// A step that is there, or the one that is made at this place of the list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepRef {
    There(TaskId),
    New(usize),
}

impl StepRef {
    /// With these ids for what is new.
    pub fn id(&self, ids: &[TaskId]) -> TaskId {
        match self {
            Self::There(id) => id.clone(),
            Self::New(number) => ids[*number].clone(),
        }
    }
}

impl NewStep {
    /// The task that it becomes.
    pub fn task(&self, id: &TaskId, ids: &[TaskId], rules: &Rules) -> Task {
        let mut task = Task::new(id.clone(), &self.title, rules.flow.initial(Kind::Step).clone());
        task.kind = Kind::Step;
        task.owner.clone_from(&self.owner);
        task.blocked_by = self.after.iter().map(|step| step.id(ids)).collect();
        task.blocked_by.sort();
        task.step = Some(Box::new(self.step.clone()));
        task
    }
}

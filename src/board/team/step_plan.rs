//! The request to plan the steps of teams, and the plan that brings the steps up to date.

use std::collections::BTreeMap;

use crate::board::{Board, Change, Rules, Scope};
use crate::task::{Kind, StateName, Step, Task, TaskId, Worker};

/// A request to plan the steps of some teams.
#[derive(Debug, Clone, Default)]
pub struct TeamAsk {
    /// The tasks to work on; each has a team of its own.
    pub teams: Vec<TaskId>,
    /// Only steps that can start now; later ones are created later.
    pub bough: bool,
    /// The workers of each role, for steps that can start at once.
    pub crew: BTreeMap<String, Vec<Worker>>,
    /// The files that each task's plan touches.
    pub touches: BTreeMap<TaskId, Scope>,
}

/// The changes that bring the steps up to date.
#[derive(Debug, Clone, Default)]
pub struct StepPlan {
    pub changes: Vec<Change>,
    pub new: Vec<NewStep>,
    /// Steps whose blockers change.
    pub rewired: Vec<(TaskId, Vec<StepRef>)>,
}

impl StepPlan {
    /// The board after these changes, with these ids for new steps.
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
        Board::new(tasks, board.broken().to_vec(), board.archived.clone()).with_claims(board.claims().clone())
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

/// An existing step, or the index of a new one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepRef {
    There(TaskId),
    New(usize),
}

impl StepRef {
    /// The id of the step; `ids` are those of the new steps.
    pub fn id(&self, ids: &[TaskId]) -> TaskId {
        match self {
            Self::There(id) => id.clone(),
            Self::New(number) => ids[*number].clone(),
        }
    }
}

impl NewStep {
    /// The step as a task.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Standings;
    use crate::board::testing::{Sample, at, id, ids, rules, state, worker};
    use crate::task::Value;

    #[test]
    fn a_plan_is_applied_with_its_changes_its_new_steps_and_who_waits_for_whom() {
        let board = Sample::board()
            .step("s1", "In Progress", "a", "plan", &["a"])
            .owner("builder")
            .step("s2", "Pending", "a", "merge", &["a"])
            .owner("anna")
            .broken("x")
            .build();
        let text = |text: &str| Some(Value::text(text));
        let step = board.tasks()[1].step.clone().unwrap();
        let new = |title: &str, after: Vec<StepRef>| NewStep {
            title: title.into(),
            step: (*step).clone(),
            owner: None,
            after,
        };
        let plan = StepPlan {
            changes: vec![
                Change::set(&id("s1"), "state", text("In Progress"), text("Completed")),
                Change::set(&id("s1"), "result", None, text("p.md")),
                Change::set(&id("s1"), "owner", text("builder"), None),
            ],
            new: vec![
                NewStep { owner: Some(worker("builder-2")), ..new("Implement", vec![StepRef::There(id("s1"))]) },
                new("Open", vec![StepRef::There(id("s1")), StepRef::New(0)]),
            ],
            rewired: vec![(id("s2"), vec![StepRef::New(1)])],
        };
        assert!(!plan.is_empty() && StepPlan::default().is_empty());
        let after = plan.applied(&board, &ids(&["n9", "n1"]), &rules());
        let [first, second] = ["s1", "s2"].map(|name| after.get(&id(name)).unwrap());
        assert_eq!((first.state.as_str(), first.owner.as_ref()), ("Completed", None));
        assert_eq!(first.step.as_ref().unwrap().result.as_deref(), Some("p.md"));
        assert_eq!((&second.blocked_by, second.owner.as_ref()), (&ids(&["n1"]), Some(&worker("anna"))));
        let [implement, open] = ["n9", "n1"].map(|name| after.get(&id(name)).unwrap());
        assert_eq!(
            (implement.kind, &implement.state, implement.title.as_str()),
            (Kind::Step, &state("Pending"), "Implement")
        );
        assert_eq!((implement.owner.as_ref(), &open.blocked_by), (Some(&worker("builder-2")), &ids(&["n9", "s1"])));
        assert!(after.knows(&id("x")));
    }

    #[test]
    fn a_plan_with_any_part_is_not_empty() {
        let board = Sample::board().step("s", "Pending", "a", "plan", &["a"]).build();
        let step = (**board.tasks()[0].step.as_ref().unwrap()).clone();
        let none = StepPlan::default;
        for plan in [
            StepPlan { changes: vec![Change::set(&id("s"), "owner", None, None)], ..none() },
            StepPlan { new: vec![NewStep { title: String::new(), step, owner: None, after: Vec::new() }], ..none() },
            StepPlan { rewired: vec![(id("s"), Vec::new())], ..none() },
        ] {
            assert!(!plan.is_empty());
        }
    }

    #[test]
    fn what_waited_for_an_archived_task_still_waits_for_nothing() {
        let board = Sample::board().task("a", "Backlog").blocked_by(&["old"]).archived("old", "Done").build();
        let after = StepPlan::default().applied(&board, &[], &rules());
        assert!(Standings::new(&after, &rules()).is_ready(at(&after, "a")));
    }
}

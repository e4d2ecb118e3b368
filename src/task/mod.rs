//! One task: its id, its fields and their values, and the problems that its file can have.

mod fields;
mod id;
pub mod mirrored;
mod problem;
mod step;
mod value;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use fields::{Estimate, Kind, ParseError, Priority, StateName, Worker};
pub use id::{InvalidId, TaskId, id_length, mint};
pub use problem::Problem;
pub use step::Step;
pub use value::{Key, Value};

/// The fields of a task that lists, rules and the index use. The description is only read when it is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub id: TaskId,
    pub kind: Kind,
    pub title: String,
    pub state: StateName,
    pub priority: Option<Priority>,
    pub estimate: Option<Estimate>,
    pub labels: Vec<String>,
    pub owner: Option<Worker>,
    pub parent: Option<TaskId>,
    pub blocked_by: Vec<TaskId>,
    /// The open leaf children are planned, built and merged together.
    pub atomic: bool,
    #[serde(with = "jiff::fmt::serde::timestamp::second::optional")]
    pub created: Option<Timestamp>,
    pub artifacts: BTreeMap<String, String>,
    pub rejections: u32,
    /// The reason why a person should look at it, such as a move outside of ralph that the workflow does not allow.
    pub attention: Option<String>,
    pub github: Option<GithubLink>,
    /// The step of a team, if the task is one.
    pub step: Option<Box<Step>>,
    /// The time of its last change in the journal or, without one, of its file.
    #[serde(skip)]
    pub updated: Option<Timestamp>,
    pub problems: Vec<Problem>,
}

/// The issue that mirrors a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GithubLink {
    pub number: u64,
    pub url: Option<String>,
}

impl Task {
    pub fn new(id: TaskId, title: impl Into<String>, state: StateName) -> Self {
        Self {
            id,
            kind: Kind::Issue,
            title: title.into(),
            state,
            priority: None,
            estimate: None,
            labels: Vec::new(),
            owner: None,
            parent: None,
            blocked_by: Vec::new(),
            atomic: false,
            created: None,
            artifacts: BTreeMap::new(),
            rejections: 0,
            attention: None,
            github: None,
            step: None,
            updated: None,
            problems: Vec::new(),
        }
    }

    /// The value that the file has for `key`, for keys that this struct has; defaults count as absent.
    pub fn value(&self, key: &Key) -> Option<Value> {
        let texts = |list: &[String]| (!list.is_empty()).then(|| Value::texts(list.iter()));
        let ids = |list: &[TaskId]| (!list.is_empty()).then(|| Value::texts(list.iter()));
        match key.as_str() {
            "title" => Some(Value::text(&self.title)),
            "kind" => Some(Value::text(self.kind)),
            "state" => Some(Value::text(&self.state)),
            "priority" => self.priority.map(Value::text),
            "estimate" => self.estimate.map(Value::text),
            "labels" => texts(&self.labels),
            "owner" => self.owner.as_ref().map(Value::text),
            "parent" => self.parent.as_ref().map(Value::text),
            "blocked_by" => ids(&self.blocked_by),
            "atomic" => self.atomic.then_some(Value::Bool(true)),
            "attention" => self.attention.as_ref().map(Value::text),
            "result" => self.step.as_ref()?.result.as_ref().map(Value::text),
            _ => None,
        }
    }

    /// The reverse: sets the field that a value in the file means. An invalid value counts as absent.
    pub fn put(&mut self, key: &Key, new: Option<&Value>) {
        let text = new.map(ToString::to_string);
        match key.as_str() {
            "title" => self.title = text.unwrap_or_default(),
            "kind" => self.kind = text.and_then(|text| text.parse().ok()).unwrap_or(Kind::Issue),
            "state" => self.state = StateName::new(text.unwrap_or_default()),
            "priority" => self.priority = text.and_then(|text| text.parse().ok()),
            "estimate" => self.estimate = text.and_then(|text| text.parse().ok()),
            "labels" => self.labels = texts(new),
            "owner" => self.owner = text.and_then(|text| Worker::new(text).ok()),
            "parent" => self.parent = text.and_then(|text| TaskId::new(text).ok()),
            "blocked_by" => {
                self.blocked_by = texts(new).into_iter().filter_map(|text| TaskId::new(text).ok()).collect();
            }
            "atomic" => self.atomic = matches!(new, Some(Value::Bool(true))),
            "attention" => self.attention = text,
            "result" => {
                if let Some(step) = &mut self.step {
                    step.result = text;
                }
            }
            _ => {}
        }
    }
}

fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::List(list)) => list.iter().map(ToString::to_string).collect(),
        Some(value) => vec![value.to_string()],
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_what_the_file_then_says() {
        let mut task = Task::new(TaskId::new("t-a").unwrap(), "A", StateName::new("Backlog"));
        let values = [
            ("title", Value::text("B")),
            ("kind", Value::text("epic")),
            ("state", Value::text("In Review")),
            ("priority", Value::text("P1")),
            ("estimate", Value::text("XS")),
            ("labels", Value::texts(["x", "y"])),
            ("owner", Value::text("builder-1")),
            ("parent", Value::text("t-p")),
            ("blocked_by", Value::texts(["t-b", "t-c"])),
            ("atomic", Value::Bool(true)),
            ("attention", Value::text("moved by hand")),
        ];
        for (key, value) in &values {
            task.put(&Key::new(*key), Some(value));
        }
        for (key, value) in values {
            assert_eq!(task.value(&Key::new(key)), Some(value), "{key}");
            task.put(&Key::new(key), None);
        }
        let emptied = Task::new(TaskId::new("t-a").unwrap(), "", StateName::new(""));
        assert_eq!(task, emptied);
    }

    #[test]
    fn what_cannot_be_read_counts_as_absent() {
        let mut task = Task::new(TaskId::new("t-a").unwrap(), "A", StateName::new("Backlog"));
        let untouched = task.clone();
        for (key, value) in [
            ("kind", Value::text("story")),
            ("priority", Value::text("urgent")),
            ("estimate", Value::Integer(3)),
            ("owner", Value::text(" ")),
            ("parent", Value::text("../x")),
            ("atomic", Value::text("true")),
            ("colour", Value::text("red")),
            ("result", Value::text("of no step")),
        ] {
            task.put(&Key::new(key), Some(&value));
            assert_eq!(task, untouched, "{key}");
        }
        task.put(&Key::new("blocked_by"), Some(&Value::texts(["t-b", "../x"])));
        assert_eq!(task.blocked_by, [TaskId::new("t-b").unwrap()]);
    }

    #[test]
    fn a_list_of_one_may_be_written_as_the_one() {
        let mut task = Task::new(TaskId::new("t-a").unwrap(), "A", StateName::new("Backlog"));
        task.put(&Key::new("labels"), Some(&Value::text("bug")));
        assert_eq!(task.labels, ["bug"]);
    }

    #[test]
    fn only_a_step_has_a_result() {
        let (team, result) = (TaskId::new("t-a").unwrap(), Key::new("result"));
        let mut task = Task::new(team.clone(), "A", StateName::new("Pending"));
        assert_eq!(task.value(&result), None);
        let (command, active_form) = ("plan".to_owned(), "Planning".to_owned());
        task.step = Some(Box::new(Step { of: vec![team.clone()], team, command, active_form, round: 0, result: None }));
        task.put(&result, Some(&Value::text("plan.md")));
        assert_eq!(task.value(&result), Some(Value::text("plan.md")));
    }
}

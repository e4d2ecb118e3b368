//! `create` and `split`: new tasks, all or none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::value::Many;
use crate::app::{self, Code, Failure, Hint, NewTask, SplitDone};
use crate::mcp::caller::{Call, TaskRef};
use crate::mcp::reply::Brief;
use crate::mcp::tool::{Nature, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct New {
    title: String,
    description: Option<String>,
    /// P0 to P3
    priority: Option<String>,
    /// XS, S, M, L or XL
    estimate: Option<String>,
    #[serde(default)]
    labels: Many,
    /// issue or epic
    kind: Option<String>,
    parent: Option<TaskRef>,
    /// Ids, or refs of this call
    #[serde(default)]
    blocked_by: Many,
    /// A name for it within this call
    #[serde(rename = "ref")]
    reference: Option<String>,
    state: Option<String>,
    owner: Option<String>,
}

impl New {
    fn task(self, at: usize) -> Result<NewTask, Failure> {
        let which = |error: crate::task::ParseError| Failure::usage(Code::BadValue, format!("tasks[{at}]: {error}"));
        Ok(NewTask {
            reference: self.reference,
            title: self.title,
            description: self.description.unwrap_or_default(),
            kind: self.kind.map(|text| text.parse()).transpose().map_err(which)?,
            state: self.state,
            priority: self.priority.map(|text| text.parse()).transpose().map_err(which)?,
            estimate: self.estimate.map(|text| text.parse()).transpose().map_err(which)?,
            labels: self.labels.0,
            owner: self.owner,
            parent: self.parent.map(|parent| parent.0),
            blocked_by: self.blocked_by.0,
            ..NewTask::default()
        })
    }
}

fn tasks(new: Vec<New>) -> Result<Vec<NewTask>, Failure> {
    new.into_iter().enumerate().map(|(at, new)| new.task(at)).collect()
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CreateArgs {
    tasks: Vec<New>,
}

pub fn create() -> Tool {
    Tool::new(
        "create",
        Nature::Writes,
        "Create one or more tasks, all or none. First check with list whether they already exist.",
        &[("tasks", "array")],
        |call: &Call<'_>, args: CreateArgs| -> Result<Value, Failure> {
            if args.tasks.is_empty() {
                return Err(Failure::usage(Code::NoTasks, "no tasks to create")
                    .hint(Hint::step("pass at least one task with a title")));
            }
            let added = app::add(call.ws, &tasks(args.tasks)?)?;
            Ok(json!({ "tasks": added.tasks.iter().map(Brief::from).collect::<Vec<_>>() }))
        },
    )
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SplitPart {
    title: String,
    /// XS or S
    estimate: String,
    description: Option<String>,
    priority: Option<String>,
    #[serde(default)]
    labels: Many,
    #[serde(default)]
    blocked_by: Many,
    #[serde(rename = "ref")]
    reference: Option<String>,
}

impl From<SplitPart> for New {
    fn from(part: SplitPart) -> Self {
        Self {
            title: part.title,
            description: part.description,
            priority: part.priority,
            estimate: Some(part.estimate),
            labels: part.labels,
            kind: None,
            parent: None,
            blocked_by: part.blocked_by,
            reference: part.reference,
            state: None,
            owner: None,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SplitCall {
    task: TaskRef,
    into: Vec<SplitPart>,
    /// Plan, build and merge the parts together
    #[serde(default)]
    atomic: bool,
}

#[derive(Serialize)]
struct Split {
    #[serde(flatten)]
    done: SplitDone,
}

pub fn split() -> Tool {
    Tool::new(
        "split",
        Nature::Writes,
        "Split a task of size M or above into small ones; it becomes their epic. Existing children with the same title are kept.",
        &[("task", "string"), ("children", "array")],
        |call: &Call<'_>, args: SplitCall| -> Result<Split, Failure> {
            let parts = tasks(args.into.into_iter().map(New::from).collect())?;
            let done = app::split(call.ws, &call.find(&args.task)?, &parts, args.atomic)?;
            Ok(Split { done })
        },
    )
}

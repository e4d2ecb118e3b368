//! `create_issue` and `save_issue`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::shape::{Around, is_closed, kind_of, number_of, url_of};
use super::state::{carry_out, reply_reason, tell_along};
use super::tool;
use crate::app::{self, Code, Failure, Hint, Intent, NewTask, SaveAsk, Saved, TaskView};
use crate::mcp::caller::{Call, TaskRef};
use crate::mcp::tool::{Nature, Tool};
use crate::mcp::tools::value::{Field, Many};
use crate::task::TaskId;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Create {
    title: String,
    body: Option<String>,
    #[serde(default)]
    labels: Many,
    #[serde(default)]
    assignees: Many,
    workflow_state: Option<String>,
    /// XS, S, M, L or XL
    estimate: Option<String>,
    /// P0 to P3
    priority: Option<String>,
}

pub fn create_issue() -> Tool {
    tool(
        "ralph_hero__create_issue",
        Nature::Writes,
        "Create an issue. First check with list_issues and query whether it already exists.",
        &[("title", "string"), ("url", "string"), ("projectItemId", "string"), ("fieldsSet", "object")],
        |call: &Call<'_>, args: Create| {
            let new = NewTask {
                title: args.title,
                description: args.body.unwrap_or_default(),
                labels: args.labels.0,
                owner: owner(call, &args.assignees)?,
                state: args.workflow_state,
                estimate: args.estimate.map(|text| text.parse()).transpose()?,
                priority: args.priority.map(|text| text.parse()).transpose()?,
                ..NewTask::default()
            };
            let added = app::add(call.ws, &[new])?;
            let task = added.tasks.first().ok_or_else(|| Failure::broken(Code::Bug, "nothing was added"))?;
            Ok(json!({
                "number": number_of(task),
                "id": task.id,
                "title": task.title,
                "url": url_of(task),
                "projectItemId": task.id,
                "fieldsSet": {
                    "workflowState": task.state, "estimate": task.estimate, "priority": task.priority,
                },
            }))
        },
    )
}

/// The owner that a list of assignees means.
fn owner(call: &Call<'_>, assignees: &Many) -> Result<Option<String>, Failure> {
    match assignees.0.as_slice() {
        [] => Ok(None),
        [me] if me == "@me" => Ok(Some(call.ws.me()?.to_string())),
        [one] => Ok(Some(one.clone())),
        many => {
            let message = format!("an issue has one assignee here, not {}", many.len());
            Err(Failure::usage(Code::OneOwner, message)
                .hint(Hint::step("pass one, and mention the others in the body")))
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SaveCall {
    #[serde(alias = "issueNumber")]
    number: TaskRef,
    #[serde(default)]
    title: Field,
    #[serde(default)]
    body: Field,
    /// The complete new list
    labels: Option<Many>,
    assignees: Option<Many>,
    issue_state: Option<IssueState>,
    /// A state, or __LOCK__, __COMPLETE__, __ESCALATE__, __CLOSE__, __CANCEL__
    workflow_state: Option<String>,
    /// null clears it
    #[serde(default)]
    estimate: Field,
    #[serde(default)]
    priority: Field,
    /// The command to act for, with workflowState: ralph_triage, ralph_research …
    command: Option<String>,
    /// Whether its sub-issues are planned, built and merged together
    atomic: Option<bool>,
    #[schemars(skip)]
    #[serde(default)]
    iteration: Field,
    #[schemars(skip)]
    #[serde(default)]
    force: bool,
}

/// The fields of an issue that a call sets.
pub struct Fields<'a> {
    pub title: &'a Field,
    pub body: &'a Field,
    pub labels: Option<&'a Many>,
    pub assignees: Option<&'a Many>,
    pub estimate: &'a Field,
    pub priority: &'a Field,
}

impl SaveCall {
    fn fields(&self) -> Fields<'_> {
        let Self { title, body, labels, assignees, estimate, priority, .. } = self;
        Fields { title, body, labels: labels.as_ref(), assignees: assignees.as_ref(), estimate, priority }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum IssueState {
    Open,
    Closed,
    ClosedNotPlanned,
}

pub fn save_issue() -> Tool {
    tool(
        "ralph_hero__save_issue",
        Nature::Writes,
        "Change any fields of an issue and move it, all or nothing. A refusal says what is missing.",
        &[("url", "string"), ("changes", "object")],
        |call: &Call<'_>, args: SaveCall| {
            let id = call.find_exact(&args.number)?;
            let task = app::show(call.ws, &id)?.task;
            if let Field::Set(name) = &args.iteration {
                let message = format!("this board has no iterations, so {name} cannot be set");
                return Err(Failure::usage(Code::NoIterations, message).hint(Hint::step("omit iteration")));
            }
            let to = destination(call, &task, &args)?;
            let atomic = args.atomic.map(|atomic| format!("atomic={atomic}"));
            let asked = SaveAsk {
                fields: fields(call, &args.fields())?.into_iter().chain(atomic).collect(),
                to,
                command: args.command.clone(),
                ..SaveAsk::default()
            };
            if asked.fields.is_empty()
                && asked.to.is_none()
                && args.issue_state.is_none()
                && args.iteration == Field::Left
            {
                return Err(nothing_to_save());
            }
            let saved = match asked.fields.is_empty() && asked.to.is_none() {
                true => Saved { task: id.clone(), changes: Vec::new(), moved: None },
                false => carry_out(call, &id, asked, args.force)?,
            };
            let changes = told(call, &args, &saved, &id)?;
            Ok(json!({ "number": number_of(&task), "url": url_of(&task), "changes": changes }))
        },
    )
}

pub fn nothing_to_save() -> Failure {
    Failure::usage(Code::NothingToSave, "nothing to save").hint(Hint::step("pass a field or a state"))
}

/// The requested state or intent; closing and reopening are moves, too.
fn destination(call: &Call<'_>, task: &TaskView, args: &SaveCall) -> Result<Option<String>, Failure> {
    let flow = call.ws.flow();
    let closed = is_closed(call.ws, kind_of(task), &task.state);
    let by_issue = match args.issue_state {
        None => None,
        Some(IssueState::Open) => closed.then(|| flow.initial(kind_of(task)).to_string()),
        Some(IssueState::Closed) => Some(Intent::Close.as_str().to_owned()),
        Some(IssueState::ClosedNotPlanned) => Some(Intent::Cancel.as_str().to_owned()),
    };
    let (Some(asked), Some(typed)) = (args.issue_state, &args.workflow_state) else {
        return Ok(args.workflow_state.clone().or(by_issue));
    };
    let ends = match Intent::parse(typed) {
        Some(intent) => matches!(intent, Intent::Close | Intent::Cancel),
        None => is_closed(call.ws, kind_of(task), &flow.find_state(kind_of(task), typed)?.name),
    };
    // Whether __COMPLETE__ closes the issue depends on the command.
    if Intent::parse(typed) != Some(Intent::Complete) && ends != (asked != IssueState::Open) {
        let message = format!("workflowState {typed} contradicts issueState");
        return Err(Failure::usage(Code::Contradiction, message)
            .hint(Hint::step("omit issueState: the workflow state determines it")));
    }
    Ok(Some(typed.clone()))
}

/// The fields as assignments.
pub fn fields(call: &Call<'_>, given: &Fields<'_>) -> Result<Vec<String>, Failure> {
    let single = [
        ("title", given.title),
        ("description", given.body),
        ("estimate", given.estimate),
        ("priority", given.priority),
    ];
    let mut fields: Vec<String> = single.iter().filter_map(|(key, field)| field.assign(key)).collect();
    fields.extend(given.labels.map(|labels| format!("labels={}", json!(labels.0))));
    if let Some(assignees) = given.assignees {
        fields.push(format!("owner={}", owner(call, assignees)?.unwrap_or_default()));
    }
    Ok(fields)
}

/// The new values by key, for the answer.
fn told(call: &Call<'_>, args: &SaveCall, saved: &Saved, id: &TaskId) -> Result<Value, Failure> {
    let around = Around::of(call.ws, id)?;
    let mut changes = Map::new();
    let value = |field: &Field| match field {
        Field::Set(text) => json!(text),
        Field::Cleared | Field::Left => Value::Null,
    };
    let single = [("title", &args.title), ("estimate", &args.estimate), ("priority", &args.priority)];
    for (key, field) in single.iter().filter(|(_, field)| **field != Field::Left) {
        changes.insert((*key).into(), value(field));
    }
    if args.body != Field::Left {
        changes.insert("body".into(), json!("(updated)"));
    }
    let lists = [("labels", &args.labels), ("assignees", &args.assignees)];
    for (key, list) in lists.iter().filter_map(|(key, list)| Some((*key, list.as_ref()?))) {
        changes.insert(key.into(), json!(list.0));
    }
    if let Some(atomic) = args.atomic {
        changes.insert("atomic".into(), json!(atomic));
    }
    if args.iteration == Field::Cleared {
        changes.insert("iteration".into(), Value::Null);
    }
    let mut changes = Value::Object(changes);
    if let Some(moved) = &saved.moved {
        changes["workflowState"] = json!(moved.to);
        changes["previousState"] = json!(moved.from);
        let task = app::show(call.ws, id)?.task;
        if is_closed(call.ws, kind_of(&task), &moved.to) && args.issue_state.is_none() {
            changes["autoClose"] = json!(true);
        }
        let parent = task.parent.and_then(|parent| moved.along.iter().find(|other| other.task == parent));
        if let Some(parent) = parent {
            changes["parentAdvanced"] = json!({ "number": around.number(&parent.task), "toState": parent.to });
        }
        tell_along(&mut changes, moved, &around);
        reply_reason(call, &mut changes, moved, args.workflow_state.as_deref().unwrap_or_default());
    }
    if let Some(intent) = args.workflow_state.as_deref().and_then(Intent::parse) {
        changes["resolvedFrom"] = json!(intent.as_str());
    }
    if let Some(state) = args.issue_state {
        changes["issueState"] = json!(if state == IssueState::Open { "OPEN" } else { "CLOSED" });
    }
    Ok(changes)
}

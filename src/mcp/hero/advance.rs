//! `advance_children`, `advance_parent` and `advance_issue`, which replaced both: moves several issues forward.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::shape::{Around, number_of};
use super::tool;
use crate::app::{self, Code, Failure, Hint, ParentHold};
use crate::mcp::caller::{Call, TaskRef};
use crate::mcp::tool::{Nature, Tool};
use crate::task::{Kind, TaskId};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AdvanceCall {
    /// The parent
    #[serde(alias = "parentNumber", alias = "issueNumber")]
    number: Option<TaskRef>,
    target_state: String,
    /// These issues, instead of the children of a parent
    #[serde(default)]
    issues: Vec<TaskRef>,
}

pub fn advance_children() -> Tool {
    tool(
        "ralph_hero__advance_children",
        Nature::Writes,
        "Move the children of an issue that are behind forward to a gate state.",
        &[("advanced", "array"), ("skipped", "array"), ("errors", "array")],
        |call: &Call<'_>, args: AdvanceCall| args.run(call),
    )
}

impl AdvanceCall {
    fn run(&self, call: &Call<'_>) -> Result<Value, Failure> {
        match &self.number {
            // A list of issues is more specific than the parent, which is then ignored.
            _ if !self.issues.is_empty() => named(call, &self.issues, &self.target_state),
            Some(number) => children(call, &call.find_exact(number)?, &self.target_state),
            None => Err(Failure::usage(Code::BadArguments, "no parent was given")
                .hint(Hint::step("pass the number of the parent"))),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Direction {
    Children,
    Parent,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct IssueCall {
    direction: Direction,
    /// The parent; a child, with direction parent
    #[serde(alias = "issueNumber")]
    number: Option<TaskRef>,
    /// With direction children
    target_state: Option<String>,
    #[serde(default)]
    issues: Vec<TaskRef>,
}

pub fn advance_issue() -> Tool {
    tool(
        "ralph_hero__advance_issue",
        Nature::Writes,
        "advance_children or advance_parent, by direction.",
        &[],
        |call: &Call<'_>, IssueCall { direction, number, target_state, issues }: IssueCall| match direction {
            Direction::Children => {
                let missing = || Failure::usage(Code::BadArguments, "targetState is required with direction children");
                AdvanceCall { number, target_state: target_state.ok_or_else(missing)?, issues }.run(call)
            }
            Direction::Parent => {
                let missing = || Failure::usage(Code::BadArguments, "number is required with direction parent");
                parent(call, &call.find_exact(&number.ok_or_else(missing)?)?)
            }
        },
    )
}

#[derive(Deserialize, JsonSchema)]
struct ParentCall {
    /// A child
    #[serde(alias = "issueNumber")]
    number: TaskRef,
}

pub fn advance_parent() -> Tool {
    tool(
        "ralph_hero__advance_parent",
        Nature::Writes,
        "Move the parent of an issue to the state of its children. Every move already does this.",
        &[("advanced", "boolean"), ("reason", "string"), ("parent", "object")],
        |call: &Call<'_>, args: ParentCall| parent(call, &call.find_exact(&args.number)?),
    )
}

fn parent(call: &Call<'_>, id: &TaskId) -> Result<Value, Failure> {
    let around = Around::of(call.ws, id)?;
    let done = app::advance_parent(call.ws, id)?;
    let Some(parent) = &done.parent else {
        let child = around.named(id);
        return Ok(json!({ "advanced": false, "reason": "the issue has no parent", "child": child }));
    };
    let states = done.children.iter().map(|(child, state)| {
        let mut row = around.named(child);
        row["workflowState"] = json!(state);
        row
    });
    let mut told = around.named(parent);
    told["currentState"] = json!(done.to);
    if done.advanced {
        told["fromState"] = json!(done.from);
        told["toState"] = json!(done.to);
    }
    let mut reply = json!({ "advanced": done.advanced, "parent": told, "childStates": states.collect::<Vec<_>>() });
    if let Some(hold) = &done.hold {
        reply["reason"] = json!(hold.to_string());
        if let ParentHold::NoGate { least } = hold {
            let gates = call.ws.flow().states().iter().filter(|state| state.gate);
            reply["minimumChildState"] = json!(least);
            reply["gateStates"] = gates.map(|state| json!(state.name)).collect();
        }
    }
    Ok(reply)
}

fn children(call: &Call<'_>, parent: &TaskId, target: &str) -> Result<Value, Failure> {
    let goal = call.ws.flow().find_state(Kind::Issue, target)?;
    // The workflow has no rule for parents in a queue such as Research Needed, so each child is moved separately.
    if !goal.gate && !goal.lock && !goal.off && !goal.terminal {
        let children = app::show(call.ws, parent)?.task.children;
        return named(call, &children.iter().map(|id| TaskRef(id.to_string())).collect::<Vec<_>>(), target);
    }
    // Read before the move, for the previous states.
    let before = Around::of(call.ws, parent)?;
    let done = app::advance(call.ws, parent, target, false)?;
    let from = |id: &TaskId| before.state(id).cloned();
    let advanced = done
        .moved
        .iter()
        .map(|id| json!({ "number": before.number(id), "id": id, "fromState": from(id), "toState": done.to }));
    let skipped = done.skipped.iter().map(|stays| {
        let id = &stays.task;
        json!({ "number": before.number(id), "id": id, "currentState": from(id), "reason": stays.reason })
    });
    Ok(json!({ "advanced": advanced.collect::<Vec<_>>(), "skipped": skipped.collect::<Vec<_>>(), "errors": [] }))
}

/// Moves issues one by one. An issue that is refused does not stop the others.
fn named(call: &Call<'_>, issues: &[TaskRef], target: &str) -> Result<Value, Failure> {
    let goal = call.ws.flow().find_state(Kind::Issue, target)?.name.clone();
    let (mut advanced, mut skipped, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    for typed in issues {
        let found = call.find_exact(typed).and_then(|id| Ok(app::show(call.ws, &id)?.task));
        let task = match found {
            Ok(task) => task,
            Err(failure) => {
                errors.push(json!({ "number": typed.0.trim_start_matches('#'), "code": failure.code, "error": failure.message }));
                continue;
            }
        };
        let (number, id) = (number_of(&task), &task.id);
        let held = app::advance_hold(call.ws, id, goal.as_str());
        let moved = held.and_then(|reason| match reason {
            Some(reason) => Ok(Err(reason)),
            None => app::move_task(call.ws, id, goal.as_str(), None, false).map(Ok),
        });
        match moved {
            Ok(Ok(moved)) => {
                advanced.push(json!({ "number": number, "id": id, "fromState": moved.from, "toState": moved.to }));
            }
            Ok(Err(reason)) => {
                skipped.push(json!({ "number": number, "id": id, "currentState": task.state, "reason": reason }));
            }
            Err(failure) => {
                errors.push(json!({ "number": number, "id": id, "code": failure.code, "error": failure.message }));
            }
        }
    }
    Ok(json!({ "advanced": advanced, "skipped": skipped, "errors": errors }))
}

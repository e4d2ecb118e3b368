//! `advance_children` and `advance_parent`: issues that are brought on together.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::shape::{Around, number_of};
use super::tool;
use crate::app::{self, Code, Failure, Hint};
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
        |call: &Call<'_>, args: AdvanceCall| match &args.number {
            Some(number) => children(call, &call.find_exact(number)?, &args.target_state),
            None if !args.issues.is_empty() => named(call, &args.issues, &args.target_state),
            None => Err(Failure::usage(Code::BadArguments, "no parent was given")
                .hint(Hint::step("pass the number of the parent"))),
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
        |call: &Call<'_>, args: ParentCall| {
            let id = call.find_exact(&args.number)?;
            let around = Around::of(call.ws, &id)?;
            let done = app::advance_parent(call.ws, &id)?;
            let Some(parent) = &done.parent else {
                let child = around.named(&id);
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
            let mut reply =
                json!({ "advanced": done.advanced, "parent": told, "childStates": states.collect::<Vec<_>>() });
            if !done.advanced {
                reply["reason"] = json!("the parent already has the state of its children");
            }
            Ok(reply)
        },
    )
}

fn children(call: &Call<'_>, parent: &TaskId, target: &str) -> Result<Value, Failure> {
    // Read before, to say where they came from.
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

/// One by one: what one may not do does not keep the others.
fn named(call: &Call<'_>, issues: &[TaskRef], target: &str) -> Result<Value, Failure> {
    let flow = call.ws.flow();
    let goal = flow.find_state(Kind::Issue, target)?.name.clone();
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
        let (number, id, here) = (number_of(&task), &task.id, task.state.clone());
        if flow.position(Kind::Issue, &here) >= flow.position(Kind::Issue, &goal) {
            let reason = match flow.escalation() == Some(&here) {
                true => "it was handed to a person".to_owned(),
                false => format!("it is already there ({here})"),
            };
            skipped.push(json!({ "number": number, "id": id, "currentState": here, "reason": reason }));
            continue;
        }
        match app::move_task(call.ws, id, goal.as_str(), None, false) {
            Ok(moved) => {
                advanced.push(json!({ "number": number, "id": id, "fromState": moved.from, "toState": moved.to }));
            }
            Err(failure) => {
                errors.push(json!({ "number": number, "id": id, "code": failure.code, "error": failure.message }));
            }
        }
    }
    Ok(json!({ "advanced": advanced, "skipped": skipped, "errors": errors }))
}

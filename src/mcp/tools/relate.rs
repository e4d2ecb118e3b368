//! `relate`: the parent and the blockers of a task.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::value::{Field, Many};
use crate::app::{self, Code, Failure, Hint};
use crate::mcp::caller::{Call, TaskRef};
use crate::mcp::tool::{Nature, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    task: TaskRef,
    /// "" removes the parent
    #[serde(default)]
    parent: Field,
    /// Blockers to add
    #[serde(default)]
    add_blocked_by: Many,
    /// Blockers to remove
    #[serde(default)]
    remove_blocked_by: Many,
}

pub fn relate() -> Tool {
    Tool::new(
        "relate",
        Nature::Writes,
        "Set the parent and the blockers of a task. Cycles are refused.",
        &[("task", "string"), ("parent", "string"), ("blocked_by", "array")],
        |call: &Call<'_>, args: Args| -> Result<Value, Failure> {
            let id = call.find(&args.task)?;
            let mut typed: Vec<String> = args.parent.assign("parent").into_iter().collect();
            let edits = [("blocked_by+", &args.add_blocked_by), ("blocked_by-", &args.remove_blocked_by)];
            let named = edits.iter().filter(|(_, ids)| !ids.0.is_empty());
            typed.extend(named.map(|(key, ids)| format!("{key}={}", ids.0.join(","))));
            if typed.is_empty() {
                return Err(Failure::usage(Code::NothingToSave, "no links to change")
                    .hint(Hint::step("pass parent, add_blocked_by or remove_blocked_by")));
            }
            app::set(call.ws, std::slice::from_ref(&id), &typed, false)?;
            let task = app::show(call.ws, &id)?.task;
            let mut reply = json!({ "task": id, "blocked_by": task.blocked_by, "blocked": task.blocked });
            if let Some(parent) = task.parent {
                reply["parent"] = json!(parent);
            }
            Ok(reply)
        },
    )
}

//! `update_issue`, `update_estimate` and `update_priority`, which `save_issue` replaced.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::shape::{number_of, url_of};
use super::tool;
use super::write::{Fields, fields, nothing_to_save};
use crate::app::{self, Code, Failure, Hint, SaveAsk, TaskView};
use crate::mcp::caller::{Call, TaskRef};
use crate::mcp::tool::{Nature, Tool};
use crate::mcp::tools::value::{Field, Many};

#[derive(Deserialize, JsonSchema)]
struct Update {
    #[serde(alias = "issueNumber")]
    number: TaskRef,
    #[serde(default)]
    title: Field,
    #[serde(default)]
    body: Field,
    /// The complete new list
    labels: Option<Many>,
    assignees: Option<Many>,
}

pub fn update_issue() -> Tool {
    tool(
        "ralph_hero__update_issue",
        Nature::Writes,
        "Change title, body, labels or assignees.",
        &[("title", "string"), ("url", "string")],
        |call: &Call<'_>, args: Update| {
            let id = call.find_exact(&args.number)?;
            let given = Fields {
                title: &args.title,
                body: &args.body,
                labels: args.labels.as_ref(),
                assignees: args.assignees.as_ref(),
                estimate: &Field::Left,
                priority: &Field::Left,
            };
            let fields = fields(call, &given)?;
            if fields.is_empty() {
                return Err(nothing_to_save());
            }
            app::save(call.ws, &id, &SaveAsk { fields, ..SaveAsk::default() })?;
            let task = app::show(call.ws, &id)?.task;
            Ok(json!({ "number": number_of(&task), "title": task.title, "url": url_of(&task) }))
        },
    )
}

#[derive(Deserialize, JsonSchema)]
struct Estimated {
    #[serde(alias = "issueNumber")]
    number: TaskRef,
    /// XS, S, M, L or XL
    estimate: String,
}

pub fn update_estimate() -> Tool {
    tool(
        "ralph_hero__update_estimate",
        Nature::Writes,
        "Set the estimate of an issue.",
        &[("estimate", "string")],
        |call: &Call<'_>, args: Estimated| {
            let task = set_one(call, &args.number, "estimate", &args.estimate)?;
            Ok(json!({ "number": number_of(&task), "estimate": task.estimate }))
        },
    )
}

#[derive(Deserialize, JsonSchema)]
struct Prioritised {
    #[serde(alias = "issueNumber")]
    number: TaskRef,
    /// P0 to P3
    priority: String,
}

pub fn update_priority() -> Tool {
    tool(
        "ralph_hero__update_priority",
        Nature::Writes,
        "Set the priority of an issue.",
        &[("priority", "string")],
        |call: &Call<'_>, args: Prioritised| {
            let task = set_one(call, &args.number, "priority", &args.priority)?;
            Ok(json!({ "number": number_of(&task), "priority": task.priority }))
        },
    )
}

fn set_one(call: &Call<'_>, number: &TaskRef, key: &str, value: &str) -> Result<TaskView, Failure> {
    let id = call.find_exact(number)?;
    if value.trim().is_empty() {
        return Err(Failure::usage(Code::BadValue, format!("no {key} was given"))
            .hint(Hint::step(format!("call ralph_hero__save_issue with {key} null to clear it"))));
    }
    app::set(call.ws, std::slice::from_ref(&id), &[format!("{key}={value}")], false)?;
    Ok(app::show(call.ws, &id)?.task)
}

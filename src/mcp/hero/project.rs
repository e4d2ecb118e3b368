//! The tools for a project: it is the board, and its fields and views always exist and come from the workflow.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::filter::PROFILES;
use super::{Nothing, tool};
use crate::app::{self, Code, Failure, Hint, Query};
use crate::mcp::caller::Call;
use crate::mcp::resources;
use crate::mcp::tool::{Nature, Tool};
use crate::task::{Estimate, Priority};

/// Each field with its options, in order.
fn fields(call: &Call<'_>) -> Vec<(&'static str, Vec<String>)> {
    let states = call.ws.flow().states().iter().map(|state| state.name.to_string()).collect();
    let priorities = Priority::ALL.iter().map(ToString::to_string).collect();
    let estimates = Estimate::ALL.iter().map(ToString::to_string).collect();
    vec![("Workflow State", states), ("Priority", priorities), ("Estimate", estimates)]
}

fn field_id(name: &str) -> String {
    name.to_ascii_lowercase().replace(' ', "-")
}

/// The number of the project that mirrors the board, if one is set.
fn project_number(call: &Call<'_>) -> Option<u64> {
    call.ws.settings.text("github.project").parse().ok()
}

pub fn get_project() -> Tool {
    tool(
        "ralph_hero__get_project",
        Nature::Reads,
        "Get the board: its fields with their options, and the number of issues in each state.",
        &[("title", "string"), ("url", "string"), ("fields", "array"), ("items", "object")],
        |call: &Call<'_>, _: Nothing| {
            let all = fields(call);
            let fields = all.iter().map(|(name, options)| {
                let options: Vec<Value> =
                    options.iter().map(|option| json!({ "id": option, "name": option })).collect();
                json!({ "id": field_id(name), "name": name, "dataType": "SINGLE_SELECT", "options": options })
            });
            let counted = app::status(call.ws)?;
            let states = counted.states.iter().map(|state| (state.state.to_string(), json!(state.count)));
            let states: Map<String, Value> = states.collect();
            let total = app::list(call.ws, &Query { all: true, ..Query::default() })?.total;
            Ok(json!({
                "id": resources::BOARD,
                "title": counted.name,
                "number": project_number(call),
                "url": resources::BOARD,
                "fields": fields.collect::<Vec<_>>(),
                "items": { "totalCount": total, "byWorkflowState": states },
            }))
        },
    )
}

pub fn setup_project() -> Tool {
    tool(
        "ralph_hero__setup_project",
        Nature::Reads,
        "Returns the fields of the board; no setup is needed.",
        &[("project", "object"), ("fields", "object"), ("created", "boolean")],
        |call: &Call<'_>, _: Nothing| {
            let fields = fields(call)
                .into_iter()
                .map(|(name, options)| (name.to_owned(), json!({ "id": field_id(name), "options": options })));
            Ok(json!({
                "project": {
                    "id": resources::BOARD,
                    "number": project_number(call),
                    "url": resources::BOARD,
                    "title": app::status(call.ws)?.name,
                },
                "fields": fields.collect::<Map<String, Value>>(),
                "created": false,
                "message": "the board already exists, with these fields; nothing was created",
            }))
        },
    )
}

pub fn list_views() -> Tool {
    tool(
        "ralph_hero__list_views",
        Nature::Reads,
        "List the views of the board; each is a profile of list_issues.",
        &[("totalCount", "integer"), ("views", "array")],
        |_: &Call<'_>, _: Nothing| {
            let views = PROFILES.iter().enumerate().map(|(at, (name, state))| {
                let filter = json!({ "workflowState": state });
                json!({ "id": name, "name": name, "number": at + 1, "layout": "TABLE_LAYOUT", "filter": filter })
            });
            Ok(json!({ "totalCount": PROFILES.len(), "views": views.collect::<Vec<_>>() }))
        },
    )
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FieldOptions {
    field_name: String,
    options: Vec<OptionCall>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum OptionCall {
    Name(String),
    Described { name: String },
}

impl OptionCall {
    fn name(&self) -> &str {
        match self {
            Self::Name(name) | Self::Described { name } => name.trim(),
        }
    }
}

pub fn update_field_options() -> Tool {
    tool(
        "ralph_hero__update_field_options",
        Nature::Reads,
        "The options of a field are fixed: succeeds only if they already match.",
        &[("field", "string"), ("options", "array"), ("changed", "boolean")],
        |call: &Call<'_>, args: FieldOptions| {
            let all = fields(call);
            let found = all.iter().find(|(name, _)| name.eq_ignore_ascii_case(args.field_name.trim()));
            let (name, there) = found.ok_or_else(|| {
                let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
                let message = format!("{:?} is not a field: use one of {}", args.field_name, names.join(", "));
                Failure::usage(Code::UnknownField, message)
            })?;
            let same = there.len() == args.options.len()
                && there.iter().all(|option| args.options.iter().any(|asked| asked.name() == option));
            if !same {
                return Err(fixed(name, there));
            }
            let options: Vec<Value> = there.iter().map(|option| json!({ "name": option })).collect();
            Ok(json!({ "field": name, "options": options, "changed": false }))
        },
    )
}

fn fixed(name: &str, there: &[String]) -> Failure {
    let message = format!("the options of {name} are fixed: {}", there.join(", "));
    let failure = Failure::refused(Code::FixedOptions, message);
    match name {
        "Workflow State" => {
            failure.hint(Hint::step("states come from the workflow: ask a person to change .ralph/workflow.toml"))
        }
        _ => failure,
    }
}

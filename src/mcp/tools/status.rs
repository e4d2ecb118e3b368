//! `status`: a summary of the board.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::app::{self, Brief, Failure, Status};
use crate::mcp::caller::Call;
use crate::mcp::reply::stamp;
use crate::mcp::tool::{Nature, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {}

/// The maximum length of each list.
const FIRST: usize = 5;

pub fn status() -> Tool {
    Tool::new(
        "status",
        Nature::Reads,
        "Get an overview: tasks per state, claims, ready tasks per role, stuck tasks, tasks handed to a person.",
        &[("states", "object"), ("claims", "array"), ("ready", "array"), ("stuck", "array"), ("problems", "integer")],
        |call: &Call<'_>, _: Args| -> Result<Value, Failure> { Ok(short(&app::status(call.ws)?)) },
    )
}

fn short(status: &Status) -> Value {
    let counted = status.states.iter().filter(|state| state.count > 0);
    let states: Map<String, Value> = counted.map(|state| (state.state.to_string(), json!(state.count))).collect();
    let claims = status.claims.iter().map(|held| {
        json!({ "task": held.task, "title": held.title, "by": held.claim.by, "command": held.command, "until": stamp(held.claim.until) })
    });
    let ready = status.ready.iter().map(|queue| {
        let first: Vec<&Brief> = queue.first.iter().take(FIRST).collect();
        json!({ "role": queue.role, "count": queue.count, "at_work": queue.at_work, "limit": queue.limit, "first": first })
    });
    let mut reply = json!({
        "board": status.name,
        "states": states,
        "claims": claims.collect::<Vec<_>>(),
        "ready": ready.collect::<Vec<_>>(),
        "problems": status.problems,
    });
    let lists = [
        ("most_waited_for", json!(status.roots.iter().take(FIRST).collect::<Vec<_>>())),
        ("stuck", json!(status.stuck.iter().take(FIRST).collect::<Vec<_>>())),
        ("waiting_for_person", json!(status.waiting_for_person.iter().take(FIRST).collect::<Vec<_>>())),
        ("oversized", json!(status.oversized.iter().take(FIRST).collect::<Vec<_>>())),
    ];
    for (key, list) in lists.into_iter().filter(|(_, list)| list.as_array().is_some_and(|list| !list.is_empty())) {
        reply[key] = list;
    }
    reply
}

//! `claim` and `release`: takes or releases one task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::{self, Claimed, Failure, Reach, Released};
use crate::mcp::caller::{Call, TaskRef};
use crate::mcp::reply::stamp;
use crate::mcp::tool::{Nature, Tool};
use crate::task::{StateName, TaskId, Worker};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ClaimCall {
    task: TaskRef,
    /// The command: triage, split, research, plan, review, implement, pr or merge
    command: Option<String>,
}

#[derive(Serialize)]
struct TakenTask {
    task: TaskId,
    worker: Worker,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    state: StateName,
    until: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    renewed: bool,
}

pub fn claim() -> Tool {
    Tool::new(
        "claim",
        Nature::Writes,
        "Claim a given task; use next to have one chosen. Calling it again renews your claim. If another worker holds it, the error says who.",
        &[("task", "string"), ("state", "string"), ("until", "string")],
        |call: &Call<'_>, args: ClaimCall| {
            let id = call.find(&args.task)?;
            let claimed = app::claim(call.ws, &id, args.command.as_deref(), false, Reach::default())?;
            let Claimed { task, worker, command, state, until, renewed, .. } = claimed;
            Ok(TakenTask { task, worker, command, state, until: stamp(until), renewed })
        },
    )
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReleaseCall {
    task: TaskRef,
}

pub fn release() -> Tool {
    Tool::new(
        "release",
        Nature::Writes,
        "Release your claim on unfinished work. Not needed after save has completed the task.",
        &[("task", "string"), ("to", "string")],
        |call: &Call<'_>, args: ReleaseCall| -> Result<Released, Failure> {
            let id = call.find(&args.task)?;
            app::release(call.ws, &id, false)
        },
    )
}

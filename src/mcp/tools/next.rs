//! `next`: the best task to take, claimed at the same time, with all details.

use jiff::SignedDuration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::get::about;
use crate::app::{self, Chosen, Code, Failure, FailureKind, NextAsk};
use crate::mcp::caller::Call;
use crate::mcp::reply::{BUDGET, Refused, stamp};
use crate::mcp::tool::{Nature, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// analyst, builder, validator or integrator; default: the role in your name
    role: Option<String>,
    /// false: only show it
    #[serde(default = "yes")]
    claim: bool,
    /// Seconds to wait for work, at most 600
    #[serde(default)]
    wait: u32,
}

fn yes() -> bool {
    true
}

const LONGEST_WAIT: u32 = 600;

#[derive(Default, Serialize)]
struct NextReply {
    found: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    resume: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    claimed_until: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// The instructions for the command, step by step, and the required result.
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
}

pub fn next() -> Tool {
    Tool::new(
        "next",
        Nature::Either,
        "Start here: claims the best ready task for you and returns its details and instructions. Your own claim comes first.",
        &[
            ("found", "boolean"),
            ("command", "string"),
            ("task", "object"),
            ("message", "string"),
            ("instructions", "string"),
        ],
        run,
    )
}

fn run(call: &Call<'_>, args: Args) -> Result<NextReply, Failure> {
    if args.claim {
        call.refuse_reader("next with a claim")?;
    }
    let asked = NextAsk { role: args.role, claim: args.claim, ..NextAsk::default() };
    let chosen = match args.wait.min(LONGEST_WAIT) {
        0 => app::next(call.ws, &asked),
        seconds => app::next_or_wait(call.ws, &asked, SignedDuration::from_secs(seconds.into()), call.stop),
    };
    let chosen = match chosen {
        // Having no work is an answer, not an error.
        Err(failure) if failure.kind == FailureKind::Nothing => {
            return Ok(NextReply { message: Some(Refused::new(&failure).line()), ..NextReply::default() });
        }
        other => other?,
    };
    if chosen.claim.is_some() {
        call.is_about(&chosen.task);
        refuse_late(call, &chosen)?;
    }
    // A command without a prompt is only named.
    let told = |command: &String| app::prompt(call.ws, command, &chosen.task).ok().map(|prompt| prompt.text);
    Ok(NextReply {
        instructions: chosen.claim.as_ref().and(chosen.command.as_ref()).and_then(told),
        found: true,
        command: chosen.command,
        role: chosen.role,
        resume: chosen.resume,
        claimed_until: chosen.claim.map(|claim| stamp(claim.until)),
        task: Some(about(call, &chosen.task, BUDGET, 0)?),
        message: None,
    })
}

/// Releases the task if the call was canceled in the meantime, because the client will not learn of the task.
fn refuse_late(call: &Call<'_>, chosen: &Chosen) -> Result<(), Failure> {
    if chosen.resume || !call.stop.soon() {
        return Ok(());
    }
    app::release(call.ws, &chosen.task, false)?;
    Err(Failure::new(FailureKind::Raced, Code::Stopped, "the call was canceled"))
}

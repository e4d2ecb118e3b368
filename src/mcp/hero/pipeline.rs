//! Where an issue or its group stands, in the words of ralph-hero's pipeline.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::shape::Around;
use super::tool;
use crate::app::{self, Failure, Phase, Position};
use crate::mcp::caller::{Call, TaskRef};
use crate::mcp::tool::{Nature, Tool};
use crate::task::{Kind, StateName, TaskId};

#[derive(Deserialize, JsonSchema)]
struct Args {
    #[serde(alias = "issueNumber")]
    number: TaskRef,
}

pub fn detect_pipeline_position() -> Tool {
    tool(
        "ralph_hero__detect_pipeline_position",
        Nature::Reads,
        "Which phase is next for an issue, its group or its parts, what remains, who waits for whom, and how many workers help.",
        &[("phase", "string"), ("remainingPhases", "array"), ("convergence", "object"), ("suggestedRoster", "object")],
        |call: &Call<'_>, args: Args| {
            let id = call.find(&args.number)?;
            position(call, &id, &Around::of(call.ws, &id)?)
        },
    )
}

pub fn position(call: &Call<'_>, id: &TaskId, around: &Around<'_>) -> Result<Value, Failure> {
    let Position { phase, reason, remaining, members, primary, convergence, roster } =
        app::position(call.ws, id)?.position;
    let issues = members.iter().map(|member| {
        json!({
            "number": around.number(member),
            "title": around.named(member)["title"],
            "workflowState": around.state(member),
            "estimate": around.estimate(member),
            "subIssueCount": around.children(member),
        })
    });
    let waits = convergence.waiting_for.iter();
    let blocking = waits.map(|member| json!({ "number": around.number(member), "state": around.state(member) }));
    Ok(json!({
        "phase": phase_name(phase),
        "reason": reason,
        "remainingPhases": remaining.iter().map(|left| remaining_name(phase, *left)).collect::<Vec<_>>(),
        "issues": issues.collect::<Vec<_>>(),
        "convergence": {
            "required": convergence.required,
            "met": convergence.met,
            "blocking": blocking.collect::<Vec<_>>(),
            "recommendation": convergence.recommendation,
        },
        "isGroup": members.len() > 1,
        "groupPrimary": around.number(&primary),
        "suggestedRoster": roster,
    }))
}

fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Split => "SPLIT",
        Phase::Triage => "TRIAGE",
        Phase::Research => "RESEARCH",
        Phase::Plan => "PLAN",
        Phase::Review => "REVIEW",
        Phase::Implement => "IMPLEMENT",
        Phase::Integrate => "INTEGRATE",
        Phase::Human => "HUMAN_GATE",
        Phase::Done => "TERMINAL",
    }
}

/// What is still to be integrated is, until it is its turn, a pull request to come.
fn remaining_name(now: Phase, left: Phase) -> String {
    match left {
        Phase::Integrate if now != Phase::Integrate => "pr".to_owned(),
        other => phase_name(other).to_ascii_lowercase(),
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Goal {
    #[serde(alias = "issueNumber")]
    number: TaskRef,
    target_state: String,
}

pub fn check_convergence() -> Tool {
    tool(
        "ralph_hero__check_convergence",
        Nature::Reads,
        "Whether all of a group, or all parts of an issue, have reached a state.",
        &[
            ("converged", "boolean"),
            ("targetState", "string"),
            ("total", "integer"),
            ("ready", "integer"),
            ("blocking", "array"),
            ("recommendation", "string"),
        ],
        |call: &Call<'_>, args: Goal| {
            let id = call.find(&args.number)?;
            let around = Around::of(call.ws, &id)?;
            let view = app::converged(call.ws, &id, &args.target_state)?;
            let waiting = &view.convergence.waiting_for;
            let behind = view.members.iter().filter(|member| waiting.contains(&member.task));
            let blocking = behind.map(|member| {
                json!({
                    "number": around.number(&member.task),
                    "id": member.task,
                    "title": member.title,
                    "currentState": member.state,
                    "distanceToTarget": distance(call, &member.state, &view.to),
                })
            });
            Ok(json!({
                "converged": view.convergence.met,
                "targetState": view.to,
                "total": view.members.len(),
                "ready": view.members.len() - waiting.len(),
                "blocking": blocking.collect::<Vec<_>>(),
                "recommendation": view.convergence.recommendation,
            }))
        },
    )
}

/// How many states lie between; -1 beside the pipeline.
fn distance(call: &Call<'_>, from: &StateName, to: &StateName) -> i64 {
    let flow = call.ws.flow();
    let rank = |name: &StateName| {
        let on = flow.state(Kind::Issue, name).is_some_and(|state| !state.off);
        i64::try_from(flow.position(Kind::Issue, name)).ok().filter(|_| on)
    };
    rank(from).zip(rank(to)).map_or(-1, |(from, to)| to - from)
}

//! The position of an issue or its group, in the terms of ralph-hero's pipeline.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::shape::Around;
use super::{GROUPING, tool};
use crate::app::{self, Convergence, Failure, Phase, Position, Workflow};
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
        "Get the next phase of an issue, its group or its children, the remaining phases, what they wait for, and how many workers are useful.",
        &[("phase", "string"), ("remainingPhases", "array"), ("convergence", "object"), ("suggestedRoster", "object")],
        |call: &Call<'_>, args: Args| {
            let id = call.find_exact(&args.number)?;
            position(call, &id, &Around::of(call.ws, &id)?)
        },
    )
}

pub fn position(call: &Call<'_>, id: &TaskId, around: &Around<'_>) -> Result<Value, Failure> {
    let found = app::position(call.ws, id, GROUPING)?.position;
    let is_group = app::group(call.ws, id, GROUPING)?.members.len() > 1;
    Ok(shown(call, found, is_group, around))
}

/// The position of the issues of a stream, which are the members of its own group.
pub fn position_of(call: &Call<'_>, ids: &[TaskId]) -> Result<Value, Failure> {
    let found = app::position_of(call.ws, ids)?;
    Ok(shown(call, found, ids.len() > 1, &Around::all(call.ws)?))
}

fn shown(call: &Call<'_>, found: Position, is_group: bool, around: &Around<'_>) -> Value {
    let Position { phase, reason, members, primary, convergence, roster, .. } = found;
    let issues = members.iter().map(|member| {
        json!({
            "number": around.number(member),
            "title": around.named(member)["title"],
            "workflowState": around.state(member),
            "estimate": around.estimate(member),
            "subIssueCount": around.children(member),
        })
    });
    let states: Vec<&StateName> = members.iter().filter_map(|member| around.state(member)).collect();
    let name = phase_name(call.ws.flow(), phase, &states);
    json!({
        "phase": name,
        "reason": reason,
        "remainingPhases": remaining(name),
        "issues": issues.collect::<Vec<_>>(),
        "convergence": gathered(phase, &convergence, around),
        "isGroup": is_group,
        "groupPrimary": around.number(&primary),
        "suggestedRoster": roster,
    })
}

/// The convergence of a group. Triage and split need none, because each member is moved separately.
fn gathered(phase: Phase, found: &Convergence, around: &Around<'_>) -> Value {
    if matches!(phase, Phase::Split | Phase::Triage) {
        return json!({ "required": false, "met": true, "blocking": [], "recommendation": "proceed" });
    }
    let waits = found.waiting_for.iter();
    let blocking = waits.map(|member| json!({ "number": around.number(member), "state": around.state(member) }));
    json!({
        "required": found.required,
        "met": found.met,
        "blocking": blocking.collect::<Vec<_>>(),
        "recommendation": found.recommendation,
    })
}

/// In ralph-hero, a plan that is being written is in REVIEW, one that waits for approval is in HUMAN_GATE, and work that its
/// skills are finished with is in TERMINAL.
fn phase_name(flow: &Workflow, phase: Phase, states: &[&StateName]) -> &'static str {
    let is_lock = |name: &&&StateName| flow.state(Kind::Issue, name).is_some_and(|state| state.lock);
    let together = states.windows(2).all(|pair| pair[0] == pair[1]);
    match phase {
        Phase::Split => "SPLIT",
        Phase::Triage => "TRIAGE",
        Phase::Research => "RESEARCH",
        Phase::Plan if states.iter().any(|name| is_lock(&name)) => "REVIEW",
        Phase::Plan => "PLAN",
        Phase::Review if together => "HUMAN_GATE",
        Phase::Review => "REVIEW",
        Phase::Implement => "IMPLEMENT",
        Phase::Human if states.iter().any(|name| flow.escalation() == Some(*name)) => "TERMINAL",
        Phase::Human => "HUMAN_GATE",
        Phase::Integrate | Phase::Done => "TERMINAL",
    }
}

/// The remaining phases for which ralph-hero's skills create tasks.
fn remaining(phase: &str) -> &'static [&'static str] {
    const ALL: [&str; 7] = ["split", "triage", "research", "plan", "review", "implement", "pr"];
    let from = ALL.iter().position(|name| name.eq_ignore_ascii_case(phase));
    from.map_or(&[], |from| &ALL[from..])
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
        "Check whether all issues of a group, or all children of an issue, have reached a state.",
        &[
            ("converged", "boolean"),
            ("targetState", "string"),
            ("total", "integer"),
            ("ready", "integer"),
            ("blocking", "array"),
            ("recommendation", "string"),
        ],
        |call: &Call<'_>, args: Goal| {
            let id = call.find_exact(&args.number)?;
            let around = Around::of(call.ws, &id)?;
            let view = app::converged(call.ws, &id, &args.target_state, GROUPING)?;
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

/// The number of states between two; -1 if one of them is outside the pipeline.
fn distance(call: &Call<'_>, from: &StateName, to: &StateName) -> i64 {
    let flow = call.ws.flow();
    let rank = |name: &StateName| {
        let on = flow.state(Kind::Issue, name).is_some_and(|state| !state.off);
        i64::try_from(flow.position(Kind::Issue, name)).ok().filter(|_| on)
    };
    rank(from).zip(rank(to)).map_or(-1, |(from, to)| to - from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_have_the_names_that_the_skills_go_by() {
        let flow = Workflow::builtin();
        let name = |phase: Phase, states: &[&str]| {
            let states: Vec<StateName> = states.iter().map(|name| StateName::new(*name)).collect();
            phase_name(&flow, phase, &states.iter().collect::<Vec<_>>())
        };
        for (phase, states, expected) in [
            (Phase::Split, vec!["Backlog"], "SPLIT"),
            (Phase::Triage, vec!["Backlog", "Ready for Plan"], "TRIAGE"),
            (Phase::Research, vec!["Research in Progress"], "RESEARCH"),
            (Phase::Plan, vec!["Ready for Plan", "Ready for Plan"], "PLAN"),
            (Phase::Plan, vec!["Ready for Plan", "Plan in Progress"], "REVIEW"),
            (Phase::Plan, vec!["Plan in Progress"], "REVIEW"),
            (Phase::Review, vec!["Plan in Review", "Plan in Review"], "HUMAN_GATE"),
            (Phase::Review, vec!["Plan in Review", "In Progress"], "REVIEW"),
            (Phase::Human, vec!["Plan in Review"], "HUMAN_GATE"),
            (Phase::Human, vec!["Ready for Plan", "Human Needed"], "TERMINAL"),
            (Phase::Implement, vec!["In Progress"], "IMPLEMENT"),
            (Phase::Integrate, vec!["In Review"], "TERMINAL"),
            (Phase::Done, vec!["Done"], "TERMINAL"),
        ] {
            assert_eq!(name(phase, &states), expected, "{states:?}");
        }
        assert_eq!(remaining("PLAN"), ["plan", "review", "implement", "pr"]);
        assert_eq!((remaining("HUMAN_GATE").len(), remaining("TERMINAL").len()), (0, 0));
    }
}

//! `pipeline_dashboard`: the number of issues in each state, problems, and how fast work is finished.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::shape::{Around, number_of, stamp};
use super::tool;
use crate::app::{self, Failure, TaskView, Upkeep, UpkeepAsk, untouched};
use crate::mcp::caller::Call;
use crate::mcp::tool::{Nature, Tool};
use crate::task::{Kind, StateName};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
struct Args {
    /// json (default), markdown or ascii
    format: Format,
    include_health: bool,
    stuck_threshold_hours: i64,
    /// Such as {"In Progress": 3}
    wip_limits: BTreeMap<String, usize>,
    done_window_days: i64,
    issues_per_phase: usize,
    include_metrics: bool,
    velocity_window_days: i64,
    at_risk_threshold: i64,
    off_track_threshold: i64,
    archive_threshold_days: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    #[default]
    Json,
    Markdown,
    Ascii,
}

impl Default for Args {
    fn default() -> Self {
        Self {
            format: Format::Json,
            include_health: true,
            stuck_threshold_hours: 48,
            wip_limits: BTreeMap::new(),
            done_window_days: 7,
            issues_per_phase: 10,
            include_metrics: false,
            velocity_window_days: 7,
            at_risk_threshold: 2,
            off_track_threshold: 6,
            archive_threshold_days: 14,
        }
    }
}

pub fn pipeline_dashboard() -> Tool {
    tool(
        "ralph_hero__pipeline_dashboard",
        Nature::Reads,
        "Get the number of issues per state, with warnings; metrics and formatted text on request.",
        &[("totalIssues", "integer"), ("phases", "array"), ("health", "object"), ("archive", "object")],
        |call: &Call<'_>, args: Args| {
            let limits = limits(call, &args.wip_limits)?;
            let asked = UpkeepAsk { archive_days: args.archive_threshold_days, limits, ..UpkeepAsk::default() };
            let found = app::upkeep(call.ws, &asked)?;
            let phases = phases(call, &args, &found)?;
            let warnings = if args.include_health { warnings(call, &args, &found) } else { Vec::new() };
            let mut reply = json!({
                "generatedAt": stamp(Some(found.now)),
                "totalIssues": found.tasks.len(),
                "phases": phases,
                "health": { "ok": warnings.is_empty(), "warnings": warnings },
                "archive": archive(call, &args, &found),
            });
            if args.include_metrics {
                reply["metrics"] = metrics(call, &args, &found, &warnings);
            }
            if args.format != Format::Json {
                reply["formatted"] = json!(formatted(args.format, &reply));
            }
            Ok(reply)
        },
    )
}

/// The limits by states of this board, whose names may be spelled differently.
pub fn limits(call: &Call<'_>, given: &BTreeMap<String, usize>) -> Result<BTreeMap<StateName, usize>, Failure> {
    let flow = call.ws.flow();
    let named = given.iter().map(|(typed, limit)| Ok((flow.find_state(Kind::Issue, typed)?.name.clone(), *limit)));
    named.collect()
}

fn is_within(task: &TaskView, days: i64, now: Timestamp) -> bool {
    untouched(task, now) <= SignedDuration::from_hours(24 * days.max(0))
}

fn is_over(call: &Call<'_>, task: &TaskView) -> bool {
    call.ws.flow().is_terminal(Kind::Issue, &task.state)
}

fn phases(call: &Call<'_>, args: &Args, found: &Upkeep) -> Result<Vec<Value>, Failure> {
    let mut rows = Vec::new();
    for state in call.ws.flow().states() {
        let here = |task: &&TaskView| {
            task.state == state.name && (!state.terminal || is_within(task, args.done_window_days, found.now))
        };
        let mut tasks: Vec<&TaskView> = found.tasks.iter().filter(here).collect();
        tasks.sort_by_key(|task| task.priority.unwrap_or("P9"));
        let mut issues = Vec::new();
        for task in tasks.iter().take(args.issues_per_phase) {
            issues.push(issue(call, task, found.now)?);
        }
        rows.push(json!({ "state": state.name, "count": tasks.len(), "issues": issues }));
    }
    Ok(rows)
}

fn issue(call: &Call<'_>, task: &TaskView, now: Timestamp) -> Result<Value, Failure> {
    let around = Around::of(call.ws, &task.id)?;
    let blocked = task.open_blockers.iter();
    let blocked = blocked.map(|id| json!({ "number": around.number(id), "workflowState": around.state(id) }));
    Ok(json!({
        "number": number_of(task),
        "title": task.title,
        "priority": task.priority,
        "estimate": task.estimate,
        "assignees": task.owner.iter().collect::<Vec<_>>(),
        "ageHours": untouched(task, now).as_hours(),
        "isLocked": task.claim.is_some(),
        "blockedBy": blocked.collect::<Vec<_>>(),
    }))
}

fn warnings(call: &Call<'_>, args: &Args, found: &Upkeep) -> Vec<Value> {
    let mut all = Vec::new();
    let mut warn = |kind: &str, severity: &str, message: String, tasks: &[&TaskView]| {
        let numbers: Vec<Value> = tasks.iter().map(|task| number_of(task)).collect();
        all.push(json!({ "type": kind, "severity": severity, "message": message, "issues": numbers }));
    };
    for (state, limit, tasks) in &found.over_limit {
        let message = format!("{} issues in {state}, the limit is {limit}", tasks.len());
        warn("wip_exceeded", "warning", message, &tasks.iter().collect::<Vec<_>>());
    }
    let flow = call.ws.flow();
    for task in found.tasks.iter().filter(|task| !is_over(call, task)) {
        let hours = untouched(task, found.now).as_hours();
        let waits = flow.state(Kind::Issue, &task.state).is_some_and(|state| state.human);
        if hours > args.stuck_threshold_hours && !waits {
            let severity = if hours > 2 * args.stuck_threshold_hours { "critical" } else { "warning" };
            warn("stuck_issue", severity, format!("{} unchanged for {hours} h in {}", task.id, task.state), &[task]);
        }
        if task.blocked {
            warn("blocked", "warning", format!("{} is blocked", task.id), &[task]);
        }
        let large = task.estimate.is_some_and(|size| ["M", "L", "XL"].contains(&size));
        if large && task.children.is_empty() && task.state != *flow.initial(Kind::Issue) {
            warn(
                "oversized_in_pipeline",
                "warning",
                format!("{} is too large and has not been split", task.id),
                &[task],
            );
        }
    }
    all
}

fn archive(call: &Call<'_>, args: &Args, found: &Upkeep) -> Value {
    let items = found.to_archive.iter().map(|task| {
        let days = untouched(task, found.now).as_hours() / 24;
        json!({ "number": number_of(task), "title": task.title, "workflowState": task.state, "staleDays": days })
    });
    let recent = found.tasks.iter().filter(|task| is_over(call, task)).count() - found.to_archive.len();
    json!({
        "eligibleForArchive": found.to_archive.len(),
        "eligibleItems": items.collect::<Vec<_>>(),
        "recentlyCompleted": recent,
        "archiveThresholdDays": args.archive_threshold_days,
    })
}

fn metrics(call: &Call<'_>, args: &Args, found: &Upkeep, warnings: &[Value]) -> Value {
    let window = |at: Option<Timestamp>| {
        let span = SignedDuration::from_hours(24 * args.velocity_window_days.max(0));
        at.is_some_and(|at| found.now.duration_since(at) <= span)
    };
    let named = |tasks: &[&TaskView]| -> Vec<Value> {
        tasks.iter().map(|task| json!({ "number": number_of(task), "title": task.title })).collect()
    };
    let closing = call.ws.flow().closing();
    let done: Vec<&TaskView> =
        found.tasks.iter().filter(|task| Some(&task.state) == closing && window(task.updated)).collect();
    let new: Vec<&TaskView> = found.tasks.iter().filter(|task| window(task.created)).collect();
    let weight = |warning: &Value| if warning["severity"] == "critical" { 3 } else { 1 };
    let risk: i64 = warnings.iter().map(weight).sum();
    let status = match risk {
        risk if risk >= args.off_track_threshold => "OFF_TRACK",
        risk if risk >= args.at_risk_threshold => "AT_RISK",
        _ => "ON_TRACK",
    };
    json!({
        "velocity": done.len(),
        "riskScore": risk,
        "status": status,
        "highlights": { "recentlyCompleted": named(&done), "newlyAdded": named(&new) },
    })
}

fn formatted(format: Format, reply: &Value) -> String {
    let rows = reply["phases"].as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut lines: Vec<String> = match format {
        Format::Ascii => rows.map(|row| format!("{:<22}{:>5}", text(&row["state"]), text(&row["count"]))).collect(),
        _ => {
            let table = rows.map(|row| format!("| {} | {} |", text(&row["state"]), text(&row["count"])));
            ["# Pipeline Status".to_owned(), String::new(), "| Phase | Count |".to_owned(), "|---|---:|".to_owned()]
                .into_iter()
                .chain(table)
                .collect()
        }
    };
    lines.push(String::new());
    lines.push(format!("Total: {} issues", reply["totalIssues"]));
    for warning in reply["health"]["warnings"].as_array().into_iter().flatten() {
        lines.push(format!("- [{}] {}", text(&warning["severity"]), text(&warning["message"])));
    }
    lines.join("\n")
}

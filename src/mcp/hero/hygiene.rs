//! `project_hygiene`: tasks of the board that should be cleaned up.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::dashboard::{Format, limits};
use super::shape::{number_of, stamp};
use super::tool;
use crate::app::{self, TaskView, Upkeep, UpkeepAsk, untouched};
use crate::mcp::caller::Call;
use crate::mcp::tool::{Nature, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
struct Args {
    archive_days: i64,
    stale_days: i64,
    orphan_days: i64,
    wip_limits: BTreeMap<String, usize>,
    /// 0.5 to 1.0
    similarity_threshold: f64,
    format: Format,
}

impl Default for Args {
    fn default() -> Self {
        let usual = UpkeepAsk::default();
        Self {
            archive_days: usual.archive_days,
            stale_days: usual.stale_days,
            orphan_days: usual.orphan_days,
            wip_limits: BTreeMap::new(),
            similarity_threshold: usual.similarity,
            format: Format::Json,
        }
    }
}

pub fn project_hygiene() -> Tool {
    tool(
        "ralph_hero__project_hygiene",
        Nature::Reads,
        "List issues to archive, stale issues, issues with missing fields, and possible duplicates.",
        &[("totalItems", "integer"), ("summary", "object")],
        |call: &Call<'_>, args: Args| {
            let asked = UpkeepAsk {
                archive_days: args.archive_days,
                stale_days: args.stale_days,
                orphan_days: args.orphan_days,
                limits: limits(call, &args.wip_limits)?,
                similarity: args.similarity_threshold,
            };
            let mut reply = report(&app::upkeep(call.ws, &asked)?);
            if args.format != Format::Json {
                reply["formatted"] = json!(formatted(&reply["summary"]));
            }
            Ok(reply)
        },
    )
}

fn report(found: &Upkeep) -> Value {
    let item = |task: &TaskView| item(task, found.now);
    let items = |tasks: &[TaskView]| -> Vec<Value> { tasks.iter().map(item).collect() };
    let over = found.over_limit.iter().map(
        |(state, limit, tasks)| json!({ "state": state, "count": tasks.len(), "limit": limit, "items": items(tasks) }),
    );
    let over: Vec<Value> = over.collect();
    let doubles = found.doubles.iter().map(|(one, other, alike)| {
        json!({ "items": [item(one), item(other)], "similarity": (alike * 100.0).round() / 100.0 })
    });
    let doubles: Vec<Value> = doubles.collect();
    let gaps = found.without_estimate.len() + found.without_priority.len();
    let coverage = match 2 * found.tasks.len() {
        0 => 100,
        fields => (fields - gaps.min(fields)) * 100 / fields,
    };
    json!({
        "generatedAt": stamp(Some(found.now)),
        "totalItems": found.tasks.len(),
        "archiveCandidates": items(&found.to_archive),
        "staleItems": items(&found.stale),
        "orphanedItems": items(&found.orphaned),
        "fieldGaps": {
            "missingEstimate": items(&found.without_estimate),
            "missingPriority": items(&found.without_priority),
        },
        "wipViolations": over,
        "duplicateCandidates": doubles,
        "summary": {
            "archiveCandidateCount": found.to_archive.len(),
            "staleCount": found.stale.len(),
            "orphanCount": found.orphaned.len(),
            "fieldCoveragePercent": coverage,
            "wipViolationCount": found.over_limit.len(),
            "duplicateCandidateCount": found.doubles.len(),
        },
    })
}

fn item(task: &TaskView, now: Timestamp) -> Value {
    let days = untouched(task, now).as_hours() as f64 / 24.0;
    json!({
        "number": number_of(task),
        "title": task.title,
        "workflowState": task.state,
        "ageDays": (days * 10.0).round() / 10.0,
    })
}

fn formatted(summary: &Value) -> String {
    const CHECKS: [(&str, &str); 6] = [
        ("Issues to archive", "archiveCandidateCount"),
        ("Stale issues", "staleCount"),
        ("Unassigned new issues", "orphanCount"),
        ("Fields that are set (%)", "fieldCoveragePercent"),
        ("States over their limit", "wipViolationCount"),
        ("Possible duplicates", "duplicateCandidateCount"),
    ];
    let rows = CHECKS.map(|(label, key)| format!("| {label} | {} |", summary[key]));
    let head = ["# Project Hygiene".to_owned(), String::new(), "| Check | Count |".to_owned(), "|---|---:|".to_owned()];
    head.into_iter().chain(rows).collect::<Vec<_>>().join("\n")
}

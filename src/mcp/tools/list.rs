//! `list`: the tasks that match, in pages.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::value::Many;
use crate::app::{self, Code, Failure, Hint, ListAsk, TaskView};
use crate::mcp::caller::{Call, TaskRef};
use crate::mcp::reply::{BUDGET, Brief, fitting};
use crate::mcp::tool::{Nature, Tool};
use crate::task::TaskId;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default)]
    state: Many,
    /// Tasks in states where this role starts work
    role: Option<String>,
    #[serde(default)]
    ready: bool,
    #[serde(default)]
    blocked: bool,
    #[serde(default)]
    owner: Many,
    #[serde(default)]
    label: Many,
    #[serde(default)]
    priority: Many,
    #[serde(default)]
    estimate: Many,
    parent: Option<TaskRef>,
    /// issue, epic or step
    #[serde(default)]
    kind: Many,
    /// Words in title, labels, description and notes
    search: Option<String>,
    /// Include finished tasks
    #[serde(default)]
    all: bool,
    /// Such as priority or -updated
    #[serde(default)]
    sort: Many,
    /// 20 by default
    limit: Option<usize>,
    cursor: Option<String>,
    max_bytes: Option<usize>,
}

const LIMIT: usize = 20;
const MOST: usize = 500;
/// The size of a page without its tasks.
const AROUND: usize = 160;
/// The number of tasks that a cursor names, so that one of them probably still exists at the next call.
const TRAIL: usize = 8;

#[derive(Serialize)]
struct ListPage {
    total: usize,
    tasks: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

pub fn list() -> Tool {
    Tool::new(
        "list",
        Nature::Reads,
        "List tasks that match all filters. Finished tasks need all or state. Pass cursor for the next page.",
        &[("total", "integer"), ("tasks", "array"), ("cursor", "string")],
        run,
    )
}

fn run(call: &Call<'_>, args: Args) -> Result<ListPage, Failure> {
    let found = found(call, &args)?;
    let start = args.cursor.as_deref().map_or(Ok(0), |cursor| start(&found, cursor))?;
    let limit = args.limit.unwrap_or(LIMIT).clamp(1, MOST);
    let page = found[start..].iter().take(limit).map(Brief::from);
    let tasks = fitting(page, args.max_bytes.unwrap_or(BUDGET).saturating_sub(AROUND));
    let end = start + tasks.len();
    let cursor = (end < found.len()).then(|| cursor(&found[..end]));
    Ok(ListPage { total: found.len(), tasks, cursor })
}

fn found(call: &Call<'_>, args: &Args) -> Result<Vec<TaskView>, Failure> {
    let asked = ListAsk {
        state: args.state.0.clone(),
        role: args.role.clone(),
        ready: args.ready,
        blocked: args.blocked,
        owner: args.owner.0.clone(),
        label: args.label.0.clone(),
        priority: args.priority.0.clone(),
        estimate: args.estimate.0.clone(),
        parent: args.parent.as_ref().map(|parent| parent.0.clone()),
        kind: args.kind.0.clone(),
        all: args.all,
        sort: args.sort.0.clone(),
        ..ListAsk::default()
    };
    let mut tasks = app::list(call.ws, &asked.query(call.ws)?)?.tasks;
    let Some(text) = args.search.as_deref().filter(|text| !text.trim().is_empty()) else { return Ok(tasks) };
    let hits = app::search(call.ws, text, true, usize::MAX)?;
    let ranks: HashMap<&TaskId, usize> = hits.iter().map(|hit| &hit.task.id).zip(0..).collect();
    let rank = |task: &TaskView| ranks.get(&task.id).copied();
    tasks.retain(|task| rank(task).is_some());
    if args.sort.0.is_empty() {
        tasks.sort_by_key(rank);
    }
    Ok(tasks)
}

/// The number of tasks that were shown, and the ids of the last ones, in reverse order.
fn cursor(shown: &[TaskView]) -> String {
    let trail: Vec<&str> = shown.iter().rev().take(TRAIL).map(|task| task.id.as_str()).collect();
    format!("{}:{}", shown.len(), trail.join(","))
}

/// Continues after the last task that is still near its old place, because a task that has moved far away would move the page,
/// too. If there is none, it repeats some tasks so that none is missed.
fn start(found: &[TaskView], cursor: &str) -> Result<usize, Failure> {
    let bad = || {
        Failure::usage(Code::BadCursor, format!("{cursor:?} is not a cursor of this list"))
            .hint(Hint::step("start without a cursor"))
    };
    let (shown, trail) = cursor.split_once(':').ok_or_else(bad)?;
    let shown: usize = shown.parse().map_err(|_| bad())?;
    let place = |id: &str| found.iter().position(|task| task.id.as_str() == id);
    let there = trail.split(',').enumerate().filter_map(|(back, id)| Some((back, place(id)? + 1)));
    let near = there.min_by_key(|(back, after)| (after + back).abs_diff(shown)).map(|(_, after)| after);
    Ok(near.unwrap_or(shown.saturating_sub(TRAIL)).min(found.len()))
}

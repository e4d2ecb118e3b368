//! `list_issues`, `list_project_items`, `get_issue` and `pick_actionable_issue`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::filter::{IssueFilter, IssueStanding};
use super::shape::{Around, item, number_of, reason_of, stamp, state_of, summary, url_of};
use super::{GROUPING, pipeline, relations, tool};
use crate::app::{self, Failure, LogQuery, Shown};
use crate::mcp::caller::{Call, TaskRef};
use crate::mcp::tool::{Nature, Tool};
use crate::task::TaskId;

const LISTED: [(&str, &str); 3] = [("totalCount", "integer"), ("filteredCount", "integer"), ("items", "array")];

pub fn list_issues() -> Tool {
    tool(
        "ralph_hero__list_issues",
        Nature::Reads,
        "List issues that match all filters. totalCount is their number before the limit.",
        &LISTED,
        |call: &Call<'_>, filter: IssueFilter| {
            let found = filter.run(call)?;
            let items: Vec<Value> = found.tasks.iter().map(|task| item(call.ws, task)).collect();
            Ok(json!({ "totalCount": found.total, "filteredCount": items.len(), "items": items }))
        },
    )
}

pub fn list_project_items() -> Tool {
    tool(
        "ralph_hero__list_project_items",
        Nature::Reads,
        "List all items of the board, open and closed; takes the filters of list_issues.",
        &LISTED,
        |call: &Call<'_>, asked: IssuePage| {
            let filter = asked.filter();
            let found = filter.run(call)?;
            let items = found.tasks.iter().map(|task| {
                let mut item = item(call.ws, task);
                item["itemId"] = json!(task.id);
                item["type"] = json!("ISSUE");
                item
            });
            let items: Vec<Value> = items.collect();
            Ok(json!({ "totalCount": found.total, "filteredCount": items.len(), "items": items }))
        },
    )
}

/// The filter without telling the client of it a second time.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
struct IssuePage {
    #[schemars(with = "Advertised")]
    filter: IssueFilter,
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code, reason = "only its schema is used")]
struct Advertised {
    workflow_state: Option<String>,
    estimate: Option<String>,
    priority: Option<String>,
    limit: Option<u64>,
}

impl IssuePage {
    fn filter(self) -> IssueFilter {
        let Self { mut filter } = self;
        if filter.state == IssueStanding::Usual {
            filter.state = IssueStanding::All;
        }
        filter
    }
}

fn yes() -> bool {
    true
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Get {
    #[serde(alias = "issueNumber")]
    number: TaskRef,
    #[serde(default = "yes")]
    include_group: bool,
    #[serde(default)]
    include_pipeline: bool,
}

pub fn get_issue() -> Tool {
    tool(
        "ralph_hero__get_issue",
        Nature::Reads,
        "Get an issue with its body, last ten comments, links and group; with includePipeline, also its position in the pipeline.",
        &[("title", "string"), ("workflowState", "string"), ("labels", "array"), ("comments", "array")],
        |call: &Call<'_>, args: Get| {
            let id = call.find_exact(&args.number)?;
            let shown = app::show_without_moves(call.ws, &id)?;
            let around = Around::of(call.ws, &id)?;
            let mut issue = about(call, &shown, &around)?;
            let on_board = !shown.archived;
            issue["group"] = match args.include_group && on_board {
                true => relations::group(call, &id, &around)?,
                false => Value::Null,
            };
            if args.include_pipeline && on_board {
                issue["pipeline"] = pipeline::position(call, &id, &around)?;
            }
            Ok(issue)
        },
    )
}

/// How many comments are shown.
const COMMENTS: usize = 10;

fn about(call: &Call<'_>, shown: &Shown, around: &Around<'_>) -> Result<Value, Failure> {
    let (ws, task) = (call.ws, &shown.task);
    let children = around.all_linked(&task.children);
    let comments = shown.notes.iter().skip(shown.notes.len().saturating_sub(COMMENTS)).map(|note| {
        let id = note.file.trim_end_matches(".md");
        let by = note.by.as_deref().unwrap_or("unknown");
        json!({ "id": id, "body": note.text.trim(), "author": by, "createdAt": stamp(note.at) })
    });
    let mut issue = json!({
        "number": number_of(task),
        "id": task.id,
        "title": task.title,
        "body": shown.description.trim_end(),
        "state": state_of(ws, task),
        "stateReason": reason_of(ws, task),
        "url": url_of(task),
        "createdAt": stamp(task.created),
        "updatedAt": stamp(task.updated),
        "closedAt": closed_at(call, shown)?,
        "workflowState": task.state,
        "estimate": task.estimate,
        "priority": task.priority,
        "labels": task.labels,
        "assignees": task.owner.iter().collect::<Vec<_>>(),
        "parent": task.parent.as_ref().map(|parent| above(parent, around)),
        "subIssuesSummary": summary(children.iter().map(|child| &child["state"])),
        "subIssues": children,
        "blocking": around.all_linked(&task.blocks),
        "blockedBy": around.all_linked(&task.blocked_by),
        "comments": comments.collect::<Vec<_>>(),
    });
    if !task.artifacts.is_empty() {
        issue["artifacts"] = json!(task.artifacts);
    }
    if let Some(claim) = &task.claim {
        issue["claimedBy"] = json!(claim.by);
    }
    Ok(issue)
}

/// The parent, as the skills read it: with its estimate.
fn above(parent: &TaskId, around: &Around<'_>) -> Value {
    let mut row = around.linked(parent);
    row["estimate"] = json!(around.estimate(parent));
    row
}

/// The time at which an issue was closed, according to the journal.
fn closed_at(call: &Call<'_>, shown: &Shown) -> Result<Option<String>, Failure> {
    let task = &shown.task;
    if state_of(call.ws, task) == "OPEN" {
        return Ok(None);
    }
    let lines = app::log(call.ws, &LogQuery { task: Some(task.id.clone()), ..LogQuery::default() })?;
    let closes = |change: &app::FieldChange| {
        let to = change.new.as_ref().map(ToString::to_string);
        change.task == task.id && change.key.as_str() == "state" && to.as_deref() == Some(task.state.as_str())
    };
    let closing = lines.iter().find(|line| !line.undone && line.fields.iter().any(closes));
    Ok(stamp(closing.map(|line| line.line.at)))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PickArgs {
    workflow_state: String,
    /// XS, S (default), M, L or XL
    max_estimate: Option<String>,
}

pub fn pick_actionable_issue() -> Tool {
    tool(
        "ralph_hero__pick_actionable_issue",
        Nature::Reads,
        "Get the best issue in a workflow state that is neither claimed by another worker nor blocked; issues that you have claimed come first. It is not claimed: \
         move it with __LOCK__ next, and pick again if that is refused.",
        &[("found", "boolean"), ("alternatives", "integer")],
        |call: &Call<'_>, args: PickArgs| {
            let most = args.max_estimate.as_deref().unwrap_or("S").parse()?;
            let picked = app::takeable(call.ws, &args.workflow_state, most, GROUPING)?.tasks;
            let Some(best) = picked.first() else {
                return Ok(json!({ "found": false, "issue": null, "group": null, "alternatives": 0 }));
            };
            let id: &TaskId = &best.task.id;
            let around = Around::of(call.ws, id)?;
            let issue = json!({
                "number": number_of(&best.task),
                "id": id,
                "title": best.task.title,
                "description": app::show_without_moves(call.ws, id)?.description.trim_end(),
                "workflowState": best.task.state,
                "estimate": best.task.estimate,
                "priority": best.task.priority,
                "isLocked": false,
                "blockedBy": around.all_linked(&best.task.open_blockers),
                "resume": best.resume,
            });
            let group = relations::group(call, id, &around)?;
            Ok(json!({ "found": true, "issue": issue, "group": group, "alternatives": picked.len() - 1 }))
        },
    )
}

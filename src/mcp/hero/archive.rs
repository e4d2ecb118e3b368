//! `archive_item`, `bulk_archive` and `archive_items`, which replaced both.

use jiff::SignedDuration;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::filter::Count;
use super::shape::{Around, number_of};
use super::{dates, tool};
use crate::app::{self, Code, Failure, Hint, ListAsk, TaskView};
use crate::mcp::caller::{Call, TaskRef};
use crate::mcp::tool::{Nature, Tool};
use crate::mcp::tools::value::Many;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ArchiveCall {
    #[serde(alias = "issueNumber", alias = "projectItemId")]
    number: TaskRef,
    #[schemars(skip)]
    #[serde(default)]
    unarchive: bool,
}

pub fn archive_item() -> Tool {
    tool(
        "ralph_hero__archive_item",
        Nature::Writes,
        "Archive a finished issue; it can still be found by its number.",
        &[("archived", "boolean"), ("projectItemId", "string")],
        |call: &Call<'_>, args: ArchiveCall| args.run(call),
    )
}

impl ArchiveCall {
    fn run(&self, call: &Call<'_>) -> Result<Value, Failure> {
        let id = call.find_exact(&self.number)?;
        if self.unarchive {
            return Err(Failure::refused(Code::NotFinished, format!("this tool cannot restore {id}"))
                .hint(Hint::step("ask a person to restore it, by undoing the change that archived it")));
        }
        let number = Around::of(call.ws, &id)?.number(&id);
        app::archive(call.ws, std::slice::from_ref(&id), SignedDuration::ZERO)?;
        Ok(json!({ "number": number, "archived": true, "projectItemId": id }))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct BulkCall {
    /// Such as Done, Canceled
    workflow_states: Many,
    /// 50 by default, 200 at most
    max_items: Option<Count>,
    #[serde(default)]
    dry_run: bool,
    /// ISO, or such as @today-14d
    updated_before: Option<String>,
}

const ITEMS: usize = 50;
const MOST: usize = 200;

pub fn bulk_archive() -> Tool {
    tool(
        "ralph_hero__bulk_archive",
        Nature::Writes,
        "Archive the finished issues of some states.",
        &[("archivedCount", "integer"), ("wouldArchive", "integer"), ("items", "array"), ("errors", "array")],
        |call: &Call<'_>, args: BulkCall| args.run(call),
    )
}

impl BulkCall {
    fn run(&self, call: &Call<'_>) -> Result<Value, Failure> {
        let before = self.updated_before.as_deref().map(|text| dates::parse(text, call.ws.now())).transpose()?;
        if self.workflow_states.0.is_empty() {
            return Err(Failure::usage(Code::BadArguments, "workflowStates: name at least one state"));
        }
        let asked = ListAsk { state: self.workflow_states.0.clone(), all: true, ..ListAsk::default() };
        let mut tasks = app::list(call.ws, &asked.query(call.ws)?)?.tasks;
        tasks.retain(|task| before.is_none_or(|before| task.updated.is_some_and(|at| at < before)));
        tasks.truncate(self.max_items.map_or(ITEMS, |most| most.0).min(MOST));
        let items: Vec<Value> = tasks.iter().map(item).collect();
        if self.dry_run {
            return Ok(json!({ "dryRun": true, "wouldArchive": items.len(), "items": items, "errors": [] }));
        }
        let ids: Vec<_> = tasks.iter().map(|task| task.id.clone()).collect();
        if !ids.is_empty() {
            app::archive(call.ws, &ids, SignedDuration::ZERO)?;
        }
        Ok(json!({
            "dryRun": false,
            "archivedCount": ids.len(),
            "wouldArchive": 0,
            "items": items,
            "errors": [],
        }))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ItemsCall {
    /// One issue, instead of workflowStates
    #[serde(alias = "issueNumber", alias = "projectItemId")]
    number: Option<TaskRef>,
    #[serde(default)]
    workflow_states: Many,
    max_items: Option<Count>,
    #[serde(default)]
    dry_run: bool,
    updated_before: Option<String>,
    #[schemars(skip)]
    #[serde(default)]
    unarchive: bool,
}

pub fn archive_items() -> Tool {
    tool(
        "ralph_hero__archive_items",
        Nature::Writes,
        "archive_item with a number, bulk_archive with workflowStates.",
        &[],
        |call: &Call<'_>, args: ItemsCall| {
            let ItemsCall { number, workflow_states, max_items, dry_run, updated_before, unarchive } = args;
            match number {
                Some(_) if !workflow_states.0.is_empty() => {
                    Err(Failure::usage(Code::BadArguments, "a number and workflowStates cannot be used together"))
                }
                Some(number) => ArchiveCall { number, unarchive }.run(call),
                None => BulkCall { workflow_states, max_items, dry_run, updated_before }.run(call),
            }
        },
    )
}

fn item(task: &TaskView) -> Value {
    json!({ "number": number_of(task), "title": task.title, "itemId": task.id })
}

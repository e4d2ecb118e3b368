//! Sub-issues, dependencies and groups.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::filter::Count;
use super::shape::{Around, number_of, state_of, summary};
use super::{GROUPING, tool};
use crate::app::{self, Code, Failure, Hint, TreeNode};
use crate::mcp::caller::{Call, TaskRef};
use crate::mcp::tool::{Nature, Tool};
use crate::task::TaskId;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Adopt {
    parent_number: TaskRef,
    child_number: TaskRef,
    #[serde(default)]
    replace_parent: bool,
}

pub fn add_sub_issue() -> Tool {
    tool(
        "ralph_hero__add_sub_issue",
        Nature::Writes,
        "Make an issue the child of another.",
        &[("parent", "object"), ("child", "object")],
        |call: &Call<'_>, args: Adopt| {
            let (parent, child) = (call.find_exact(&args.parent_number)?, call.find_exact(&args.child_number)?);
            let before = app::show_without_moves(call.ws, &child)?.task.parent;
            if let Some(other) = before.filter(|other| *other != parent && !args.replace_parent) {
                let message = format!("{child} is already a child of {other}");
                return Err(
                    Failure::refused(Code::HasParent, message).hint(Hint::step("pass replaceParent to replace it"))
                );
            }
            app::set(call.ws, std::slice::from_ref(&child), &[format!("parent={parent}")], false)?;
            let around = Around::of(call.ws, &child)?;
            Ok(json!({ "parent": around.named(&parent), "child": around.named(&child) }))
        },
    )
}

#[derive(Deserialize, JsonSchema)]
struct Parts {
    #[serde(alias = "issueNumber", alias = "parentNumber")]
    number: TaskRef,
    /// 1 (default) to 3
    depth: Option<Count>,
}

const DEEPEST: usize = 3;

pub fn list_sub_issues() -> Tool {
    tool(
        "ralph_hero__list_sub_issues",
        Nature::Reads,
        "List the children of an issue, and how many of them are closed.",
        &[("parent", "object"), ("subIssues", "array"), ("summary", "object"), ("hasMore", "boolean")],
        |call: &Call<'_>, args: Parts| {
            let id = call.find_exact(&args.number)?;
            let depth = args.depth.map_or(1, |depth| depth.0).clamp(1, DEEPEST);
            let mut trees = app::tree(call.ws, Some(&id), true)?;
            let root = trees.pop().ok_or_else(|| Failure::broken(Code::Bug, "a task without its tree"))?;
            let parts = parts(call, &root.subtasks, depth);
            Ok(json!({
                "parent": { "id": root.task.id, "number": number_of(&root.task), "title": root.task.title },
                "summary": summary(parts.iter().map(|part| &part["state"])),
                "subIssues": parts,
                "hasMore": false,
            }))
        },
    )
}

fn parts(call: &Call<'_>, nodes: &[TreeNode], depth: usize) -> Vec<Value> {
    let shown = nodes.iter().map(|node| {
        let task = &node.task;
        let mut part = json!({
            "id": task.id,
            "number": number_of(task),
            "title": task.title,
            "state": state_of(call.ws, task),
            "workflowState": task.state,
            "estimate": task.estimate,
        });
        if depth > 1 {
            let below = parts(call, &node.subtasks, depth - 1);
            part["subIssuesSummary"] = summary(below.iter().map(|part| &part["state"]));
            part["subIssues"] = json!(below);
        }
        part
    });
    shown.collect()
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Dependency {
    /// The blocked issue
    blocked_number: TaskRef,
    /// Its blocker
    blocking_number: TaskRef,
}

const LINK: [(&str, &str); 3] = [("blocked", "object"), ("blocking", "object"), ("changed", "boolean")];

pub fn add_dependency() -> Tool {
    tool(
        "ralph_hero__add_dependency",
        Nature::Writes,
        "Add a blocker to an issue. Cycles are refused.",
        &LINK,
        |call: &Call<'_>, args: Dependency| {
            let (blocked, blocking) = (call.find_exact(&args.blocked_number)?, call.find_exact(&args.blocking_number)?);
            let linked = app::block(call.ws, &blocked, std::slice::from_ref(&blocking))?;
            both(call, &blocked, &blocking, linked.changed)
        },
    )
}

pub fn remove_dependency() -> Tool {
    tool(
        "ralph_hero__remove_dependency",
        Nature::Writes,
        "Remove a blocker from an issue.",
        &LINK,
        |call: &Call<'_>, args: Dependency| {
            let blocked = call.find_exact(&args.blocked_number)?;
            let blocking = blocker(call, &blocked, &args.blocking_number)?;
            let linked = app::unblock(call.ws, &blocked, std::slice::from_ref(&blocking))?;
            both(call, &blocked, &blocking, linked.changed)
        },
    )
}

/// A blocker that is to be removed. Its task may be gone, but then the issue must still have the link.
fn blocker(call: &Call<'_>, blocked: &TaskId, typed: &TaskRef) -> Result<TaskId, Failure> {
    call.find_exact(typed).or_else(|unknown| {
        let gone = call.ws.find_exact_or_literal(&typed.0)?;
        let links = app::show_without_moves(call.ws, blocked)?.task.blocked_by;
        if links.contains(&gone) { Ok(gone) } else { Err(unknown) }
    })
}

fn both(call: &Call<'_>, blocked: &TaskId, blocking: &TaskId, changed: bool) -> Result<Value, Failure> {
    // Read separately, because without the link neither task is related to the other.
    let (one, other) = (Around::of(call.ws, blocked)?, Around::of(call.ws, blocking)?);
    Ok(json!({ "blocked": one.named(blocked), "blocking": other.named(blocking), "changed": changed }))
}

#[derive(Deserialize, JsonSchema)]
struct One {
    #[serde(alias = "issueNumber")]
    number: TaskRef,
}

pub fn list_dependencies() -> Tool {
    tool(
        "ralph_hero__list_dependencies",
        Nature::Reads,
        "List the blockers of an issue, and the issues that it blocks.",
        &[("issue", "object"), ("blocking", "array"), ("blockedBy", "array"), ("summary", "object")],
        |call: &Call<'_>, args: One| {
            let id = call.find_exact(&args.number)?;
            let task = app::show_without_moves(call.ws, &id)?.task;
            let around = Around::of(call.ws, &id)?;
            let summary = json!({ "totalBlocking": task.blocks.len(), "totalBlockedBy": task.blocked_by.len() });
            Ok(json!({
                "issue": { "id": id, "number": number_of(&task), "title": task.title },
                "blocking": around.all_linked(&task.blocks),
                "blockedBy": around.all_linked(&task.blocked_by),
                "summary": summary,
            }))
        },
    )
}

pub fn detect_group() -> Tool {
    tool(
        "ralph_hero__detect_group",
        Nature::Reads,
        "List the issues that are planned, built and merged together with this one, in order.",
        &[("groupTickets", "array"), ("groupPrimary", "object"), ("isGroup", "boolean"), ("totalTickets", "integer")],
        |call: &Call<'_>, args: One| {
            let id = call.find_exact(&args.number)?;
            let around = Around::of(call.ws, &id)?;
            let group = app::group(call.ws, &id, GROUPING)?;
            let ids: Vec<&TaskId> = group.members.iter().map(|member| &member.task).collect();
            Ok(json!({
                "groupTickets": ordered(&around, &ids),
                "groupPrimary": around.named(&group.primary),
                "isGroup": ids.len() > 1,
                "totalTickets": ids.len(),
            }))
        },
    )
}

fn ordered(around: &Around<'_>, ids: &[&TaskId]) -> Vec<Value> {
    let numbered = ids.iter().enumerate().map(|(at, id)| {
        let mut member = around.linked(id);
        member["order"] = json!(at + 1);
        member
    });
    numbered.collect()
}

/// The group of an issue, as other tools return it.
pub fn group(call: &Call<'_>, id: &TaskId, around: &Around<'_>) -> Result<Value, Failure> {
    let group = app::group(call.ws, id, GROUPING)?;
    let ids: Vec<&TaskId> = group.members.iter().map(|member| &member.task).collect();
    Ok(json!({
        "isGroup": ids.len() > 1,
        "primary": around.named(&group.primary),
        "members": ordered(around, &ids),
        "totalTickets": ids.len(),
    }))
}

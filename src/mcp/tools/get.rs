//! `get`: one task with its group, its position and its blockers.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::app::{self, Code, Failure, Note, Shown};
use crate::mcp::caller::{Call, TaskRef};
use crate::mcp::reply::{BUDGET, Brief, Refused, cut, fitting, stamp};
use crate::mcp::tool::{Nature, Tool};
use crate::task::TaskId;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    task: TaskRef,
    /// The cursor of an earlier answer, for older notes
    cursor: Option<String>,
    /// 8000 by default
    max_bytes: Option<usize>,
}

pub fn get() -> Tool {
    Tool::new(
        "get",
        Nature::Reads,
        "Get a task: description, notes (newest first), links, documents, group and position in the pipeline.",
        &[
            ("id", "string"),
            ("state", "string"),
            ("description", "string"),
            ("notes", "array"),
            ("group", "object"),
            ("position", "object"),
            ("cursor", "string"),
        ],
        |call: &Call<'_>, args: Args| {
            let skip = match args.cursor.as_deref() {
                None => 0,
                Some(cursor) => {
                    cursor.parse().map_err(|_| Failure::usage(Code::BadCursor, "not a cursor of this task"))?
                }
            };
            about(call, &call.find(&args.task)?, args.max_bytes.unwrap_or(BUDGET), skip)
        },
    )
}

/// A task within the budget: first the short fields, then the description, then as many notes as fit. Texts that are cut are
/// marked.
pub fn about(call: &Call<'_>, id: &TaskId, budget: usize, skip: usize) -> Result<Value, Failure> {
    let shown = app::show(call.ws, id)?;
    let mut about = fixed(call, id, &shown);
    if skip == 0 {
        describe(&mut about, shown.description.trim(), budget, shown.notes.len());
    }
    let left = budget.saturating_sub(size(&about)).max(SMALLEST);
    let notes = shown.notes.iter().rev().skip(skip).map(|note| told(note, left));
    let notes = fitting(notes, left);
    let seen = skip + notes.len();
    if !notes.is_empty() {
        about.insert("notes".into(), json!(notes));
    }
    if seen < shown.notes.len() {
        about.insert("cursor".into(), json!(seen.to_string()));
    }
    Ok(Value::Object(about))
}

/// The space for a text, even if the budget is used up.
const SMALLEST: usize = 600;
/// The space for the other fields of a note.
const AROUND: usize = 120;
/// The number of links of one kind that are listed; the others are only counted.
const LINKS: usize = 20;

fn size(about: &Map<String, Value>) -> usize {
    json!(about).to_string().len()
}

/// Adds the description. If there are notes, a third of the space is left for them.
fn describe(about: &mut Map<String, Value>, text: &str, budget: usize, notes: usize) {
    let left = budget.saturating_sub(size(about));
    let kept = cut(text, if notes == 0 { left } else { left / 3 * 2 }.max(SMALLEST));
    if kept.len() < text.len() {
        about.insert("description_cut_at".into(), json!(kept.len()));
    }
    if !kept.is_empty() {
        about.insert("description".into(), json!(kept));
    }
}

fn told(note: &Note, room: usize) -> Value {
    let text = note.text.trim();
    let kept = cut(text, room.saturating_sub(AROUND));
    let mut told = json!({ "by": note.by, "at": note.at.map(stamp), "text": kept });
    if kept.len() < text.len() {
        told["cut_at"] = json!(kept.len());
        told["file"] = json!(note.file);
    }
    told
}

fn fixed(call: &Call<'_>, id: &TaskId, shown: &Shown) -> Map<String, Value> {
    let task = &shown.task;
    let Value::Object(mut about) = json!(Brief::from(task)) else { unreachable!("a task is an object") };
    let links = [("children", &task.children), ("blocked_by", &task.blocked_by), ("blocks", &task.blocks)];
    for (key, ids) in links.into_iter().filter(|(_, ids)| !ids.is_empty()) {
        about.insert(key.into(), json!(linked(shown, ids)));
    }
    if !task.artifacts.is_empty() {
        about.insert("artifacts".into(), json!(task.artifacts));
    }
    if !task.problems.is_empty() {
        about.insert("problems".into(), json!(task.problems));
    }
    if let Some(claim) = &task.claim {
        about.insert("claimed_until".into(), json!(stamp(claim.until)));
    }
    match shown.archived {
        true => drop(about.insert("archived".into(), json!(true))),
        false => place(call, id, &mut about),
    }
    about
}

/// Adds the group and the position, or the reason why they cannot be determined, such as a cycle.
fn place(call: &Call<'_>, id: &TaskId, about: &mut Map<String, Value>) {
    let declared = app::Grouping::Declared;
    let both =
        app::group(call.ws, id, declared).and_then(|group| Ok((group, app::position(call.ws, id, declared)?.position)));
    let (group, position) = match both {
        Ok(both) => both,
        Err(failure) => return drop(about.insert("no_position".into(), json!(Refused::new(&failure)))),
    };
    if group.members.len() > 1 {
        let members = group.members.iter().map(|member| json!({ "id": member.task, "state": member.state }));
        about.insert("group".into(), json!({ "primary": group.primary, "members": members.collect::<Vec<_>>() }));
    }
    let mut place = json!({ "phase": position.phase, "reason": position.reason, "remaining": position.remaining });
    if position.convergence.required && !position.convergence.met {
        place["group_waits_for"] = json!(position.convergence.waiting_for);
    }
    about.insert("position".into(), place);
}

/// Linked tasks with their states, such as `t-1 (In Review)`.
fn linked(shown: &Shown, ids: &[TaskId]) -> Vec<String> {
    let state = |id: &TaskId| shown.linked.iter().find(|(other, ..)| other == id).map(|(.., state)| state.to_string());
    let named = ids.iter().take(LINKS).map(|id| format!("{id} ({})", state(id).unwrap_or_else(|| "missing".into())));
    let rest = (ids.len() > LINKS).then(|| format!("and {} more", ids.len() - LINKS));
    named.chain(rest).collect()
}

//! The links between tasks and issues: links that are found or lost.

use std::collections::{BTreeMap, BTreeSet};

use super::compare::{Comparison, Loss};
use super::edits::{Agreed, agree};
use super::local::{Local, Locals};
use super::memory::{CreateIntent, Sent};
use super::pull::{Intake, link_keys, take};
use crate::app::{Failure, Workspace};
use crate::github::{Field, Knowledge, Link, Marker, Node, RemoteIssue, read_issue_body};
use crate::task::mirrored::unknown;
use crate::task::{Key, TaskId, Value};

/// Records which tasks have lost their issue; a person has to decide about them. Issues that are back are no longer
/// recorded.
pub fn note_losses(ws: &Workspace, all: &Comparison<'_>) -> Result<(), Failure> {
    let agreed = all.lost.iter().map(|(local, loss)| {
        let what = if *loss == Loss::Gone { "gone" } else { "removed" };
        let keys = vec![(Key::new("github.conflict.link"), Some(Value::text(what)))];
        Agreed::new(local, keys)
    });
    agree(ws, agreed.collect()).map(|_| ())
}

/// Links tasks to issues that an interrupted sync or another clone created for them. Only values that this machine sent
/// become the base; all others are compared without one.
pub fn tie_found(
    ws: &Workspace,
    all: &Comparison<'_>,
    known: &Knowledge,
    waiting: &[CreateIntent],
) -> Result<usize, Failure> {
    let tied = all.found.iter().filter_map(|(local, item)| {
        let issue = known.issues.get(&item.issue)?;
        Some(Agreed::new(local, tie_keys(local, issue, Some(&item.id), waiting)))
    });
    agree(ws, tied.collect())?;
    Ok(all.found.len())
}

/// Moves the link of tasks from a second issue to the first, without any base. Changes that people made to the second
/// issue are applied before.
pub fn tie_older(ws: &Workspace, all: &Comparison<'_>, known: &Knowledge, intake: Intake) -> Result<usize, Failure> {
    let mut tied = Vec::new();
    for (local, item) in &all.older {
        let Some(issue) = known.issues.get(&item.issue) else { continue };
        let mut keys = link_keys(issue.number, &issue.url, &issue.node, Some(&item.id));
        let second = all.pairs.iter().find(|pair| pair.local.id == local.id);
        // An issue that was closed as a duplicate was already handled.
        if let Some(second) = second.filter(|pair| pair.item.reason.as_deref() != Some("DUPLICATE")) {
            take(ws, second, intake)?;
        }
        // Bases of the second issue do not apply to the first: otherwise an edit that only the second has would be
        // lost.
        keys.extend(Field::ALL.iter().map(|field| (field.base_key(), unknown(*field))));
        keys.extend(local.link.notes.keys().map(|note| (Link::note_key(note), None)));
        keys.extend([(Link::shown_key(), None), (Link::conflict_shown_key(), None)]);
        tied.push(Agreed::new(local, keys));
    }
    agree(ws, tied)?;
    Ok(all.older.len())
}

/// Links tasks to issues that are not in the project; their items are created later.
pub fn tie_recovered(
    ws: &Workspace,
    locals: &Locals,
    known: &Knowledge,
    recovered: &BTreeSet<Node>,
    waiting: &[CreateIntent],
) -> Result<usize, Failure> {
    let mut tied: BTreeMap<TaskId, Agreed> = BTreeMap::new();
    for issue in recovered.iter().filter_map(|node| known.issues.get(node)) {
        let Some(marker) = read_issue_body(&issue.body).1 else { continue };
        let local = locals.tasks.get(&marker.task).filter(|local| local.link.node.is_none());
        let Some(local) = local.filter(|local| Marker::of(&local.id, local.created).is_same_task(&marker)) else {
            continue;
        };
        tied.entry(local.id.clone()).or_insert_with(|| Agreed::new(local, tie_keys(local, issue, None, waiting)));
    }
    let count = tied.len();
    agree(ws, tied.into_values().collect())?;
    Ok(count)
}

fn tie_keys(
    local: &Local,
    issue: &RemoteIssue,
    item: Option<&Node>,
    waiting: &[CreateIntent],
) -> Vec<(Key, Option<Value>)> {
    let mut keys = link_keys(issue.number, &issue.url, &issue.node, item);
    keys.extend(Field::ALL.iter().map(|field| (field.base_key(), unknown(*field))));
    let sent = waiting.iter().find(|intent| intent.task == local.id && intent.note.is_none());
    keys.extend(sent.and_then(|intent| intent.sent.as_ref()).into_iter().flat_map(Sent::keys));
    keys
}

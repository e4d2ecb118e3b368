//! Which issue a task is: links that are found again, and those that are lost.

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

/// Tasks whose issue has gone say so, and are left alone until a person decides; those that are back do not.
pub fn note_losses(ws: &Workspace, all: &Comparison<'_>) -> Result<(), Failure> {
    let agreed = all.lost.iter().map(|(local, loss)| {
        let what = if *loss == Loss::Gone { "gone" } else { "removed" };
        let keys = vec![(Key::new("github.conflict.link"), Some(Value::text(what)))];
        Agreed::new(local, keys)
    });
    agree(ws, agreed.collect()).map(|_| ())
}

/// Ties tasks to issues that a run which died, or another clone, has made for them. Only what this machine itself has sent is
/// known to be agreed on; the rest is compared without a base.
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

/// Tasks that are linked to a second issue go to the first, of which nothing is agreed yet. What people have written on the second
/// is taken in before.
pub fn tie_older(ws: &Workspace, all: &Comparison<'_>, known: &Knowledge, intake: Intake) -> Result<usize, Failure> {
    let mut tied = Vec::new();
    for (local, item) in &all.older {
        let Some(issue) = known.issues.get(&item.issue) else { continue };
        let mut keys = link_keys(issue.number, &issue.url, &issue.node, Some(&item.id));
        let second = all.pairs.iter().find(|pair| pair.local.id == local.id);
        // One that was closed as a duplicate has been through this.
        if let Some(second) = second.filter(|pair| pair.item.reason.as_deref() != Some("DUPLICATE")) {
            take(ws, second, intake)?;
        }
        // What was agreed on with the second one says nothing of the first: an edit that only the second has heard of is still one.
        keys.extend(Field::ALL.iter().map(|field| (field.base_key(), unknown(*field))));
        keys.extend(local.link.notes.keys().map(|note| (Link::note_key(note), None)));
        keys.extend([(Link::shown_key(), None), (Link::conflict_shown_key(), None)]);
        tied.push(Agreed::new(local, keys));
    }
    agree(ws, tied)?;
    Ok(all.older.len())
}

/// The same for those that are not in the project: their rows are made later.
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

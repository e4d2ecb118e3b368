//! `sync doctor`: problems that a sync does not fix: duplicates, orphans, wrong markers, missing permissions.

use std::collections::BTreeMap;

use serde::Serialize;

use super::local::{Local, Locals};
use super::memory::intents;
use super::run::{SyncPass, one_at_a_time};
use super::target::{Calm, Target};
use super::{SyncAsk, SyncStep};
use crate::app::{Failure, Workspace};
use crate::github::{Item, Knowledge, Node, Wait, read_issue_body};
use crate::task::TaskId;

#[derive(Debug, Serialize)]
pub struct SyncFinding {
    pub kind: &'static str,
    pub task: Option<TaskId>,
    pub number: Option<u64>,
    pub message: String,
    pub advice: String,
}

pub fn sync_doctor(ws: &Workspace, tell: &mut dyn FnMut(SyncStep<'_>)) -> Result<Vec<SyncFinding>, Failure> {
    let (target, number) = Target::ready(ws)?;
    let _one_at_a_time = one_at_a_time(ws)?;
    let mut waits = |_: &Wait| {};
    let calm = Calm::new(&mut waits);
    let client = target.client(ws, &calm)?;
    let repo = client.repository(&target.slug)?;
    let slug = repo.slug.to_string();
    let mut found = Vec::new();
    if slug != target.slug.to_string() {
        found.push(finding(
            "renamed",
            None,
            None,
            format!("{} was renamed to {slug}", target.slug),
            "run `ralph sync init` to save the new name".into(),
        ));
    }
    if !repo.may_write() {
        found.push(finding(
            "rights",
            None,
            None,
            format!("the token has only read access to {slug}"),
            "ask for write access".into(),
        ));
    }
    let ask = SyncAsk { full: true, ..SyncAsk::default() };
    let mut run = SyncPass::open(ws, &ask, target, &client)?;
    run.look(number, tell)?;
    let locals = Locals::read(ws)?;
    found.extend(twins(&locals));
    found.extend(markers(&locals, &run.known, &slug));
    let all = run.compare(&locals, &run.known, &locals.names());
    found.extend(all.unmapped.iter().map(|item| unmapped(item)));
    for intent in intents(ws)? {
        let what = if intent.note.is_some() { "comment" } else { "issue" };
        let message = format!("cannot tell whether the {what} of {} was created", intent.task);
        found.push(finding(
            "unknown",
            Some(intent.task),
            None,
            message,
            "`ralph sync` looks for it, and creates it if it is still missing after a minute".into(),
        ));
    }
    Ok(found)
}

fn finding(
    kind: &'static str,
    task: Option<TaskId>,
    number: Option<u64>,
    message: String,
    advice: String,
) -> SyncFinding {
    SyncFinding { kind, task, number, message, advice }
}

fn twins(locals: &Locals) -> Vec<SyncFinding> {
    let twin = |(first, second): &(TaskId, TaskId)| {
        let message = format!("{first} and {second} are linked to the same issue");
        let advice =
            format!("remove [github] from one of them with `ralph task edit {second}`, or remove the duplicate task");
        finding("twin", Some(second.clone()), None, message, advice)
    };
    locals.twins.iter().map(twin).collect()
}

fn markers(locals: &Locals, known: &Knowledge, repo: &str) -> Vec<SyncFinding> {
    let linked: BTreeMap<&Node, &Local> =
        locals.tasks.values().filter_map(|local| Some((local.link.node.as_ref()?, local))).collect();
    let mut found = Vec::new();
    for item in known.items.iter().filter(|item| item.repo == repo) {
        let Some(issue) = known.issues.get(&item.issue) else { continue };
        let Some(marker) = read_issue_body(&issue.body).1 else { continue };
        match (linked.get(&item.issue), locals.tasks.get(&marker.task)) {
            (Some(local), _) if local.id != marker.task => found.push(mismatch(item, &local.id, &marker.task)),
            (None, Some(local)) if local.link.node.is_some() && !item.closed => found.push(duplicate(item, local)),
            (None, None) if !item.closed && !locals.unmirrored.contains(&marker.task) => {
                found.push(orphan(item, &marker.task));
            }
            _ => {}
        }
    }
    found
}

fn unmapped(item: &Item) -> SyncFinding {
    let column = item.state.as_deref().unwrap_or_default();
    let message = format!("the card of #{} is in {column:?}, which is not a state of this board", item.number);
    let advice =
        "move the card, or map the column with `[github.states]` in the settings; `ralph sync init` suggests the lines"
            .into();
    finding("unmapped", None, Some(item.number), message, advice)
}

fn mismatch(item: &Item, linked: &TaskId, named: &TaskId) -> SyncFinding {
    let message = format!("#{} mirrors {linked}, but its text names {named}", item.number);
    finding(
        "marker",
        Some(linked.clone()),
        Some(item.number),
        message,
        "the link is used; the next change of the description corrects the text".into(),
    )
}

fn duplicate(item: &Item, local: &Local) -> SyncFinding {
    let first = local.link.number.unwrap_or_default();
    let message = format!("#{} is a second issue of {}, which already has #{first}", item.number, local.id);
    // The advice is the same in every clone: the first issue stays.
    let advice = match item.number > first {
        true => {
            format!("close #{} on GitHub as a duplicate of #{first}, once no other clone is linked to it", item.number)
        }
        false => {
            format!("remove [github] from {} with `ralph task edit`; sync then finds #{} again", local.id, item.number)
        }
    };
    finding("duplicate", Some(local.id.clone()), Some(item.number), message, advice)
}

fn orphan(item: &Item, task: &TaskId) -> SyncFinding {
    let message = format!("#{} mirrors {task}, which is not on this board", item.number);
    let advice =
        "run `ralph pull` to get tasks of other clones; if the task was deleted, close the issue on GitHub".into();
    finding("orphan", Some(task.clone()), Some(item.number), message, advice)
}

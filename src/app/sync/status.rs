//! `sync status`: the differences between the two sides, from the last sync; with `--remote`, from GitHub.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::Serialize;

use super::compare::{Lens, compare};
use super::deleted::Deleted;
use super::local::Locals;
use super::memory::{ancestor, intents, knowledge_path, retired};
use super::plan::{PlanRow, Way, rows};
use super::run::{SyncPass, one_at_a_time};
use super::target::{Calm, Target};
use super::{SyncAsk, SyncStep};
use crate::app::{Failure, Workspace};
use crate::github::{Field, Knowledge, fingerprint};
use crate::task::TaskId;

#[derive(Debug, Serialize)]
pub struct SyncStatus {
    pub repo: String,
    pub project: u64,
    /// When GitHub was last read, by its own clock.
    pub seen: Option<Timestamp>,
    pub linked: usize,
    /// Tasks without an issue.
    pub new_here: usize,
    /// Issues without a task.
    pub new_there: usize,
    pub changed_here: Vec<PlanRow>,
    pub changed_there: Vec<PlanRow>,
    pub conflicts: Vec<PlanRow>,
    pub lost: Vec<PlanRow>,
    /// Tasks whose issue or comment may have been created.
    pub unknown: BTreeSet<TaskId>,
}

pub fn sync_status(ws: &Workspace, remote: bool, tell: &mut dyn FnMut(SyncStep<'_>)) -> Result<SyncStatus, Failure> {
    let (target, number) = Target::ready(ws)?;
    let (slug, host) = (target.slug.to_string(), target);
    let known = match remote {
        true => look(ws, host, number, tell)?,
        false => Knowledge::load(&knowledge_path(ws)),
    };
    let locals = Locals::read(ws)?;
    let ancestor = |local: &super::local::Local| ancestor(ws, local);
    let (only, deleted) = (BTreeSet::new(), Deleted::read(ws)?);
    let features = known.features.unwrap_or_default();
    let lens = Lens {
        flow: ws.flow(),
        features,
        repo: &slug,
        ancestor: &ancestor,
        deleted: &|task, issue| deleted.has(task, issue),
        retired: &retired(ws).into_iter().collect(),
        only: &only,
    };
    let mut all = compare(&locals, &known, &locals.names(), &lens);
    // Issues that this clone has not read are not lost.
    let unseen: Vec<_> = all
        .lost
        .extract_if(.., |(local, _)| !local.link.conflicts.contains_key("link"))
        .map(|(local, _)| local)
        .collect();
    let mut all_rows = rows(&all, ws.flow());
    if known.project.is_none() {
        all_rows.extend(unseen.iter().flat_map(|local| changed_here(local)));
    }
    let of = |ways: &[Way]| all_rows.iter().filter(|row| ways.contains(&row.way)).cloned().collect::<Vec<_>>();
    let comments = of(&[Way::Comment]);
    let (out, into): (Vec<PlanRow>, Vec<PlanRow>) = comments.into_iter().partition(|row| row.local.is_some());
    Ok(SyncStatus {
        repo: slug,
        project: number,
        seen: known.scanned_at,
        linked: locals.tasks.values().filter(|local| local.link.node.is_some()).count(),
        new_here: all.creates.len(),
        new_there: all.adopts.len(),
        changed_here: of(&[Way::Push, Way::Merge]).into_iter().chain(out).collect(),
        changed_there: of(&[Way::Pull, Way::Merge]).into_iter().chain(into).collect(),
        conflicts: of(&[Way::Conflict]),
        lost: of(&[Way::Lost]),
        unknown: intents(ws)?.into_iter().map(|intent| intent.task).collect(),
    })
}

fn look(ws: &Workspace, target: Target, number: u64, tell: &mut dyn FnMut(SyncStep<'_>)) -> Result<Knowledge, Failure> {
    let _one_at_a_time = one_at_a_time(ws)?;
    let mut waits = |_: &crate::github::Wait| {};
    let calm = Calm::new(&mut waits);
    let client = target.client(ws, &calm)?;
    let ask = SyncAsk::default();
    let mut run = SyncPass::open(ws, &ask, target, &client)?;
    run.look(number, tell)?;
    Ok(run.known)
}

/// The local changes of a task, for a clone that has never read GitHub.
fn changed_here(local: &super::local::Local) -> Vec<PlanRow> {
    let now = |field: Field| local.value(field).map(|value| fingerprint(field, value));
    let changed = Field::ALL
        .into_iter()
        .filter(|field| local.link.agreed(*field).is_some_and(|agreed| agreed != now(*field).as_ref()));
    let row = |field: Field| PlanRow {
        task: Some(local.id.clone()),
        number: local.link.number,
        what: field.name().to_owned(),
        way: Way::Push,
        local: local.value(field).cloned(),
        remote: None,
    };
    changed.map(row).collect()
}

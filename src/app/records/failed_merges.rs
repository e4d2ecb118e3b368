//! Failed merges on this machine that have not succeeded since; the inbox lists them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::app::{Failure, Workspace};
use crate::fs;
use crate::task::TaskId;

#[derive(Debug, Serialize, Deserialize)]
struct FailedMerge {
    task: TaskId,
    why: String,
    /// The branch, and its commit that could not be merged. If the branch has moved since, the failure is outdated.
    branch: String,
    commit: String,
}

fn folder(ws: &Workspace) -> PathBuf {
    ws.store.local().join("failed-merges")
}

fn path(ws: &Workspace, id: &TaskId) -> PathBuf {
    folder(ws).join(format!("{id}.toml"))
}

pub(in crate::app) fn note_failed_merge(ws: &Workspace, id: &TaskId, branch: &str, why: &str) -> Result<(), Failure> {
    let Ok(commit) = ws.repository.tip_of(branch) else { return Ok(()) };
    let failed = FailedMerge { task: id.clone(), why: why.to_owned(), branch: branch.to_owned(), commit };
    fs::make_dir(&folder(ws))?;
    Ok(fs::replace(&path(ws, id), toml::to_string(&failed).expect("a record is text").as_bytes(), false)?)
}

pub(in crate::app) fn forget_failed_merge(ws: &Workspace, id: &TaskId) -> Result<(), Failure> {
    Ok(fs::remove(&path(ws, id))?)
}

/// Why each of these merges failed.
pub(in crate::app) fn failed_merges(ws: &Workspace) -> Result<BTreeMap<TaskId, String>, Failure> {
    let read =
        |name: &String| -> Option<FailedMerge> { toml::from_str(&fs::read_text(&folder(ws).join(name)).ok()??).ok() };
    let names = fs::names(&folder(ws))?;
    let all = names.iter().filter_map(read);
    let stands = |failed: &FailedMerge| ws.repository.tip_of(&failed.branch).is_ok_and(|tip| tip == failed.commit);
    Ok(all.filter(stands).map(|failed| (failed.task, failed.why)).collect())
}

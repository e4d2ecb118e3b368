//! The last results of the checks of `merge` on each task's branch.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::app::repo::worktree::place;
use crate::app::{Failure, Workspace};
use crate::fs;
use crate::task::TaskId;

/// The last result of one check.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CheckResult {
    pub program: Vec<String>,
    pub passed: bool,
    pub at: Timestamp,
    /// The commit that was checked.
    pub commit: String,
    /// The end of its output.
    pub tail: String,
}

/// A check that must succeed before the merge, with its last result.
#[derive(Debug, Clone, Serialize)]
pub struct CheckView {
    pub name: String,
    /// `None` if it was never run on this task.
    pub last: Option<CheckResult>,
    /// The branch has changed since the last result.
    pub outdated: bool,
}

fn path(ws: &Workspace, id: &TaskId) -> PathBuf {
    ws.store.local().join(format!("checks/{id}.json"))
}

fn read(ws: &Workspace, id: &TaskId) -> Vec<CheckResult> {
    let text = fs::read_text(&path(ws, id)).ok().flatten();
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Replaces the last result of this check.
pub(in crate::app) fn record_check(ws: &Workspace, id: &TaskId, result: CheckResult) -> Result<(), Failure> {
    let mut all = read(ws, id);
    all.retain(|other| other.program != result.program);
    all.push(result);
    fs::make_dir(&ws.store.local().join("checks"))?;
    let text = serde_json::to_string(&all).expect("results are text");
    Ok(fs::replace(&path(ws, id), text.as_bytes(), false)?)
}

/// The checks of a merge, with their last results.
pub fn list_checks(ws: &Workspace, id: &TaskId) -> Result<Vec<CheckView>, Failure> {
    let place = place(ws, &ws.family(id)?, id)?;
    let tip = ws.repository.tip_of(&place.branch).ok();
    let mut known = read(ws, &place.task);
    let view = |program: Vec<String>| {
        let last = known.iter().position(|result| result.program == program).map(|at| known.swap_remove(at));
        let outdated = last.as_ref().is_some_and(|last| Some(&last.commit) != tip.as_ref());
        CheckView { name: program.join(" "), last, outdated }
    };
    Ok(ws.settings.programs("merge.checks").into_iter().map(view).collect())
}

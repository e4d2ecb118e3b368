//! What an agent did where it must not: files of the main worktree that changed while it ran, and commits that it made there.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::Deserialize;

use crate::agent::document::files_modified;
use crate::app::records::runs::{Dirty, Run, RunOutcome, list_runs};
use crate::app::{Code, Failure, Hint, Workspace};
use crate::fs;
use crate::task::TaskId;

/// Where documents and the board itself are; and other tasks' worktrees, which are not the main one.
const EXEMPT: [&str; 3] = [".ralph/", "thoughts/", "worktrees/"];

/// The git commands that move a branch.
const MOVING: [&str; 9] = ["commit", "merge", "rebase", "cherry-pick", "revert", "am", "reset", "pull", "update-ref"];

/// What differs from HEAD in the main worktree now.
pub(in crate::app) fn dirty(ws: &Workspace) -> Result<Vec<Dirty>, Failure> {
    // A merge that is just landing looks dirty for a moment.
    let _still = ws.store.worktree_lock()?;
    let paths = ws.repository.changed_paths(&[])?;
    let exempt = |path: &String| EXEMPT.iter().any(|folder| path.starts_with(folder));
    let stamp = |path: &String| {
        let meta = fs::itself(&ws.store.root().join(path)).ok().flatten();
        meta.map_or((0, 0), |meta| {
            (meta.size(), meta.mtime().saturating_mul(1_000_000_000).saturating_add(meta.mtime_nsec()))
        })
    };
    let dirty = paths.into_iter().filter(|path| !exempt(path));
    Ok(dirty.map(|path| Dirty { stamp: stamp(&path), path }).collect())
}

/// A line of what git tells of itself.
#[derive(Deserialize)]
struct Traced {
    event: String,
    sid: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    worktree: Option<String>,
    #[serde(default)]
    code: Option<i64>,
}

/// Commands by which this run moved a branch in the main worktree, by what git itself told of them.
fn commits(ws: &Workspace, run: &Run) -> Vec<String> {
    let text = fs::read_text(&run.path(ws, "git.jsonl")).ok().flatten().unwrap_or_default();
    let lines: Vec<Traced> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let of = |line: &&Traced, event: &str, sid: &str| line.event == event && line.sid == sid;
    let here = |sid: &str| {
        let place = lines.iter().find(|line| of(line, "def_repo", sid)).and_then(|line| line.worktree.as_deref());
        place.is_some_and(|place| Path::new(place) == ws.store.root())
    };
    let worked = |sid: &str| lines.iter().any(|line| of(&line, "exit", sid) && line.code == Some(0));
    let named = lines.iter().filter(|line| line.event == "cmd_name");
    named
        .filter_map(|line| Some((line.name.as_deref().filter(|name| MOVING.contains(name))?, &line.sid)))
        .filter(|(_, sid)| here(sid) && worked(sid))
        .map(|(name, _)| format!("`git {name}` on the main worktree's branch"))
        .collect()
}

/// What a run, or somebody while it ran, did in the main worktree.
#[derive(Debug, Default)]
pub(in crate::app) struct Strays {
    /// Certainly or most likely its own.
    pub own: Vec<String>,
    /// Others ran at the time, and it may have been one of them.
    pub doubtful: Vec<String>,
}

impl Strays {
    pub fn is_empty(&self) -> bool {
        self.own.is_empty() && self.doubtful.is_empty()
    }

    pub fn all(&self) -> Vec<String> {
        self.own.iter().chain(&self.doubtful).cloned().collect()
    }
}

/// A file that its plan names is its own; so is one that changed while no other agent ran.
pub(in crate::app) fn strays(ws: &Workspace, run: &Run) -> Result<Strays, Failure> {
    let mut found = Strays { own: commits(ws, run), doubtful: Vec::new() };
    let planned = planned(ws, &run.task);
    let others = list_runs(ws, None, 200)?;
    for dirt in dirty(ws)?.into_iter().filter(|dirt| !run.dirty.contains(dirt)) {
        let alone = !others.iter().any(|other| other.id != run.id && was_at_work(other, dirt.stamp.1));
        match alone || planned.contains(&dirt.path) {
            true => found.own.push(dirt.path),
            false => found.doubtful.push(dirt.path),
        }
    }
    Ok(found)
}

/// Whether an agent ran at a time; of a file that is gone nobody knows when.
fn was_at_work(run: &Run, at: i64) -> bool {
    let at = i128::from(at);
    let agent = run.program.first().is_some_and(|name| name != "ralph");
    let since = run.started.as_nanosecond();
    let until = run.ended.map_or(i128::MAX, jiff::Timestamp::as_nanosecond);
    let lost = run.outcome == RunOutcome::Lost;
    agent && !lost && (at == 0 || (since <= at && at <= until))
}

fn planned(ws: &Workspace, id: &TaskId) -> Vec<String> {
    let plan = ws.store.load(id).ok().and_then(|file| file.task.artifacts.get("plan").cloned());
    let text = plan.and_then(|plan| ws.store.text_of(&ws.store.root().join(plan)).ok().flatten());
    text.map(|text| files_modified(&text)).unwrap_or_default()
}

/// Whether such a thing is more than worth a note.
pub(in crate::app) fn counts(ws: &Workspace) -> bool {
    ws.settings.text("agent.strays") == "escalate"
}

/// A run that strayed does not complete its task: it can still put things right, or call a person.
pub(in crate::app) fn refuse_strays(ws: &Workspace, id: &TaskId) -> Result<(), Failure> {
    let running = |run: &Run| run.outcome == RunOutcome::Running;
    let Some(run) = list_runs(ws, Some(id), 1)?.pop().filter(running) else { return Ok(()) };
    let found = if counts(ws) && !run.confined { strays(ws, &run)?.own } else { Vec::new() };
    if found.is_empty() {
        return Ok(());
    }
    let message = format!("agents do not change the main worktree, and this changed there: {}", found.join(", "));
    Err(Failure::refused(Code::Strayed, message)
        .hint(Hint::step("move these changes into the worktree and restore the main one, or ask a person"))
        .hint(Hint::set("agent.strays", "tell", "to edit there while workers run")))
}

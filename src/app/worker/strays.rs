//! What an agent did where it must not: files of the main worktree that changed while it ran, and commits that it made there.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::Deserialize;

use crate::app::runs::{Dirty, Outcome, Run, list_runs};
use crate::app::{Failure, Workspace};
use crate::fs;
use crate::task::TaskId;

/// The one command whose work belongs in a worktree of its own.
const COMMAND: &str = "implement";

/// Where documents and the board itself are; and other tasks' worktrees, which are not the main one.
const EXEMPT: [&str; 3] = [".ralph/", "thoughts/", "worktrees/"];

/// The git commands that move a branch.
const MOVING: [&str; 9] = ["commit", "merge", "rebase", "cherry-pick", "revert", "am", "reset", "pull", "update-ref"];

pub(super) fn dirty(ws: &Workspace) -> Result<Vec<Dirty>, Failure> {
    let paths = ws.repository.changed_paths(&[])?;
    let exempt = |path: &String| EXEMPT.iter().any(|folder| path.starts_with(folder));
    let stamp = |path: &String| {
        let meta = fs::itself(&ws.store.root().join(path)).ok().flatten();
        meta.map_or((0, 0), |meta| {
            (meta.size(), i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec()))
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

/// Everything that this run, or somebody while it ran, did in the main worktree.
pub(super) fn strays(ws: &Workspace, run: &Run) -> Result<Vec<String>, Failure> {
    if run.command != COMMAND {
        return Ok(Vec::new());
    }
    let now = dirty(ws)?;
    let files = now.into_iter().filter(|dirt| !run.dirty.contains(dirt)).map(|dirt| dirt.path);
    Ok(commits(ws, run).into_iter().chain(files).collect())
}

/// Whether such a thing is more than worth a note.
pub(super) fn counts(ws: &Workspace) -> bool {
    ws.settings.text("agent.strays") == "escalate"
}

/// A run that strayed does not complete its task: it can still put things right, or call a person.
pub(in crate::app) fn refuse_strays(ws: &Workspace, id: &TaskId) -> Result<(), Failure> {
    let running = |run: &Run| run.outcome == Outcome::Running && run.command == COMMAND;
    let Some(run) = list_runs(ws, Some(id), 1)?.pop().filter(running) else { return Ok(()) };
    let found = if counts(ws) { strays(ws, &run)? } else { Vec::new() };
    if found.is_empty() {
        return Ok(());
    }
    let message =
        format!("{id} is implemented in its worktree alone, and this changed in the main one: {}", found.join(", "));
    Err(Failure::refused("strayed", message)
        .advice("bring it into the worktree and put the main one back as it was, or call a person")
        .advice("who edits there while workers run sets agent.strays = tell"))
}

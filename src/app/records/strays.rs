//! Changes of an agent outside its worktree: files and commits in the main worktree during its run.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::agent::document::files_modified;
use crate::app::records::runs::{Dirty, Run, RunOutcome, list_runs};
use crate::app::repo::worktree::main_branch;
use crate::app::{Code, Failure, Hint, Workspace};
use crate::fs;
use crate::git::BranchMove;
use crate::os::files;
use crate::task::TaskId;

/// Documents, the board, and worktrees of other tasks: agents may change the first two, and the last are not in the
/// main worktree.
const EXEMPT: [&str; 3] = [".ralph/", "thoughts/", "worktrees/"];

/// The git commands that move a branch.
const MOVING: [&str; 9] = ["commit", "merge", "rebase", "cherry-pick", "revert", "am", "reset", "pull", "update-ref"];

/// In nanoseconds.
const SECOND: i128 = 1_000_000_000;

/// The current differences between the main worktree and HEAD.
pub(in crate::app) fn dirty(ws: &Workspace) -> Result<Vec<Dirty>, Failure> {
    // Wait for a running merge, which shows differences for a moment.
    let _still = ws.store.worktree_lock()?;
    let paths = ws.repository.changed_paths(&[])?;
    let exempt = |path: &String| EXEMPT.iter().any(|folder| path.starts_with(folder));
    let stamp = |path: &String| {
        let meta = fs::itself(&ws.store.root().join(path)).ok().flatten();
        meta.map_or((0, 0), |meta| (meta.len(), files::mtime(&meta)))
    };
    let dirty = paths.into_iter().filter(|path| !exempt(path));
    Ok(dirty.map(|path| Dirty { stamp: stamp(&path), path }).collect())
}

/// A line of git's trace.
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

/// The tips of the branches that agents do not commit to: main, and the branch of the main worktree.
pub(in crate::app) fn tips(ws: &Workspace) -> Result<BTreeMap<String, String>, Failure> {
    let names = ws.repository.current_branch()?.into_iter().chain([main_branch(ws)]);
    Ok(names.filter_map(|name| Some((name.clone(), ws.repository.tip_of(&name).ok()?))).collect())
}

/// The moves of these branches since the run began, from git's refs and logs; merges by ralph and commits of the board
/// do not count.
fn moves(ws: &Workspace, run: &Run) -> Vec<(String, BranchMove)> {
    let of_branch = |(branch, tip): (&String, &String)| {
        let moves = ws.repository.moves_since(branch, tip).unwrap_or_default();
        moves.into_iter().map(|step| (branch.clone(), step)).collect::<Vec<_>>()
    };
    let exempt = |path: &String| EXEMPT.iter().any(|folder| path.starts_with(folder));
    let is_of_board = |step: &BranchMove| {
        let paths = ws.repository.paths_between(&step.old, &step.new).unwrap_or_default();
        !paths.is_empty() && paths.iter().all(exempt)
    };
    let strays = run.tips.iter().flat_map(of_branch);
    strays.filter(|(_, step)| !step.is_landing() && !is_of_board(step)).collect()
}

/// Whether git's trace shows that this run moved the branch of the main worktree. An agent can disable the trace: it
/// can prove a move, but not that there was none.
fn is_traced(ws: &Workspace, run: &Run) -> bool {
    let text = fs::read_text(&run.path(ws, "git.jsonl")).ok().flatten().unwrap_or_default();
    let lines: Vec<Traced> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let of = |line: &&Traced, event: &str, sid: &str| line.event == event && line.sid == sid;
    let here = |sid: &str| {
        let place = lines.iter().find(|line| of(line, "def_repo", sid)).and_then(|line| line.worktree.as_deref());
        place.is_some_and(|place| Path::new(place) == ws.store.root())
    };
    let worked = |sid: &str| lines.iter().any(|line| of(&line, "exit", sid) && line.code == Some(0));
    let moving = |line: &&Traced| line.name.as_deref().is_some_and(|name| MOVING.contains(&name));
    let mut named = lines.iter().filter(|line| line.event == "cmd_name").filter(moving);
    named.any(|line| here(&line.sid) && worked(&line.sid))
}

/// The changes in the main worktree during a run, by the run or by others.
#[derive(Debug, Default)]
pub(in crate::app) struct Strays {
    /// Changes that are certainly or most likely by this run.
    pub own: Vec<String>,
    /// Changes that another run may have made, because it ran at that time.
    pub doubtful: Vec<String>,
}

impl Strays {
    fn add(&mut self, what: String, own: bool) {
        if own { self.own.push(what) } else { self.doubtful.push(what) }
    }

    pub fn is_empty(&self) -> bool {
        self.own.is_empty() && self.doubtful.is_empty()
    }

    pub fn all(&self) -> Vec<String> {
        self.own.iter().chain(&self.doubtful).cloned().collect()
    }
}

/// Attributes a change to the run if its plan names the file, or if no other agent ran at that time.
pub(in crate::app) fn strays(ws: &Workspace, run: &Run) -> Result<Strays, Failure> {
    let mut found = Strays::default();
    let others = list_runs(ws, None, 200)?;
    let alone = |at: Option<(i128, i128)>| !others.iter().any(|other| other.id != run.id && was_at_work(other, at));
    let moves = moves(ws, run);
    let traced = !moves.is_empty() && is_traced(ws, run);
    for (branch, step) in moves {
        // The branch log has times in seconds.
        let at = step.at.map(i128::from).map(|second| (second * SECOND, (second + 1) * SECOND));
        found.add(format!("a commit on {branch} ({})", short(&step.new)), traced || alone(at));
    }
    let planned = planned(ws, &run.task);
    for dirt in dirty(ws)?.into_iter().filter(|dirt| !run.dirty.contains(dirt)) {
        let at = i128::from(dirt.stamp.1);
        let own = planned.contains(&dirt.path) || alone((at != 0).then_some((at, at)));
        found.add(dirt.path, own);
    }
    Ok(found)
}

fn short(commit: &str) -> &str {
    commit.get(..9).unwrap_or(commit)
}

/// Whether an agent ran at that time. If the time of a change is unknown, any agent may have made it.
fn was_at_work(run: &Run, at: Option<(i128, i128)>) -> bool {
    let agent = run.program.first().is_some_and(|name| name != "ralph");
    let since = run.started.as_nanosecond();
    let until = run.ended.map_or(i128::MAX, jiff::Timestamp::as_nanosecond);
    let lost = run.outcome == RunOutcome::Lost;
    agent && !lost && at.is_none_or(|(first, last)| since <= last && first <= until)
}

fn planned(ws: &Workspace, id: &TaskId) -> Vec<String> {
    let plan = ws.store.load(id).ok().and_then(|file| file.task.artifacts.get("plan").cloned());
    let text = plan.and_then(|plan| ws.store.text_of(&ws.store.root().join(plan)).ok().flatten());
    text.map(|text| files_modified(&text)).unwrap_or_default()
}

/// Whether such changes are escalated, not only noted.
pub(in crate::app) fn counts(ws: &Workspace) -> bool {
    ws.settings.text("agent.strays") == "escalate"
}

/// Refuses to complete a task whose run changed the main worktree: the agent can restore it, or escalate.
pub(in crate::app) fn refuse_strays(ws: &Workspace, id: &TaskId) -> Result<(), Failure> {
    let running = |run: &Run| run.outcome == RunOutcome::Running;
    let Some(run) = list_runs(ws, Some(id), 1)?.pop().filter(running) else { return Ok(()) };
    let found = if counts(ws) && !run.confined { strays(ws, &run)?.own } else { Vec::new() };
    if found.is_empty() {
        return Ok(());
    }
    let message = format!("agents must not change the main worktree, but these changed there: {}", found.join(", "));
    Err(Failure::refused(Code::Strayed, message)
        .hint(Hint::step(
            "move these changes into the worktree of the task and restore the main worktree, or ask a person",
        ))
        .hint(Hint::set("agent.strays", "tell", "to allow edits there while workers run")))
}

//! The changes of a task: its worktree or branch, compared with its merge base with main.

use std::path::Path;

use serde::Serialize;

use crate::app::repo::worktree::{main_branch, place};
use crate::app::{Code, Failure, Hint, Workspace};
use crate::board::Board;
use crate::git::{Comparison, FileDiff};
use crate::store::Line;
use crate::task::TaskId;

#[derive(Debug, Serialize)]
pub struct TaskChanges {
    pub task: TaskId,
    pub branch: String,
    /// The commit of main that the changes are compared with.
    pub base: String,
    /// Includes uncommitted changes.
    pub worktree: bool,
    pub files: Vec<FileDiff>,
}

/// The compared revisions.
struct Sides {
    task: TaskId,
    branch: String,
    base: String,
    worktree: bool,
    comparison: Comparison,
}

impl Sides {
    fn of(ws: &Workspace, id: &TaskId) -> Result<Self, Failure> {
        let board = ws.family(id)?;
        let place = place(ws, &board, id)?;
        if !ws.repository.has_branch(&place.branch) {
            return Err(no_branch(ws, &board, id, &place.branch));
        }
        let base = ws.repository.merge_base(&main_branch(ws), &place.branch)?;
        let worktree = ws.repository.worktree_at(&place.path)?.is_some_and(|there| !there.missing);
        let comparison = match worktree {
            true => ws.repository.comparison(&place.path, &[&base], true),
            false => ws.repository.comparison(ws.store.root(), &[&base, &place.branch], false),
        };
        Ok(Self { task: place.task, branch: place.branch, base, worktree, comparison })
    }
}

fn no_branch(ws: &Workspace, board: &Board, id: &TaskId, branch: &str) -> Failure {
    let closed = board.get(id).filter(|task| ws.flow().is_terminal(task.kind, &task.state));
    let Some(task) = closed else {
        return Failure::refused(Code::NoBranch, format!("{id} has no branch {branch}"))
            .hint(Hint::Worktree { task: id.clone() });
    };
    let merges = |line: &Line| line.verb == "merge" && line.touches(id);
    match ws.journal().is_ok_and(|journal| journal.iter().any(merges)) {
        true => Failure::refused(Code::NoBranch, format!("{id} is {}: {branch} was merged and removed", task.state))
            .hint(Hint::shell(&format!("git log -p --first-parent --grep {id}"), "to see what was merged")),
        false => Failure::refused(Code::NoBranch, format!("{id} is {} and has no branch {branch}", task.state)),
    }
}

pub fn task_changes(ws: &Workspace, id: &TaskId) -> Result<TaskChanges, Failure> {
    let Sides { task, branch, base, worktree, comparison } = Sides::of(ws, id)?;
    Ok(TaskChanges { task, branch, base, worktree, files: comparison.files()? })
}

/// The paths that a branch has changed since it left main, and the uncommitted changes of its worktree.
pub(in crate::app) fn changed_paths(
    ws: &Workspace,
    branch: &str,
    worktree: Option<&Path>,
) -> Result<Vec<String>, Failure> {
    let base = ws.repository.merge_base(&main_branch(ws), branch)?;
    let comparison = match worktree {
        Some(folder) => ws.repository.comparison(folder, &[&base], true),
        None => ws.repository.comparison(ws.store.root(), &[&base, branch], false),
    };
    Ok(comparison.names()?)
}

/// Shows the changes with git itself on the terminal.
pub fn show_changes(ws: &Workspace, id: &TaskId, stat: bool) -> Result<(), Failure> {
    let shown = Sides::of(ws, id)?.comparison.show(stat);
    shown.map_err(|error| Failure::broken(Code::CannotStart, format!("cannot start git: {error}")))?;
    Ok(())
}

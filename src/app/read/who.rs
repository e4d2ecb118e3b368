//! `who`: shows who works on a file, by the claims that cover it and the worktrees that change it.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::app::read::claim_list::{ClaimLine, claim_line};
use crate::app::repo::task_diff::changed_paths;
use crate::app::repo::worktree::{main_branch, task_of};
use crate::app::{Code, Failure, Hint, Workspace};
use crate::board::{Board, Scope};
use crate::fs;
use crate::git::Worktree;
use crate::task::{StateName, TaskId, Worker};

#[derive(Debug, Serialize)]
pub struct Who {
    /// Relative to the root of the repository.
    pub path: String,
    pub claims: Vec<ClaimLine>,
    pub worktrees: Vec<ChangingWorktree>,
}

/// A worktree that changes the file, or something in the folder, compared with main.
#[derive(Debug, Serialize)]
pub struct ChangingWorktree {
    pub path: PathBuf,
    pub branch: String,
    pub task: Option<TaskId>,
    pub title: Option<String>,
    pub state: Option<StateName>,
    pub owner: Option<Worker>,
    pub files: Vec<String>,
}

/// `typed` is a file or folder, relative to `dir`; it need not exist.
pub fn who(ws: &Workspace, dir: &Path, typed: &str) -> Result<Who, Failure> {
    let worktrees = ws.repository.worktrees()?;
    let path = within(ws, &worktrees, dir, typed)?;
    let (board, asked) = (ws.board()?, Scope::new([&path]));
    let several = ws.claims_remote().is_some();
    let covering = board.claims().iter().filter(|(_, claim)| claim.live && claim.paths.overlap(&asked).is_some());
    let claims = covering.map(|(id, claim)| claim_line(&board, several, id, claim)).collect();
    let linked = worktrees.iter().filter(|worktree| !worktree.missing);
    let worktrees = linked.filter_map(|worktree| changing(ws, &board, worktree, &asked)).collect();
    Ok(Who { path, claims, worktrees })
}

/// Converts a path in any worktree to one relative to that worktree's root.
fn within(ws: &Workspace, worktrees: &[Worktree], dir: &Path, typed: &str) -> Result<String, Failure> {
    let roots = || worktrees.iter().map(|worktree| worktree.path.as_path()).chain([ws.store.root()]);
    let dir = fs::settled(dir);
    // If the board is in another repository, the path is relative to that one.
    let start = if roots().any(|root| dir.starts_with(root)) { dir.as_path() } else { ws.store.root() };
    let path = fs::settled(&start.join(typed));
    let root = roots().filter(|root| path.starts_with(root)).max_by_key(|root| root.components().count());
    let inside = root.and_then(|root| path.strip_prefix(root).ok()).map(fs::slashed);
    match inside {
        Some(path) if path.is_empty() => Ok(".".into()),
        Some(path) => Ok(path),
        None => {
            let message = format!("{} is outside the repository of the board", path.display());
            Err(Failure::refused(Code::Outside, message).hint(Hint::step("name a file or folder of the repository")))
        }
    }
}

fn changing(ws: &Workspace, board: &Board, worktree: &Worktree, asked: &Scope) -> Option<ChangingWorktree> {
    let branch = worktree.branch.clone().filter(|branch| *branch != main_branch(ws))?;
    let mut files = changed_paths(ws, &branch, Some(&worktree.path)).ok()?;
    files.retain(|file| asked.covers(file));
    let task = task_of(board, worktree);
    (!files.is_empty()).then(|| ChangingWorktree {
        path: worktree.path.clone(),
        branch,
        task: task.map(|task| task.id.clone()),
        title: task.map(|task| task.title.clone()),
        state: task.map(|task| task.state.clone()),
        owner: task.and_then(|task| task.owner.clone()),
        files,
    })
}

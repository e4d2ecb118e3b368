//! The checks of a task's branch before it is pushed or merged.

use crate::app::repo::worktree::Place;
use crate::app::{Code, Failure, Hint, Workspace};

pub(in crate::app) fn refuse_missing_branch(ws: &Workspace, place: &Place) -> Result<(), Failure> {
    if ws.repository.has_branch(&place.branch) {
        return Ok(());
    }
    let (id, branch) = (&place.task, &place.branch);
    Err(Failure::refused(Code::NoBranch, format!("{id} has no branch {branch}"))
        .hint(Hint::Worktree { task: id.clone() }))
}

/// Refuses a branch without new commits, or a worktree with uncommitted changes.
pub(in crate::app) fn refuse_unmergeable(ws: &Workspace, place: &Place, into: &str) -> Result<(), Failure> {
    let id = &place.task;
    refuse_missing_branch(ws, place)?;
    if !ws.repository.has_branch(into) {
        return Err(Failure::refused(Code::NoMain, format!("no branch {into:?} to merge into")).hint(Hint::set(
            "git.main",
            "BRANCH",
            "to use another branch",
        )));
    }
    if ws.repository.distance(&place.branch, into)?.ahead == 0 {
        return Err(Failure::refused(
            Code::NothingToMerge,
            format!("{} has no commits that {into} lacks", place.branch),
        )
        .hint(Hint::step("commit the work on this branch"))
        .hint(Hint::run(&format!("done {id}"), "to close the task if it is already merged")));
    }
    let Some(worktree) = ws.repository.worktree_at(&place.path)?.filter(|there| !there.missing) else { return Ok(()) };
    let shown = ws.store.shown(&place.path);
    if worktree.branch.as_deref() != Some(&place.branch) {
        let on = worktree.branch.map_or_else(|| "a detached HEAD".into(), |branch| format!("branch {branch}"));
        return Err(Failure::refused(Code::WrongBranch, format!("{shown} is on {on}, not on {}", place.branch))
            .hint(Hint::step("move the commits from there to the branch first; otherwise they would not be merged")));
    }
    if ws.repository.is_dirty(&worktree) != Some(false) {
        return Err(Failure::refused(Code::Dirty, format!("{shown} has uncommitted changes"))
            .hint(Hint::step("commit or discard them")));
    }
    Ok(())
}

//! A task's branch: whether there is something to merge, and all of the work is there.

use crate::app::repo::worktree::Place;
use crate::app::{Code, Failure, Hint, Workspace};

/// There must be a branch with something new in it, and all of the work must be there.
pub(in crate::app) fn refuse_unmergeable(ws: &Workspace, place: &Place, into: &str) -> Result<(), Failure> {
    let id = &place.task;
    if !ws.repository.has_branch(&place.branch) {
        return Err(Failure::refused(Code::NoBranch, format!("{id} has no branch {}", place.branch))
            .hint(Hint::Worktree { task: id.clone() }));
    }
    if !ws.repository.has_branch(into) {
        return Err(Failure::refused(Code::NoMain, format!("there is no branch {into:?} to merge into"))
            .hint(Hint::set("git.main", "BRANCH", "to use another branch")));
    }
    if ws.repository.distance(&place.branch, into)?.ahead == 0 {
        return Err(Failure::refused(
            Code::NothingToMerge,
            format!("{} has nothing that {into} has not", place.branch),
        )
        .hint(Hint::step("commit the work there"))
        .hint(Hint::run(&format!("done {id}"), "to close the task if it is already merged")));
    }
    let Some(worktree) = ws.repository.worktree_at(&place.path)?.filter(|there| !there.missing) else { return Ok(()) };
    let shown = ws.store.shown(&place.path);
    if worktree.branch.as_deref() != Some(&place.branch) {
        let on = worktree.branch.map_or_else(|| "a detached HEAD".into(), |branch| format!("branch {branch}"));
        return Err(Failure::refused(Code::WrongBranch, format!("{shown} is on {on}, not on {}", place.branch))
            .hint(Hint::step("bring what was committed there onto the branch first; it would be left out")));
    }
    if ws.repository.is_dirty(&worktree) != Some(false) {
        return Err(Failure::refused(Code::Dirty, format!("{shown} has changes that are not committed"))
            .hint(Hint::step("commit or discard them")));
    }
    Ok(())
}

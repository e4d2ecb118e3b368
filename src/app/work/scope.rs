//! Checks at the end of the work whether a task's branch changes files outside its scope.

use crate::app::repo::task_diff::changed_paths;
use crate::app::repo::worktree::place;
use crate::app::{Code, Failure, Hint, Workspace};
use crate::board::{Board, Scope, ScopeMode, is_unscoped};
use crate::task::TaskId;

/// The files that a task's branch changes outside its scope; empty without a scope or a branch.
pub(in crate::app) fn out_of_scope(ws: &Workspace, board: &Board, id: &TaskId) -> Vec<String> {
    let Some(scope) = granted(ws, board, id).filter(|scope| !scope.is_empty()) else { return Vec::new() };
    let branch = place(ws, board, id).map(|place| place.branch).ok().filter(|name| ws.repository.has_branch(name));
    // A branch that cannot be compared is refused later as unmergeable.
    let changed = branch.and_then(|branch| changed_paths(ws, &branch, None).ok()).unwrap_or_default();
    changed.into_iter().filter(|path| !is_unscoped(path) && !scope.covers(path)).collect()
}

/// Strict scopes are fixed when the claim is granted; otherwise the current plan counts.
fn granted(ws: &Workspace, board: &Board, id: &TaskId) -> Option<Scope> {
    let claimed = || board.claim(id).filter(|claim| claim.live).map(|claim| claim.paths.clone());
    match ws.rules().scopes {
        ScopeMode::Off => None,
        ScopeMode::Strict => claimed().filter(|paths| !paths.is_empty()).or_else(|| ws.scope_of(board.get(id)?)),
        ScopeMode::Tell => ws.scope_of(board.get(id)?),
    }
}

/// The failure of work that changes files outside its scope.
pub(in crate::app) fn beyond_scope(id: &TaskId, paths: &[String]) -> Failure {
    let message = format!("the branch of {id} changes files outside its scope: {}", listed(paths));
    Failure::refused(Code::OutsideScope, message)
        .hint(Hint::step("add them to the files in the plan"))
        .hint(Hint::run(&format!("renew {id}"), "to renew the claim, so that it covers the files of the plan"))
}

/// The first few paths, and the number of the others.
pub(in crate::app) fn listed(paths: &[String]) -> String {
    const MOST: usize = 20;
    let shown = paths.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join(", ");
    match paths.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

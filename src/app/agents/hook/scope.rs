//! Strict scopes: the implementation of a task may change only files that its claim covers.

use std::path::Path;

use super::scene::Scene;
use super::{Failure, Gate};
use crate::board::{Claim, Refusal, Scope, ScopeMode, is_unscoped};
use crate::fs;
use crate::task::{Task, TaskId};

/// Whether the scope allows a file in the task's worktree to be written. Ignored files are never part of the work.
pub(super) fn in_scope(scene: &Scene<'_>, task: &Task, path: &Path) -> Result<Gate, Failure> {
    let (ws, board) = (scene.ws, &scene.board);
    let within = scene.within(path).map(fs::slashed).filter(|path| !is_unscoped(path));
    let Some(path) = within.filter(|_| ws.rules().scopes == ScopeMode::Strict) else { return Ok(Gate::Allow) };
    let claimed = |task: &&Task| board.claim(&task.id).is_some_and(|claim| claim.live && !claim.paths.is_empty());
    let Some(holder) = scene.members(&task.id).into_iter().find(claimed) else { return Ok(Gate::Allow) };
    let granted = board.claim(&holder.id).map(|claim: &Claim| claim.paths.clone()).unwrap_or_default();
    if granted.covers(&path) || ws.repository.is_ignored(&path) {
        return Ok(Gate::Allow);
    }
    let planned = ws.scope_of(holder).is_some_and(|plan| plan.covers(&path));
    let overlap = board.refuse_overlap(&holder.id, &Scope::new([&path])).err();
    Ok(blocked(scene, &holder.id, &path, &granted, planned, overlap))
}

fn blocked(
    scene: &Scene<'_>,
    id: &TaskId,
    path: &str,
    granted: &Scope,
    planned: bool,
    overlap: Option<Refusal>,
) -> Gate {
    let renew = scene.signed(format!("ralph renew {id}"));
    match overlap {
        Some(Refusal::Overlaps { other, holder, .. }) => Gate::block(
            format!("{path} is in the scope of {other}, which is claimed by {holder}"),
            format!("work on other files until it is released: `ralph wait {other} --until free`"),
        ),
        _ if planned => Gate::block(
            format!("{path} is in the plan of {id}, but not yet covered by its claim"),
            format!("renew the claim to cover it: `{renew}`"),
        ),
        _ => Gate::block(
            format!("{path} is outside the scope of {id}: {granted}"),
            format!("add it to a `files` line of the plan, then renew the claim to cover it: `{renew}`"),
        ),
    }
}

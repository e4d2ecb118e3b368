//! `task rm`: removes tasks with their notes; `undo` restores them.

use serde::Serialize;

use crate::app::repo::worktree::{main_branch, place};
use crate::app::{Failure, Hint, Workspace};
use crate::board::{Board, Change, Op, Place, Refusal};
use crate::store::StoreError;
use crate::task::TaskId;

#[derive(Debug, Serialize)]
pub struct Removed {
    pub removed: Vec<TaskId>,
    /// Tasks that linked to a removed task; those links were removed.
    pub unlinked: Vec<TaskId>,
}

pub fn remove(ws: &Workspace, ids: &[TaskId], force: bool) -> Result<Removed, Failure> {
    let lock = ws.lock()?;
    let mut changes = Vec::new();
    let mut unlinked = Vec::new();
    let board = ws.board()?;
    let me = ws.me()?;
    let insists = ws.rules().insists(&ws.actor()?, force);
    for id in ids.iter().filter(|_| !insists) {
        if let Some(claim) = board.claim(id).filter(|claim| claim.live && !claim.is_of(&me)) {
            return Err(Failure::from(Refusal::held(id, claim)).hint(Hint::Force));
        }
    }
    for (task, wanted) in board.unlink(ids, force)? {
        changes.extend(crate::app::edit::set::changes(ws, &task, &wanted)?);
        unlinked.push(task);
    }
    for id in ids {
        changes.extend(gone(ws, id)?);
    }
    ws.commit(&lock, Op::new("rm", changes))?;
    for id in ids {
        ws.drop_claim(id, None)?;
        tell_of_branch(ws, &board, id);
    }
    Ok(Removed { removed: ids.to_vec(), unlinked })
}

/// Reports the remaining branch: `task rm` does not remove code.
fn tell_of_branch(ws: &Workspace, board: &Board, id: &TaskId) {
    let Ok(place) = place(ws, board, id) else { return };
    if !ws.repository.has_branch(&place.branch) {
        return;
    }
    let branch = &place.branch;
    let ahead = ws.repository.distance(branch, &main_branch(ws)).map_or(0, |distance| distance.ahead);
    let commits = match ahead {
        0 => String::new(),
        1 => ", with 1 unmerged commit".to_owned(),
        many => format!(", with {many} unmerged commits"),
    };
    let worktree = match place.path.exists() {
        true => format!(" and is checked out in {}", ws.store.shown(&place.path)),
        false => String::new(),
    };
    ws.notice(format!("the branch {branch} still exists{commits}{worktree}; no code was removed"));
}

/// The changes that remove every file of a task.
fn gone(ws: &Workspace, id: &TaskId) -> Result<Vec<Change>, Failure> {
    let place = if ws.store.exists(id) { Place::Task } else { Place::Archive };
    let mut places = vec![place];
    places.extend(ws.store.notes(id)?.into_iter().map(|note| Place::Note(note.file)));
    let mut changes = Vec::new();
    for file in places {
        let text = ws.store.text_of(&ws.store.path(id, &file))?.ok_or_else(|| StoreError::Missing(id.clone()))?;
        changes.push(Change::File { task: id.clone(), file, old: Some(text), new: None });
    }
    Ok(changes)
}

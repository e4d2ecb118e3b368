//! `advance`: moves the children of a task, or the members of its group, forward to a state.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::app::repo::unmerged::{Closing, unmerged};
use crate::app::{Failure, Workspace};
use crate::board::{AdvanceLimits, Board, Change, Links, Op, ParentHold};
use crate::task::{StateName, TaskId};

#[derive(Debug, Serialize)]
pub struct Advanced {
    pub to: StateName,
    pub moved: Vec<TaskId>,
    pub skipped: Vec<Skipped>,
}

#[derive(Debug, Serialize)]
pub struct Skipped {
    pub task: TaskId,
    pub reason: String,
}

/// Moves the children of a task, or the members of its group, forward to a state that is not a lock state. Children
/// that cannot be moved are skipped, with the reason.
pub fn advance(ws: &Workspace, id: &TaskId, typed: &str, force: bool) -> Result<Advanced, Failure> {
    let lock = ws.lock()?;
    let board = ws.board()?;
    let at = board.index_of(id).ok_or_else(|| crate::app::workspace::open::missing(ws, &board, id))?;
    let target = ws.flow().find_state(board.tasks()[at].kind, typed)?.name.clone();
    let unmerged = if force { BTreeMap::new() } else { not_merged(ws, &board, at, &target) };
    let advance = board.advance(at, &target, ws.rules(), &ws.actor()?, &AdvanceLimits { unmerged, force })?;
    if !advance.changes.is_empty() {
        ws.commit(&lock, Op::new(if force { "advance --force" } else { "advance" }, advance.changes))?;
    }
    for id in &advance.ended {
        ws.drop_claim(id, None)?;
    }
    let skipped = advance.stay.into_iter().map(|(task, reason)| Skipped { task, reason }).collect();
    Ok(Advanced { to: target, moved: advance.moved, skipped })
}

/// Why a task would be left out if it was moved forward together with others; `None` if it would not. `typed` is a state in any
/// spelling.
pub fn advance_hold(ws: &Workspace, id: &TaskId, typed: &str) -> Result<Option<String>, Failure> {
    let board = ws.family(id)?;
    let at = board.index_of(id).ok_or_else(|| crate::app::workspace::open::missing(ws, &board, id))?;
    let target = &ws.flow().find_state(board.tasks()[at].kind, typed)?.name;
    Ok(board.holds_back(at, target, ws.rules(), &ws.actor()?, false))
}

/// The children that cannot be closed because a branch of theirs is not merged, each with the reason.
fn not_merged(ws: &Workspace, board: &Board, parent: usize, to: &StateName) -> BTreeMap<TaskId, String> {
    let links = Links::new(board);
    let children = links.ids(links.children(parent)).into_iter().filter(|_| Some(to) == ws.flow().closing());
    let reason = |child: &TaskId| {
        let closing = Closing { task: child, along: &[], merges: true };
        unmerged(ws, board, &closing).unwrap_or_else(|failure| Some(failure.message))
    };
    children.filter_map(|child| Some((reason(&child)?, child))).map(|(reason, child)| (child, reason)).collect()
}

/// The state of a task's parent, and whether this command changed it.
#[derive(Debug, Serialize)]
pub struct ParentAdvance {
    pub parent: Option<TaskId>,
    pub from: Option<StateName>,
    pub to: Option<StateName>,
    pub children: Vec<(TaskId, StateName)>,
    pub advanced: bool,
    /// Why the parent stays, if it does.
    pub hold: Option<ParentHold>,
}

/// Moves the parents of a task forward to their children. Every move does this itself, but edits by hand may leave a
/// parent behind.
pub fn advance_parent(ws: &Workspace, id: &TaskId) -> Result<ParentAdvance, Failure> {
    let lock = ws.lock()?;
    let board = ws.board()?;
    let at = board.index_of(id).ok_or_else(|| crate::app::workspace::open::missing(ws, &board, id))?;
    let Some(parent) = board.parent_of(at) else {
        return Ok(ParentAdvance {
            parent: None,
            from: None,
            to: None,
            children: Vec::new(),
            advanced: false,
            hold: None,
        });
    };
    let changes = board.parents_due(at, ws.rules());
    if !changes.is_empty() {
        ws.commit(&lock, Op::new("advance", changes.clone()))?;
    }
    let task = &board.tasks()[parent];
    let moved = changes.iter().filter_map(Change::new_state).find(|(id, _)| **id == task.id).map(|(_, state)| state);
    let links = Links::new(&board);
    let hold = moved.is_none().then(|| board.parent_hold(parent, &links, ws.rules()));
    let children = links.children(parent).iter().map(|&at| &board.tasks()[at]);
    Ok(ParentAdvance {
        parent: Some(task.id.clone()),
        from: Some(task.state.clone()),
        advanced: moved.is_some(),
        hold,
        to: Some(moved.unwrap_or_else(|| task.state.clone())),
        children: children.map(|child| (child.id.clone(), child.state.clone())).collect(),
    })
}

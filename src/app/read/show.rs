//! `task show`: one task with all its details.

use serde::Serialize;

use crate::app::read::targets::targets;
use crate::app::view::task::{TaskView, views};
use crate::app::{Failure, Workspace};
use crate::board::{Place, Standings};
use crate::store::Note;
use crate::task::{StateName, TaskId};

#[derive(Debug, Serialize)]
pub struct Shown {
    #[serde(flatten)]
    pub task: TaskView,
    pub description: String,
    pub notes: Vec<Note>,
    pub file: String,
    pub archived: bool,
    /// Fields with a sync conflict, for a person to resolve.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<String>,
    /// Titles and states of the tasks that it is linked to, for people.
    #[serde(skip)]
    pub linked: Vec<(TaskId, String, StateName)>,
}

/// A task with its possible moves.
pub fn show(ws: &Workspace, id: &TaskId) -> Result<Shown, Failure> {
    let mut shown = show_without_moves(ws, id)?;
    if !shown.archived && !ws.is_past() && ws.me().is_ok() {
        shown.task.moves = Some(targets(ws, id)?);
    }
    Ok(shown)
}

/// A task without its possible moves, which take as long to find as everything else.
pub fn show_without_moves(ws: &Workspace, id: &TaskId) -> Result<Shown, Failure> {
    if !ws.is_past() && !ws.store.exists(id) && ws.store.is_archived(id) {
        return show_archived(ws, id);
    }
    let board = ws.around(id)?;
    let file = ws.file(id)?;
    let place = board.index_of(id).ok_or_else(|| ws.store.absent(id))?;
    let linked = board.tasks().iter().map(|t| (t.id.clone(), t.title.clone(), t.state.clone())).collect();
    let standings = Standings::new(&board, ws.rules());
    Ok(Shown {
        task: views(board, &standings, &[place]).remove(0),
        description: file.description,
        notes: ws.notes(id)?,
        file: ws.store.shown(&ws.store.path(id, &Place::Task)),
        archived: false,
        conflicts: if ws.is_past() { Vec::new() } else { crate::app::edit::fields::conflicts_of(ws, id) },
        linked,
    })
}

/// The details of a task that was already listed. Titles of linked tasks are left out, because the caller has all
/// tasks.
pub fn show_listed(ws: &Workspace, task: TaskView) -> Result<Shown, Failure> {
    let id = &task.id;
    let file = ws.file(id)?;
    Ok(Shown {
        description: file.description,
        notes: ws.notes(id)?,
        file: ws.store.shown(&ws.store.path(id, &Place::Task)),
        archived: false,
        conflicts: if ws.is_past() { Vec::new() } else { crate::app::edit::fields::conflicts_in(file.text) },
        linked: Vec::new(),
        task,
    })
}

fn show_archived(ws: &Workspace, id: &TaskId) -> Result<Shown, Failure> {
    let file = ws.store.load_archived(id)?;
    let board = crate::board::Board::new(vec![file.task], Vec::new(), Vec::new());
    let standings = Standings::new(&board, ws.rules());
    let mut task = views(board, &standings, &[0]);
    Ok(Shown {
        task: task.remove(0),
        description: file.description,
        notes: ws.store.notes(id)?,
        file: ws.store.shown(&ws.store.path(id, &Place::Archive)),
        archived: true,
        conflicts: Vec::new(),
        linked: Vec::new(),
    })
}

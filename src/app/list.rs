//! `task ls`: the tasks that a query finds.

use super::view::{TaskView, views};
use super::{Failure, Workspace};
use crate::board::{Board, Query, Standings};

pub struct Listed {
    pub tasks: Vec<TaskView>,
    /// How many matched before the limit.
    pub total: usize,
}

/// The same of what was put away; nothing there is ready or blocked.
pub fn list_archived(ws: &Workspace, query: &Query) -> Result<Listed, Failure> {
    let mut tasks = Vec::new();
    for id in ws.store.archived_ids()? {
        tasks.push(ws.store.load_archived(&id)?.task);
    }
    shown(ws, Board::new(tasks, Vec::new(), Vec::new()), query)
}

pub fn list(ws: &Workspace, query: &Query) -> Result<Listed, Failure> {
    shown(ws, ws.board()?, query)
}

fn shown(ws: &Workspace, board: Board, query: &Query) -> Result<Listed, Failure> {
    let standings = Standings::new(&board, ws.rules());
    let (places, total) = query.run(&board, ws.rules(), &standings);
    Ok(Listed { tasks: views(board, &standings, &places), total })
}

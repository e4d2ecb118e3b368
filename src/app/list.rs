//! `task ls`: the tasks that a query finds.

use super::view::{TaskView, views};
use super::{Failure, Workspace};
use crate::board::{Query, Standings};

pub struct Listed {
    pub tasks: Vec<TaskView>,
    /// How many matched before the limit.
    pub total: usize,
}

pub fn list(ws: &Workspace, query: &Query) -> Result<Listed, Failure> {
    let board = ws.board()?;
    let standings = Standings::new(&board, ws.rules());
    let (places, total) = query.run(&board, ws.rules(), &standings);
    Ok(Listed { tasks: views(board, &standings, &places), total })
}

//! `pick`: lists the tasks that can start in a state, best first, without claiming one.

use serde::Serialize;

use crate::app::view::task::{TaskView, views};
use crate::app::work::next::as_reaped;
use crate::app::{Failure, Workspace};
use crate::board::{Grouping, Standings};
use crate::task::{Estimate, Kind};

#[derive(Debug, Serialize)]
pub struct TakeableTasks {
    pub tasks: Vec<TakeableTask>,
}

#[derive(Debug, Serialize)]
pub struct TakeableTask {
    #[serde(flatten)]
    pub task: TaskView,
    /// Whether the worker already holds the task.
    pub resume: bool,
}

/// Tasks whose holder is gone are treated as released. `typed` is a state in any spelling.
pub fn takeable(ws: &Workspace, typed: &str, most: Estimate, grouping: Grouping) -> Result<TakeableTasks, Failure> {
    let state = ws.flow().find_state(Kind::Issue, typed)?.name.clone();
    let board = as_reaped(ws, ws.board()?).all_seen_as(grouping, ws.rules());
    let found = board.takeable(&state, most, ws.me().ok().as_ref(), ws.rules());
    let places: Vec<usize> = found.iter().map(|(at, _)| *at).collect();
    let standings = Standings::new(&board, ws.rules());
    let tasks = views(board, &standings, &places).into_iter().zip(found);
    Ok(TakeableTasks { tasks: tasks.map(|(task, (_, resume))| TakeableTask { task, resume }).collect() })
}

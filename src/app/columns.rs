//! The board as columns: its states in the order of the workflow, and the tasks in each.

use serde::Serialize;

use super::view::{TaskView, views};
use super::{Failure, Workspace};
use crate::board::{Query, Standings};
use crate::task::{Kind, StateName};
use crate::workflow::State;

#[derive(Debug, Serialize)]
pub struct Column {
    pub state: StateName,
    pub meaning: Meaning,
    pub points: u32,
    /// In the order of the query.
    pub tasks: Vec<TaskView>,
}

/// What a state says of the tasks in it, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Meaning {
    /// Somebody may take them.
    Waiting,
    /// Somebody has them.
    Working,
    /// A person is needed.
    Person,
    Done,
    Canceled,
}

impl Meaning {
    pub fn of(ws: &Workspace, state: &State) -> Self {
        if state.terminal {
            let canceled = ws.flow().canceling() == Some(&state.name) && ws.flow().closing() != Some(&state.name);
            return if canceled { Self::Canceled } else { Self::Done };
        }
        match (state.lock, ws.flow().escalation() == Some(&state.name)) {
            (_, true) => Self::Person,
            (true, false) => Self::Working,
            (false, false) => Self::Waiting,
        }
    }
}

/// Every state of the workflow, with the tasks that the query finds. Where one is asked for with `all`, the finished, too.
pub fn columns(ws: &Workspace, query: &Query) -> Result<Vec<Column>, Failure> {
    let board = ws.board()?;
    let standings = Standings::new(&board, ws.rules());
    let (places, _) = query.run(&board, ws.rules(), &standings);
    let estimates: Vec<u32> =
        places.iter().map(|&at| board.tasks()[at].estimate.map_or(0, |estimate| estimate.points())).collect();
    let kind = if query.kinds == [Kind::Step] { Kind::Step } else { Kind::Issue };
    let mut columns: Vec<Column> = ws
        .flow()
        .states_of(kind)
        .iter()
        .map(|state| Column {
            state: state.name.clone(),
            meaning: Meaning::of(ws, state),
            points: 0,
            tasks: Vec::new(),
        })
        .collect();
    for (task, points) in views(board, &standings, &places).into_iter().zip(estimates) {
        if let Some(column) = columns.iter_mut().find(|column| column.state.as_str() == task.state) {
            column.points += points;
            column.tasks.push(task);
        }
    }
    Ok(columns)
}

//! The board as columns: its states in the order of the workflow, and the tasks in each.

use serde::Serialize;

use crate::app::view::task::{TaskView, views};
use crate::app::{Failure, Workspace};
use crate::board::{Query, Standings};
use crate::task::{Kind, StateName};
use crate::workflow::Meaning;

#[derive(Debug, Serialize)]
pub struct Column {
    pub state: StateName,
    pub meaning: Meaning,
    pub points: u32,
    /// In the order of the query.
    pub tasks: Vec<TaskView>,
}

/// One column for each state of the workflow, with the tasks that the query finds, then one for each other state that
/// such a task is in.
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
        .map(|state| Column::new(state.name.clone(), ws.flow().meaning(state)))
        .collect();
    for (task, points) in views(board, &standings, &places).into_iter().zip(estimates) {
        let column = match columns.iter().position(|column| column.state == task.state) {
            Some(at) => &mut columns[at],
            // Tasks in a state that the workflow does not have, or not for this kind, are shown too.
            None => columns.push_mut(Column::of_another(ws, &task.state)),
        };
        column.points += points;
        column.tasks.push(task);
    }
    Ok(columns)
}

impl Column {
    fn new(state: StateName, meaning: Meaning) -> Self {
        Self { state, meaning, points: 0, tasks: Vec::new() }
    }

    fn of_another(ws: &Workspace, state: &StateName) -> Self {
        let name = state.clone();
        let known = [Kind::Issue, Kind::Step].into_iter().find_map(|kind| ws.flow().state(kind, &name));
        let meaning = known.map_or(Meaning::Person, |state| ws.flow().meaning(state));
        Self::new(name, meaning)
    }
}

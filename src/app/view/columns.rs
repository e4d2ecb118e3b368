//! The board as columns: its states in the order of the workflow, and the tasks in each.

use serde::Serialize;

use crate::app::view::task::{TaskView, views};
use crate::app::{Failure, Workspace};
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

/// Every state of the workflow, with the tasks that the query finds; then states that only tasks know. Where one is asked for
/// with `all`, the finished, too.
pub fn columns(ws: &Workspace, query: &Query) -> Result<Vec<Column>, Failure> {
    let board = ws.board()?;
    let standings = Standings::new(&board, ws.rules());
    let (places, _) = query.run(&board, ws.rules(), &standings);
    let estimates: Vec<u32> =
        places.iter().map(|&at| board.tasks()[at].estimate.map_or(0, |estimate| estimate.points())).collect();
    let kind = if query.kinds == [Kind::Step] { Kind::Step } else { Kind::Issue };
    let mut columns: Vec<Column> =
        ws.flow().states_of(kind).iter().map(|state| Column::new(state.name.clone(), Meaning::of(ws, state))).collect();
    for (task, points) in views(board, &standings, &places).into_iter().zip(estimates) {
        let column = match columns.iter().position(|column| column.state.as_str() == task.state) {
            Some(at) => &mut columns[at],
            // A state that the workflow does not know, or not for this kind: nobody is to miss the task.
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

    fn of_another(ws: &Workspace, state: &str) -> Self {
        let name = StateName::new(state);
        let known = [Kind::Issue, Kind::Step].into_iter().find_map(|kind| ws.flow().state(kind, &name));
        let meaning = known.map_or(Meaning::Person, |state| Meaning::of(ws, state));
        Self::new(name, meaning)
    }
}

//! The possible moves of a task, for faces: every state, with the outcome of a move to it.

use crate::app::work::admit::admit;
use crate::app::workspace::open::missing;
use crate::app::{Failure, MoveView, Workspace};
use crate::board::{Goal, Request};
use crate::task::TaskId;

/// The states in the order of the workflow, each with the decision that a move would get on the current board.
pub fn targets(ws: &Workspace, id: &TaskId) -> Result<Vec<MoveView>, Failure> {
    let (board, actor) = (ws.family(id)?, ws.actor()?);
    let task = board.get(id).ok_or_else(|| missing(ws, &board, id))?;
    let target = |state: &crate::workflow::State| {
        let request = Request::new(id, Goal::State(state.name.clone()));
        let (command, outside, refused) = match admit(ws, &board, &actor, &request) {
            Ok(admission) => (admission.command, admission.departure.map(|departure| departure.to_string()), None),
            Err(failure) => (None, None, Some(failure)),
        };
        MoveView {
            meaning: ws.flow().meaning(state),
            here: state.name == task.state,
            state: state.name.clone(),
            command,
            outside,
            refused,
        }
    };
    Ok(ws.flow().states_of(task.kind).iter().map(target).collect())
}

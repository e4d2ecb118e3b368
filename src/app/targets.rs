//! Where a task may be moved from here, and why not elsewhere.

use serde::Serialize;

use super::moves::judged;
use super::{Failure, Workspace};
use crate::task::{StateName, TaskId};

#[derive(Debug, Serialize)]
pub struct TargetState {
    pub state: StateName,
    pub allowed: bool,
    /// What stands against it, and the next step.
    pub refusal: Option<Failure>,
}

/// Every state but its own, as the judge says now; nothing is changed.
pub fn targets(ws: &Workspace, id: &TaskId) -> Result<Vec<TargetState>, Failure> {
    let board = ws.family(id)?;
    let task = board.get(id).ok_or_else(|| super::moves::missing(ws, &board, id))?;
    let actor = ws.actor()?;
    let others = ws.flow().states_of(task.kind).iter().filter(|state| state.name != task.state);
    let target = |state: &crate::workflow::State| {
        let refusal = judged(ws, &board, &actor, id, state.name.as_str(), None, false).err();
        TargetState { state: state.name.clone(), allowed: refusal.is_none(), refusal }
    };
    Ok(others.map(target).collect())
}

//! `position` and `group`: where a task stands in the pipeline, and with whom.

use serde::Serialize;

use super::{Failure, Workspace};
use crate::board::{Links, Position};
use crate::task::{StateName, TaskId};

#[derive(Debug, Serialize)]
pub struct PositionView {
    pub task: TaskId,
    #[serde(flatten)]
    pub position: Position,
}

pub fn position(ws: &Workspace, id: &TaskId) -> Result<PositionView, Failure> {
    let board = ws.family(id)?;
    let at = board.index_of(id).ok_or_else(|| super::moves::missing(ws, &board, id))?;
    Ok(PositionView { task: id.clone(), position: board.position(at, ws.rules())? })
}

#[derive(Debug, Serialize)]
pub struct GroupView {
    pub parent: Option<TaskId>,
    pub primary: TaskId,
    /// In the order of their phases.
    pub members: Vec<Member>,
}

#[derive(Debug, Serialize)]
pub struct Member {
    pub task: TaskId,
    pub title: String,
    pub state: StateName,
}

pub fn group(ws: &Workspace, id: &TaskId) -> Result<GroupView, Failure> {
    let board = ws.family(id)?;
    let at = board.index_of(id).ok_or_else(|| super::moves::missing(ws, &board, id))?;
    let group = board.group_of(at, &Links::new(&board), ws.rules())?;
    let member = |&at: &usize| {
        let task = &board.tasks()[at];
        Member { task: task.id.clone(), title: task.title.clone(), state: task.state.clone() }
    };
    Ok(GroupView {
        parent: group.parent.map(|at| board.tasks()[at].id.clone()),
        primary: board.tasks()[group.primary()].id.clone(),
        members: group.members.iter().map(member).collect(),
    })
}

//! `position`, `group` and `converged`: the phase of a task, its group, and whether the whole group has reached a
//! state.

use serde::Serialize;

use crate::app::{Code, Failure, Workspace};
use crate::board::{Board, Convergence, Grouping, Links, Position};
use crate::task::{StateName, Task, TaskId};

#[derive(Debug, Serialize)]
pub struct PositionView {
    pub task: TaskId,
    #[serde(flatten)]
    pub position: Position,
}

pub fn position(ws: &Workspace, id: &TaskId, grouping: Grouping) -> Result<PositionView, Failure> {
    let (board, at) = around(ws, id, grouping)?;
    Ok(PositionView { task: id.clone(), position: board.position(at, ws.rules())? })
}

/// The position of tasks that are worked on together, such as a stream of a group. The first of them is the primary.
pub fn position_of(ws: &Workspace, ids: &[TaskId]) -> Result<Position, Failure> {
    let board = ws.board()?;
    let place = |id| board.index_of(id).ok_or_else(|| crate::app::workspace::open::missing(ws, &board, id));
    let places = ids.iter().map(place).collect::<Result<Vec<usize>, _>>()?;
    match places.is_empty() {
        true => Err(Failure::broken(Code::Bug, "a position of no tasks")),
        false => Ok(board.position_of(&places, ws.rules())),
    }
}

/// The task and its family, as the grouping groups them.
fn around(ws: &Workspace, id: &TaskId, grouping: Grouping) -> Result<(Board, usize), Failure> {
    let board = ws.family(id)?;
    let at = board.index_of(id).ok_or_else(|| crate::app::workspace::open::missing(ws, &board, id))?;
    Ok((board.seen_as(grouping, at, ws.rules()), at))
}

#[derive(Debug, Serialize)]
pub struct GroupView {
    pub parent: Option<TaskId>,
    pub primary: TaskId,
    /// Ordered by phase.
    pub members: Vec<Member>,
}

#[derive(Debug, Serialize)]
pub struct Member {
    pub task: TaskId,
    pub title: String,
    pub state: StateName,
}

impl Member {
    fn of(task: &Task) -> Self {
        Self { task: task.id.clone(), title: task.title.clone(), state: task.state.clone() }
    }
}

pub fn group(ws: &Workspace, id: &TaskId, grouping: Grouping) -> Result<GroupView, Failure> {
    let (board, at) = around(ws, id, grouping)?;
    let group = board.group_of(at, &Links::new(&board), ws.rules())?;
    let member = |&at: &usize| Member::of(&board.tasks()[at]);
    Ok(GroupView {
        parent: group.parent.map(|at| board.tasks()[at].id.clone()),
        primary: board.tasks()[group.primary()].id.clone(),
        members: group.members.iter().map(member).collect(),
    })
}

#[derive(Debug, Serialize)]
pub struct ConvergedView {
    pub to: StateName,
    pub members: Vec<Member>,
    pub convergence: Convergence,
}

/// Whether the members of a group, or the children of a parent, have reached a state. `typed` is a state in any
/// spelling.
pub fn converged(ws: &Workspace, id: &TaskId, typed: &str, grouping: Grouping) -> Result<ConvergedView, Failure> {
    let (board, at) = around(ws, id, grouping)?;
    let to = ws.flow().find_state(board.tasks()[at].kind, typed)?.name.clone();
    let members = board.members(at, &Links::new(&board), ws.rules())?;
    let convergence = board.converged(&members, &to, ws.rules());
    let members = members.iter().map(|&at| Member::of(&board.tasks()[at])).collect();
    Ok(ConvergedView { to, members, convergence })
}

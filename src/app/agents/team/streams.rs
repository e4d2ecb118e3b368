//! The files that a task's plan changes: tasks that change the same files are implemented one after another.

use std::collections::BTreeMap;

use crate::app::Workspace;
use crate::board::{Board, Scope};
use crate::task::TaskId;

/// The scopes of open tasks, according to their plans.
pub(super) fn touches(ws: &Workspace, board: &Board) -> BTreeMap<TaskId, Scope> {
    let open = board.tasks().iter().filter(|task| !ws.flow().is_terminal(task.kind, &task.state));
    open.filter_map(|task| Some((task.id.clone(), ws.scope_of(task)?))).collect()
}

//! Which files a task's plan touches: those that touch the same are built one after the other.

use std::collections::{BTreeMap, BTreeSet};

use crate::app::{Failure, Workspace};
use crate::board::Board;
use crate::fs;
use crate::task::TaskId;

/// By the plan where there is one, of tasks that are still open.
pub(super) fn touches(ws: &Workspace, board: &Board) -> Result<BTreeMap<TaskId, BTreeSet<String>>, Failure> {
    let mut all = BTreeMap::new();
    for task in board.tasks().iter().filter(|task| !ws.flow().is_terminal(task.kind, &task.state)) {
        let Some(plan) = task.artifacts.get("plan").filter(|plan| !plan.contains("://")) else { continue };
        let Some(text) = fs::read_text(&ws.store.root().join(plan))? else { continue };
        all.insert(task.id.clone(), crate::agent::document::files_modified(&text).into_iter().collect());
    }
    Ok(all)
}

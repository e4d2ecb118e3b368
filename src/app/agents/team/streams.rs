//! Which files a task's plan touches: those that touch the same are built one after the other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use crate::agent::document::files_modified;
use crate::app::Workspace;
use crate::board::Board;
use crate::task::TaskId;

/// By the plan, of tasks that are still open. A plan that cannot be read touches nothing: `artifact check` says what is
/// wrong with it.
pub(super) fn touches(ws: &Workspace, board: &Board) -> BTreeMap<TaskId, BTreeSet<String>> {
    let open = board.tasks().iter().filter(|task| !ws.flow().is_terminal(task.kind, &task.state));
    let files = |plan: &String| {
        let inside = Path::new(plan).components().all(|part| matches!(part, Component::Normal(_)));
        let text = inside.then(|| ws.store.text_of(&ws.store.root().join(plan)).ok().flatten()).flatten()?;
        Some(files_modified(&text).into_iter().collect())
    };
    open.filter_map(|task| Some((task.id.clone(), files(task.artifacts.get("plan")?)?))).collect()
}

//! The scopes of tasks: the files that their current plans change.

use std::path::{Component, Path};

use crate::agent::document::{MARKER, files_modified};
use crate::app::Workspace;
use crate::board::{Board, Scope, ScopeMode};
use crate::task::Task;

impl Workspace {
    /// The scope that a task's plan defines, or `None` without a plan. A plan that cannot be read has no scope;
    /// `artifact check` reports what is wrong with it.
    pub(in crate::app) fn scope_of(&self, task: &Task) -> Option<Scope> {
        let plan = task.artifacts.get("plan")?;
        let inside = Path::new(plan).components().all(|part| matches!(part, Component::Normal(_)));
        let text = inside.then(|| self.store.text_of(&self.store.root().join(plan)).ok().flatten()).flatten()?;
        Some(Scope::new(files_modified(&text).into_iter().filter(|path| !path.contains(MARKER))))
    }

    /// Adds the scopes of tasks that can be built, if they matter: they do once a live claim has paths.
    pub(super) fn with_scopes(&self, board: Board) -> Board {
        let at_work = board.claims().values().any(|claim| claim.live && !claim.paths.is_empty());
        if !at_work || self.rules().scopes == ScopeMode::Off {
            return board;
        }
        let buildable = board.tasks().iter().filter(|task| self.rules().builders(task).next().is_some());
        let scopes: Vec<_> = buildable.filter_map(|task| Some((task.id.clone(), self.scope_of(task)?))).collect();
        board.with_scopes(scopes)
    }
}

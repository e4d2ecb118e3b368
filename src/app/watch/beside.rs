//! Other watched files: copies of the board in linked worktrees, documents and settings.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::Watch;
use crate::agent::document::DocumentKind;
use crate::app::Workspace;
use crate::app::repo::worktree::edited_copies;
use crate::board::{Event, EventKind, Via};
use crate::fs;
use crate::watch::ChangedPaths;

pub(super) const SETTINGS: [&str; 2] = [".ralph/config.toml", ".ralph/workflow.toml"];
/// Where the documents of tasks lie.
const DOCUMENTS: &str = "thoughts/shared/";

/// With the folders above each, in which it comes and goes.
pub(super) fn document_folders(ws: &Workspace) -> BTreeSet<PathBuf> {
    let folders = DocumentKind::ALL.map(|kind| ws.store.root().join(kind.folder()));
    folders.iter().flat_map(|folder| folder.ancestors().take(3).map(Path::to_owned)).collect()
}

impl Watch {
    /// Worktrees come and go; the board in each is watched only to say that it is not the one.
    pub(super) fn follow_copies(&mut self) {
        let known = self.ws.repository.worktrees().unwrap_or_default().into_iter().map(|worktree| worktree.path);
        // One that is just being made is a folder before git knows of it, and nothing tells when git does.
        let place = self.ws.store.root().join("worktrees");
        let made = fs::names(&place).unwrap_or_default().into_iter().map(|name| place.join(name));
        self.copies = known.chain(made).map(|worktree| worktree.join(".ralph/tasks")).collect();
        // With the folders above each, in which it comes and goes.
        let above = self.copies.iter().flat_map(|copy| copy.ancestors().take(3).map(Path::to_owned)).collect();
        self.changes.also(&above);
    }

    /// What was edited in a copy, told once, and once more when it is as it should be.
    pub(super) fn look_at_copies(&mut self, dirt: &ChangedPaths) -> Vec<Event> {
        let folders: BTreeSet<&Path> = match dirt {
            ChangedPaths::Nothing => return Vec::new(),
            ChangedPaths::Paths(paths) => paths.iter().filter_map(|path| path.parent()).collect(),
            ChangedPaths::Everything | ChangedPaths::Lost => self.copies.iter().map(PathBuf::as_path).collect(),
        };
        let touched = self.copies.iter().any(|copy| folders.contains(copy.as_path()));
        let new = !matches!(dirt, ChangedPaths::Paths(_))
            || folders.contains(self.ws.store.root().join("worktrees").as_path());
        if new {
            self.follow_copies();
        }
        // What was edited in a new one before it was watched is found by looking.
        if !touched && !new {
            return Vec::new();
        }
        let found: BTreeSet<String> = edited_copies(&self.ws).unwrap_or_default().into_iter().collect();
        let tell = |kind, message: &String| Event::new(kind, self.ws.now(), Via::Board, None).saying(message);
        let new = found.difference(&self.copied).map(|message| tell(EventKind::Problem, message));
        let gone = self.copied.difference(&found).map(|message| tell(EventKind::Solved, message));
        let events = new.chain(gone).collect();
        self.copied = found;
        events
    }

    /// The documents and settings that have been saved since this was last asked, from the root of the repository.
    pub fn saved_files(&mut self) -> BTreeSet<String> {
        std::mem::take(&mut self.files)
    }

    pub(super) fn note_files(&mut self, dirt: &ChangedPaths) {
        let told = |path: &str| SETTINGS.contains(&path) || path.starts_with(DOCUMENTS) && path.ends_with(".md");
        let root = self.ws.store.root();
        match dirt {
            ChangedPaths::Nothing => {}
            ChangedPaths::Paths(paths) => {
                let inside = paths.iter().filter_map(|path| Some(fs::slashed(path.strip_prefix(root).ok()?)));
                self.files.extend(inside.filter(|path| told(path)));
            }
            // Nobody knows which.
            ChangedPaths::Everything | ChangedPaths::Lost => {
                let documents = DocumentKind::ALL.iter().flat_map(|kind| {
                    let names = fs::names(&root.join(kind.folder())).unwrap_or_default();
                    names.into_iter().map(|name| format!("{}/{name}", kind.folder()))
                });
                self.files.extend(SETTINGS.map(str::to_owned).into_iter().chain(documents).filter(|path| told(path)));
            }
        }
    }
}

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
/// The folder of the documents of tasks.
const DOCUMENTS: &str = "thoughts/shared/";

/// Includes parent folders, in which these folders are created and deleted.
pub(super) fn document_folders(ws: &Workspace) -> BTreeSet<PathBuf> {
    let folders = DocumentKind::ALL.map(|kind| ws.store.root().join(kind.folder()));
    folders.iter().flat_map(|folder| folder.ancestors().take(3).map(Path::to_owned)).collect()
}

impl Watch {
    /// Watches the copies of the board in all worktrees, to report edits there.
    pub(super) fn follow_copies(&mut self) {
        let known = self.ws.repository.worktrees().unwrap_or_default().into_iter().map(|worktree| worktree.path);
        // A new worktree is a folder before git lists it, and git's listing causes no file event.
        let place = self.ws.store.root().join("worktrees");
        let made = fs::names(&place).unwrap_or_default().into_iter().map(|name| place.join(name));
        self.copies = known.chain(made).map(|worktree| worktree.join(".ralph/tasks")).collect();
        // Includes parent folders, in which these folders are created and deleted.
        let above = self.copies.iter().flat_map(|copy| copy.ancestors().take(3).map(Path::to_owned)).collect();
        self.changes.also(&above);
    }

    /// Reports edits in a copy once, and once more when they are reverted.
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
        // Edits in a new copy from before it was watched are only found by reading it.
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

    /// Documents and settings that were saved since the last call, relative to the root of the repository.
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
            // It is unknown which ones changed.
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

//! `sync --watch`: waits until the board changes, or until the next poll of GitHub is due.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::target::interrupted;
use crate::app::{Failure, Workspace};
use crate::watch::{ChangedPaths, Changes};

pub struct BoardWaiter {
    changes: Changes,
}

/// The minimum time between two syncs, because a person who edits saves several times.
const BREATH: Duration = Duration::from_secs(2);
const SLICE: Duration = Duration::from_millis(200);

impl BoardWaiter {
    pub fn new(ws: &Workspace) -> Result<Self, Failure> {
        let folders = ["tasks", "archive", "journal"].map(|name| ws.store.board_dir().join(name));
        for folder in &folders {
            crate::fs::make_dir(folder)?;
        }
        let folders: Vec<&Path> = folders.iter().map(std::path::PathBuf::as_path).collect();
        Ok(Self { changes: Changes::of(&folders)? })
    }

    /// Returns `false` after an interrupt.
    pub fn wait(&mut self, longest: Duration) -> bool {
        // Discard file events of the sync itself.
        while self.changes.wait(Duration::from_millis(50)) != ChangedPaths::Nothing {}
        let (began, mut dirty) = (Instant::now(), false);
        while began.elapsed() < longest.max(BREATH) {
            if interrupted().load(Ordering::Relaxed) {
                return false;
            }
            dirty |= self.changes.wait(SLICE) != ChangedPaths::Nothing;
            if dirty && began.elapsed() >= BREATH {
                return true;
            }
        }
        true
    }
}

//! `sync --watch`: waits until the board changes, or it is time to look at GitHub again.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::target::interrupted;
use crate::app::{Failure, Workspace};
use crate::watch::{ChangedPaths, Changes};

pub struct BoardWaiter {
    changes: Changes,
}

/// No run follows another sooner: a person who edits saves more than once.
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

    /// `false` when it is to end.
    pub fn wait(&mut self, longest: Duration) -> bool {
        // What the run itself has written is no news.
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

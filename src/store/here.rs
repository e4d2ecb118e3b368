//! A list of the moves that were made in this clone, because the shared journal does not contain this.

use std::io::Write as _;
use std::path::PathBuf;

use super::{Line, Store, StoreError};
use crate::fs;

/// The size at which the older half is removed, so that searching the list stays fast.
const LARGEST: u64 = 256 * 1024;

impl Store {
    fn here_path(&self) -> PathBuf {
        self.local.join("moved-here")
    }

    /// Records a move before it is written, so that it is also recorded if the process is killed in between.
    pub(super) fn note_move(&self, line: &Line) -> Result<(), StoreError> {
        if !line.changes.iter().any(|change| change.new_state().is_some()) {
            return Ok(());
        }
        let path = self.here_path();
        let mut file = fs::open_log(&path)?;
        if file.metadata().is_ok_and(|meta| meta.len() > LARGEST) {
            let text = fs::read_text(&path)?.unwrap_or_default();
            let half = text.get(text.len() / 2..).and_then(|half| half.split_once('\n')).map_or("", |(_, rest)| rest);
            fs::replace(&path, half.as_bytes(), false)?;
            file = fs::open_log(&path)?;
        }
        // Not synced to disk: a lost line only means that the move counts as another clone's.
        let _ = writeln!(file, "{}", line.id);
        Ok(())
    }

    /// Whether a move was made in this clone.
    pub fn was_moved_here(&self, id: &str) -> Result<bool, StoreError> {
        let text = fs::read_text(&self.here_path())?.unwrap_or_default();
        Ok(text.lines().any(|line| line == id))
    }
}

//! Which moves were made in this clone, which the shared journal does not record.

use std::io::Write as _;
use std::path::PathBuf;

use super::{Line, Store, StoreError};
use crate::fs;

/// As much as is looked through in a moment; the older half goes.
const LARGEST: u64 = 256 * 1024;

impl Store {
    fn here_path(&self) -> PathBuf {
        self.local.join("moved-here")
    }

    /// Before a move is written: one that is killed in between was made here, too.
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
        // Not worth a sync: what is lost with the machine is only taken for somebody else's.
        let _ = writeln!(file, "{}", line.id);
        Ok(())
    }

    /// Whether a move was made in this clone.
    pub fn was_moved_here(&self, id: &str) -> Result<bool, StoreError> {
        let text = fs::read_text(&self.here_path())?.unwrap_or_default();
        Ok(text.lines().any(|line| line == id))
    }
}

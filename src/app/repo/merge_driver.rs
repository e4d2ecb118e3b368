//! `merge-driver`: the program that git calls to merge a task file or a note. It reads only the three files.

use std::path::Path;

use serde::Serialize;

use crate::app::workspace::board_files::is_note;
use crate::app::{Code, Failure};
use crate::fs;
use crate::store::merge::{Merged, merge, merge_note};
use crate::task::Key;

#[derive(Debug, Serialize)]
pub struct DriverOutcome {
    pub path: String,
    pub conflicts: Vec<Key>,
    /// Whether git may use the result without a conflict.
    pub clean: bool,
}

/// Writes the result to `ours`, as git requires.
pub fn merge_driver(base: &Path, ours: &Path, theirs: &Path, path: &str) -> Result<DriverOutcome, Failure> {
    let read = |path: &Path| {
        let missing = || Failure::broken(Code::NoFile, format!("no such file: {}", path.display()));
        fs::read_text(path).map_err(Failure::from).and_then(|text| text.ok_or_else(missing))
    };
    let (base, mine, theirs) = (read(base)?, read(ours)?, read(theirs)?);
    let note = is_note(path).then(|| merge_note(&base, &mine, &theirs)).flatten();
    let note = note.map(|text| Merged { text, conflicts: Vec::new() });
    let (merged, clean) = match note.or_else(|| merge(&base, &mine, &theirs)) {
        Some(merged) => {
            let clean = merged.conflicts.is_empty();
            (merged, clean)
        }
        // One side is not TOML, so merge the lines as git does.
        None => match diffy::merge(&base, &mine, &theirs) {
            Ok(text) => (Merged { text, conflicts: Vec::new() }, true),
            Err(text) => (Merged { text, conflicts: Vec::new() }, false),
        },
    };
    fs::replace(ours, merged.text.as_bytes(), false)?;
    Ok(DriverOutcome { path: path.to_owned(), conflicts: merged.conflicts, clean })
}

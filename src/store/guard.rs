//! Replaces a file only if it has not changed since it was read: a person's save in the meantime wins.

use std::path::{Path, PathBuf};

use crate::fs::{self, FsError};

/// The result of a guarded write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuardOutcome {
    Done,
    /// The file was not as expected, and was left as it is.
    Changed,
}

/// The temporary file with a verb's new content: hidden, in the same folder, and named after the verb.
pub fn temp_path(path: &Path, op: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{op}.tmp"))
}

pub fn replace(path: &Path, op: &str, old: Option<&str>, new: Option<&str>) -> Result<GuardOutcome, FsError> {
    let temp = temp_path(path, op);
    match (old, new) {
        (None, None) => Ok(GuardOutcome::Done),
        (None, Some(new)) => create(path, &temp, new),
        (Some(old), Some(new)) => overwrite(path, &temp, old, new),
        (Some(old), None) => take_away(path, &temp, old),
    }
}

fn create(path: &Path, temp: &Path, new: &str) -> Result<GuardOutcome, FsError> {
    if let Some(folder) = path.parent() {
        fs::make_dir(folder)?;
    }
    fs::write_over(temp, new.as_bytes(), true)?;
    if fs::rename_new(temp, path)? {
        return Ok(GuardOutcome::Done);
    }
    fs::remove(temp)?;
    Ok(GuardOutcome::Changed)
}

/// Swaps the files instead of renaming, so that the replaced content can be compared and nothing is overwritten unnoticed.
fn overwrite(path: &Path, temp: &Path, old: &str, new: &str) -> Result<GuardOutcome, FsError> {
    if fs::read(path)?.as_deref() != Some(old.as_bytes()) {
        return Ok(GuardOutcome::Changed);
    }
    fs::write_over(temp, new.as_bytes(), true)?;
    fs::copy_mode(path, temp)?;
    if !fs::exchange(temp, path)? {
        fs::rename(temp, path)?;
        return Ok(GuardOutcome::Done);
    }
    if fs::read(temp)?.as_deref() == Some(old.as_bytes()) {
        return Ok(GuardOutcome::Done);
    }
    give_back(path, temp, new)?;
    Ok(GuardOutcome::Changed)
}

/// The text of a person who had the file open and wrote to it after it was replaced. The old file is kept until the verb is
/// durable, so that such a write can be found.
pub fn late_save(path: &Path, op: &str, old: &str) -> Result<Option<String>, FsError> {
    let late = fs::read_text(&temp_path(path, op))?;
    Ok(late.filter(|text| text != old))
}

/// Moves a person's save back from `temp`, unless the person has saved the file again since.
pub fn give_back(path: &Path, temp: &Path, ours: &str) -> Result<(), FsError> {
    if fs::read(path)?.as_deref() == Some(ours.as_bytes()) {
        return fs::rename(temp, path);
    }
    fs::remove(temp)
}

fn take_away(path: &Path, temp: &Path, old: &str) -> Result<GuardOutcome, FsError> {
    if fs::read(path)?.as_deref() != Some(old.as_bytes()) {
        return Ok(GuardOutcome::Changed);
    }
    fs::rename(path, temp)?;
    if fs::read(temp)?.as_deref() == Some(old.as_bytes()) {
        fs::remove(temp)?;
        return Ok(GuardOutcome::Done);
    }
    if !fs::rename_new(temp, path)? {
        fs::remove(temp)?;
    }
    Ok(GuardOutcome::Changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(path: &Path) -> Option<String> {
        fs::read_text(path).unwrap()
    }

    #[test]
    fn a_save_in_between_wins() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t-x.toml");
        assert_eq!(replace(&path, "op", None, Some("a")).unwrap(), GuardOutcome::Done);
        assert_eq!(replace(&path, "op", None, Some("b")).unwrap(), GuardOutcome::Changed);
        assert_eq!(replace(&path, "op", Some("stale"), Some("b")).unwrap(), GuardOutcome::Changed);
        assert_eq!(replace(&path, "op", Some("stale"), None).unwrap(), GuardOutcome::Changed);
        assert_eq!(text(&path).as_deref(), Some("a"));
        let mut open = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        assert_eq!(replace(&path, "op", Some("a"), Some("b")).unwrap(), GuardOutcome::Done);
        assert_eq!(text(&path).as_deref(), Some("b"));
        assert_eq!(late_save(&path, "op", "a").unwrap(), None);
        std::io::Write::write_all(&mut open, b"!").unwrap();
        assert_eq!(late_save(&path, "op", "a").unwrap().as_deref(), Some("a!"));
        fs::remove(&temp_path(&path, "op")).unwrap();
        assert_eq!(replace(&path, "op", Some("b"), None).unwrap(), GuardOutcome::Done);
        assert_eq!(fs::names(folder.path()).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn what_was_swapped_out_unseen_goes_back() {
        let folder = tempfile::tempdir().unwrap();
        let (path, temp) = (folder.path().join("f"), folder.path().join(".f.op.tmp"));
        fs::write_new(&path, b"ours", false).unwrap();
        fs::write_new(&temp, b"theirs", false).unwrap();
        give_back(&path, &temp, "ours").unwrap();
        assert_eq!(text(&path).as_deref(), Some("theirs"));
    }
}

//! Git's index, written under git's own lock. Our lock file has a second name, so that after a kill the next process can
//! recognise it by its inode and remove it. Callers hold the board's lock.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use gix::bstr::{BStr, BString};
use gix::index::entry::{Flags, Mode, Stage, Stat};

use super::repository::{GitError, other};
use crate::fs;

const PATIENCE: Duration = Duration::from_secs(5);
const DOING: &str = "change git's index";

/// The lock of a worktree's index. If it is dropped without `write`, the index is unchanged.
pub(super) struct IndexLock {
    index: PathBuf,
    lock: PathBuf,
    ours: PathBuf,
}

impl IndexLock {
    pub fn take(repo: &gix::Repository) -> Result<Self, GitError> {
        let held = Self::paths(repo);
        held.clear_dead();
        let start = Instant::now();
        fs::write_over(&held.ours, b"", false).map_err(|e| other(DOING, &e))?;
        loop {
            if fs::link_new(&held.ours, &held.lock).map_err(|e| other(DOING, &e))? {
                return Ok(held);
            }
            if start.elapsed() > PATIENCE {
                let _ = fs::remove(&held.ours);
                let lock = held.lock.clone();
                std::mem::forget(held);
                return Err(GitError::IndexBusy(lock));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Whether a ralph process may have been killed while it held the lock.
    pub fn is_left(repo: &gix::Repository) -> bool {
        repo.index_path().with_extension("ralph").exists()
    }

    /// Removes the lock of a ralph process that was killed while it held it.
    pub fn recover(repo: &gix::Repository) {
        let paths = Self::paths(repo);
        paths.clear_dead();
        std::mem::forget(paths);
    }

    fn paths(repo: &gix::Repository) -> Self {
        let index = repo.index_path();
        let (lock, ours) = (index.with_extension("lock"), index.with_extension("ralph"));
        Self { index, lock, ours }
    }

    fn clear_dead(&self) {
        if fs::is_same(&self.ours, &self.lock) {
            let _ = fs::remove(&self.lock);
        }
        let _ = fs::remove(&self.ours);
    }

    pub fn write(self, index: &mut gix::index::File) -> Result<(), GitError> {
        // An outdated cache tree would make later commits wrong.
        index.remove_tree();
        smudge(index);
        let mut out = Vec::new();
        index.write_to(&mut out, gix::index::write::Options::default()).map_err(|e| other(DOING, &e))?;
        let write = || -> Result<(), std::io::Error> {
            let mut file = std::fs::File::options().write(true).truncate(true).open(&self.lock)?;
            file.write_all(&out)
        };
        write().map_err(|e| other(DOING, &e))?;
        fs::copy_mode(&self.index, &self.lock).map_err(|e| other(DOING, &e))?;
        fs::rename(&self.lock, &self.index).map_err(|e| other(DOING, &e))
    }
}

impl Drop for IndexLock {
    fn drop(&mut self) {
        self.clear_dead();
    }
}

/// Reads the index from disk; refuses formats that cannot be written back completely.
pub(super) fn open(repo: &gix::Repository) -> Result<gix::index::File, GitError> {
    if !repo.index_path().is_file() {
        let empty = gix::index::State::new(repo.object_hash());
        return Ok(gix::index::File::from_state(empty, repo.index_path()));
    }
    let index = repo.open_index().map_err(|e| other("read git's index", &e))?;
    if index.link().is_some() {
        return Err(GitError::Unsupported("the index is split (core.splitIndex)".into()));
    }
    if index.is_sparse() {
        return Err(GitError::Unsupported("the index is sparse (index.sparse)".into()));
    }
    Ok(index)
}

/// Marks files that changed in the same instant in which the index was last written. Their times look unchanged, and git only
/// compares their content because of the time of the index, which is about to change. A size of zero makes git compare it.
fn smudge(index: &mut gix::index::File) {
    let seconds = index.timestamp().unix_seconds();
    // Most builds of git compare whole seconds.
    for entry in index.entries_mut().iter_mut().filter(|entry| i64::from(entry.stat.mtime.secs) >= seconds) {
        entry.stat.size = 0;
    }
}

/// An entry for each path; none if the path is removed.
pub(super) type Entries = BTreeMap<BString, Option<(Stat, gix::ObjectId, Mode)>>;

/// Replaces the entries of the index at these paths.
pub(super) fn put(index: &mut gix::index::File, entries: Entries) {
    index.remove_entries(|_, path, _| entries.contains_key(path));
    for (path, entry) in entries {
        if let Some((stat, id, mode)) = entry {
            index.dangerously_push_entry(stat, id, Flags::empty(), mode, path.as_ref());
        }
    }
    index.sort_entries();
}

/// The entry of the index at a path: none, one, or an unmerged one.
pub(super) enum At {
    Nothing,
    Entry(gix::ObjectId, Mode),
    Unmerged,
}

pub(super) fn at(index: &gix::index::File, path: &BStr) -> At {
    if let Some(entry) = index.entry_by_path_and_stage(path, Stage::Unconflicted) {
        return At::Entry(entry.id, entry.mode);
    }
    let unmerged = [Stage::Base, Stage::Ours, Stage::Theirs];
    match unmerged.iter().any(|stage| index.entry_by_path_and_stage(path, *stage).is_some()) {
        true => At::Unmerged,
        false => At::Nothing,
    }
}

//! Git's lock files while references change. gix, like git, leaves them behind when it is killed, and then git refuses to work
//! until they are removed. A mark for each lock file tells later which of them are ours.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gix::refs::transaction::RefEdit;
use gix::refs::{FullName, Target};

use super::repository::{GitError, Repository, other};
use crate::fs;
use crate::os::files;

/// Longer than a live process needs to change one reference, or to rewrite all of them.
const LIVING: Duration = Duration::from_millis(500);
const REWRITING: Duration = Duration::from_secs(10);

impl Repository {
    /// Changes one reference, as git would.
    pub(super) fn edit_reference(
        &self,
        repo: &gix::Repository,
        edit: RefEdit,
        doing: &'static str,
    ) -> Result<Vec<RefEdit>, GitError> {
        let mut locks = vec![lock_of(repo, &edit.name)];
        if edit.deref {
            locks.extend(repo.head_name().ok().flatten().map(|name| lock_of(repo, &name)));
        }
        locks.push(self.common.join("packed-refs.lock"));
        self.clearing(&locks, || repo.edit_reference(edit.clone())).map_err(|e| self.busy(&locks, doing, &e))
    }

    /// Deletes a branch, with its settings, if it still points to `tip`.
    pub(super) fn delete_branch(&self, name: FullName, tip: gix::ObjectId) -> Result<(), GitError> {
        let locks =
            [lock_of(&self.inner, &name), self.common.join("packed-refs.lock"), self.common.join("config.lock")];
        let delete = || {
            let branch = (name.clone(), Target::Object(tip));
            self.inner.clone().delete_local_branches_if_unchanged(Some(branch)).map(|_| ())
        };
        self.clearing(&locks, delete).map_err(|e| self.busy(&locks, "delete the branch", &e))
    }

    /// Runs the action, and runs it once more if it failed and the locks of a killed ralph process could be removed.
    fn clearing<T, E>(&self, locks: &[PathBuf], action: impl Fn() -> Result<T, E>) -> Result<T, E> {
        let _ = fs::make_dir(&self.common.join("ralph/locks"));
        let marks: Vec<LockMark> = locks.iter().map(|lock| LockMark::make(&self.mark(lock))).collect();
        let left = locks.iter().zip(&marks).filter(|(_, mark)| mark.was_left).map(|(lock, _)| lock);
        let left: Vec<&PathBuf> = left.collect();
        action().or_else(|error| if clear(&left) { action() } else { Err(error) })
    }

    /// Removes all locks of killed ralph processes, before git is started again.
    pub(super) fn clear_left(&self) -> bool {
        let folder = self.common.join("ralph/locks");
        let marks = fs::names(&folder).unwrap_or_default();
        let held: Vec<(PathBuf, LockMark)> = marks
            .iter()
            .map(|name| (self.common.join(name.replace('%', "/")), LockMark::make(&folder.join(name))))
            .filter(|(_, mark)| mark.was_left)
            .collect();
        clear(&held.iter().map(|(lock, _)| lock).collect::<Vec<_>>())
    }

    fn mark(&self, lock: &Path) -> PathBuf {
        let name = fs::slashed(lock.strip_prefix(&self.common).unwrap_or(lock)).replace('/', "%");
        self.common.join("ralph/locks").join(name)
    }

    fn busy(&self, locks: &[PathBuf], doing: &'static str, error: &dyn std::fmt::Display) -> GitError {
        match locks.iter().find(|lock| lock.exists()) {
            Some(lock) => GitError::RefBusy(lock.clone()),
            None => other(doing, error),
        }
    }
}

/// Marks a lock file as possibly ours. The mark is locked as long as its process lives.
struct LockMark {
    path: PathBuf,
    file: Option<File>,
    /// There was a mark that no process held: a ralph process was killed.
    was_left: bool,
}

impl LockMark {
    fn make(path: &Path) -> Self {
        let there = path.exists();
        let file = fs::open_lock(path).ok().filter(|file| file.try_lock().is_ok());
        Self { path: path.to_owned(), was_left: there && file.is_some(), file }
    }
}

impl Drop for LockMark {
    fn drop(&mut self) {
        if self.file.is_some() {
            let _ = fs::remove(&self.path);
        }
    }
}

/// Removes the lock files that no live process holds, and returns whether there were any.
fn clear(locks: &[&PathBuf]) -> bool {
    let inode = |lock: &Path| fs::itself(lock).ok().flatten().map(|meta| files::identity(&meta));
    let before: Vec<(&PathBuf, u64)> = locks.iter().filter_map(|lock| Some((*lock, inode(lock)?))).collect();
    if before.is_empty() {
        return false;
    }
    let all = before.iter().any(|(lock, _)| lock.ends_with("packed-refs.lock") || lock.ends_with("config.lock"));
    let start = std::time::Instant::now();
    while start.elapsed() < if all { REWRITING } else { LIVING } {
        std::thread::sleep(Duration::from_millis(50));
        if before.iter().all(|(lock, number)| inode(lock) != Some(*number)) {
            return true;
        }
    }
    for (lock, number) in before {
        if inode(lock) == Some(number) {
            let _ = fs::remove(lock);
        }
    }
    true
}

/// The lock file of a reference. HEAD belongs to its worktree; all other references are shared.
fn lock_of(repo: &gix::Repository, name: &FullName) -> PathBuf {
    let text = name.as_bstr().to_string();
    let folder = if text == "HEAD" { repo.git_dir() } else { repo.common_dir() };
    let folder = gix::path::realpath(folder).unwrap_or_else(|_| folder.to_owned());
    folder.join(format!("{text}.lock"))
}

//! Linked worktrees and their branches. Callers hold the repository's worktree lock, because parallel changes corrupt each other.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use gix::refs::FullName;
use gix::refs::transaction::{PreviousValue, RefEdit};
use gix::worktree::add::Head;
use gix::worktree::remove::Force;
use jiff::Timestamp;

use super::commit::changed_in;
use super::progress::CheckoutProgress;
use super::repository::{GitError, Repository, other};
use super::update::touched;

/// How often the progress of a checkout is reported.
const LOOK: Duration = Duration::from_millis(100);
/// The lock reason of a worktree that is being created.
const BEING_MADE: &str = "initializing";

/// A linked worktree, as git knows it.
#[derive(Debug, Clone)]
pub struct Worktree {
    pub path: PathBuf,
    /// The branch without `refs/heads/`; none if HEAD is detached.
    pub branch: Option<String>,
    pub locked: Option<String>,
    /// Its folder is missing.
    pub missing: bool,
    pub made: Option<Timestamp>,
}

/// The distance between two branches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Distance {
    pub ahead: usize,
    pub behind: usize,
}

/// Why a worktree cannot be removed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Keeps {
    #[error("it has uncommitted changes")]
    Dirty,
    #[error("a {0} is in progress in it")]
    Underway(String),
    #[error("its HEAD is detached at a commit that no branch contains")]
    Detached,
    #[error("{} not merged into {}", commits(*.0), .1)]
    Unmerged(usize, String),
    #[error("{} not pushed", commits(*.0))]
    Unpushed(usize),
    #[error("it is locked{}", if .0.is_empty() { String::new() } else { format!(": {}", .0) })]
    Locked(String),
}

fn commits(count: usize) -> String {
    if count == 1 { "1 commit is".to_owned() } else { format!("{count} commits are") }
}

impl Repository {
    pub fn worktrees(&self) -> Result<Vec<Worktree>, GitError> {
        let proxies = self.inner.worktrees().map_err(|e| other("list the worktrees", &e))?;
        let mut found = Vec::new();
        for proxy in proxies {
            let Ok(path) = proxy.base() else { continue };
            let made = std::fs::metadata(proxy.git_dir().join("gitdir")).and_then(|meta| meta.modified()).ok();
            let locked =
                proxy.is_locked().then(|| proxy.lock_reason().map(|reason| reason.to_string()).unwrap_or_default());
            // A folder without `.git` is only a remainder of a worktree.
            let missing = !path.join(".git").is_file();
            let repo = proxy.into_repo_with_possibly_inaccessible_worktree().ok();
            let branch = repo.and_then(|repo| repo.head_name().ok().flatten()).map(|name| name.shorten().to_string());
            let made = made.and_then(|time| Timestamp::try_from(time).ok());
            found.push(Worktree { path: real(&path), branch, locked, missing, made });
        }
        Ok(found)
    }

    /// The worktree in which ralph was started, and its branch; none if HEAD is detached.
    pub fn place_found(&self) -> Option<(PathBuf, Option<String>)> {
        let folder = self.here.workdir()?;
        let branch = self.here.head_name().ok().flatten().map(|name| name.shorten().to_string());
        Some((real(folder), branch))
    }

    pub fn worktree_at(&self, path: &Path) -> Result<Option<Worktree>, GitError> {
        let path = real(path);
        Ok(self.worktrees()?.into_iter().find(|worktree| worktree.path == path))
    }

    pub fn has_branch(&self, branch: &str) -> bool {
        self.inner.try_find_reference(&format!("refs/heads/{branch}")).ok().flatten().is_some()
    }

    /// The local branches whose names start with `prefix`, sorted.
    pub fn branches_below(&self, prefix: &str) -> Result<Vec<String>, GitError> {
        let doing = "list the branches";
        let references = self.inner.references().map_err(|e| other(doing, &e))?;
        let all = references.local_branches().map_err(|e| other(doing, &e))?.flatten();
        let names = all.map(|branch| branch.name().shorten().to_string());
        let mut found: Vec<String> = names.filter(|name| name.starts_with(prefix)).collect();
        found.sort();
        Ok(found)
    }

    /// The commit of a branch.
    pub fn tip_of(&self, branch: &str) -> Result<String, GitError> {
        Ok(self.commit_of(&format!("refs/heads/{branch}"))?.to_string())
    }

    /// Resolves a typed revision as git does in that directory.
    pub fn typed(&self, revision: &str) -> Result<String, GitError> {
        let unknown = |_| GitError::NoRevision(revision.to_owned());
        let id = self.here.rev_parse_single(revision).map_err(unknown)?;
        Ok(id.object().and_then(gix::Object::peel_to_commit).map_err(unknown)?.id.to_string())
    }

    /// Resolves a revision; a branch has priority over a tag of the same name.
    pub(super) fn commit_of(&self, revision: &str) -> Result<gix::ObjectId, GitError> {
        let unknown = |_| GitError::NoRevision(revision.to_owned());
        let branch = format!("refs/heads/{revision}");
        let name = if self.has_branch(revision) { branch.as_str() } else { revision };
        let id = self.inner.rev_parse_single(name).map_err(unknown)?;
        let commit = id.object().and_then(gix::Object::peel_to_commit).map_err(unknown)?;
        Ok(commit.id)
    }

    /// Makes a worktree on a branch, and the branch at `start` if it does not exist. On an error, both are removed again.
    /// During the checkout, `tell` is called regularly with the number of files that are checked out, and the total.
    pub fn add_worktree(
        &self,
        path: &Path,
        branch: &str,
        start: &str,
        tell: &mut dyn FnMut(usize, usize),
    ) -> Result<(), GitError> {
        // gix needs the configured name for the reflog of the new HEAD; later commits need it anyway.
        if self.identity().is_none() {
            return Err(GitError::Nobody);
        }
        let name: FullName =
            format!("refs/heads/{branch}").try_into().map_err(|e| other("use this name for a branch", &e))?;
        let made = if self.has_branch(branch) { None } else { Some(self.make_branch(&name, start)?) };
        let added = self.checkout(path, &name, tell);
        if let (Err(_), Some(start)) = (&added, made) {
            let _ = self.delete_branch(name, start);
        }
        added
    }

    fn make_branch(&self, name: &FullName, start: &str) -> Result<gix::ObjectId, GitError> {
        let start = self.commit_of(start)?;
        let doing = "create the branch";
        let edit =
            RefEdit::update(name.clone(), start, PreviousValue::MustNotExist, format!("branch: Created from {start}"));
        let edits = self.edit_reference(&self.inner, edit, doing)?;
        // `MustNotExist` accepts a branch that exists with the same value, which another process has just made.
        if edits.iter().any(|edit| edit.name == *name && edit.change.previous_value().is_some()) {
            return Err(other(doing, &format!("{} was just created by another process", name.shorten())));
        }
        Ok(start)
    }

    fn checkout(&self, path: &Path, name: &FullName, tell: &mut dyn FnMut(usize, usize)) -> Result<(), GitError> {
        let doing = "create the worktree";
        let mut repo = self.inner.clone();
        // Versions of git before 2.48 reject the whole repository if a worktree has a relative link.
        let mut settings = repo.config_snapshot_mut();
        settings.set_raw_value("worktree.useRelativePaths", "false").map_err(|e| other(doing, &e))?;
        settings.commit().map_err(|e| other(doing, &e))?;
        let (progress, head) = (CheckoutProgress::default(), Head::Attached(name.clone()));
        let (done, over) = std::sync::mpsc::channel();
        let added = std::thread::scope(|scope| {
            let (repo, counted) = (repo.clone(), progress.clone());
            scope.spawn(move || {
                let _ = done.send(repo.add_worktree(path, head, counted, &AtomicBool::new(false)));
            });
            loop {
                match over.recv_timeout(LOOK) {
                    Ok(added) => break added.map(|(_, outcome)| outcome).map_err(|e| other(doing, &e)),
                    Err(RecvTimeoutError::Timeout) => {
                        let (files, of) = progress.read();
                        tell(files, of);
                    }
                    Err(RecvTimeoutError::Disconnected) => break Err(other(doing, &"the checkout ended unexpectedly")),
                }
            }
        });
        let outcome = added?;
        if outcome.errors.is_empty() && outcome.collisions.is_empty() {
            return Ok(());
        }
        let first = outcome.errors.first().map(|record| format!("{}: {}", record.path, record.error));
        let clash = || {
            outcome
                .collisions
                .first()
                .map(|clash| format!("several paths are the same file on this file system: {}", clash.path))
        };
        let why = first.or_else(clash).unwrap_or_default();
        let _ = repo.remove_worktree(path, Force::OverrideLock, gix::progress::Discard);
        Err(other(doing, &why))
    }

    /// Removes a worktree whose process was killed while making it. The lock reason shows that; the caller holds ralph's lock.
    pub fn clear_half_made(&self, path: &Path) -> Result<bool, GitError> {
        let half =
            self.worktree_at(path)?.filter(|worktree| worktree.locked.as_deref().map(str::trim) == Some(BEING_MADE));
        if half.is_none() {
            return Ok(false);
        }
        // If the kill came while `.git` was being written, git does not know the worktree, so it contains no work.
        if self.remove_worktree(path, true).is_err() {
            let doing = "remove the incomplete worktree";
            let proxies = self.inner.worktrees().map_err(|e| other(doing, &e))?;
            let wanted = real(path);
            let proxy = proxies.into_iter().find(|proxy| proxy.base().is_ok_and(|base| real(&base) == wanted));
            crate::fs::remove_tree(path).map_err(|e| other(doing, &e))?;
            if let Some(proxy) = proxy {
                crate::fs::remove_tree(proxy.git_dir()).map_err(|e| other(doing, &e))?;
            }
        }
        Ok(true)
    }

    /// Everything that would be lost with a worktree. If its folder is missing, nothing is lost, because the branch stays.
    pub fn keeps(&self, worktree: &Worktree, main: &str) -> Result<Vec<Keeps>, GitError> {
        let mut found: Vec<Keeps> = worktree.locked.clone().map(Keeps::Locked).into_iter().collect();
        if worktree.missing {
            return Ok(found);
        }
        let repo = gix::open(&worktree.path).map_err(|e| other("open the worktree", &e))?;
        if let Some(state) = repo.state() {
            found.push(Keeps::Underway(format!("{state:?}").to_lowercase()));
        }
        if !is_clean(&repo) {
            found.push(Keeps::Dirty);
        }
        match &worktree.branch {
            None => found.extend(self.is_loose(&repo)?.then_some(Keeps::Detached)),
            Some(branch) => {
                let unmerged = self.distance(branch, main)?.ahead;
                found.extend((unmerged > 0).then(|| Keeps::Unmerged(unmerged, main.to_owned())));
                found.extend(self.unpushed(branch)?.filter(|count| *count > 0 && unmerged > 0).map(Keeps::Unpushed));
            }
        }
        Ok(found)
    }

    /// Whether HEAD is a commit that no branch of the repository contains.
    fn is_loose(&self, repo: &gix::Repository) -> Result<bool, GitError> {
        let doing = "read the branches";
        let Ok(head) = repo.head_id().map(gix::Id::detach) else { return Ok(false) };
        let references = self.inner.references().map_err(|e| other(doing, &e))?;
        for branch in references.local_branches().map_err(|e| other(doing, &e))?.filter_map(Result::ok) {
            let tip = branch.id().detach();
            if self.inner.merge_base(head, tip).ok().flatten().is_some_and(|base| base.detach() == head) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The number of commits that are missing on the remote branch; `None` if there is no remote.
    fn unpushed(&self, branch: &str) -> Result<Option<usize>, GitError> {
        let Some(remote) = self.inner.remote_names().into_iter().next() else { return Ok(None) };
        let there = format!("refs/remotes/{remote}/{branch}");
        if self.inner.try_find_reference(&there).ok().flatten().is_some() {
            return Ok(Some(self.distance(branch, &there)?.ahead));
        }
        Ok(Some(1))
    }

    /// The number of commits that a branch is ahead of and behind another revision.
    pub fn distance(&self, branch: &str, from: &str) -> Result<Distance, GitError> {
        let (here, there) = (self.commit_of(branch)?, self.commit_of(from)?);
        let count = |tip: gix::ObjectId, hidden: gix::ObjectId| -> Result<usize, GitError> {
            let walk =
                self.inner.rev_walk([tip]).with_hidden([hidden]).all().map_err(|e| other("count commits", &e))?;
            walk.map(|step| step.map(|_| 1).map_err(|e| other("count commits", &e))).sum()
        };
        Ok(Distance { ahead: count(here, there)?, behind: count(there, here)? })
    }

    /// Files below a folder that differ in a worktree: uncommitted ones, and those that its branch has changed since it left
    /// `main`.
    pub fn edited_in(&self, worktree: &Worktree, folder: &str, main: &str) -> Result<Vec<String>, GitError> {
        if worktree.missing {
            return Ok(Vec::new());
        }
        let repo = gix::open(&worktree.path).map_err(|e| other("open the worktree", &e))?;
        let mut found = changed_in(&repo, &[folder])?;
        let tips = repo.head_id().ok().map(gix::Id::detach).zip(self.commit_of(main).ok());
        let base = tips.and_then(|(head, main)| Some((head, self.inner.merge_base(head, main).ok()??.detach())));
        if let Some((head, base)) = base {
            let inside = |path: &gix::bstr::BString| path.starts_with(format!("{folder}/").as_bytes());
            let touched = touched(&self.inner, base, head)?;
            found.extend(touched.iter().filter(|touch| inside(&touch.path)).map(|touch| touch.path.to_string()));
        }
        found.sort();
        found.dedup();
        Ok(found)
    }

    pub fn is_dirty(&self, worktree: &Worktree) -> Option<bool> {
        gix::open(&worktree.path).ok().map(|repo| !is_clean(&repo))
    }

    /// Unregisters a worktree whose folder is missing or incomplete; no file in it is touched.
    pub fn forget_missing(&self, path: &Path) -> Result<bool, GitError> {
        let Some(worktree) = self.worktree_at(path)?.filter(|there| there.missing && there.locked.is_none()) else {
            return Ok(false);
        };
        let doing = "unregister the worktree";
        let proxies = self.inner.worktrees().map_err(|e| other(doing, &e))?;
        let wanted = proxies.into_iter().find(|proxy| proxy.base().is_ok_and(|base| real(&base) == worktree.path));
        let Some(proxy) = wanted else { return Ok(false) };
        std::fs::remove_dir_all(proxy.git_dir()).map_err(|e| other(doing, &e))?;
        Ok(true)
    }

    pub fn remove_worktree(&self, path: &Path, force: bool) -> Result<(), GitError> {
        let force = if force { Force::OverrideLock } else { Force::Never };
        self.inner.remove_worktree(path, force, gix::progress::Discard).map_err(|e| other("remove the worktree", &e))
    }

    /// Deletes a branch if all of its commits are in `main`.
    pub fn delete_merged_branch(&self, branch: &str, main: &str) -> Result<bool, GitError> {
        if !self.has_branch(branch) || branch == main || self.distance(branch, main)?.ahead > 0 {
            return Ok(false);
        }
        let name: FullName = format!("refs/heads/{branch}").try_into().map_err(|e| other("resolve the branch", &e))?;
        let tip = self.commit_of(branch)?;
        self.delete_branch(name, tip).map(|()| true)
    }

    pub fn lock_worktree(&self, path: &Path, reason: Option<&str>) -> Result<bool, GitError> {
        let doing = "lock the worktree";
        let wanted = real(path);
        let proxies = self.inner.worktrees().map_err(|e| other(doing, &e))?;
        let Some(proxy) = proxies.into_iter().find(|proxy| proxy.base().is_ok_and(|base| real(&base) == wanted)) else {
            return Ok(false);
        };
        proxy.set_lock(reason.map(Into::into)).map_err(|e| other(doing, &e))?;
        Ok(true)
    }

    /// Refuses revisions that gix would check out incorrectly, before anything is created.
    pub fn refuse_unsupported(&self, start: &str) -> Result<(), GitError> {
        let commit = self.commit_of(start)?;
        let tree = self
            .inner
            .find_commit(commit)
            .and_then(|commit| commit.tree())
            .map_err(|e| other("read that revision", &e))?;
        let entries = tree.traverse().breadthfirst.files().map_err(|e| other("read the files of that revision", &e))?;
        for entry in entries.iter().filter(|entry| entry.filepath.ends_with(b".gitattributes")) {
            let text = self.inner.find_blob(entry.oid).map_err(|e| other("read the attributes", &e))?;
            let text = String::from_utf8_lossy(&text.data).to_lowercase();
            if text
                .lines()
                .any(|line| !line.trim_start().starts_with('#') && line.contains("working-tree-encoding=utf-16"))
            {
                return Err(GitError::Unsupported(format!("{} sets working-tree-encoding=UTF-16", entry.filepath)));
            }
        }
        Ok(())
    }
}

/// Whether nothing is staged, changed or untracked. An error counts as a change, to be safe.
fn is_clean(repo: &gix::Repository) -> bool {
    let changes = || -> Result<bool, Box<dyn std::error::Error>> {
        let walk = repo.dirwalk_options()?;
        let mut status = repo
            .status(gix::progress::Discard)?
            .index_worktree_options_mut(|options| options.dirwalk_options = Some(walk))
            .untracked_files(gix::status::UntrackedFiles::Collapsed)
            .tree_index_track_renames(gix::status::tree_index::TrackRenames::Disabled)
            .index_worktree_rewrites(None)
            .into_iter(None)?;
        Ok(status.next().is_some())
    };
    changes().is_ok_and(|changed| !changed)
}

/// The path with symbolic links resolved, as far as it exists.
fn real(path: &Path) -> PathBuf {
    let whole = gix::path::realpath(path).or_else(|_| path.canonicalize());
    whole.unwrap_or_else(|_| path.to_owned())
}

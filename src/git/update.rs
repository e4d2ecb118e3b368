//! Moves a branch forward together with the worktree in which it is checked out. Everything is checked first, no change is
//! lost, and if the process is killed, the next command completes the update. Callers hold the board's lock.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::index::entry::{Mode, Stat};
use gix::refs::transaction::{PreviousValue, RefEdit};
use gix::refs::{FullName, Target};
use serde::{Deserialize, Serialize};

use super::commit::refuse_underway;
use super::files::{Entry, Files, Touched};
use super::index::{self, At, Entries, IndexLock};
use super::merge::{MergeFiles, Settled};
use super::repository::{GitError, Repository, other};
use crate::fs;

const DOING: &str = "update the worktree";

/// An update in progress, stored on disk until it is complete.
#[derive(Debug, Serialize, Deserialize)]
struct BegunUpdate {
    /// The worktree in which the branch is checked out.
    worktree: PathBuf,
    branch: String,
    old: String,
    new: String,
    log: String,
}

impl Repository {
    /// Moves `branch` from `old` to `new`. If it is checked out, the files that differ between the two are written and the index
    /// is updated; other staged or unstaged changes stay. Refused before anything is written if one of these files is not as in
    /// `old`.
    pub(super) fn forward(
        &self,
        branch: &str,
        old: gix::ObjectId,
        new: gix::ObjectId,
        log: &str,
    ) -> Result<(), GitError> {
        let name: FullName = format!("refs/heads/{branch}").try_into().map_err(|e| other("resolve the branch", &e))?;
        let Some(holder) = self.holder(&name)? else {
            let edit = RefEdit::update(name, new, PreviousValue::MustExistAndMatch(Target::Object(old)), log);
            return self.moving(&self.inner, edit, branch, old);
        };
        refuse_unfit(&holder, branch)?;
        self.refuse_unsupported(&new.to_string())?;
        let lock = IndexLock::take(&holder)?;
        let index = index::open(&holder)?;
        let touched = touched(&holder, old, new)?;
        refuse_in_the_way(&holder.clone().with_object_memory(), &index, &touched)?;
        let worktree = holder.workdir().unwrap_or(&self.root).to_owned();
        let begun = BegunUpdate {
            worktree,
            branch: branch.to_owned(),
            old: old.to_string(),
            new: new.to_string(),
            log: log.to_owned(),
        };
        let text = toml::to_string(&begun).expect("a record is a flat table");
        let doing = |e: fs::FsError| other(DOING, &e);
        fs::make_dir(&self.common.join("ralph")).map_err(doing)?;
        fs::replace(&self.begun_path(), text.as_bytes(), true).map_err(doing)?;
        self.carry_out(&holder, lock, index, &touched, &begun, None)
    }

    /// Whether there is an incomplete update.
    pub fn has_begun(&self) -> bool {
        self.begun_path().exists()
    }

    /// Whether a killed process has left something to complete or remove.
    pub fn needs_care(&self) -> bool {
        self.has_begun() || IndexLock::is_left(&self.inner)
    }

    /// Completes the update of a killed process. `files` merges changes that somebody made in between.
    pub fn complete(&self, files: &dyn MergeFiles) -> Result<(), GitError> {
        IndexLock::recover(&self.inner);
        let Some(text) = fs::read_text(&self.begun_path()).map_err(|e| other(DOING, &e))? else { return Ok(()) };
        let Ok(begun) = toml::from_str::<BegunUpdate>(&text) else { return self.forget_begun() };
        let ids =
            gix::ObjectId::from_hex(begun.old.as_bytes()).ok().zip(gix::ObjectId::from_hex(begun.new.as_bytes()).ok());
        let (Some((old, new)), Ok(holder)) = (ids, gix::open(&begun.worktree)) else { return self.forget_begun() };
        let on = holder.head_name().ok().flatten().is_some_and(|name| name.shorten() == begun.branch.as_str());
        let head = holder.head_id().ok().map(gix::Id::detach);
        // The worktree has another branch or commit by now, so its files are not touched.
        if !on || (head != Some(old) && head != Some(new)) {
            IndexLock::recover(&holder);
            return self.forget_begun();
        }
        refuse_unfit(&holder, &begun.branch)?;
        let lock = IndexLock::take(&holder)?;
        let index = index::open(&holder)?;
        let touched = touched(&holder, old, new)?;
        self.carry_out(&holder, lock, index, &touched, &begun, Some(files))
    }

    fn begun_path(&self) -> PathBuf {
        self.common.join("ralph/forward.toml")
    }

    fn forget_begun(&self) -> Result<(), GitError> {
        fs::remove(&self.begun_path()).map_err(|e| other(DOING, &e))
    }

    fn carry_out(
        &self,
        holder: &gix::Repository,
        lock: IndexLock,
        mut index: gix::index::File,
        touched: &[Touched],
        begun: &BegunUpdate,
        resumed: Option<&dyn MergeFiles>,
    ) -> Result<(), GitError> {
        let probe = holder.clone().with_object_memory();
        let entries = match write_files(&probe, &index, touched, resumed) {
            Ok(entries) => entries,
            Err(error) => {
                // The written files have been restored, so there is nothing to complete.
                if resumed.is_none() {
                    self.forget_begun()?;
                }
                return Err(error);
            }
        };
        let id = |text: &str| gix::ObjectId::from_hex(text.as_bytes()).map_err(|e| other(DOING, &e));
        let (old, new) = (id(&begun.old)?, id(&begun.new)?);
        if holder.head_id().ok().map(gix::Id::detach) != Some(new) {
            let head = "HEAD".try_into().map_err(|e| other("resolve HEAD", &e))?;
            let expected = PreviousValue::MustExistAndMatch(Target::Object(old));
            let edit = RefEdit::update(head, new, expected, begun.log.as_str()).with_deref(true);
            self.moving(holder, edit, &begun.branch, old)?;
        }
        index::put(&mut index, entries);
        lock.write(&mut index)?;
        self.forget_begun()
    }

    fn moving(&self, repo: &gix::Repository, edit: RefEdit, branch: &str, old: gix::ObjectId) -> Result<(), GitError> {
        let moved = self.edit_reference(repo, edit, "update the branch").map(|_| ());
        let elsewhere = || self.commit_of(&format!("refs/heads/{branch}")).is_ok_and(|tip| tip != old);
        moved.map_err(|error| if elsewhere() { GitError::Moved(branch.to_owned()) } else { error })
    }

    /// The worktree in which a branch is checked out, if any.
    fn holder(&self, name: &FullName) -> Result<Option<gix::Repository>, GitError> {
        let has = |repo: &gix::Repository| repo.head_name().ok().flatten().is_some_and(|head| head == *name);
        let main = self.main()?;
        if has(&main) {
            return Ok(Some(main));
        }
        let linked = self.inner.worktrees().map_err(|e| other("list the worktrees", &e))?;
        for proxy in linked {
            let Ok(repo) = proxy.into_repo_with_possibly_inaccessible_worktree() else { continue };
            if has(&repo) {
                let there = repo.workdir().is_some_and(Path::is_dir);
                return if there { Ok(Some(repo)) } else { Err(GitError::Unsupported(lost(name))) };
            }
        }
        Ok(None)
    }
}

/// Refuses worktrees that gix cannot update in the same way as git.
fn refuse_unfit(holder: &gix::Repository, branch: &str) -> Result<(), GitError> {
    refuse_underway(holder)?;
    if holder.config_snapshot().boolean("core.sparseCheckout") == Some(true) {
        return Err(GitError::Unsupported(format!("the worktree of {branch} is a sparse checkout")));
    }
    Ok(())
}

fn lost(name: &FullName) -> String {
    format!("{} is checked out in a worktree whose folder is missing", name.shorten())
}

/// All paths that differ between two commits.
pub(super) fn touched(
    repo: &gix::Repository,
    old: gix::ObjectId,
    new: gix::ObjectId,
) -> Result<Vec<Touched>, GitError> {
    let (old, new) = (files_of(repo, old)?, files_of(repo, new)?);
    let paths: BTreeSet<&BString> = old.keys().chain(new.keys()).collect();
    let differs = |path: &&BString| old.get(*path) != new.get(*path);
    let touch =
        |path: &BString| Touched { path: path.clone(), old: old.get(path).copied(), new: new.get(path).copied() };
    Ok(paths.into_iter().filter(differs).map(touch).collect())
}

pub(super) fn files_of(
    repo: &gix::Repository,
    commit: gix::ObjectId,
) -> Result<BTreeMap<BString, (Mode, gix::ObjectId)>, GitError> {
    let doing = "read a commit";
    let tree = repo.find_object(commit).and_then(gix::Object::peel_to_tree).map_err(|e| other(doing, &e))?;
    let index = repo.index_from_tree(&tree.id).map_err(|e| other(doing, &e))?;
    let backing = index.path_backing();
    Ok(index.entries().iter().map(|entry| (entry.path_in(backing).to_owned(), (entry.mode, entry.id))).collect())
}

/// Refuses if files cannot be written, and names all of them.
fn refuse_in_the_way(repo: &gix::Repository, index: &gix::index::File, touched: &[Touched]) -> Result<(), GitError> {
    let mut files = Files::new(repo, index)?;
    let gone: BTreeSet<&BStr> = touched.iter().filter(|t| t.new.is_none()).map(|t| t.path.as_bstr()).collect();
    let mut found = Vec::new();
    for Touched { path, old, new } in touched {
        let staged = match index::at(index, path.as_ref()) {
            At::Nothing => None,
            At::Entry(id, mode) => Some((mode, id)),
            At::Unmerged => {
                found.push(path.to_string());
                continue;
            }
        };
        let free = match old {
            Some((Mode::COMMIT, _)) => staged == *old,
            Some(_) => staged == *old && files.look(path.as_ref())? == *old,
            None if staged.is_some() && staged != *new => false,
            None => files.is_free(path.as_ref(), &gone)? || files.look(path.as_ref())? == *new,
        };
        if !free {
            found.push(path.to_string());
        }
    }
    if found.is_empty() { Ok(()) } else { Err(GitError::InTheWay(found)) }
}

/// Removals first, to make room; then `.gitattributes`, which determine how files are written; then all other files.
fn in_order(touched: &[Touched]) -> Vec<Touched> {
    let is_attributes = |touch: &&Touched| touch.path.ends_with(b".gitattributes");
    let removed = touched.iter().filter(|touch| touch.new.is_none());
    let attributes = touched.iter().filter(|touch| touch.new.is_some()).filter(is_attributes);
    let rest = touched.iter().filter(|touch| touch.new.is_some() && !is_attributes(touch));
    removed.chain(attributes).chain(rest).cloned().collect()
}

/// Writes new files, and removes deleted ones.
fn write_files(
    repo: &gix::Repository,
    index: &gix::index::File,
    touched: &[Touched],
    resumed: Option<&dyn MergeFiles>,
) -> Result<Entries, GitError> {
    let ordered = in_order(touched);
    let with_attributes =
        ordered.iter().rposition(|touch| touch.path.ends_with(b".gitattributes")).map_or(0, |at| at + 1);
    let (first, rest) = ordered.split_at(with_attributes);
    let mut stats = Vec::new();
    // The new attributes only apply to the files that are opened after they were written.
    for (part, others) in [(first, &[][..]), (rest, first)] {
        let mut files = Files::new(repo, index)?;
        let (part, known) = settle(repo, &mut files, part, resumed)?;
        match files.replace_all(&part) {
            Ok(written) => stats.extend(part.into_iter().zip(written)),
            Err(error) => {
                let back: Vec<Touched> = others.iter().rev().map(Touched::inverse).collect();
                let _ = Files::new(repo, index)?.replace_all(&back);
                return Err(error);
            }
        }
        stats.extend(known.into_iter().map(|touch| (touch, Stat::default())));
    }
    let entry = |(touch, stat): (Touched, Stat)| {
        let entry = touch.new.map(|(mode, id)| (stat, id, mode));
        (touch.path, entry)
    };
    Ok(stats.into_iter().map(entry).collect())
}

/// Splits the paths after a kill into those that must still be written, and those that are written already or were changed
/// by somebody since.
fn settle(
    repo: &gix::Repository,
    files: &mut Files<'_>,
    touched: &[Touched],
    resumed: Option<&dyn MergeFiles>,
) -> Result<(Vec<Touched>, Vec<Touched>), GitError> {
    let Some(merger) = resumed else { return Ok((touched.to_vec(), Vec::new())) };
    let (mut left, mut known) = (Vec::new(), Vec::new());
    for touch in touched {
        files.clear_aside(touch)?;
        let there = files.look(touch.path.as_ref())?;
        if there == touch.new {
            known.push(touch.clone());
        } else if there == touch.old || there.is_none() {
            left.push(Touched { old: there, ..touch.clone() });
        } else {
            merge_in(repo, merger, touch, &files.path(touch.path.as_ref()))?;
            known.push(touch.clone());
        }
    }
    Ok((left, known))
}

/// Merges the new content into a file that somebody changed after the kill, if the board's rules can merge it.
fn merge_in(repo: &gix::Repository, merger: &dyn MergeFiles, touch: &Touched, path: &Path) -> Result<(), GitError> {
    let name = touch.path.to_str_lossy();
    if !merger.covers(&name) {
        return Ok(());
    }
    let blob = |side: Option<Entry>| -> Result<Option<Vec<u8>>, GitError> {
        side.map(|(_, id)| repo.find_blob(id).map(|blob| blob.data.clone()).map_err(|e| other(DOING, &e))).transpose()
    };
    let there = fs::read(path).map_err(|e| other(DOING, &e))?;
    let (old, new) = (blob(touch.old)?, blob(touch.new)?);
    match merger.merge(&name, old.as_deref(), there.as_deref(), new.as_deref()) {
        Settled::Is(merged) => fs::replace(path, &merged, true).map_err(|e| other(DOING, &e)),
        Settled::Gone | Settled::Open => Ok(()),
    }
}

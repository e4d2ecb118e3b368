//! Merges two commits in memory: code as git does, the board's files by the board's own rules.

use std::collections::{BTreeMap, BTreeSet};

use gix::bstr::{BString, ByteSlice as _};
use gix::index::entry::Mode;
use gix::merge::tree::TreatAsUnresolved;
use gix::objs::tree::EntryKind;

use super::files::Entry;
use super::repository::{GitError, Repository, other};
use super::update::files_of;

const DOING: &str = "merge";

/// The result for a file that both sides have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled<T> {
    Is(T),
    Gone,
    /// A conflict, which only a person can resolve.
    Open,
}

impl<T> Settled<T> {
    /// The result if only this side counts.
    pub fn side(there: Option<T>) -> Self {
        there.map_or(Self::Gone, Self::Is)
    }
}

/// Merges the files of the board.
pub trait MergeFiles {
    fn covers(&self, path: &str) -> bool;

    fn merge(&self, path: &str, base: Option<&[u8]>, ours: Option<&[u8]>, theirs: Option<&[u8]>) -> Settled<Vec<u8>>;

    /// The path to which a file can be moved (the archive), if there is one.
    fn moves_to(&self, path: &str) -> Option<String>;
}

/// The result of a merge of two commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MergedTree {
    pub tree: gix::ObjectId,
    /// Paths with conflicts.
    pub conflicts: Vec<String>,
}

type Files = BTreeMap<BString, Entry>;

/// The three sides of a merge.
struct Sides {
    base: Files,
    ours: Files,
    theirs: Files,
}

impl Repository {
    pub(super) fn merged_tree(
        &self,
        ours: gix::ObjectId,
        theirs: gix::ObjectId,
        files: &dyn MergeFiles,
    ) -> Result<MergedTree, GitError> {
        let mut repo = self.inner.clone();
        // Git would run the merge driver for each task file; here the same is done without processes.
        let mut settings = repo.config_snapshot_mut();
        settings.remove_section("merge", Some("ralph".into()));
        settings.commit().map_err(|e| other(DOING, &e))?;
        let options = repo.tree_merge_options().map_err(|e| other(DOING, &e))?;
        let labels = gix::merge::blob::builtin_driver::text::Labels::default();
        let outcome = repo.merge_commits(ours, theirs, labels, options.into()).map_err(|e| other(DOING, &e))?;
        let how = TreatAsUnresolved::git();
        let open = outcome.tree_merge.conflicts.iter().filter(|conflict| conflict.is_unresolved(how));
        let path = |change: &gix::diff::tree_with_rewrites::Change| change.location().to_str_lossy().into_owned();
        let mut conflicts: Vec<String> =
            open.map(|conflict| path(&conflict.ours)).filter(|path| !files.covers(path)).collect();
        let sides = Sides {
            base: files_of(&repo, outcome.merge_base_tree_id)?,
            ours: files_of(&repo, ours)?,
            theirs: files_of(&repo, theirs)?,
        };
        let mut tree = outcome.tree_merge.tree;
        for (path, decided) in sides.decide(&repo, files)? {
            match decided {
                Settled::Is((mode, id)) => tree.upsert(&path, kind_of(mode), id).map(|_| ()),
                Settled::Gone => tree.remove(&path).map(|_| ()),
                Settled::Open => {
                    conflicts.push(path.to_string());
                    Ok(())
                }
            }
            .map_err(|e| other(DOING, &e))?;
        }
        conflicts.sort();
        conflicts.dedup();
        if !conflicts.is_empty() {
            return Ok(MergedTree { tree: gix::ObjectId::empty_tree(repo.object_hash()), conflicts });
        }
        let tree = tree.write().map_err(|e| other(DOING, &e))?.detach();
        Ok(MergedTree { tree, conflicts })
    }
}

type Decided = BTreeMap<BString, Settled<Entry>>;

impl Sides {
    /// The result for each file of the board that differs between the sides.
    fn decide(&self, repo: &gix::Repository, files: &dyn MergeFiles) -> Result<Decided, GitError> {
        let all: BTreeSet<&BString> = self.base.keys().chain(self.ours.keys()).chain(self.theirs.keys()).collect();
        let mut decided = Decided::new();
        for path in all.into_iter().filter(|path| files.covers(&path.to_str_lossy())) {
            let (base, ours, theirs) = (self.base.get(path), self.ours.get(path), self.theirs.get(path));
            if base == ours && ours == theirs || decided.contains_key(path) {
                continue;
            }
            if ours == theirs || base == theirs {
                decided.insert(path.clone(), Settled::side(ours.copied()));
            } else if base == ours {
                decided.insert(path.clone(), Settled::side(theirs.copied()));
            } else if let Some((elsewhere, merged)) = self.moved(repo, files, path)? {
                decided.insert(path.clone(), Settled::Gone);
                decided.insert(elsewhere, merged);
            } else {
                let merged = merge_blobs(repo, files, path, [base, ours, theirs])?;
                decided.insert(path.clone(), merged);
            }
        }
        Ok(decided)
    }

    /// Merges a file that one side has moved and the other has changed: the change is applied to the moved file.
    fn moved(
        &self,
        repo: &gix::Repository,
        files: &dyn MergeFiles,
        path: &BString,
    ) -> Result<Option<(BString, Settled<Entry>)>, GitError> {
        let Some(elsewhere) = files.moves_to(&path.to_str_lossy()).map(BString::from) else { return Ok(None) };
        let base = self.base.get(path);
        let sides = match (self.ours.get(path), self.theirs.get(path)) {
            (None, Some(theirs)) => [base, self.ours.get(&elsewhere), Some(theirs)],
            (Some(ours), None) => [base, Some(ours), self.theirs.get(&elsewhere)],
            _ => return Ok(None),
        };
        if sides.iter().any(Option::is_none) {
            return Ok(None);
        }
        let merged = merge_blobs(repo, files, &elsewhere, sides)?;
        Ok(Some((elsewhere, merged)))
    }
}

fn merge_blobs(
    repo: &gix::Repository,
    files: &dyn MergeFiles,
    path: &BString,
    sides: [Option<&Entry>; 3],
) -> Result<Settled<Entry>, GitError> {
    let mode = sides[1].or(sides[2]).map_or(Mode::FILE, |(mode, _)| *mode);
    let mut texts = Vec::new();
    for side in sides {
        let blob = side.map(|(_, id)| repo.find_blob(*id).map(|blob| blob.data.clone())).transpose();
        texts.push(blob.map_err(|e| other(DOING, &e))?);
    }
    let [base, ours, theirs] = [0, 1, 2].map(|at| texts[at].as_deref());
    Ok(match files.merge(&path.to_str_lossy(), base, ours, theirs) {
        Settled::Open => Settled::Open,
        Settled::Gone => Settled::Gone,
        Settled::Is(text) => {
            let id = repo.write_blob(text).map_err(|e| other(DOING, &e))?.detach();
            Settled::Is((mode, id))
        }
    })
}

fn kind_of(mode: Mode) -> EntryKind {
    match mode {
        Mode::FILE_EXECUTABLE => EntryKind::BlobExecutable,
        Mode::SYMLINK => EntryKind::Link,
        Mode::COMMIT => EntryKind::Commit,
        _ => EntryKind::Blob,
    }
}

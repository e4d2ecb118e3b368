//! Reads the files of a folder at another revision.

use std::collections::BTreeMap;
use std::path::Path;

use gix::bstr::ByteSlice as _;
use gix::objs::FindExt as _;
use gix::objs::tree::EntryMode;

use super::repository::{GitError, Repository, other};
use crate::os::files;

/// A file of another revision, with its path below the requested folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OldFile {
    pub path: String,
    /// The content; for a link, its target.
    pub content: Vec<u8>,
    pub is_link: bool,
}

/// The last operation of git, according to its own files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitHand {
    pub head: Option<String>,
    pub index: Option<(u64, i64)>,
}

/// One move of a branch, from a commit to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchMove {
    pub old: String,
    pub new: String,
    /// The time in seconds since 1970; none if the reflog does not contain the move.
    pub at: Option<i64>,
    /// Its message in the reflog.
    pub how: String,
}

impl BranchMove {
    /// Whether it is a merge that ralph made.
    pub fn is_landing(&self) -> bool {
        self.how.starts_with(LANDING)
    }
}

/// The prefix of ralph's own merges in a reflog.
pub(super) const LANDING: &str = "ralph merge ";

impl Repository {
    /// All files below `folder` at a branch, tag or commit; none if it has no such folder. Nothing is checked out.
    pub fn files_at(&self, revision: &str, folder: &str) -> Result<Vec<OldFile>, GitError> {
        let unknown = |_| GitError::NoRevision(revision.to_owned());
        let id = self.here.rev_parse_single(revision).map_err(unknown)?;
        let commit = id.object().and_then(gix::Object::peel_to_commit).map_err(unknown)?;
        let tree = commit.tree().map_err(|e| other("read the tree of that revision", &e))?;
        let entry = tree.lookup_entry_by_path(folder).map_err(|e| other("find the folder", &e))?;
        let mut files = Vec::new();
        if let Some(entry) = entry.filter(|entry| entry.mode().is_tree()) {
            self.collect(entry.object_id(), "", &mut files)?;
        }
        Ok(files)
    }

    /// One file at a branch, tag or commit; `None` if it has no such file, or if there is no commit yet.
    pub fn file_at(&self, revision: &str, path: &str) -> Result<Option<Vec<u8>>, GitError> {
        let Ok(id) = self.inner.rev_parse_single(revision) else { return Ok(None) };
        let doing = "read a file of that revision";
        let commit = id.object().and_then(gix::Object::peel_to_commit).map_err(|e| other(doing, &e))?;
        let tree = commit.tree().map_err(|e| other(doing, &e))?;
        let Some(entry) = tree.lookup_entry_by_path(path).map_err(|e| other(doing, &e))? else { return Ok(None) };
        let blob = self.inner.find_blob(entry.object_id()).map_err(|e| other(doing, &e))?;
        Ok(Some(blob.data.clone()))
    }

    /// The author of the last commit before HEAD that changed a file, and the file's content at HEAD.
    pub fn last_author(&self, path: &str) -> Result<Option<(String, Vec<u8>)>, GitError> {
        let doing = "find who changed a file";
        let Some(content) = self.file_at("HEAD", path)? else { return Ok(None) };
        let head = self.inner.head_id().map_err(|e| other(doing, &e))?;
        let entry = |commit: &gix::Commit<'_>| -> Result<Option<gix::ObjectId>, GitError> {
            let tree = commit.tree().map_err(|e| other(doing, &e))?;
            let found = tree.lookup_entry_by_path(path).map_err(|e| other(doing, &e))?;
            Ok(found.map(|entry| entry.object_id()))
        };
        for step in self.inner.rev_walk([head.detach()]).all().map_err(|e| other(doing, &e))? {
            let step = step.map_err(|e| other(doing, &e))?;
            let commit = step.object().map_err(|e| other(doing, &e))?;
            let here = entry(&commit)?;
            let mut kept = false;
            for parent in commit.parent_ids() {
                let parent = parent.object().map_err(|e| other(doing, &e))?;
                kept |= entry(&parent.peel_to_commit().map_err(|e| other(doing, &e))?)? == here;
            }
            if !kept {
                let author = commit.author().map_err(|e| other(doing, &e))?;
                return Ok(Some((author.name.to_string(), content)));
            }
        }
        Ok(None)
    }

    /// Whether the reflog of a branch contains a commit.
    pub fn was_at(&self, branch: &str, commit: &str) -> bool {
        let Ok(reference) = self.inner.find_reference(&format!("refs/heads/{branch}")) else { return false };
        let mut log = reference.log_iter();
        let Ok(Some(lines)) = log.all() else { return false };
        lines.flatten().any(|line| line.new_oid == commit.as_bytes() || line.previous_oid == commit.as_bytes())
    }

    /// The moves of a branch since a commit, from its reflog. A move that is missing there is added as the last one.
    pub fn moves_since(&self, branch: &str, tip: &str) -> Result<Vec<BranchMove>, GitError> {
        let doing = "read the log of a branch";
        let now = self.tip_of(branch)?;
        let reference = self.inner.find_reference(&format!("refs/heads/{branch}")).map_err(|e| other(doing, &e))?;
        let mut moves: Vec<BranchMove> = Vec::new();
        let mut log = reference.log_iter();
        for line in log.all().map_err(|e| other(doing, &e))?.into_iter().flatten() {
            let line = line.map_err(|e| other(doing, &e))?;
            moves.push(BranchMove {
                old: line.previous_oid.to_string(),
                new: line.new_oid.to_string(),
                at: line.signature.time().ok().map(|time| time.seconds),
                how: line.message.to_string(),
            });
        }
        let last = moves.iter().rposition(|step| step.new == tip).map_or(0, |found| found + 1);
        moves.drain(..last);
        let reached = moves.last().map_or(tip, |step| &step.new).to_owned();
        if reached != now {
            moves.push(BranchMove { old: reached, new: now, at: None, how: String::new() });
        }
        Ok(moves)
    }

    /// A value that changes whenever git writes files of the main worktree, as in a checkout, a merge or a stash.
    pub fn hand(&self) -> GitHand {
        let Ok(main) = self.main() else { return GitHand::default() };
        GitHand { head: main.head_id().ok().map(|id| id.to_string()), index: stamp(&main.index_path()) }
    }

    /// The objects of the files in a folder according to the index, by name.
    pub fn objects_in_index(&self, folder: &str) -> Result<BTreeMap<String, String>, GitError> {
        let index = super::index::open(&self.main()?)?;
        let prefix = format!("{folder}/");
        let entries = index.prefixed_entries(prefix.as_str().into()).unwrap_or_default();
        let backing = index.path_backing();
        let name = |path: &gix::bstr::BStr| path.to_str_lossy().trim_start_matches(&prefix).to_owned();
        Ok(entries.iter().map(|entry| (name(entry.path_in(backing)), entry.id.to_string())).collect())
    }

    /// Whether git is writing files of the main worktree now.
    pub fn is_at_work(&self) -> bool {
        self.main().is_ok_and(|main| main.index_path().with_extension("lock").exists())
    }

    /// Whether git has not written its index since then and does not hold its lock. Git locks the index before it writes files.
    pub fn is_untouched_since(&self, hand: &GitHand) -> bool {
        self.main().ok().is_none_or(|main| {
            !main.index_path().with_extension("lock").exists() && stamp(&main.index_path()) == hand.index
        })
    }

    /// The id of the object that a text would have.
    pub fn object_name(&self, text: &str) -> String {
        let hash = gix::objs::compute_hash(self.inner.object_hash(), gix::objs::Kind::Blob, text.as_bytes());
        hash.map(|id| id.to_string()).unwrap_or_default()
    }

    fn collect(&self, tree: gix::ObjectId, path: &str, files: &mut Vec<OldFile>) -> Result<(), GitError> {
        let mut buffer = Vec::new();
        let entries: Vec<(String, gix::ObjectId, EntryMode)> = self
            .inner
            .objects
            .find_tree_iter(&tree, &mut buffer)
            .map_err(|e| other("read a tree", &e))?
            .filter_map(Result::ok)
            .filter(|entry| entry.mode.is_tree() || entry.mode.is_blob_or_symlink())
            .map(|entry| (format!("{path}{}", entry.filename), entry.oid.to_owned(), entry.mode))
            .collect();
        for (name, id, mode) in entries {
            if mode.is_tree() {
                self.collect(id, &format!("{name}/"), files)?;
                continue;
            }
            let mut content = Vec::new();
            let blob = self
                .inner
                .objects
                .find_blob(&id, &mut content)
                .map_err(|e| other("read a file of that revision", &e))?;
            let content = blob.data.to_vec();
            files.push(OldFile { path: name, content, is_link: mode.is_link() });
        }
        Ok(())
    }
}

fn stamp(index: &Path) -> Option<(u64, i64)> {
    std::fs::metadata(index).ok().map(|meta| (files::identity(&meta), files::mtime(&meta)))
}

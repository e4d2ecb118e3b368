//! Commits some paths of the main worktree, and leaves all other staged and unstaged changes alone.

use std::collections::BTreeSet;
use std::path::Path;

use gix::bstr::{BString, ByteSlice as _};
use gix::index::entry::{Mode, Stat};
use gix::objs::tree::EntryKind;
use gix::refs::Target;
use gix::refs::transaction::{PreviousValue, RefEdit};

use super::index::{self, Entries, IndexLock};
use super::program;
use super::repository::{GitError, Repository, other};
use super::said::said_by_signer;

/// Hooks of a commit. gix runs no hooks, so if one of these exists, the git program makes the commit.
const HOOKS: [&str; 4] = ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCommit {
    pub id: String,
    pub paths: Vec<String>,
}

/// A file of the worktree, to be compared with HEAD.
struct FoundPath {
    path: BString,
    entry: Option<(Stat, gix::ObjectId, Mode, EntryKind)>,
}

impl Repository {
    /// All paths in these folders of the main worktree that differ from HEAD: staged, unstaged and untracked.
    pub fn changed_paths(&self, folders: &[&str]) -> Result<Vec<String>, GitError> {
        let repo = self.main()?;
        changed_in(&repo, folders)
    }

    /// Commits these paths as they are in the main worktree, on the branch that is checked out there.
    /// `None` if they do not differ from HEAD. Callers hold the board's lock.
    pub fn commit_paths(&self, paths: &[String], message: &str) -> Result<Option<NewCommit>, GitError> {
        let repo = self.main()?;
        refuse_underway(&repo)?;
        if repo.head_name().map_err(|e| other("read HEAD", &e))?.is_none() {
            return Err(GitError::Detached);
        }
        self.refuse_linked_folders(paths)?;
        if !self.hooks(&HOOKS).is_empty() {
            return self.commit_by_git(&repo, paths, message);
        }
        let lock = IndexLock::take(&repo)?;
        let mut index = index::open(&repo)?;
        let found = self.found(&repo, paths, &index)?;
        // HEAD is read once, so that the new commit's parent is the commit that its tree is made from.
        let parent = repo.head_id().ok().map(gix::Id::detach);
        let head = match parent {
            Some(parent) => repo.find_commit(parent).and_then(|commit| Ok(commit.tree_id()?.detach())),
            None => Ok(gix::ObjectId::empty_tree(repo.object_hash())),
        };
        let head = head.map_err(|e| other("read HEAD", &e))?;
        let mut tree = repo.edit_tree(head).map_err(|e| other("read HEAD", &e))?;
        for FoundPath { path, entry } in &found {
            match entry {
                Some((_, id, _, kind)) => tree.upsert(path, *kind, *id),
                None => tree.remove(path),
            }
            .map_err(|e| other("create the tree", &e))?;
        }
        let tree = tree.write().map_err(|e| other("create the tree", &e))?.detach();
        let entries: Entries = found
            .into_iter()
            .map(|found| (found.path, found.entry.map(|(stat, id, mode, _)| (stat, id, mode))))
            .collect();
        index::put(&mut index, entries);
        // Written before HEAD moves: after a kill in between, the changes are staged. Otherwise, their reversal would be staged.
        lock.write(&mut index)?;
        let made = if tree == head { None } else { Some(self.commit_tree(&repo, tree, parent, message)?) };
        Ok(made.map(|id| NewCommit { id: id.to_string(), paths: paths.to_vec() }))
    }

    /// Refuses paths behind a link, because git does not store files there.
    fn refuse_linked_folders(&self, paths: &[String]) -> Result<(), GitError> {
        let folders: BTreeSet<&Path> = paths.iter().flat_map(|path| Path::new(path).ancestors().skip(1)).collect();
        let mut linked = folders.iter().filter(|folder| self.root.join(folder).is_symlink());
        let itself = paths.iter().find(|path| self.root.join(path).is_symlink() && self.root.join(path).is_dir());
        match linked.next().map(|folder| folder.display().to_string()).or_else(|| itself.cloned()) {
            Some(folder) => Err(GitError::LinkedFolder(folder)),
            None => Ok(()),
        }
    }

    fn found(
        &self,
        repo: &gix::Repository,
        paths: &[String],
        index: &gix::index::File,
    ) -> Result<Vec<FoundPath>, GitError> {
        let doing = "read the files to commit";
        let (mut pipeline, _) = repo.filter_pipeline(None).map_err(|e| other(doing, &e))?;
        let mut found = Vec::new();
        for path in paths {
            // Read before the content: a later write then counts as a change.
            let meta = gix::index::fs::Metadata::from_path_no_follow(&self.root.join(path)).ok();
            let object =
                pipeline.worktree_file_to_object(path.as_bytes().as_bstr(), index).map_err(|e| other(doing, &e))?;
            let stat = meta.and_then(|meta| Stat::from_fs(&meta).ok());
            let entry = object.zip(stat).map(|((id, kind, _), stat)| (stat, id, mode_of(kind), kind));
            found.push(FoundPath { path: path.as_str().into(), entry });
        }
        Ok(found)
    }

    /// Makes a commit on top of HEAD, signed if the user's settings say so, and moves HEAD to it.
    fn commit_tree(
        &self,
        repo: &gix::Repository,
        tree: gix::ObjectId,
        parent: Option<gix::ObjectId>,
        message: &str,
    ) -> Result<gix::ObjectId, GitError> {
        let id = new_commit(repo, tree, parent.into_iter().collect(), message)?;
        let expected = match parent {
            Some(parent) => PreviousValue::MustExistAndMatch(Target::Object(parent)),
            None => PreviousValue::MustNotExist,
        };
        let log = gix::reference::log::message("commit", message.as_bytes().as_bstr(), usize::from(parent.is_some()));
        // Names HEAD, not its branch, so that the reflog of HEAD gets the commit, too.
        let edit = RefEdit::update("HEAD".try_into().map_err(|e| other("resolve HEAD", &e))?, id, expected, log)
            .with_deref(true);
        self.edit_reference(repo, edit, "update HEAD")?;
        Ok(id)
    }

    /// Commits with the git program, which runs the hooks. Untracked files are added first, and removed again if git refuses.
    fn commit_by_git(
        &self,
        repo: &gix::Repository,
        paths: &[String],
        message: &str,
    ) -> Result<Option<NewCommit>, GitError> {
        let index = index::open(repo)?;
        let changed = changed_in(repo, &paths.iter().map(String::as_str).collect::<Vec<_>>())?;
        if changed.is_empty() {
            return Ok(None);
        }
        let known = |path: &&String| index.entry_by_path(path.as_bytes().as_bstr()).is_some();
        let new: Vec<String> = changed.iter().filter(|path| !known(path)).cloned().collect();
        self.with_paths(&["add", "--intent-to-add"], &new)?;
        let said = self.with_paths(&["commit", "--quiet", "--only", "-m", message], &changed);
        match said {
            Ok(()) => {
                let head = repo.head_id().map_err(|e| other("read HEAD", &e))?;
                Ok(Some(NewCommit { id: head.to_string(), paths: changed }))
            }
            Err(error) => {
                self.with_paths(&["reset", "--quiet"], &new)?;
                Err(error)
            }
        }
    }

    fn with_paths(&self, command: &[&str], paths: &[String]) -> Result<(), GitError> {
        if paths.is_empty() {
            return Ok(());
        }
        let mut git = self.program();
        git.arg("--literal-pathspecs").args(command).args(["--pathspec-from-file=-", "--pathspec-file-nul"]);
        let said = program::run(&mut git, paths.join("\0").as_bytes())?;
        if said.ok { Ok(()) } else { Err(GitError::Hook(said.reason())) }
    }
}

/// Refuses while a merge or rebase is in progress, because it uses the index.
pub(super) fn refuse_underway(repo: &gix::Repository) -> Result<(), GitError> {
    match repo.state() {
        Some(state) => Err(GitError::Underway(format!("{state:?}").to_lowercase())),
        None => Ok(()),
    }
}

pub(super) fn new_commit(
    repo: &gix::Repository,
    tree: gix::ObjectId,
    parents: Vec<gix::ObjectId>,
    message: &str,
) -> Result<gix::ObjectId, GitError> {
    let doing = "create the commit";
    let who = |found: Option<Result<gix::actor::SignatureRef<'_>, _>>| {
        found.ok_or(GitError::Nobody)?.and_then(|who| who.to_owned()).map_err(|e: gix::Error| other(doing, &e))
    };
    let commit = gix::objs::Commit {
        message: message.into(),
        tree,
        author: who(repo.author())?,
        committer: who(repo.committer())?,
        encoding: None,
        parents: parents.into_iter().collect(),
        extra_headers: Vec::new(),
    };
    let signing = repo.commit_signing_options_if_enabled().map_err(|e| GitError::Signing(e.to_string()))?;
    let commit = match signing {
        Some(options) => commit.sign(options).map_err(|e| GitError::Signing(said_by_signer(&e.to_string())))?,
        None => commit,
    };
    Ok(repo.write_object(commit).map_err(|e| other(doing, &e))?.detach())
}

pub(super) fn mode_of(kind: EntryKind) -> Mode {
    match kind {
        EntryKind::BlobExecutable => Mode::FILE_EXECUTABLE,
        EntryKind::Link => Mode::SYMLINK,
        EntryKind::Commit => Mode::COMMIT,
        EntryKind::Tree => Mode::DIR,
        EntryKind::Blob => Mode::FILE,
    }
}

pub(super) fn changed_in(repo: &gix::Repository, paths: &[&str]) -> Result<Vec<String>, GitError> {
    let doing = "compare the files with HEAD";
    let walk = repo.dirwalk_options().map_err(|e| other(doing, &e))?;
    let patterns: Vec<BString> = paths.iter().map(|path| format!(":(top,literal){path}").into()).collect();
    let status = repo
        .status(gix::progress::Discard)
        .map_err(|e| other(doing, &e))?
        .index_worktree_options_mut(|options| options.dirwalk_options = Some(walk))
        .untracked_files(gix::status::UntrackedFiles::Files)
        .tree_index_track_renames(gix::status::tree_index::TrackRenames::Disabled)
        .index_worktree_rewrites(None)
        .into_iter(patterns)
        .map_err(|e| other(doing, &e))?;
    let mut found = Vec::new();
    for item in status {
        let item = item.map_err(|e| other(doing, &e))?;
        found.push(item.location().to_str_lossy().into_owned());
    }
    found.sort();
    found.dedup();
    Ok(found)
}

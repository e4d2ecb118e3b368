//! Bringing a branch forward together with the worktree that has it checked out: all checked first, nothing lost, and
//! completed by the next command when it is killed in the middle. Callers hold the board's lock.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::index::entry::{Mode, Stat};
use gix::refs::transaction::{PreviousValue, RefEdit};
use gix::refs::{FullName, Target};
use serde::{Deserialize, Serialize};

use super::commit::{mode_of, refuse_underway};
use super::index::{self, At, Entries, IndexLock};
use super::merge::MergeFiles;
use super::repository::{GitError, Repository, other};
use crate::fs::{self, CheckOut};

const DOING: &str = "bring the worktree forward";

/// An update that has begun, on disk until it is done.
#[derive(Debug, Serialize, Deserialize)]
struct Begun {
    /// The worktree that has the branch.
    worktree: PathBuf,
    branch: String,
    old: String,
    new: String,
    log: String,
}

/// A path that differs between two commits: its mode and content before and after.
pub(super) struct Touched {
    pub path: BString,
    old: Option<(Mode, gix::ObjectId)>,
    new: Option<(Mode, gix::ObjectId)>,
}

impl Touched {
    pub fn becomes_link(&self) -> bool {
        self.new.is_some_and(|(mode, _)| mode == Mode::SYMLINK)
    }
}

/// Whether what is there may already be the new one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    Old,
    OldOrNew,
}

impl Repository {
    /// Moves `branch` from `old` to `new`. Where it is checked out, the files that differ between the two are written and the
    /// index follows; what else is staged or changed there stays. Refused before anything happens where one of these files is
    /// not as `old` has it.
    pub(super) fn forward(
        &self,
        branch: &str,
        old: gix::ObjectId,
        new: gix::ObjectId,
        log: &str,
    ) -> Result<(), GitError> {
        let name: FullName = format!("refs/heads/{branch}").try_into().map_err(|e| other("name the branch", &e))?;
        let Some(holder) = self.holder(&name)? else {
            let edit = RefEdit::update(name, new, PreviousValue::MustExistAndMatch(Target::Object(old)), log);
            return self.moving(&self.inner, edit, branch, old);
        };
        refuse_underway(&holder)?;
        if holder.config_snapshot().boolean("core.sparseCheckout") == Some(true) {
            return Err(GitError::Unsupported(format!("the worktree of {branch} is a sparse checkout")));
        }
        let lock = IndexLock::take(&holder)?;
        let index = index::open(&holder)?;
        let touched = touched(&holder, old, new)?;
        refuse_in_the_way(&holder, &index, &touched)?;
        let worktree = holder.workdir().unwrap_or(&self.root).to_owned();
        let begun = Begun {
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

    /// Whether an update was begun that nobody has completed.
    pub fn has_begun(&self) -> bool {
        self.begun_path().exists()
    }

    /// Completes what a process that died had begun. `files` merges what somebody changed in between.
    pub fn complete(&self, files: &dyn MergeFiles) -> Result<(), GitError> {
        let Some(text) = fs::read_text(&self.begun_path()).map_err(|e| other(DOING, &e))? else { return Ok(()) };
        let Ok(begun) = toml::from_str::<Begun>(&text) else { return self.forget_begun() };
        let ids =
            gix::ObjectId::from_hex(begun.old.as_bytes()).ok().zip(gix::ObjectId::from_hex(begun.new.as_bytes()).ok());
        let (Some((old, new)), Ok(holder)) = (ids, gix::open(&begun.worktree)) else { return self.forget_begun() };
        let on = holder.head_name().ok().flatten().is_some_and(|name| name.shorten() == begun.branch.as_str());
        let head = holder.head_id().ok().map(gix::Id::detach);
        // Somebody has gone on elsewhere since: what is in the worktree is theirs.
        if !on || (head != Some(old) && head != Some(new)) {
            IndexLock::recover(&holder);
            return self.forget_begun();
        }
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
        begun: &Begun,
        resumed: Option<&dyn MergeFiles>,
    ) -> Result<(), GitError> {
        let expect = if resumed.is_some() { Expect::OldOrNew } else { Expect::Old };
        let entries = write_files(holder, &index, touched, expect, resumed)?;
        let id = |text: &str| gix::ObjectId::from_hex(text.as_bytes()).map_err(|e| other(DOING, &e));
        let (old, new) = (id(&begun.old)?, id(&begun.new)?);
        if holder.head_id().ok().map(gix::Id::detach) != Some(new) {
            let head = "HEAD".try_into().map_err(|e| other("name HEAD", &e))?;
            let expected = PreviousValue::MustExistAndMatch(Target::Object(old));
            let edit = RefEdit::update(head, new, expected, begun.log.as_str()).with_deref(true);
            self.moving(holder, edit, &begun.branch, old)?;
        }
        index::put(&mut index, entries);
        lock.write(&mut index)?;
        self.forget_begun()
    }

    fn moving(&self, repo: &gix::Repository, edit: RefEdit, branch: &str, old: gix::ObjectId) -> Result<(), GitError> {
        let moved = self.edit_reference(repo, edit, "move the branch").map(|_| ());
        let elsewhere = || self.commit_of(&format!("refs/heads/{branch}")).is_ok_and(|tip| tip != old);
        moved.map_err(|error| if elsewhere() { GitError::Moved(branch.to_owned()) } else { error })
    }

    /// The worktree that has a branch checked out, if any has.
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

fn lost(name: &FullName) -> String {
    format!("{} is checked out in a worktree whose folder is gone", name.shorten())
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

/// Everything that keeps the files from being written, named at once.
fn refuse_in_the_way(repo: &gix::Repository, index: &gix::index::File, touched: &[Touched]) -> Result<(), GitError> {
    let root = repo.workdir().unwrap_or(Path::new("")).to_owned();
    // What is only looked at is not kept.
    let probe = repo.clone().with_object_memory();
    let (mut pipeline, _) = probe.filter_pipeline(None).map_err(|e| other(DOING, &e))?;
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
        let there = looked_at(&mut pipeline, index, path)?;
        let free = match old {
            Some((Mode::COMMIT, _)) => staged == *old,
            Some(_) => staged == *old && there == *old,
            None if staged.is_some() && staged != *new => false,
            None => there == *new || is_free(&root, path, &gone)?,
        };
        if !free {
            found.push(path.to_string());
        }
    }
    if found.is_empty() { Ok(()) } else { Err(GitError::InTheWay(found)) }
}

/// What a path of the worktree is, as git would store it.
fn looked_at(
    pipeline: &mut gix::filter::Pipeline<'_>,
    index: &gix::index::File,
    path: &BString,
) -> Result<Option<(Mode, gix::ObjectId)>, GitError> {
    match pipeline.worktree_file_to_object(path.as_ref(), index) {
        Ok(found) => Ok(found.map(|(id, kind, _)| (mode_of(kind), id))),
        // A folder on the way to it is a file: then there is nothing at the path itself.
        Err(error) => {
            if error.is_not_found() {
                Ok(None)
            } else {
                Err(other(DOING, &error))
            }
        }
    }
}

/// Nothing is where a file is to be made, but what goes away with this very update.
fn is_free(root: &Path, path: &BString, gone: &BTreeSet<&BStr>) -> Result<bool, GitError> {
    let text = path.to_str_lossy().into_owned();
    let doing = |e: fs::FsError| other(DOING, &e);
    let parents: Vec<usize> = text.match_indices('/').map(|(at, _)| at).collect();
    for parent in parents.iter().map(|at| &text[..*at]) {
        match fs::itself(&root.join(parent)).map_err(doing)? {
            Some(meta) if !meta.is_dir() => return Ok(gone.contains(parent.as_bytes().as_bstr())),
            Some(_) => {}
            None => return Ok(true),
        }
    }
    let Some(meta) = fs::itself(&root.join(&text)).map_err(doing)? else { return Ok(true) };
    if !meta.is_dir() {
        return Ok(false);
    }
    let inside = walkdir::WalkDir::new(root.join(&text)).into_iter().filter_map(Result::ok);
    let mut files = inside.filter(|entry| !entry.file_type().is_dir());
    Ok(files.all(|entry| {
        let below = entry.path().strip_prefix(root).map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
        gone.contains(below.as_bytes().as_bstr())
    }))
}

/// Writes what is new, removes what is gone; each file in one step, so that it is always the old one or the new one.
fn write_files(
    repo: &gix::Repository,
    index: &gix::index::File,
    touched: &[Touched],
    expect: Expect,
    merger: Option<&dyn MergeFiles>,
) -> Result<Entries, GitError> {
    let root = repo.workdir().unwrap_or(Path::new("")).to_owned();
    let probe = repo.clone().with_object_memory();
    let (mut looking, _) = probe.filter_pipeline(None).map_err(|e| other(DOING, &e))?;
    let mut entries = Entries::new();
    let is_attributes = |touch: &&Touched| touch.path.ends_with(b".gitattributes");
    let removed = touched.iter().filter(|touch| touch.new.is_none());
    let attributes = touched.iter().filter(|touch| touch.new.is_some()).filter(is_attributes);
    let rest = touched.iter().filter(|touch| touch.new.is_some() && !is_attributes(touch));
    for touch in removed.chain(attributes).chain(rest) {
        let path = root.join(touch.path.to_str_lossy().as_ref());
        if expect == Expect::OldOrNew {
            let there = looked_at(&mut looking, index, &touch.path)?;
            let known = there == touch.old || there == touch.new || there.is_none();
            if !known {
                merge_in(repo, merger, touch, &path)?;
                entries.insert(touch.path.clone(), touch.new.map(|(mode, id)| (Stat::default(), id, mode)));
                continue;
            }
        }
        let stat = write_one(repo, touch, &path, &root)?;
        entries.insert(touch.path.clone(), touch.new.map(|(mode, id)| (stat, id, mode)));
    }
    Ok(entries)
}

/// Somebody changed a file after the process died: their change and the new content in one, where that can be had.
fn merge_in(
    repo: &gix::Repository,
    merger: Option<&dyn MergeFiles>,
    touch: &Touched,
    path: &Path,
) -> Result<(), GitError> {
    let name = touch.path.to_str_lossy();
    let Some(merger) = merger.filter(|merger| merger.covers(&name)) else { return Ok(()) };
    let blob = |side: Option<(Mode, gix::ObjectId)>| -> Result<Option<Vec<u8>>, GitError> {
        side.map(|(_, id)| repo.find_blob(id).map(|blob| blob.data.clone()).map_err(|e| other(DOING, &e))).transpose()
    };
    let there = fs::read(path).map_err(|e| other(DOING, &e))?;
    let (old, new) = (blob(touch.old)?, blob(touch.new)?);
    match merger.merge(&name, old.as_deref(), there.as_deref(), new.as_deref()) {
        Some(Some(merged)) => fs::replace(path, &merged, true).map_err(|e| other(DOING, &e)),
        _ => Ok(()),
    }
}

fn write_one(repo: &gix::Repository, touch: &Touched, path: &Path, root: &Path) -> Result<Stat, GitError> {
    let doing = |e: fs::FsError| other(DOING, &e);
    let Some((mode, id)) = touch.new else {
        if touch.old.is_some_and(|(mode, _)| mode != Mode::COMMIT) {
            fs::remove(path).map_err(doing)?;
            for folder in path.ancestors().skip(1).take_while(|folder| *folder != root) {
                fs::remove_empty_dir(folder);
            }
        }
        return Ok(Stat::default());
    };
    if mode == Mode::COMMIT {
        fs::make_dir(path).map_err(doing)?;
        return Ok(Stat::default());
    }
    let blob = repo.find_blob(id).map_err(|e| other("read what is to be written", &e))?;
    let links = repo.config_snapshot().boolean("core.symlinks") != Some(false);
    let (content, kind) = match mode {
        Mode::SYMLINK if links => (blob.data.clone(), CheckOut::Link),
        Mode::FILE_EXECUTABLE => (worktree_form(repo, &blob.data, &touch.path)?, CheckOut::Program),
        _ => (worktree_form(repo, &blob.data, &touch.path)?, CheckOut::File),
    };
    if path.is_dir() && !path.is_symlink() {
        fs::remove_empty_dir(path);
    }
    fs::check_out(path, &content, kind).map_err(doing)?;
    let meta = gix::index::fs::Metadata::from_path_no_follow(path).map_err(|e| other(DOING, &e))?;
    Stat::from_fs(&meta).map_err(|e| other(DOING, &e))
}

/// With line endings and filters as the attributes say; those that came with this update are on disk already.
fn worktree_form(repo: &gix::Repository, data: &[u8], path: &BString) -> Result<Vec<u8>, GitError> {
    let doing = "filter what is to be written";
    let (mut pipeline, _) = repo.filter_pipeline(None).map_err(|e| other(doing, &e))?;
    let options = gix::filter::plumbing::pipeline::convert::to_worktree::Options::default();
    let mut converted = pipeline.convert_to_worktree(data, path.as_ref(), options).map_err(|e| other(doing, &e))?;
    let mut content = Vec::new();
    converted.read_to_end(&mut content).map_err(|e| other(doing, &e))?;
    Ok(content)
}

//! Files of a worktree as git sees them. Replaces files without losing a change that somebody saves at that moment.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::filter::plumbing::pipeline::convert::{ToGitOutcome, to_worktree};
use gix::index::entry::{Mode, Stat};

use super::commit::mode_of;
use super::repository::{GitError, other};
use crate::fs::{self, CheckOut, FsError};

const DOING: &str = "update the worktree";

/// The mode and the object of a path.
pub(super) type Entry = (Mode, gix::ObjectId);

/// A path that differs between two commits, with the old and the new entry.
#[derive(Debug, Clone)]
pub(super) struct Touched {
    pub path: BString,
    pub old: Option<Entry>,
    pub new: Option<Entry>,
}

impl Touched {
    pub fn becomes_link(&self) -> bool {
        self.new.is_some_and(|(mode, _)| mode == Mode::SYMLINK)
    }

    /// The change that undoes this one.
    pub fn inverse(&self) -> Self {
        Self { path: self.path.clone(), old: self.new, new: self.old }
    }
}

/// The files of one worktree.
pub(super) struct Files<'r> {
    repo: &'r gix::Repository,
    index: &'r gix::index::File,
    root: PathBuf,
    pipeline: gix::filter::Pipeline<'r>,
    file_mode: bool,
    symlinks: bool,
}

impl<'r> Files<'r> {
    /// `repo` must keep new objects in memory, because files are hashed only to compare them.
    pub fn new(repo: &'r gix::Repository, index: &'r gix::index::File) -> Result<Self, GitError> {
        let (pipeline, _) = repo.filter_pipeline(None).map_err(|e| other(DOING, &e))?;
        let on = |key: &str| repo.config_snapshot().boolean(key) != Some(false);
        let root = repo.workdir().unwrap_or(Path::new("")).to_owned();
        Ok(Self { repo, index, root, pipeline, file_mode: on("core.fileMode"), symlinks: on("core.symlinks") })
    }

    pub fn path(&self, path: &BStr) -> PathBuf {
        self.root.join(disk(path))
    }

    /// The entry that git would store for a path; none if a parent folder is a link.
    pub fn look(&mut self, path: &BStr) -> Result<Option<Entry>, GitError> {
        if !self.parents_are_folders(path)? {
            return Ok(None);
        }
        let found = self.pipeline.worktree_file_to_object(path, self.index).map_err(|e| other(DOING, &e))?;
        Ok(found.map(|(id, kind, _)| (self.mode(path, mode_of(kind)), id)))
    }

    /// The mode; from the index if the file system does not support modes or links.
    fn mode(&self, path: &BStr, found: Mode) -> Mode {
        let known = self.index.entry_by_path(path).map(|entry| entry.mode);
        match known {
            Some(Mode::SYMLINK) if !self.symlinks && found == Mode::FILE => Mode::SYMLINK,
            Some(mode @ (Mode::FILE | Mode::FILE_EXECUTABLE))
                if !self.file_mode && [Mode::FILE, Mode::FILE_EXECUTABLE].contains(&found) =>
            {
                mode
            }
            None if !self.file_mode && found == Mode::FILE_EXECUTABLE => Mode::FILE,
            _ => found,
        }
    }

    fn parents_are_folders(&self, path: &BStr) -> Result<bool, GitError> {
        for parent in parents(path) {
            match fs::itself(&self.path(parent)).map_err(failed)? {
                Some(meta) if meta.is_dir() => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Whether a file can be made at a path: only files that this update removes may exist there.
    pub fn is_free(&self, path: &BStr, gone: &BTreeSet<&BStr>) -> Result<bool, GitError> {
        for parent in parents(path) {
            match fs::itself(&self.path(parent)).map_err(failed)? {
                Some(meta) if !meta.is_dir() => return Ok(gone.contains(parent)),
                Some(_) => {}
                None => return Ok(true),
            }
        }
        let Some(meta) = fs::itself(&self.path(path)).map_err(failed)? else { return Ok(true) };
        if !meta.is_dir() {
            return Ok(false);
        }
        let inside = walkdir::WalkDir::new(self.path(path)).into_iter().filter_map(Result::ok);
        let mut files = inside.filter(|entry| !entry.file_type().is_dir());
        Ok(files.all(|entry| {
            let below = entry.path().strip_prefix(&self.root).unwrap_or(entry.path());
            gone.contains(stored(below).as_ref())
        }))
    }

    /// The path of a temporary file for a path's content: hidden, in the same folder, and with a short name.
    fn temp(&self, path: &BStr) -> PathBuf {
        self.path(path).with_file_name(format!(".ralph-{:08x}.tmp", crc32fast::hash(path)))
    }

    /// Removes the temporary file that a killed process left while it replaced a path. If its content is neither the old nor the
    /// new one, it is a file that somebody saved at that moment, and it is moved back.
    pub fn clear_aside(&mut self, touch: &Touched) -> Result<(), GitError> {
        let (temp, path) = (self.temp(touch.path.as_ref()), self.path(touch.path.as_ref()));
        if fs::itself(&temp).map_err(failed)?.is_none() {
            return Ok(());
        }
        let mut ours = false;
        for known in [touch.old, touch.new].into_iter().flatten() {
            ours |= self.was(&temp, touch.path.as_ref(), known)?;
        }
        let replaced = self.look(touch.path.as_ref())? == touch.new;
        // An incomplete file belongs to the killed process, too: then the old file has not been replaced yet.
        match ours || !replaced {
            true => fs::remove(&temp).map_err(failed),
            false => fs::rename(&temp, &path).map_err(failed),
        }
    }

    /// Replaces all paths. If one of them has changed, the paths before it are restored.
    pub fn replace_all(&mut self, touched: &[Touched]) -> Result<Vec<Stat>, GitError> {
        let mut stats = Vec::with_capacity(touched.len());
        for (at, touch) in touched.iter().enumerate() {
            match self.replace(touch) {
                Ok(stat) => stats.push(stat),
                Err(error) => {
                    for done in touched[..at].iter().rev() {
                        let _ = self.replace(&done.inverse());
                    }
                    return Err(error);
                }
            }
        }
        Ok(stats)
    }

    /// Replaces one file in one step; refused if the file is not as expected.
    pub fn replace(&mut self, touch: &Touched) -> Result<Stat, GitError> {
        let path = self.path(touch.path.as_ref());
        let is_module = |entry: Option<Entry>| entry.is_some_and(|(mode, _)| mode == Mode::COMMIT);
        if is_module(touch.new) {
            fs::make_dir(&path).map_err(failed)?;
            return Ok(Stat::default());
        }
        if touch.new.is_none() && is_module(touch.old) {
            return Ok(Stat::default());
        }
        let temp = self.temp(touch.path.as_ref());
        let in_the_way = || GitError::InTheWay(vec![touch.path.to_string()]);
        if touch.new.is_some() {
            // The path may be a folder that this update has emptied.
            fs::remove_empty_dir(&path);
        }
        let old = touch.old.filter(|_| !is_module(touch.old));
        match (old, touch.new) {
            (None, None) => {}
            (None, Some(new)) => {
                self.check_out(&touch.path, new, &temp)?;
                if !fs::rename_new(&temp, &path).map_err(failed)? {
                    fs::remove(&temp).map_err(failed)?;
                    return Err(in_the_way());
                }
            }
            (Some(old), new) => self.swap(touch, &path, &temp, old, new)?,
        }
        if touch.new.is_none() {
            for folder in path.ancestors().skip(1).take_while(|folder| *folder != self.root) {
                fs::remove_empty_dir(folder);
            }
            return Ok(Stat::default());
        }
        let meta = gix::index::fs::Metadata::from_path_no_follow(&path).map_err(|e| other(DOING, &e))?;
        Stat::from_fs(&meta).map_err(|e| other(DOING, &e))
    }

    /// Replaces a file, then compares the old file with the expected one, and swaps back if they differ.
    fn swap(
        &mut self,
        touch: &Touched,
        path: &Path,
        temp: &Path,
        old: Entry,
        new: Option<Entry>,
    ) -> Result<(), GitError> {
        let in_the_way = || GitError::InTheWay(vec![touch.path.to_string()]);
        if fs::itself(path).map_err(failed)?.is_none() {
            return Err(in_the_way());
        }
        match new {
            Some(new) => {
                self.check_out(&touch.path, new, temp)?;
                if !fs::exchange(temp, path).map_err(failed)? {
                    // This file system cannot swap files, so the comparison comes just before the rename.
                    if self.look(touch.path.as_ref())? != Some(old) {
                        fs::remove(temp).map_err(failed)?;
                        return Err(in_the_way());
                    }
                    return fs::rename(temp, path).map_err(failed);
                }
            }
            None => fs::rename(path, temp).map_err(failed)?,
        }
        if self.was(temp, touch.path.as_ref(), old)? {
            return fs::remove(temp).map_err(failed);
        }
        match new {
            Some(_) => {
                fs::exchange(temp, path).map_err(failed)?;
                fs::remove(temp).map_err(failed)?;
            }
            None => drop(fs::rename_new(temp, path).map_err(failed)?),
        }
        Err(in_the_way())
    }

    /// Whether a file that was moved aside is the expected one.
    fn was(&mut self, aside: &Path, path: &BStr, expected: Entry) -> Result<bool, GitError> {
        let Some(meta) = fs::itself(aside).map_err(failed)? else { return Ok(false) };
        let hash = self.repo.object_hash();
        let id =
            |bytes: &[u8]| gix::objs::compute_hash(hash, gix::objs::Kind::Blob, bytes).map_err(|e| other(DOING, &e));
        if meta.is_symlink() {
            let target = std::fs::read_link(aside).map_err(|e| other(DOING, &e))?;
            return Ok(expected == (Mode::SYMLINK, id(&stored(&target))?));
        }
        let executable = gix::fs::is_executable(&meta);
        let found = self.mode(path, if executable { Mode::FILE_EXECUTABLE } else { Mode::FILE });
        let file = std::fs::File::open(aside).map_err(|e| other(DOING, &e))?;
        let clean = self.pipeline.convert_to_git(file, &disk(path), self.index).map_err(|e| other(DOING, &e))?;
        let mut content = Vec::new();
        let read = match clean {
            ToGitOutcome::Unchanged(mut file) => file.read_to_end(&mut content),
            ToGitOutcome::Buffer(buffer) => {
                content.extend_from_slice(buffer);
                Ok(0)
            }
            ToGitOutcome::Process(mut process) => process.read_to_end(&mut content),
        };
        read.map_err(|e| other(DOING, &e))?;
        Ok(expected == (found, id(&content)?))
    }

    /// Writes a file with line endings and filters as in the attributes; new attributes are written before.
    fn check_out(&mut self, path: &BString, (mode, id): Entry, to: &Path) -> Result<(), GitError> {
        let doing = "write the new files";
        let blob = self.repo.find_blob(id).map_err(|e| other(doing, &e))?;
        if mode == Mode::SYMLINK && self.symlinks {
            return fs::check_out(to, &blob.data, CheckOut::Link).map_err(failed);
        }
        let mut content = Vec::new();
        let options = to_worktree::Options::default();
        let mut converted =
            self.pipeline.convert_to_worktree(&blob.data, path.as_ref(), options).map_err(|e| other(doing, &e))?;
        converted.read_to_end(&mut content).map_err(|e| other(doing, &e))?;
        drop(converted);
        let kind = if mode == Mode::FILE_EXECUTABLE { CheckOut::Program } else { CheckOut::File };
        fs::check_out(to, &content, kind).map_err(failed)
    }
}

fn failed(error: FsError) -> GitError {
    let causes = fs::causes(&error).join(": ");
    other(DOING, &format!("{error}: {causes}"))
}

/// The file system path of a path in git. Characters that this system does not support are replaced.
pub(super) fn disk(path: &BStr) -> Cow<'_, Path> {
    gix::path::from_bstr(path).unwrap_or_else(|_| Cow::Owned(path.to_str_lossy().into_owned().into()))
}

fn stored(path: &Path) -> Cow<'_, BStr> {
    let bytes = gix::path::into_bstr(path).unwrap_or_else(|_| Cow::Owned(path.to_string_lossy().into_owned().into()));
    gix::path::to_unix_separators_on_windows(bytes)
}

/// The parent folders of a path, outermost first.
fn parents(path: &BStr) -> impl Iterator<Item = &BStr> {
    path.find_iter(b"/").map(|at| path[..at].as_bstr())
}

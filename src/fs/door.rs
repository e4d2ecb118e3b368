//! Opens files safely; all of `fs` goes through this module.
//!
//! A repository may come from strangers: a clone can contain links, pipes and endless files under any name. Therefore, below
//! the root of a board (see [`keep_within`]), links that lead outside are refused, only regular files are read, and a file is
//! never written through a link. Elsewhere, in the user's own folders, links are followed.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use super::{FsError, ReadFile, named};
use crate::os::files::{self, Dir};
use crate::os::{Beneath, OpenMode};

/// Longer files of a repository are not read.
const LONGEST: u64 = 512 * 1024 * 1024;

const OUTSIDE: &str = "a symbolic link leads out of the repository: replace it with the file itself";
const IRREGULAR: &str = "this is not a regular file: move or remove it";

/// The root of a board, opened once.
struct Kept {
    root: PathBuf,
    dir: Dir,
}

static KEPT: RwLock<Vec<Arc<Kept>>> = RwLock::new(Vec::new());

/// From now on, links below this folder that lead outside of it are refused.
pub fn keep_within(root: &Path) -> Result<(), FsError> {
    named("open", root, open_root(root))
}

fn open_root(root: &Path) -> io::Result<()> {
    let known = |kept: &Arc<Kept>| kept.root == root;
    if KEPT.read().unwrap_or_else(PoisonError::into_inner).iter().any(known) {
        return Ok(());
    }
    let dir = Dir::open(root)?;
    KEPT.write().unwrap_or_else(PoisonError::into_inner).push(Arc::new(Kept { root: root.to_owned(), dir }));
    Ok(())
}

/// The root that a path is below, and the rest of the path.
fn kept(path: &Path) -> Option<(Arc<Kept>, PathBuf)> {
    let path = &if path.is_absolute() { Cow::Borrowed(path) } else { Cow::Owned(std::path::absolute(path).ok()?) };
    let all = KEPT.read().unwrap_or_else(PoisonError::into_inner);
    let around = all.iter().filter(|kept| path.starts_with(&kept.root));
    let kept = around.max_by_key(|kept| kept.root.as_os_str().len())?;
    let rest = path.strip_prefix(&kept.root).ok()?;
    let rest = if rest.as_os_str().is_empty() { Path::new(".") } else { rest };
    Some((Arc::clone(kept), rest.to_owned()))
}

fn refused(why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, why.to_owned())
}

/// Opens a path below a root, without leaving it.
fn beneath(kept: &Kept, rest: &Path, how: &OpenMode) -> io::Result<File> {
    match kept.dir.open_beneath(rest, how)? {
        Beneath::Opened(file) => Ok(file),
        Beneath::Outside => Err(refused(OUTSIDE)),
        Beneath::Unsupported => files::open(&looked_up(kept, rest)?, &OpenMode { no_follow: true, ..*how }),
    }
}

/// For kernels without this protection: resolves the path, and refuses it if the result is outside of the root.
fn looked_up(kept: &Kept, rest: &Path) -> io::Result<PathBuf> {
    let real = super::settled(&kept.root.join(rest));
    if real.starts_with(super::settled(&kept.root)) { Ok(real) } else { Err(refused(OUTSIDE)) }
}

/// Opens a file to read. Below a root, it must be a regular file, and opening it never blocks.
pub(super) fn to_read(path: &Path) -> io::Result<File> {
    match kept(path) {
        Some((kept, rest)) => regular(&kept, &rest).map(|(_, file)| file),
        None => File::open(path),
    }
}

pub(super) fn read_all(path: &Path) -> io::Result<Vec<u8>> {
    let Some((kept, rest)) = kept(path) else { return std::fs::read(path) };
    let (meta, file) = regular(&kept, &rest)?;
    read_at_most(&meta, file, LONGEST)
}

/// The metadata of a file and, unless it is longer than `longest`, its content.
pub(super) fn read_with(path: &Path, longest: u64) -> io::Result<ReadFile> {
    let (meta, file) = match kept(path) {
        Some((kept, rest)) => regular(&kept, &rest)?,
        None => {
            let file = File::open(path)?;
            (file.metadata()?, file)
        }
    };
    let bytes = if meta.len() > longest { None } else { Some(read_at_most(&meta, file, longest)?) };
    Ok(ReadFile { meta, bytes })
}

fn regular(kept: &Kept, rest: &Path) -> io::Result<(std::fs::Metadata, File)> {
    let file = beneath(kept, rest, &OpenMode::READ)?;
    let meta = file.metadata()?;
    match meta.is_file() {
        true => Ok((meta, file)),
        false if meta.is_dir() => Err(io::Error::from(ErrorKind::IsADirectory)),
        false => Err(refused(IRREGULAR)),
    }
}

fn read_at_most(meta: &std::fs::Metadata, file: File, longest: u64) -> io::Result<Vec<u8>> {
    if meta.len() > longest {
        let size = meta.len();
        return Err(refused(&format!("this file is too large: {size} bytes; the limit is {longest}")));
    }
    // One byte more than the size, so that the end is found without another allocation.
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or_default() + 1);
    file.take(longest + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The metadata of a path. Links are followed unless they lead outside.
pub(super) fn metadata(path: &Path) -> io::Result<std::fs::Metadata> {
    let meta = std::fs::symlink_metadata(path)?;
    let through = meta.is_symlink() || kept(path).is_some_and(|(kept, _)| has_links(&kept.root, path));
    if !through {
        return Ok(meta);
    }
    match kept(path) {
        None => std::fs::metadata(path),
        Some((kept, rest)) => beneath(&kept, &rest, &OpenMode::READ)?.metadata(),
    }
}

fn has_links(root: &Path, path: &Path) -> bool {
    path.ancestors().skip(1).take_while(|folder| *folder != root).any(Path::is_symlink)
}

/// Refuses a folder below a root if a link on its path leads outside; folders that do not exist yet are accepted.
pub(super) fn refuse_outside(path: &Path) -> io::Result<()> {
    let Some((kept, _)) = kept(path) else { return Ok(()) };
    if !path.is_symlink() && !has_links(&kept.root, path) {
        return Ok(());
    }
    let real = super::settled(path);
    if real.starts_with(super::settled(&kept.root)) { Ok(()) } else { Err(refused(OUTSIDE)) }
}

/// A folder, and the name of a file in it.
pub(super) struct Spot {
    dir: Dir,
    name: std::ffi::OsString,
}

impl Spot {
    pub fn of(path: &Path) -> io::Result<Self> {
        let name = path.file_name().ok_or_else(|| io::Error::from(ErrorKind::InvalidInput))?.to_owned();
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok(Self { dir: folder_of(folder)?, name })
    }

    fn open(&self, name: &OsStr, how: &OpenMode) -> io::Result<File> {
        match self.dir.open_file(name, how) {
            Err(error) if files::is_link_error(&error) => {
                Err(refused("this is a symbolic link: replace it with the file itself"))
            }
            other => other,
        }
    }

    /// Makes a file that does not exist yet.
    pub fn create(&self, mode: u32) -> io::Result<File> {
        self.open(&self.name, &OpenMode { mode, ..OpenMode::NEW })
    }

    /// Opens the file to write, and makes it if necessary. Links and pipes are refused.
    pub fn write(&self, how: &OpenMode) -> io::Result<File> {
        let file = self.open(&self.name, how)?;
        if file.metadata()?.is_file() { Ok(file) } else { Err(refused(IRREGULAR)) }
    }

    /// Makes a new file in the same folder, with an unpredictable name.
    pub fn beside(&self) -> io::Result<(std::ffi::OsString, File)> {
        loop {
            let tail: String = (0..12).map(|_| fastrand::alphanumeric()).collect();
            let name = std::ffi::OsString::from(format!(".ralph-{tail}.tmp"));
            match self.open(&name, &OpenMode::NEW) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                other => return Ok((name, other?)),
            }
        }
    }

    /// The mode of the existing file, if it is a regular one.
    pub fn mode(&self) -> Option<u32> {
        self.dir.mode(&self.name)
    }

    pub fn put(&self, temp: &OsStr) -> io::Result<()> {
        self.dir.rename(temp, &self.name)
    }

    pub fn discard(&self, temp: &OsStr) {
        let _ = self.dir.remove(temp);
    }

    pub fn sync(&self) -> io::Result<()> {
        self.dir.sync()
    }
}

/// Opens a folder; below a root, it is refused if a link leads outside.
fn folder_of(folder: &Path) -> io::Result<Dir> {
    let Some((kept, rest)) = kept(folder) else { return Dir::open(folder) };
    match kept.dir.beneath(&rest) {
        Ok(Some(dir)) => Ok(dir),
        Ok(None) => Dir::open(&looked_up(&kept, &rest)?),
        Err(error) if error.kind() == ErrorKind::CrossesDevices => Err(refused(OUTSIDE)),
        Err(error) => Err(error),
    }
}

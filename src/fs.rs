//! Files and folders, with errors that name the path and what was being done.
#![allow(clippy::disallowed_methods)]

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};

#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} {}", path.display())]
pub struct FsError {
    pub doing: &'static str,
    pub path: PathBuf,
    #[source]
    pub source: io::Error,
}

/// The messages of all that caused an error.
pub fn causes(error: &dyn std::error::Error) -> Vec<String> {
    let mut list = Vec::new();
    let mut next = error.source();
    while let Some(cause) = next {
        list.push(cause.to_string());
        next = cause.source();
    }
    list
}

impl FsError {
    pub fn is_read_only(&self) -> bool {
        matches!(self.source.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
    }
}

fn named<T>(doing: &'static str, path: &Path, result: io::Result<T>) -> Result<T, FsError> {
    result.map_err(|source| FsError { doing, path: path.to_owned(), source })
}

fn if_there<T>(doing: &'static str, path: &Path, result: io::Result<T>) -> Result<Option<T>, FsError> {
    match result {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        other => named(doing, path, other).map(Some),
    }
}

/// `None` where there is no such file.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>, FsError> {
    if_there("read", path, std::fs::read(path))
}

/// The content of a file that somebody else may have made: a link, a pipe or too large a file counts as none.
pub fn read_plain(path: &Path, longest: u64) -> Result<Option<Vec<u8>>, FsError> {
    use std::io::Read as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits();
    let opened = File::options().read(true).custom_flags(i32::try_from(flags).unwrap_or_default()).open(path);
    let Ok(file) = opened else { return Ok(None) };
    let meta = named("read", path, file.metadata())?;
    if !meta.is_file() || meta.len() > longest {
        return Ok(None);
    }
    let mut content = Vec::new();
    named("read", path, file.take(longest).read_to_end(&mut content))?;
    Ok(Some(content))
}

/// A file from some place on; nothing where there is no file.
pub fn read_from(path: &Path, start: u64) -> Result<Vec<u8>, FsError> {
    use std::io::{Read as _, Seek as _, SeekFrom};
    let read = || {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    Ok(if_there("read", path, read())?.unwrap_or_default())
}

pub fn read_text(path: &Path) -> Result<Option<String>, FsError> {
    if_there("read", path, std::fs::read_to_string(path))
}

pub fn metadata(path: &Path) -> Result<Option<std::fs::Metadata>, FsError> {
    if_there("look at", path, std::fs::metadata(path))
}

pub fn make_dir(path: &Path) -> Result<(), FsError> {
    named("make the folder", path, std::fs::create_dir_all(path))
}

/// A new folder that only its owner can look into.
pub fn make_private_dir(path: &Path) -> Result<(), FsError> {
    use std::os::unix::fs::DirBuilderExt as _;
    named("make the folder", path, std::fs::DirBuilder::new().mode(0o700).create(path))
}

pub fn remove(path: &Path) -> Result<(), FsError> {
    if_there("remove", path, std::fs::remove_file(path)).map(|_| ())
}

/// Only if it is empty; that it is not, or is gone, is no error.
pub fn remove_empty_dir(path: &Path) {
    let _ = std::fs::remove_dir(path);
}

/// A folder with all that is in it.
pub fn remove_tree(path: &Path) -> Result<(), FsError> {
    if_there("remove", path, std::fs::remove_dir_all(path)).map(|_| ())
}

/// Where a link leads: what it stands for is changed, not the link.
pub fn followed(path: PathBuf) -> PathBuf {
    if path.is_symlink() { path.canonicalize().unwrap_or(path) } else { path }
}

/// The path that would be written: links and `..` resolved as the system does it, also where the end of it is not there yet.
pub fn settled(path: &Path) -> PathBuf {
    fn walk(path: &Path, links: usize) -> PathBuf {
        let mut done = PathBuf::new();
        for part in path.components() {
            if part == std::path::Component::ParentDir {
                done.pop();
                continue;
            }
            done.push(part);
            if let Ok(to) = std::fs::read_link(&done)
                && links > 0
            {
                done.pop();
                done = walk(&done.join(to), links - 1);
            }
        }
        done
    }
    walk(path, 40)
}

pub fn rename(from: &Path, to: &Path) -> Result<(), FsError> {
    named("rename", from, std::fs::rename(from, to))
}

/// The names in a folder; none where there is no folder.
pub fn names(path: &Path) -> Result<Vec<String>, FsError> {
    let Some(entries) = if_there("list", path, std::fs::read_dir(path))? else { return Ok(Vec::new()) };
    let mut names = Vec::new();
    for entry in entries {
        names.extend(named("list", path, entry)?.file_name().into_string().ok());
    }
    names.sort();
    Ok(names)
}

/// Makes the names in a folder durable.
pub fn sync_dir(path: &Path) -> Result<(), FsError> {
    named("sync", path, File::open(path).and_then(|dir| dir.sync_all()))
}

pub fn open_lock(path: &Path) -> Result<File, FsError> {
    named("open the lock", path, OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path))
}

/// Writes a file that nobody reads yet.
pub fn write_new(path: &Path, content: &[u8], durable: bool) -> Result<(), FsError> {
    let write = || {
        let mut file = File::create(path)?;
        file.write_all(content)?;
        if durable { file.sync_all() } else { Ok(()) }
    };
    named("write", path, write())
}

/// A new file that nobody but its user reads.
pub fn write_secret(path: &Path, content: &[u8]) -> Result<(), FsError> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let write = || {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
        file.write_all(content)
    };
    named("write", path, write())
}

/// A new program that nobody but its user writes.
pub fn write_program(path: &Path, content: &[u8]) -> Result<(), FsError> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let write = || {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o755).open(path)?;
        file.write_all(content)
    };
    named("write", path, write())
}

/// A whole file in place of the old one, never half of it.
pub fn replace(path: &Path, content: &[u8], durable: bool) -> Result<(), FsError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temp = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let path = &followed(path.to_owned());
    write_new(&temp, content, durable)?;
    copy_mode(path, &temp)?;
    rename(&temp, path)?;
    if durable { path.parent().map_or(Ok(()), sync_dir) } else { Ok(()) }
}

/// Appends whole lines; a line that an earlier writer left torn is closed first.
pub fn append(path: &Path, lines: &str) -> Result<(), FsError> {
    let append = || {
        use std::io::{Read as _, Seek as _, SeekFrom};
        let mut file = OpenOptions::new().create(true).read(true).append(true).open(path)?;
        let torn = file.seek(SeekFrom::End(-1)).is_ok() && {
            let mut last = [0];
            file.read_exact(&mut last)?;
            last != *b"\n"
        };
        file.write_all(if torn { format!("\n{lines}") } else { lines.to_owned() }.as_bytes())?;
        file.sync_all()
    };
    named("append to", path, append())
}

/// Renames only if nothing is there yet; `false` where something was.
pub fn rename_new(from: &Path, to: &Path) -> Result<bool, FsError> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::EXIST) => Ok(false),
        // A file system without the call: a hard link refuses an existing name too.
        Err(_) => match std::fs::hard_link(from, to) {
            Ok(()) => remove(from).map(|()| true),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) => named("create", to, Err(error)),
        },
    }
}

/// A second name for a file; `false` where the name is taken.
pub fn link_new(from: &Path, to: &Path) -> Result<bool, FsError> {
    match std::fs::hard_link(from, to) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        other => named("create", to, other).map(|()| true),
    }
}

/// Two names of one file.
pub fn is_same(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let inode = |path: &Path| std::fs::symlink_metadata(path).map(|meta| (meta.dev(), meta.ino())).ok();
    inode(a).is_some() && inode(a) == inode(b)
}

/// What is at a path itself, be it a link.
pub fn itself(path: &Path) -> Result<Option<std::fs::Metadata>, FsError> {
    if_there("look at", path, std::fs::symlink_metadata(path))
}

/// A new file or link, as git would check it out; what is there goes.
pub fn check_out(path: &Path, content: &[u8], kind: CheckOut) -> Result<(), FsError> {
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    if let Some(folder) = path.parent() {
        make_dir(folder)?;
    }
    remove(path)?;
    let write = || match kind {
        CheckOut::Link => std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(content), path),
        CheckOut::File | CheckOut::Program => {
            let mode = if kind == CheckOut::Program { 0o777 } else { 0o666 };
            OpenOptions::new().create_new(true).write(true).mode(mode).open(path)?.write_all(content)
        }
    };
    named("write", path, write())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckOut {
    File,
    Program,
    Link,
}

/// Swaps two files in one step; `false` where the file system cannot.
pub fn exchange(a: &Path, b: &Path) -> Result<bool, FsError> {
    use rustix::io::Errno;
    match renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(false),
        Err(error) => named("replace", b, Err(error.into())),
    }
}

pub fn copy_mode(from: &Path, to: &Path) -> Result<(), FsError> {
    match metadata(from)? {
        Some(meta) => named("set the mode of", to, std::fs::set_permissions(to, meta.permissions())),
        None => Ok(()),
    }
}

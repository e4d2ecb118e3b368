//! Files and folders, with errors that name the path and the action. All files are opened in `door.rs`.
#![allow(clippy::disallowed_methods)]

mod copy;
mod door;

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

pub use copy::{copy_linked, copy_tree, has_repository, holds_nothing_new, is_repository, link_to, move_tree};
pub use door::keep_within;
use door::{Spot, refuse_outside, to_read};

use crate::os::{OpenMode, files};

#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} {}", path.display())]
pub struct FsError {
    pub doing: &'static str,
    pub path: PathBuf,
    #[source]
    pub source: io::Error,
}

/// The messages of all causes of an error.
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

/// The content of a file; `None` if it does not exist.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>, FsError> {
    if_there("read", path, door::read_all(path))
}

/// A file's metadata and content.
pub struct ReadFile {
    pub meta: std::fs::Metadata,
    /// None if the file is longer than requested.
    pub bytes: Option<Vec<u8>>,
}

/// Reads a file together with its metadata.
pub fn read_with(path: &Path, longest: u64) -> Result<Option<ReadFile>, FsError> {
    if_there("read", path, door::read_with(path, longest))
}

/// The content of a file from an untrusted source; a link, a pipe or a file that is too large counts as missing.
pub fn read_plain(path: &Path, longest: u64) -> Result<Option<Vec<u8>>, FsError> {
    use std::io::Read as _;
    if path.is_symlink() {
        return Ok(None);
    }
    let Ok(file) = to_read(path) else { return Ok(None) };
    let meta = named("read", path, file.metadata())?;
    if !meta.is_file() || meta.len() > longest {
        return Ok(None);
    }
    let mut content = Vec::new();
    named("read", path, file.take(longest).read_to_end(&mut content))?;
    Ok(Some(content))
}

/// Opens a file that another component reads.
pub fn open_file(path: &Path) -> Result<File, FsError> {
    named("open", path, to_read(path))
}

/// The content of a file from an offset on; empty if there is no file.
pub fn read_from(path: &Path, start: u64) -> Result<Vec<u8>, FsError> {
    use std::io::{Read as _, Seek as _, SeekFrom};
    let read = || {
        let mut file = to_read(path)?;
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    Ok(if_there("read", path, read())?.unwrap_or_default())
}

pub fn read_text(path: &Path) -> Result<Option<String>, FsError> {
    let text = |bytes| String::from_utf8(bytes).map_err(|_| io::Error::new(ErrorKind::InvalidData, "not UTF-8"));
    if_there("read", path, door::read_all(path).and_then(text))
}

/// The last lines of a file, each with its line end; empty if there is no file.
pub fn tail(path: &Path, lines: usize) -> Result<String, FsError> {
    Ok(last_lines(&read(path)?.unwrap_or_default(), lines))
}

/// The last lines of a program's output.
pub fn last_lines(output: &[u8], lines: usize) -> String {
    let text = String::from_utf8_lossy(output);
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].iter().map(|line| format!("{line}\n")).collect()
}

pub fn metadata(path: &Path) -> Result<Option<std::fs::Metadata>, FsError> {
    if_there("read the metadata of", path, door::metadata(path))
}

pub fn make_dir(path: &Path) -> Result<(), FsError> {
    named("create the folder", path, refuse_outside(path).and_then(|()| std::fs::create_dir_all(path)))
}

/// Makes a folder with a new name in `parent`: `name`, or `name-2` and so on if it exists.
pub fn make_new_dir(parent: &Path, name: &str) -> Result<PathBuf, FsError> {
    make_dir(parent)?;
    let mut number = 1;
    loop {
        let path = parent.join(if number == 1 { name.to_owned() } else { format!("{name}-{number}") });
        match std::fs::create_dir(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            made => return named("make the folder", &path, made).map(|()| path),
        }
    }
}

/// Makes a folder that only its owner can read.
pub fn make_private_dir(path: &Path) -> Result<(), FsError> {
    named("create the folder", path, refuse_outside(path).and_then(|()| files::make_private_dir(path)))
}

pub fn remove(path: &Path) -> Result<(), FsError> {
    let folder = path.parent().unwrap_or(path);
    if_there("remove", path, refuse_outside(folder).and_then(|()| std::fs::remove_file(path))).map(|_| ())
}

/// Removes a folder if it is empty. It is not an error if it is not empty, or does not exist.
pub fn remove_empty_dir(path: &Path) {
    let _ = std::fs::remove_dir(path);
}

/// Refuses a folder of the repository if a link on its path leads outside.
pub fn refuse_link_out(path: &Path) -> Result<(), FsError> {
    named("read", path, refuse_outside(path))
}

/// Removes a folder with its content.
pub fn remove_tree(path: &Path) -> Result<(), FsError> {
    let folder = path.parent().unwrap_or(path);
    if_there("remove", path, refuse_outside(folder).and_then(|()| std::fs::remove_dir_all(path))).map(|_| ())
}

/// The target of a link, so that the target is changed and not the link; another path is returned as it is.
pub fn followed(path: PathBuf) -> PathBuf {
    if path.is_symlink() { path.canonicalize().unwrap_or(path) } else { path }
}

/// The path with links and `..` resolved as the system does it, even if its last parts do not exist yet.
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
    let inside = || refuse_outside(to.parent().unwrap_or(to));
    named("rename", from, inside().and_then(|()| std::fs::rename(from, to)))
}

/// The names in a folder; none if there is no folder.
pub fn names(path: &Path) -> Result<Vec<String>, FsError> {
    // Most folders of notes do not exist, which this finds out with one call.
    let Some(entries) = if_there("list", path, std::fs::read_dir(path))? else { return Ok(Vec::new()) };
    named("list", path, refuse_outside(path))?;
    let mut names = Vec::new();
    for entry in entries {
        names.extend(named("list", path, entry)?.file_name().into_string().ok());
    }
    names.sort();
    Ok(names)
}

/// Makes the names in a folder durable.
pub fn sync_dir(path: &Path) -> Result<(), FsError> {
    named("sync", path, files::Dir::open(path).and_then(|dir| dir.sync()))
}

pub fn open_lock(path: &Path) -> Result<File, FsError> {
    named("open the lock", path, Spot::of(path).and_then(|spot| spot.write(&OpenMode::UPDATE)))
}

/// Writes a file that does not exist yet.
pub fn write_new(path: &Path, content: &[u8], durable: bool) -> Result<(), FsError> {
    named("write", path, Spot::of(path).and_then(|spot| filled(spot.create(0o666)?, content, durable)))
}

/// Overwrites a file that belongs to ralph alone.
pub fn write_over(path: &Path, content: &[u8], durable: bool) -> Result<(), FsError> {
    let write = || filled(Spot::of(path)?.write(&OpenMode::OVERWRITE)?, content, durable);
    named("write", path, write())
}

/// Writes to a device or a pipe that the user has named.
pub fn write_device(path: &Path, content: &[u8]) -> Result<(), FsError> {
    let write = || OpenOptions::new().write(true).open(path)?.write_all(content);
    named("write", path, write())
}

/// Writes a file that only its owner can read.
pub fn write_secret(path: &Path, content: &[u8]) -> Result<(), FsError> {
    let write = || filled(Spot::of(path)?.write(&OpenMode { mode: 0o600, ..OpenMode::OVERWRITE })?, content, false);
    named("write", path, write())
}

/// Writes a new executable file.
pub fn write_program(path: &Path, content: &[u8]) -> Result<(), FsError> {
    named("write", path, Spot::of(path).and_then(|spot| filled(spot.create(0o755)?, content, false)))
}

fn filled(mut file: File, content: &[u8], durable: bool) -> io::Result<()> {
    file.write_all(content)?;
    if durable { file.sync_all() } else { Ok(()) }
}

/// Replaces a file as a whole, so that readers see the old or the new content. The target of a link is replaced, unless it is
/// outside of the repository.
pub fn replace(path: &Path, content: &[u8], durable: bool) -> Result<(), FsError> {
    let replace = || {
        refuse_outside(path)?;
        let spot = Spot::of(&followed(path.to_owned()))?;
        let (temp, file) = spot.beside()?;
        let written = || {
            if let Some(mode) = spot.mode() {
                files::set_mode(&file, mode)?;
            }
            filled(file, content, durable)?;
            spot.put(&temp)
        };
        written().inspect_err(|_| spot.discard(&temp))?;
        if durable { spot.sync() } else { Ok(()) }
    };
    named("write", path, replace())
}

/// Creates a file as a whole; `false` if it exists already.
pub fn create(path: &Path, content: &[u8], durable: bool) -> Result<bool, FsError> {
    let temp = path.with_file_name(format!(".ralph-{:016x}.tmp", fastrand::u64(..)));
    write_new(&temp, content, durable)?;
    let created = rename_new(&temp, path);
    if !matches!(created, Ok(true)) {
        let _ = remove(&temp);
    }
    created
}

/// Opens a log to append to.
pub fn open_log(path: &Path) -> Result<File, FsError> {
    named("open", path, Spot::of(path).and_then(|spot| spot.write(&OpenMode::APPEND)))
}

/// Appends whole lines. If the last line of the file is incomplete, a line end is added first.
pub fn append(path: &Path, lines: &str) -> Result<(), FsError> {
    let append = || {
        use std::io::{Read as _, Seek as _, SeekFrom};
        let mut file = Spot::of(path)?.write(&OpenMode { read: true, ..OpenMode::APPEND })?;
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

/// A path in the repository as text, with `/` on every system, as in task files, git and messages.
pub fn slashed(path: &Path) -> String {
    let text = path.display().to_string();
    if std::path::MAIN_SEPARATOR == '/' { text } else { text.replace(std::path::MAIN_SEPARATOR, "/") }
}

/// Renames unless the new name exists; `false` if it does.
pub fn rename_new(from: &Path, to: &Path) -> Result<bool, FsError> {
    named("create", to, refuse_outside(to.parent().unwrap_or(to)))?;
    if let Some(renamed) = files::rename_new(from, to) {
        return Ok(renamed);
    }
    // The system has no call for this, but a hard link also refuses an existing name.
    match std::fs::hard_link(from, to) {
        Ok(()) => remove(from).map(|()| true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => named("create", to, Err(error)),
    }
}

/// Gives a file a second name; `false` if the name exists already.
pub fn link_new(from: &Path, to: &Path) -> Result<bool, FsError> {
    match std::fs::hard_link(from, to) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        other => named("create", to, other).map(|()| true),
    }
}

/// Whether two paths are names of the same file.
pub fn is_same(a: &Path, b: &Path) -> bool {
    files::is_same(a, b)
}

/// The metadata of a path; a link is not followed.
pub fn itself(path: &Path) -> Result<Option<std::fs::Metadata>, FsError> {
    if_there("read the metadata of", path, std::fs::symlink_metadata(path))
}

/// Writes a new file or link as git's checkout would, and replaces the old one.
pub fn check_out(path: &Path, content: &[u8], kind: CheckOut) -> Result<(), FsError> {
    if let Some(folder) = path.parent() {
        make_dir(folder)?;
    }
    remove(path)?;
    let write = || match kind {
        CheckOut::Link => files::symlink_to(content, path),
        CheckOut::File | CheckOut::Program => {
            let mode = if kind == CheckOut::Program { 0o777 } else { 0o666 };
            files::new_file(path, mode)?.write_all(content)
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

/// Exchanges two files: atomically if the system can, otherwise by means of a second name for the old file. `false` if neither
/// is possible.
pub fn exchange(new: &Path, path: &Path) -> Result<bool, FsError> {
    Ok(named("replace", path, files::exchange(new, path))? || exchange_by_link(new, path)?)
}

/// A write to the old file during the exchange is not lost, because the caller gets that file. Only a file that replaces the
/// old one between the first two steps is lost.
fn exchange_by_link(new: &Path, path: &Path) -> Result<bool, FsError> {
    let aside = new.with_extension("aside");
    remove(&aside)?;
    if std::fs::hard_link(path, &aside).is_err() {
        return Ok(false);
    }
    rename(new, path)?;
    rename(&aside, new)?;
    Ok(true)
}

pub fn copy_mode(from: &Path, to: &Path) -> Result<(), FsError> {
    match metadata(from)? {
        Some(meta) => named("set the mode of", to, std::fs::set_permissions(to, meta.permissions())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_an_atomic_exchange_a_late_write_to_the_old_file_is_still_seen() {
        let folder = tempfile::tempdir().unwrap();
        let (new, path) = (folder.path().join("new.tmp"), folder.path().join("file"));
        write_new(&new, b"new", false).unwrap();
        write_new(&path, b"old", false).unwrap();
        let mut open = OpenOptions::new().append(true).open(&path).unwrap();
        assert!(exchange_by_link(&new, &path).unwrap());
        open.write_all(b" and later").unwrap();
        assert_eq!(read_text(&path).unwrap().as_deref(), Some("new"));
        assert_eq!(read_text(&new).unwrap().as_deref(), Some("old and later"));
        assert_eq!(names(folder.path()).unwrap(), ["file", "new.tmp"]);
    }
}

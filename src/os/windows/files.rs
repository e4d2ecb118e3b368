//! Files, always by path, because Windows cannot open files relative to a folder.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use winapi_util::Handle;

use crate::os::{Beneath, Create, OpenMode};

/// FILE_FLAG_OPEN_REPARSE_POINT: do not follow links.
const OPEN_REPARSE_POINT: u32 = 0x0020_0000;
/// 1970 in Windows time: units of 100 ns since 1601.
const EPOCH: i64 = 116_444_736_000_000_000;

pub struct Dir(PathBuf);

impl Dir {
    pub fn open(path: &Path) -> io::Result<Self> {
        match path.metadata()?.is_dir() {
            true => Ok(Self(path.to_owned())),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    pub fn beneath(&self, _: &Path) -> io::Result<Option<Self>> {
        Ok(None)
    }

    pub fn open_beneath(&self, _: &Path, _: &OpenMode) -> io::Result<Beneath> {
        Ok(Beneath::Unsupported)
    }

    pub fn open_file(&self, name: &OsStr, how: &OpenMode) -> io::Result<File> {
        open(&self.0.join(name), how)
    }

    pub fn mode(&self, _: &OsStr) -> Option<u32> {
        None
    }

    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        patiently(|| std::fs::rename(self.0.join(from), self.0.join(to)))
    }

    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        std::fs::remove_file(self.0.join(name))
    }

    /// Not needed: flushing a file flushes its entry.
    pub fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Retries for up to a second, because virus scanners and editors lock files for short times.
fn patiently(act: impl Fn() -> io::Result<()>) -> io::Result<()> {
    let mut pause = std::time::Duration::from_millis(1);
    loop {
        match act() {
            Err(error) if is_busy(&error) && pause.as_millis() < 500 => std::thread::sleep(pause),
            other => return other,
        }
        pause *= 2;
    }
}

/// ERROR_ACCESS_DENIED or ERROR_SHARING_VIOLATION.
fn is_busy(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(5 | 32))
}

fn options(how: &OpenMode) -> OpenOptions {
    let mut options = File::options();
    options.read(how.read).write(how.write && !how.append).append(how.append).truncate(how.truncate);
    match how.create {
        Create::Never => {}
        Create::IfMissing => drop(options.create(true)),
        Create::New => drop(options.create_new(true)),
    }
    if how.no_follow {
        options.custom_flags(OPEN_REPARSE_POINT);
    }
    options
}

/// Opens a path without restrictions.
pub fn open(path: &Path, how: &OpenMode) -> io::Result<File> {
    let file = options(how).open(path)?;
    if how.no_follow && file.metadata()?.is_symlink() {
        return Err(io::Error::other(IsLink));
    }
    Ok(file)
}

#[derive(Debug, thiserror::Error)]
#[error("this is a symbolic link")]
struct IsLink;

/// Whether opening failed because of [`OpenMode::no_follow`].
pub fn is_link_error(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<IsLink>())
}

pub fn set_mode(_: &File, _: u32) -> io::Result<()> {
    Ok(())
}

/// Not needed: a job object ends a program with its guard.
pub fn let_inherit(_: &File) {}

/// Folders in a user's profile are private by default.
pub fn make_private_dir(path: &Path) -> io::Result<()> {
    std::fs::create_dir(path)
}

pub fn new_file(path: &Path, _: u32) -> io::Result<File> {
    File::options().create_new(true).write(true).open(path)
}

/// Creates a symbolic link from its target as git stores it.
pub fn symlink_to(target: &[u8], path: &Path) -> io::Result<()> {
    let text = std::str::from_utf8(target).map_err(|_| io::ErrorKind::InvalidFilename)?;
    let target = text.replace('/', "\\");
    let is_dir = path.parent().is_some_and(|folder| folder.join(&target).is_dir());
    match is_dir {
        true => std::os::windows::fs::symlink_dir(target, path),
        false => std::os::windows::fs::symlink_file(target, path),
    }
}

/// Not available: the caller uses a hard link, which fails if the name exists.
pub fn rename_new(_: &Path, _: &Path) -> Option<bool> {
    None
}

pub fn exchange(_: &Path, _: &Path) -> io::Result<bool> {
    Ok(false)
}

/// The creation time: it shows whether another file has taken the same name. Windows has inode numbers only for open files.
pub fn identity(meta: &Metadata) -> u64 {
    meta.creation_time()
}

/// The time in nanoseconds since 1970.
pub fn mtime(meta: &Metadata) -> i64 {
    nanos(meta.last_write_time())
}

fn nanos(steps: u64) -> i64 {
    i64::try_from(steps).unwrap_or(i64::MAX).saturating_sub(EPOCH).saturating_mul(100)
}

/// Whether both are the same file.
pub fn is_same(a: &Path, b: &Path) -> bool {
    let number = |path: &Path| {
        let info = winapi_util::file::information(Handle::from_path_any(path).ok()?).ok()?;
        Some((info.volume_serial_number(), info.file_index()))
    };
    number(a).is_some() && number(a) == number(b)
}

pub fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    let (mut rest, mut at) = (bytes, at);
    while !rest.is_empty() {
        match file.seek_read(rest, at)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                rest = &mut rest[read..];
                at += read as u64;
            }
        }
    }
    Ok(())
}

/// Whether this is a program, with or without its extension.
pub fn is_program(path: &Path) -> bool {
    program_at(path).is_some()
}

/// The file of a program whose name may lack `.exe` or `.cmd`.
pub fn program_at(path: &Path) -> Option<PathBuf> {
    let endings = std::env::var("PATHEXT").unwrap_or_else(|_| ".COM;.EXE;.BAT;.CMD".into());
    let endings: Vec<&str> = endings.split(';').filter(|ending| !ending.is_empty()).collect();
    candidates(path, &endings).into_iter().find(|path| path.is_file())
}

fn candidates(path: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let own = path.extension().map(|own| format!(".{}", own.to_string_lossy()));
    let has_ending = own.is_some_and(|own| endings.iter().any(|ending| ending.eq_ignore_ascii_case(&own)));
    let with = |ending: &&str| {
        let mut name: OsString = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    if has_ending { vec![path.to_owned()] } else { endings.iter().map(with).collect() }
}

/// Whether git would run this hook.
pub fn is_hook(path: &Path) -> bool {
    path.is_file()
}

//! Files: paths, attributes and creation times, as there are no inodes that can be read cheaply.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use winapi_util::Handle;

use crate::os::{Beneath, Create, How};

/// Opens a link itself.
const OPEN_REPARSE_POINT: u32 = 0x0020_0000;
/// From 1601 to 1970, in steps of 100 ns.
const EPOCH: i64 = 116_444_736_000_000_000;

/// A folder by its path.
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

    pub fn open_beneath(&self, _: &Path, _: &How) -> io::Result<Beneath> {
        Ok(Beneath::Unknown)
    }

    /// A file of this folder.
    pub fn open_file(&self, name: &OsStr, how: &How) -> io::Result<File> {
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

    /// Names are durable once a file is: there is nothing to ask for.
    pub fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Scanners and editors keep a file for an instant in which it cannot be replaced.
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

/// Access denied, or a sharing violation.
fn is_busy(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(5 | 32))
}

fn options(how: &How) -> OpenOptions {
    let mut options = File::options();
    options.read(how.read).write(how.write && !how.append).append(how.append).truncate(how.truncate);
    match how.create {
        Create::Never => {}
        Create::IfMissing => drop(options.create(true)),
        Create::New => drop(options.create_new(true)),
    }
    if how.itself {
        options.custom_flags(OPEN_REPARSE_POINT);
    }
    options
}

/// Opens a path as it is written, links and all unless the file itself is wanted.
pub fn open(path: &Path, how: &How) -> io::Result<File> {
    let file = options(how).open(path)?;
    if how.itself && file.metadata()?.is_symlink() {
        return Err(io::Error::other(IsLink));
    }
    Ok(file)
}

#[derive(Debug, thiserror::Error)]
#[error("this is a link")]
struct IsLink;

/// Whether this is what opening a link itself comes to.
pub fn is_link_error(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<IsLink>())
}

pub fn set_mode(_: &File, _: u32) -> io::Result<()> {
    Ok(())
}

/// A program's handles go to nobody here.
pub fn let_inherit(_: &File) {}

/// Folders below a user's own are private by themselves.
pub fn make_private_dir(path: &Path) -> io::Result<()> {
    std::fs::create_dir(path)
}

pub fn new_file(path: &Path, _: u32) -> io::Result<File> {
    File::options().create_new(true).write(true).open(path)
}

/// A link, as git stores it; what it leads to tells of which kind it has to be.
pub fn new_link(target: &[u8], path: &Path) -> io::Result<()> {
    let text = std::str::from_utf8(target).map_err(|_| io::ErrorKind::InvalidFilename)?;
    let target = text.replace('/', "\\");
    let is_dir = path.parent().is_some_and(|folder| folder.join(&target).is_dir());
    match is_dir {
        true => std::os::windows::fs::symlink_dir(target, path),
        false => std::os::windows::fs::symlink_file(target, path),
    }
}

/// Windows replaces: a hard link does not.
pub fn rename_new(_: &Path, _: &Path) -> Option<bool> {
    None
}

pub fn exchange(_: &Path, _: &Path) -> io::Result<bool> {
    Ok(false)
}

/// A file that takes another one's place was made at another time.
pub fn identity(meta: &Metadata) -> u64 {
    meta.creation_time()
}

/// When it was last written, in nanoseconds since 1970.
pub fn mtime(meta: &Metadata) -> i64 {
    nanos(meta.last_write_time())
}

fn nanos(steps: u64) -> i64 {
    i64::try_from(steps).unwrap_or(i64::MAX).saturating_sub(EPOCH).saturating_mul(100)
}

/// Two names of one file.
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

/// Whether this is a program that can be started, with or without the ending of one.
pub fn is_program(path: &Path) -> bool {
    program_at(path).is_some()
}

/// The file behind a program's path: names are given without `.exe` or `.cmd`.
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

/// Whether git would run this as a hook.
pub fn is_hook(path: &Path) -> bool {
    path.is_file()
}

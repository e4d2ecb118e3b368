//! Files: descriptors of folders, modes, inodes.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::os::{Beneath, Create, How};

/// A folder that is open: what happens to its path does not matter any more.
pub struct Dir(pub(super) OwnedFd);

impl Dir {
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?))
    }

    /// A folder below this one, unless a link leads out of it.
    pub fn beneath(&self, rest: &Path) -> io::Result<Option<Self>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match super::kernel::open_beneath(&self.0, rest, flags, Mode::empty())? {
            Beneath::Opened(file) => Ok(Some(Self(file.into()))),
            Beneath::Outside => Err(io::ErrorKind::CrossesDevices.into()),
            Beneath::Unknown => Ok(None),
        }
    }

    /// A path below this folder, opened by the kernel without leaving it.
    pub fn open_beneath(&self, rest: &Path, how: &How) -> io::Result<Beneath> {
        super::kernel::open_beneath(&self.0, rest, flags(how), mode(how))
    }

    /// A file of this folder.
    pub fn open_file(&self, name: &OsStr, how: &How) -> io::Result<File> {
        Ok(rustix::fs::openat(&self.0, name, flags(how), mode(how))?.into())
    }

    /// The mode of a regular file of this folder.
    pub fn mode(&self, name: &OsStr) -> Option<u32> {
        let stat = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        #[allow(clippy::useless_conversion)]
        let mode = u32::from(stat.st_mode);
        (FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile).then_some(mode & 0o7777)
    }

    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, from, &self.0, to)?)
    }

    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Makes its names durable.
    pub fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.0)?)
    }
}

fn flags(how: &How) -> OFlags {
    let access = match (how.read, how.write) {
        (true, true) => OFlags::RDWR,
        (false, true) => OFlags::WRONLY,
        _ => OFlags::RDONLY,
    };
    let create = match how.create {
        Create::Never => OFlags::empty(),
        Create::IfMissing => OFlags::CREATE,
        Create::New => OFlags::CREATE | OFlags::EXCL,
    };
    let more = [
        (how.append, OFlags::APPEND),
        (how.truncate, OFlags::TRUNC),
        (how.itself, OFlags::NOFOLLOW),
        (how.at_once, OFlags::NONBLOCK | OFlags::NOCTTY),
    ];
    let more = more.into_iter().filter(|(wanted, _)| *wanted).map(|(_, flag)| flag);
    more.fold(access | create | OFlags::CLOEXEC, |all, flag| all | flag)
}

fn mode(how: &How) -> Mode {
    if how.create == Create::Never { Mode::empty() } else { Mode::from_bits_truncate(how.mode as _) }
}

/// Opens a path as it is written, links and all.
pub fn open(path: &Path, how: &How) -> io::Result<File> {
    Ok(rustix::fs::openat(CWD, path, flags(how), mode(how))?.into())
}

/// Whether this is what opening a link itself comes to.
pub fn is_link_error(error: &io::Error) -> bool {
    Errno::from_io_error(error).is_some_and(|error| matches!(error, Errno::LOOP | Errno::MLINK))
}

pub fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

/// Whoever this process becomes or starts has the file, too, and with it its lock, where the kernel does not end them together.
pub fn let_inherit(file: &File) {
    super::kernel::let_inherit(file);
}

/// A new folder that only its owner can look into.
pub fn make_private_dir(path: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().mode(0o700).create(path)
}

/// A new file with a mode.
pub fn new_file(path: &Path, mode: u32) -> io::Result<File> {
    File::options().create_new(true).write(true).mode(mode).open(path)
}

/// A link, as git stores it.
pub fn new_link(target: &[u8], path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(OsStr::from_bytes(target), path)
}

/// Renames only if nothing is there yet; `None` where the file system cannot.
pub fn rename_new(from: &Path, to: &Path) -> Option<bool> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => Some(true),
        Err(Errno::EXIST) => Some(false),
        Err(_) => None,
    }
}

/// Swaps two files in one step; `false` where the file system cannot.
pub fn exchange(a: &Path, b: &Path) -> io::Result<bool> {
    match renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// What tells a file from another one of the same name.
pub fn identity(meta: &Metadata) -> u64 {
    meta.ino()
}

/// When it was last written, in nanoseconds since 1970.
pub fn mtime(meta: &Metadata) -> i64 {
    meta.mtime().saturating_mul(1_000_000_000).saturating_add(meta.mtime_nsec())
}

/// Two names of one file.
pub fn is_same(a: &Path, b: &Path) -> bool {
    let inode = |path: &Path| std::fs::symlink_metadata(path).map(|meta| (meta.dev(), meta.ino())).ok();
    inode(a).is_some() && inode(a) == inode(b)
}

pub fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    file.read_exact_at(bytes, at)
}

/// Whether this is a program that can be started.
pub fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Whether git would run this as a hook.
pub fn is_hook(path: &Path) -> bool {
    is_program(path)
}

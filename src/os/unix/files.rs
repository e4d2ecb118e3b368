//! Files: folder descriptors, modes, inodes.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::os::{Beneath, Create, OpenMode};

/// An open folder. It stays the same folder if it is renamed.
pub struct Dir(pub(super) OwnedFd);

impl Dir {
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?))
    }

    /// Opens a folder below this one; `None` if the kernel cannot restrict the path, `CrossesDevices` if a link leads out.
    pub fn beneath(&self, rest: &Path) -> io::Result<Option<Self>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match super::kernel::open_beneath(&self.0, rest, flags, Mode::empty())? {
            Beneath::Opened(file) => Ok(Some(Self(file.into()))),
            Beneath::Outside => Err(io::ErrorKind::CrossesDevices.into()),
            Beneath::Unsupported => Ok(None),
        }
    }

    /// Opens a path without leaving this folder.
    pub fn open_beneath(&self, rest: &Path, how: &OpenMode) -> io::Result<Beneath> {
        super::kernel::open_beneath(&self.0, rest, flags(how), mode(how))
    }

    pub fn open_file(&self, name: &OsStr, how: &OpenMode) -> io::Result<File> {
        Ok(rustix::fs::openat(&self.0, name, flags(how), mode(how))?.into())
    }

    /// The permissions of a regular file in this folder.
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

    /// Flushes the folder's entries to disk.
    pub fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.0)?)
    }
}

fn flags(how: &OpenMode) -> OFlags {
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
        (how.no_follow, OFlags::NOFOLLOW),
        (how.nonblocking, OFlags::NONBLOCK | OFlags::NOCTTY),
    ];
    let more = more.into_iter().filter(|(wanted, _)| *wanted).map(|(_, flag)| flag);
    more.fold(access | create | OFlags::CLOEXEC, |all, flag| all | flag)
}

fn mode(how: &OpenMode) -> Mode {
    if how.create == Create::Never { Mode::empty() } else { Mode::from_bits_truncate(how.mode as _) }
}

/// Opens a path without restrictions.
pub fn open(path: &Path, how: &OpenMode) -> io::Result<File> {
    Ok(rustix::fs::openat(CWD, path, flags(how), mode(how))?.into())
}

/// Whether opening failed because of [`OpenMode::no_follow`].
pub fn is_link_error(error: &io::Error) -> bool {
    Errno::from_io_error(error).is_some_and(|error| matches!(error, Errno::LOOP | Errno::MLINK))
}

pub fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

/// Lets programs that this process starts keep the file and its lock, on systems where they are not killed with this process.
pub fn let_inherit(file: &File) {
    super::kernel::let_inherit(file);
}

/// Creates a folder that only its owner can read.
pub fn make_private_dir(path: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().mode(0o700).create(path)
}

pub fn new_file(path: &Path, mode: u32) -> io::Result<File> {
    File::options().create_new(true).write(true).mode(mode).open(path)
}

/// Creates a symbolic link from its target as git stores it.
pub fn symlink_to(target: &[u8], path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(OsStr::from_bytes(target), path)
}

/// Renames unless the target exists; `None` if the file system does not support this.
pub fn rename_new(from: &Path, to: &Path) -> Option<bool> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => Some(true),
        Err(Errno::EXIST) => Some(false),
        Err(_) => None,
    }
}

/// Swaps two files atomically; `false` if the file system does not support this.
pub fn exchange(a: &Path, b: &Path) -> io::Result<bool> {
    match renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The inode: it shows whether another file has taken the same name.
pub fn identity(meta: &Metadata) -> u64 {
    meta.ino()
}

/// The time in nanoseconds since 1970.
pub fn mtime(meta: &Metadata) -> i64 {
    meta.mtime().saturating_mul(1_000_000_000).saturating_add(meta.mtime_nsec())
}

/// Whether both are the same file.
pub fn is_same(a: &Path, b: &Path) -> bool {
    let inode = |path: &Path| std::fs::symlink_metadata(path).map(|meta| (meta.dev(), meta.ino())).ok();
    inode(a).is_some() && inode(a) == inode(b)
}

pub fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    file.read_exact_at(bytes, at)
}

/// Whether this is an executable file.
pub fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Whether git would run this hook.
pub fn is_hook(path: &Path) -> bool {
    is_program(path)
}

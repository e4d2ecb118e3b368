//! How to open a file, independent of the system.

use std::fs::File;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Create {
    #[default]
    Never,
    IfMissing,
    /// Fail if the file exists.
    New,
}

#[derive(Debug, Clone, Copy, Default)]
#[cfg_attr(windows, expect(dead_code, reason = "Windows has no file modes, and opening a file does not block there"))]
pub struct OpenMode {
    pub read: bool,
    pub write: bool,
    pub append: bool,
    pub truncate: bool,
    pub create: Create,
    /// Fail if the file is a link.
    pub no_follow: bool,
    /// Do not wait for the other end of a pipe.
    pub nonblocking: bool,
    /// Permissions of a new file.
    pub mode: u32,
}

impl OpenMode {
    pub const READ: Self = Self {
        read: true,
        write: false,
        append: false,
        truncate: false,
        create: Create::Never,
        no_follow: false,
        nonblocking: true,
        mode: 0,
    };
    pub const UPDATE: Self =
        Self { write: true, create: Create::IfMissing, no_follow: true, mode: 0o666, ..Self::READ };
    pub const OVERWRITE: Self = Self { read: false, truncate: true, ..Self::UPDATE };
    pub const APPEND: Self = Self { read: false, append: true, ..Self::UPDATE };
    pub const NEW: Self = Self { read: false, create: Create::New, ..Self::UPDATE };
}

/// The result of opening a path below a folder.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux can open below a folder"))]
pub enum Beneath {
    Opened(File),
    /// A link leads out of the folder.
    Outside,
    /// The kernel cannot restrict the path: the caller has to resolve links first.
    Unsupported,
}

//! How a file is to be opened, in words that every system knows.

use std::fs::File;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Create {
    /// It has to be there.
    #[default]
    Never,
    /// Where there is none.
    IfMissing,
    /// It must not be there yet.
    New,
}

#[derive(Debug, Clone, Copy, Default)]
#[cfg_attr(windows, expect(dead_code, reason = "Windows has no modes, and opens nothing that waits"))]
pub struct How {
    pub read: bool,
    pub write: bool,
    pub append: bool,
    pub truncate: bool,
    pub create: Create,
    /// The file itself, never what a link stands for.
    pub itself: bool,
    /// Opening it waits for nobody: not for the other end of a pipe.
    pub at_once: bool,
    /// For a new file, where the system has modes.
    pub mode: u32,
}

impl How {
    pub const READ: Self = Self {
        read: true,
        write: false,
        append: false,
        truncate: false,
        create: Create::Never,
        itself: false,
        at_once: true,
        mode: 0,
    };
    /// Over what is there, or new.
    pub const OVER: Self = Self { write: true, truncate: true, read: false, ..Self::UPDATE };
    /// At its end, or new.
    pub const APPEND: Self = Self { write: true, append: true, read: false, ..Self::UPDATE };
    /// Read and written in place, or new.
    pub const UPDATE: Self = Self { write: true, create: Create::IfMissing, itself: true, mode: 0o666, ..Self::READ };
    pub const NEW: Self = Self { create: Create::New, read: false, ..Self::UPDATE };
}

/// What came of opening a path below a folder.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux can tell"))]
pub enum Beneath {
    Opened(File),
    /// A link leads out of the folder.
    Outside,
    /// This kernel cannot tell: whoever asks has to look before.
    Unknown,
}

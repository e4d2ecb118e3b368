//! Functions of the operating system that tests need, for each platform.

use std::path::Path;
use std::process::ExitStatus;

#[cfg(unix)]
mod unix {
    use std::fs::Metadata;
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::ExitStatusExt as _;

    use super::{ExitStatus, Path};

    pub use std::os::unix::fs::symlink;

    pub fn set_mode(path: &Path, bits: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(bits)).unwrap();
    }

    pub fn mode(meta: &Metadata) -> u32 {
        meta.permissions().mode()
    }

    pub fn exit_code(status: ExitStatus) -> i32 {
        status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
    }

    /// Sends the signal of Ctrl-C.
    pub fn interrupt(process: u32) {
        use rustix::process::{Pid, Signal, kill_process};
        let _ = kill_process(Pid::from_raw(i32::try_from(process).unwrap()).unwrap(), Signal::INT);
    }
}

#[cfg(windows)]
mod windows {
    use std::fs::Metadata;

    use super::{ExitStatus, Path};

    pub fn symlink(target: impl AsRef<Path>, link: impl AsRef<Path>) -> std::io::Result<()> {
        let is_dir = link.as_ref().parent().is_some_and(|folder| folder.join(target.as_ref()).is_dir());
        match is_dir {
            true => std::os::windows::fs::symlink_dir(target, link),
            false => std::os::windows::fs::symlink_file(target, link),
        }
    }

    pub fn set_mode(_: &Path, _: u32) {}

    pub fn mode(_: &Metadata) -> u32 {
        0o644
    }

    pub fn exit_code(status: ExitStatus) -> i32 {
        status.code().unwrap_or(1)
    }

    /// Ctrl-C cannot be sent to another process, so it is killed.
    pub fn interrupt(process: u32) {
        let _ = std::process::Command::new("taskkill").args(["/F", "/T", "/PID", &process.to_string()]).status();
    }
}

#[cfg(unix)]
pub use unix::{exit_code, interrupt, mode, set_mode, symlink};
#[cfg(windows)]
pub use windows::{exit_code, interrupt, mode, set_mode, symlink};

/// Makes a file executable, on systems that need a mode for it.
pub fn make_program(path: &Path) {
    set_mode(path, 0o755);
}

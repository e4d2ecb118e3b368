//! macOS and other systems, where some of the kernel's work is replaced by polling.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::time::ClockId;

use super::process::{Process, is_parent, send_signal};
use crate::os::{Beneath, Signal};

pub use crate::os::unconfined::{confine, relay};

pub const LIMITS: &[&str] = &[
    "symbolic links are checked before a file is opened, so a link that is swapped in between is not noticed",
    "a killed `ralph` is noticed by its guard within 50 ms; if the guard itself is killed, its program goes on and keeps the claim \
     until it ends",
];

/// This clock includes the time during which the machine sleeps (on macOS).
pub const STEADY_CLOCK: ClockId = ClockId::Monotonic;

/// Orphans have no guard as parent, so they are found in the process group.
pub const ORPHANS_BY_GROUP: bool = true;

/// How often a guard checks whether its parent is alive.
const POLL: Duration = Duration::from_millis(50);

pub fn open_beneath(_: &OwnedFd, _: &Path, _: OFlags, _: Mode) -> io::Result<Beneath> {
    Ok(Beneath::Unsupported)
}

/// Not possible here. The program inherits the claim's lock instead ([`let_inherit`]).
pub fn die_with_parent() {}

/// Lets programs that this process starts share the file's lock: the claim then lasts as long as they run.
pub fn let_inherit(file: &File) {
    let _ = rustix::io::fcntl_setfd(file, rustix::io::FdFlags::empty());
}

/// Sends [`Signal::ParentExited`] to this process when the parent is gone.
pub fn signal_on_parent_exit(parent: u32) {
    std::thread::spawn(move || {
        while is_parent(parent) {
            std::thread::sleep(POLL);
        }
        send_signal(std::process::id(), Signal::ParentExited);
    });
}

/// Not possible here: orphans are found by their process group.
pub fn adopt_orphans() {}

/// Not needed: see [`adopt_orphans`].
pub fn leave_orphans() {}

pub fn processes() -> Vec<Process> {
    let mut ps = Command::new("ps");
    ps.args(["-A", "-o", "pid=,ppid=,pgid=,stat="]).stdin(Stdio::null()).stderr(Stdio::null());
    let Ok(output) = ps.output() else { return Vec::new() };
    String::from_utf8_lossy(&output.stdout).lines().filter_map(Process::of_ps_line).collect()
}

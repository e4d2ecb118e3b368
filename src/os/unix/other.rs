//! macOS and other systems without Linux's calls: what the kernel does not tell is looked for.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::process::getpid;

use super::process::{Living, Word, is_parent, tell};
use crate::os::Beneath;

pub use crate::os::unconfined::{confine, relay};

pub const LIMITS: &[&str] = &[
    "the kernel does not keep opened files below a folder here: links are looked at before a file is opened, not while it is",
    "the kernel does not tell a program that its parent died: a guard looks twenty times a second, and a program whose guard was \
     killed with SIGKILL keeps its claim until it ends",
];

/// How soon the end of a parent is noticed.
const LOOK: Duration = Duration::from_millis(50);

pub fn open_beneath(_: &OwnedFd, _: &Path, _: OFlags, _: Mode) -> io::Result<Beneath> {
    Ok(Beneath::Unknown)
}

/// A program cannot ask for that here. It inherits the claim's lock instead, so that the claim lives as long as it does.
pub fn end_with_parent() {}

pub fn let_inherit(file: &std::fs::File) {
    let _ = rustix::io::fcntl_setfd(file, rustix::io::FdFlags::empty());
}

/// Tells this process that its parent is gone, as the kernel does on Linux.
pub fn hear_of_parents_end(parent: u32) {
    std::thread::spawn(move || {
        while is_parent(parent) {
            std::thread::sleep(LOOK);
        }
        if let Ok(own) = u32::try_from(getpid().as_raw_nonzero().get()) {
            tell(own, Word::EndAll);
        }
    });
}

/// Orphans go to the first process of the system: they are found by their group.
pub fn take_in_orphans() {}

/// Every process that lives, as `ps` tells it.
pub fn living() -> Vec<Living> {
    let mut ps = Command::new("ps");
    ps.args(["-A", "-o", "pid=,ppid=,pgid=,stat="]).stdin(Stdio::null()).stderr(Stdio::null());
    let Ok(said) = ps.output() else { return Vec::new() };
    String::from_utf8_lossy(&said.stdout).lines().filter_map(super::process::listed).collect()
}

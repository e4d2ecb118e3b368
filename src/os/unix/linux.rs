//! Where Linux can do more than others.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use rustix::process::{Signal, getpid, set_child_subreaper, set_parent_process_death_signal};

use super::process::Living;
use crate::os::Beneath;

pub mod confine;
pub mod relay;

pub const LIMITS: &[&str] = &[];

pub fn open_beneath(dir: &OwnedFd, rest: &Path, flags: OFlags, mode: Mode) -> io::Result<Beneath> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    loop {
        match openat2(dir, rest, flags, mode, resolve) {
            Ok(file) => return Ok(Beneath::Opened(file.into())),
            Err(Errno::XDEV) => return Ok(Beneath::Outside),
            // Something was renamed on the way.
            Err(Errno::AGAIN) => {}
            // An old kernel, or a sandbox that does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => return Ok(Beneath::Unknown),
            Err(error) => return Err(error.into()),
        }
    }
}

/// The kernel kills this process when its parent dies.
pub fn end_with_parent() {
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
}

/// A program ends with its guard: it needs no lock of its own.
pub fn let_inherit(_: &std::fs::File) {}

/// The kernel tells this process that its parent is gone, as [`super::signals::Heard::ParentGone`]. By a signal of its own: at that
/// instant the parent's number may still be that of one whose other threads are dying.
pub fn hear_of_parents_end(_parent: u32) {
    let _ = set_parent_process_death_signal(Some(Signal::ALARM));
}

/// Whoever is left by its own parent comes to this process, so that nobody slips away.
pub fn take_in_orphans() {
    let _ = set_child_subreaper(Some(getpid()));
}

/// Every process that lives.
pub fn living() -> Vec<Living> {
    let names = crate::fs::names(Path::new("/proc")).unwrap_or_default();
    let pids = names.iter().filter_map(|name| name.parse::<i32>().ok());
    let living = |pid: i32| {
        let stat = crate::fs::read_text(Path::new(&format!("/proc/{pid}/stat"))).ok()??;
        // The name before it may hold anything, blanks and brackets too.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let (state, parent, group) = (fields.next()?, fields.next()?, fields.next()?);
        (state != "Z").then(|| Some(Living { pid, parent: parent.parse().ok()?, group: group.parse().ok()? }))?
    };
    pids.filter_map(living).collect()
}

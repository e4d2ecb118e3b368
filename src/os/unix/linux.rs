//! Functions that only Linux supports.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use rustix::process::{Signal, getpid, set_child_subreaper, set_parent_process_death_signal};
use rustix::time::ClockId;

use super::process::Process;
use crate::os::Beneath;

pub mod confine;
pub mod relay;

pub const LIMITS: &[&str] = &[];

/// This clock includes the time during which the machine sleeps.
pub const STEADY_CLOCK: ClockId = ClockId::Boottime;

/// Orphans get their guard as parent, so they need not be found by their group ([`adopt_orphans`]).
pub const ORPHANS_BY_GROUP: bool = false;

pub fn open_beneath(dir: &OwnedFd, rest: &Path, flags: OFlags, mode: Mode) -> io::Result<Beneath> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    loop {
        match openat2(dir, rest, flags, mode, resolve) {
            Ok(file) => return Ok(Beneath::Opened(file.into())),
            Err(Errno::XDEV) => return Ok(Beneath::Outside),
            // Something on the path was renamed: try again.
            Err(Errno::AGAIN) => {}
            // An old kernel, or a sandbox that does not allow the call.
            Err(Errno::NOSYS | Errno::PERM) => return Ok(Beneath::Unsupported),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Makes the kernel kill this process when its parent dies.
pub fn die_with_parent() {
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
}

/// Not needed: the kernel kills a program with its guard.
pub fn let_inherit(_: &File) {}

/// Makes the kernel send [`crate::os::Signal::ParentExited`] when the parent dies. Comparing `getppid` is not enough: it can still
/// return the parent for a moment, while the parent's other threads are exiting.
pub fn signal_on_parent_exit(_parent: u32) {
    let _ = set_parent_process_death_signal(Some(Signal::ALARM));
}

/// Makes this process the parent of every orphan below it, so that [`super::process::kill_descendants`] finds them.
pub fn adopt_orphans() {
    let _ = set_child_subreaper(Some(getpid()));
}

/// Undoes [`adopt_orphans`]: later orphans get the system's init as parent again.
pub fn leave_orphans() {
    let _ = set_child_subreaper(None);
}

pub fn processes() -> Vec<Process> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    entries.filter_map(|entry| read_stat(entry.file_name().to_str()?.parse().ok()?)).collect()
}

fn read_stat(pid: i32) -> Option<Process> {
    let stat = io::read_to_string(File::open(format!("/proc/{pid}/stat")).ok()?).ok()?;
    // The name before these fields is in parentheses, and may itself contain spaces and parentheses.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let (state, parent, group) = (fields.next()?, fields.next()?, fields.next()?);
    (state != "Z").then(|| Some(Process { pid, parent: parent.parse().ok()?, group: group.parse().ok()? }))?
}

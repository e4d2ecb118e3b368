//! Processes: groups, signals, parents and children.

use std::io;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use rustix::process::{Pid, Signal as RawSignal, getpid, getppid, kill_process, kill_process_group};

use super::kernel::ORPHANS_BY_GROUP;
use crate::os::Signal;

pub use super::kernel::{adopt_orphans, die_with_parent, leave_orphans, processes, signal_on_parent_exit};

/// Whether ssh can keep a connection for later commands.
pub const SSH_CAN_SHARE: bool = true;

fn raw(signal: Signal) -> RawSignal {
    match signal {
        Signal::Interrupt => RawSignal::INT,
        Signal::HangUp => RawSignal::HUP,
        Signal::Terminate => RawSignal::TERM,
        Signal::User1 => RawSignal::USR1,
        Signal::User2 => RawSignal::USR2,
        Signal::ParentExited => RawSignal::ALARM,
        Signal::Kill => RawSignal::KILL,
    }
}

fn pid_of(number: u32) -> Option<Pid> {
    i32::try_from(number).ok().and_then(Pid::from_raw)
}

pub fn send_signal(process: u32, signal: Signal) {
    if let Some(pid) = pid_of(process) {
        let _ = kill_process(pid, raw(signal));
    }
}

/// Sends a signal to every process in the group that `leader` started with [`own_group`].
pub fn send_signal_to_group(leader: u32, signal: Signal) {
    if let Some(pid) = pid_of(leader) {
        let _ = kill_process_group(pid, raw(signal));
    }
}

/// Puts the program into a separate process group, so that Ctrl-C on this terminal does not reach it.
pub fn own_group(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// The same for a program whose parent passes Ctrl-C on with [`send_signal`].
pub fn own_group_if_signalled(command: &mut Command) -> &mut Command {
    own_group(command)
}

/// A program by name, found the way the shell finds it.
pub fn program(name: &str) -> Command {
    Command::new(name)
}

/// Starts a program that must not outlive this process. It has to call [`die_with_parent`] or [`signal_on_parent_exit`] itself.
pub fn spawn_bound(command: &mut Command) -> io::Result<Child> {
    command.spawn()
}

/// A program that ends with this process, together with all programs that it has started: a guard process of ralph runs it.
pub fn bound_by(ralph: &Path, command: &Command) -> Command {
    let mut bound = Command::new(ralph);
    bound.arg("guarded").arg(std::process::id().to_string());
    bound.arg("--").arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => bound.env(name, value),
            None => bound.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        bound.current_dir(folder);
    }
    bound
}

/// Replaces this process with the program; returns only on failure.
pub fn exec(mut command: Command) -> io::Error {
    command.exec()
}

/// The exit code as a shell reports it: 128 plus the signal's number for a program that was killed.
pub fn exit_code(status: &ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

pub fn was_killed(status: &ExitStatus) -> bool {
    status.signal().is_some()
}

pub fn is_parent(process: u32) -> bool {
    getppid().is_some_and(|parent| u32::try_from(parent.as_raw_nonzero().get()) == Ok(process))
}

/// Kills every descendant of this process.
pub fn kill_descendants() {
    static BUSY: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _busy = BUSY.lock();
    let mut alone = 0;
    for _ in 0..200 {
        let below = descendants(getpid().as_raw_nonzero().get(), &processes(), ORPHANS_BY_GROUP);
        // A single check can miss an orphan that is just getting this process as its parent; two checks cannot.
        alone = if below.is_empty() { alone + 1 } else { 0 };
        if alone > 1 {
            break;
        }
        for pid in below.into_iter().filter_map(Pid::from_raw) {
            let _ = kill_process(pid, RawSignal::KILL);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A process that is not a zombie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    pub pid: i32,
    pub parent: i32,
    pub group: i32,
}

impl Process {
    /// Parses a line of `ps -o pid=,ppid=,pgid=,stat=`.
    #[cfg_attr(all(target_os = "linux", not(test)), expect(dead_code, reason = "Linux reads /proc"))]
    pub(super) fn of_ps_line(line: &str) -> Option<Self> {
        let mut fields = line.split_whitespace();
        let mut number = || fields.next()?.parse().ok();
        let process = Self { pid: number()?, parent: number()?, group: number()? };
        (!fields.next()?.starts_with('Z')).then_some(process)
    }
}

/// All processes below `root`. With `by_group`, these include members of its process group, because orphans have another parent
/// on systems where no guard adopts them.
fn descendants(root: i32, all: &[Process], by_group: bool) -> Vec<i32> {
    let mut below = vec![root];
    let mut at = 0;
    while let Some(&parent) = below.get(at) {
        below.extend(all.iter().filter(|process| process.parent == parent).map(|process| process.pid));
        at += 1;
    }
    let leads_group = by_group && all.iter().any(|process| process.pid == root && process.group == root);
    let members = all.iter().filter(|process| leads_group && process.group == root).map(|process| process.pid);
    let orphans: Vec<i32> = members.filter(|pid| !below.contains(pid)).collect();
    below.extend(orphans);
    below.split_off(1)
}

pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// A command line for the shell, with an optional argument at its end.
pub fn shell(line: &str, argument: Option<&Path>) -> Command {
    let mut command = Command::new("sh");
    match argument {
        Some(argument) => command.arg("-c").arg(format!("{line} \"$@\"")).arg(line).arg(argument),
        None => command.arg("-c").arg(line),
    };
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ps_lines_are_read_without_zombies() {
        assert_eq!(Process::of_ps_line("  501     1   501 Ss"), Some(Process { pid: 501, parent: 1, group: 501 }));
        assert_eq!(Process::of_ps_line("  502   501   501 Z+"), None);
        assert_eq!(Process::of_ps_line("PID PPID PGID STAT"), None);
    }

    #[test]
    fn descendants_are_found_by_parent_and_orphans_by_group() {
        let process = |pid, parent, group| Process { pid, parent, group };
        let all =
            [process(10, 1, 10), process(11, 10, 10), process(12, 11, 12), process(13, 1, 10), process(20, 1, 20)];
        assert_eq!(descendants(10, &all, true), [11, 12, 13]);
        assert_eq!(descendants(11, &all, true), [12], "11 leads no group, so 13 is not its orphan");
        assert_eq!(descendants(10, &all, false), [11, 12], "13 may be another program of the same pipeline");
    }
}

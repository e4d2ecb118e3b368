//! Processes: groups, signals, and who is whose parent.

use std::io;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use rustix::process::{Pid, Signal, getpid, getppid, kill_process, kill_process_group};

pub use super::kernel::{end_with_parent, hear_of_parents_end, living, take_in_orphans};

/// What a process is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// As Ctrl-C at its terminal.
    Interrupt,
    HangUp,
    /// To end soon.
    Terminate,
    User1,
    User2,
    /// To a guard: to end all that it has started.
    EndAll,
    /// To end now.
    Kill,
}

impl Word {
    fn signal(self) -> Signal {
        match self {
            Self::Interrupt => Signal::INT,
            Self::HangUp => Signal::HUP,
            Self::Terminate => Signal::TERM,
            Self::User1 => Signal::USR1,
            Self::User2 => Signal::USR2,
            Self::EndAll => Signal::ALARM,
            Self::Kill => Signal::KILL,
        }
    }
}

fn pid(number: u32) -> Option<Pid> {
    i32::try_from(number).ok().and_then(Pid::from_raw)
}

pub fn tell(process: u32, word: Word) {
    if let Some(pid) = pid(process) {
        let _ = kill_process(pid, word.signal());
    }
}

/// To a process and all that are in its group, which is its own.
pub fn tell_group(leader: u32, word: Word) {
    if let Some(pid) = pid(leader) {
        let _ = kill_process_group(pid, word.signal());
    }
}

/// In a group of its own, a program does not hear Ctrl-C at the terminal of whoever starts it.
pub fn own_group(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// The same for a program that is told of Ctrl-C by whoever starts it.
pub fn own_group_if_told(command: &mut Command) -> &mut Command {
    own_group(command)
}

/// A program by its name, as the shell finds it.
pub fn program(name: &str) -> Command {
    Command::new(name)
}

/// Starts a program that must not outlive this process: it asks for that itself ([`end_with_parent`]).
pub fn spawn_tied(command: &mut Command) -> io::Result<Child> {
    command.spawn()
}

/// Becomes the program; comes back only if that fails.
pub fn turn_into(mut command: Command) -> io::Error {
    command.exec()
}

/// As a shell tells it: 128 and the signal's number for a program that was killed.
pub fn exit_code(status: &ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

pub fn was_killed(status: &ExitStatus) -> bool {
    status.signal().is_some()
}

pub fn is_parent(process: u32) -> bool {
    getppid().is_some_and(|parent| u32::try_from(parent.as_raw_nonzero().get()) == Ok(process))
}

/// Kills all that descends from this process.
pub fn end_offspring() {
    static ENDING: std::sync::Mutex<()> = std::sync::Mutex::new(());
    // Whoever comes second waits for the first.
    let _ending = ENDING.lock();
    let mut alone = 0;
    for _ in 0..200 {
        let below = descendants(getpid().as_raw_nonzero().get(), &living());
        // Who is handed from a dying parent to us can be missed in one look, not in two.
        alone = if below.is_empty() { alone + 1 } else { 0 };
        if alone > 1 {
            break;
        }
        for pid in below.into_iter().filter_map(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A process that lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Living {
    pub pid: i32,
    pub parent: i32,
    pub group: i32,
}

/// A line of `ps`: number, parent, group, state.
#[cfg_attr(target_os = "linux", allow(dead_code))]
pub(super) fn listed(line: &str) -> Option<Living> {
    let mut fields = line.split_whitespace();
    let mut number = || fields.next()?.parse().ok();
    let living = Living { pid: number()?, parent: number()?, group: number()? };
    (!fields.next()?.starts_with('Z')).then_some(living)
}

/// The processes below one, however deep. What its own parent has left is in the group of that one, if it leads a group.
fn descendants(root: i32, living: &[Living]) -> Vec<i32> {
    let leads = living.iter().any(|process| process.pid == root && process.group == root);
    let mut below = vec![root];
    let mut at = 0;
    while let Some(&parent) = below.get(at) {
        below.extend(living.iter().filter(|process| process.parent == parent).map(|process| process.pid));
        at += 1;
    }
    let mates = living.iter().filter(|process| leads && process.group == root).map(|process| process.pid);
    let left: Vec<i32> = mates.filter(|pid| !below.contains(pid)).collect();
    below.extend(left);
    below.split_off(1)
}

/// The name of this machine.
pub fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// A command line in the words of the user's shell, with an argument.
pub fn shell(line: &str, argument: Option<&Path>) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{line} \"$@\"")).arg(line).args(argument);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ps_lists_is_read_and_the_dead_are_left_out() {
        assert_eq!(listed("  501     1   501 Ss"), Some(Living { pid: 501, parent: 1, group: 501 }));
        assert_eq!(listed("  502   501   501 Z+"), None);
        assert_eq!(listed("PID PPID PGID STAT"), None);
    }

    #[test]
    fn offspring_is_found_by_parents_and_what_they_left_by_the_group() {
        let living = |pid, parent, group| Living { pid, parent, group };
        let all = [living(10, 1, 10), living(11, 10, 10), living(12, 11, 12), living(13, 1, 10), living(20, 1, 20)];
        assert_eq!(descendants(10, &all), [11, 12, 13]);
        assert_eq!(descendants(11, &all), [12], "who leads no group has only children");
    }
}

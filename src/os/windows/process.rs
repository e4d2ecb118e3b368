//! Processes: job objects end what must not outlive this process, in whatever way it ends.

use std::io;
use std::os::windows::io::AsRawHandle as _;
use std::os::windows::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;

use win32job::{ExtendedLimitInfo, Job};

use super::files::program_at;

/// Ctrl-C at the terminal is not for the new group.
const NEW_PROCESS_GROUP: u32 = 0x0000_0200;

/// What a process is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    Interrupt,
    HangUp,
    Terminate,
    User1,
    User2,
    EndAll,
    Kill,
}

/// There are no signals: who is to end is ended, with all that it has started. Ctrl-C reaches every process of a console by itself.
pub fn tell(process: u32, word: Word) {
    if matches!(word, Word::Interrupt | Word::User1 | Word::User2) {
        return;
    }
    let mut end = Command::new("taskkill");
    end.args(["/T", "/F", "/PID"]).arg(process.to_string());
    let _ = end.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
}

pub fn tell_group(leader: u32, word: Word) {
    tell(leader, word);
}

/// In a group of its own, a program does not hear Ctrl-C at the terminal of whoever starts it.
pub fn own_group(command: &mut Command) -> &mut Command {
    command.creation_flags(NEW_PROCESS_GROUP)
}

/// Nobody could tell it of Ctrl-C: it hears that itself.
pub fn own_group_if_told(command: &mut Command) -> &mut Command {
    command
}

/// A program by its name, as the shell finds it: `claude` may be `claude.cmd`.
pub fn program(name: &str) -> Command {
    let found = match name.contains(['/', '\\']) {
        true => program_at(Path::new(name)),
        false => std::env::var_os("PATH")
            .and_then(|path| std::env::split_paths(&path).find_map(|folder| program_at(&folder.join(name)))),
    };
    found.map_or_else(|| Command::new(name), Command::new)
}

/// All that this process has started and that must not outlive it: the system ends them when the job's last handle is closed.
fn job() -> Option<&'static Job> {
    static JOB: OnceLock<Option<Job>> = OnceLock::new();
    JOB.get_or_init(|| {
        let mut limits = ExtendedLimitInfo::new();
        limits.limit_kill_on_job_close();
        Job::create_with_limit_info(&limits).ok()
    })
    .as_ref()
}

/// Starts a program that must not outlive this process.
pub fn spawn_tied(command: &mut Command) -> io::Result<Child> {
    let mut child = command.spawn()?;
    let tied = job().map(|job| job.assign_process(child.as_raw_handle() as isize));
    if !matches!(tied, Some(Ok(()))) && child.try_wait()?.is_none() {
        let _ = child.kill();
        return Err(io::Error::other("the system gives no job object to tie it to"));
    }
    Ok(child)
}

/// There is no becoming: it is started, waited for, and its exit code is ours.
pub fn turn_into(mut command: Command) -> io::Error {
    match spawn_tied(&mut command).and_then(|mut child| child.wait()) {
        Ok(status) => std::process::exit(exit_code(&status)),
        Err(error) => error,
    }
}

pub fn exit_code(status: &ExitStatus) -> i32 {
    status.code().unwrap_or(1)
}

pub fn was_killed(_: &ExitStatus) -> bool {
    false
}

/// The job ends this process with its parent: as long as it lives, so does that.
pub fn is_parent(_: u32) -> bool {
    true
}

pub fn end_with_parent() {}

pub fn hear_of_parents_end(_: u32) {}

pub fn take_in_orphans() {}

/// They end with this process, whose job they are in.
pub fn end_offspring() {}

/// The name of this machine.
pub fn host() -> String {
    let name = winapi_util::sysinfo::get_computer_name(winapi_util::sysinfo::ComputerNameKind::DnsHostname);
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A command line in the words of the system's shell, with an argument.
pub fn shell(line: &str, argument: Option<&Path>) -> Command {
    let mut command = Command::new("cmd");
    command.raw_arg("/D /S /C").raw_arg(shell_line(line, argument));
    command
}

/// `/S` takes the outermost quotes off and leaves the rest as it is.
fn shell_line(line: &str, argument: Option<&Path>) -> String {
    let argument = argument.map(|path| format!(" \"{}\"", path.display())).unwrap_or_default();
    format!("\"{line}{argument}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_for_the_shell_keeps_its_quotes() {
        let line = shell_line("\"C:\\Program Files\\Vim\\vim.exe\" -f", Some(Path::new("C:\\a b.toml")));
        assert_eq!(line, "\"\"C:\\Program Files\\Vim\\vim.exe\" -f \"C:\\a b.toml\"\"");
    }

    #[test]
    fn what_is_tied_is_started_and_its_end_is_seen() {
        let mut command = shell("exit 7", None);
        assert_eq!(spawn_tied(&mut command).unwrap().wait().unwrap().code(), Some(7));
    }
}

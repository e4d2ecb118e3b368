//! Processes: job objects end programs that must not outlive this process, however it ends.

use std::io;
use std::os::windows::io::AsRawHandle as _;
use std::os::windows::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;

use win32job::{ExtendedLimitInfo, Job};

use super::files::program_at;
use crate::os::Signal;

/// Whether ssh can keep a connection for later commands: `ControlMaster` does not work on Windows.
pub const SSH_CAN_SHARE: bool = false;

/// CREATE_NEW_PROCESS_GROUP: Ctrl-C on this console does not reach the program.
const NEW_PROCESS_GROUP: u32 = 0x0000_0200;

/// Windows cannot ask another process to end, so every signal that would end it kills it with all its children. Ctrl-C is not
/// sent, because it reaches every process of the console anyway.
pub fn send_signal(process: u32, signal: Signal) {
    if matches!(signal, Signal::Interrupt | Signal::User1 | Signal::User2) {
        return;
    }
    let mut kill = Command::new("taskkill");
    kill.args(["/T", "/F", "/PID"]).arg(process.to_string());
    let _ = kill.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
}

pub fn send_signal_to_group(leader: u32, signal: Signal) {
    send_signal(leader, signal);
}

/// Puts the program into a separate process group, so that Ctrl-C on this console does not reach it.
pub fn own_group(command: &mut Command) -> &mut Command {
    command.creation_flags(NEW_PROCESS_GROUP)
}

/// Ctrl-C cannot be passed on, so the program must receive it itself.
pub fn own_group_if_signalled(command: &mut Command) -> &mut Command {
    command
}

/// A program by name, found the way the shell finds it: `claude` may be `claude.cmd`.
pub fn program(name: &str) -> Command {
    let found = match name.contains(['/', '\\']) {
        true => program_at(Path::new(name)),
        false => std::env::var_os("PATH")
            .and_then(|path| std::env::split_paths(&path).find_map(|folder| program_at(&folder.join(name)))),
    };
    found.map_or_else(|| Command::new(name), Command::new)
}

/// The job of this process. Windows ends everything in it when its last handle is closed, which is when this process ends.
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
pub fn spawn_bound(command: &mut Command) -> io::Result<Child> {
    let mut child = command.spawn()?;
    let bound = job().map(|job| job.assign_process(child.as_raw_handle() as isize));
    if !matches!(bound, Some(Ok(()))) && child.try_wait()?.is_none() {
        let _ = child.kill();
        return Err(io::Error::other("cannot put the program into a job object"));
    }
    Ok(child)
}

/// Not needed: [`spawn_bound`] puts the program into this process's job.
pub fn bound_by(_: &Path, command: &Command) -> Command {
    let mut same = Command::new(command.get_program());
    same.args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => same.env(name, value),
            None => same.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        same.current_dir(folder);
    }
    same
}

/// Windows cannot replace a process: runs the program and exits with its code. Returns only on failure.
pub fn exec(mut command: Command) -> io::Error {
    match spawn_bound(&mut command).and_then(|mut child| child.wait()) {
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

/// Always true: the job object ends this process with its parent.
pub fn is_parent(_: u32) -> bool {
    true
}

/// Not needed: the parent's job object does this.
pub fn die_with_parent() {}

/// Not needed: the parent's job object does this.
pub fn signal_on_parent_exit(_: u32) {}

/// Not needed: orphans stay in the job object.
pub fn adopt_orphans() {}

/// Not needed: see [`adopt_orphans`].
pub fn leave_orphans() {}

/// Not needed: descendants are in the job of this process and end with it.
pub fn kill_descendants() {}

pub fn host_name() -> String {
    let name = winapi_util::sysinfo::get_computer_name(winapi_util::sysinfo::ComputerNameKind::DnsHostname);
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A command line for the shell, with an optional argument at its end.
pub fn shell(line: &str, argument: Option<&Path>) -> Command {
    let mut command = Command::new("cmd");
    command.raw_arg("/D /S /C").raw_arg(shell_line(line, argument));
    command
}

/// The argument of `cmd /S /C`, which removes the outermost quotes and changes nothing else.
fn shell_line(line: &str, argument: Option<&Path>) -> String {
    let argument = argument.map(|path| format!(" \"{}\"", path.display())).unwrap_or_default();
    format!("\"{line}{argument}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_line_keeps_its_quotes() {
        let line = shell_line("\"C:\\Program Files\\Vim\\vim.exe\" -f", Some(Path::new("C:\\a b.toml")));
        assert_eq!(line, "\"\"C:\\Program Files\\Vim\\vim.exe\" -f \"C:\\a b.toml\"\"");
    }

    #[test]
    fn a_bound_program_runs_and_its_exit_code_is_seen() {
        let mut command = shell("exit 7", None);
        assert_eq!(spawn_bound(&mut command).unwrap().wait().unwrap().code(), Some(7));
    }
}

//! Programs that must end within a time, and the descendants of a process.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::sandbox::Output;
use crate::system::exit_code;

/// How a command ended, and after how long. It was killed if it did not end by itself.
pub struct Ended {
    pub output: Output,
    pub took: Duration,
    pub by_itself: bool,
}

impl Ended {
    /// Both streams.
    pub fn said(&self) -> String {
        format!("{}{}", self.output.stdout, self.output.stderr)
    }
}

/// Runs a command for at most this long. Its output goes to files: a program that it leaves behind would keep a pipe
/// open.
pub fn within(limit: Duration, command: &mut Command) -> Ended {
    let [stdout, stderr] = [(); 2].map(|()| tempfile::NamedTempFile::new().unwrap());
    command.stdout(stdout.reopen().unwrap()).stderr(stderr.reopen().unwrap());
    let began = Instant::now();
    let mut child = command.spawn().unwrap();
    let mut by_itself = true;
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > limit {
            by_itself = false;
            end_tree(&mut child);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let took = began.elapsed();
    let code = exit_code(child.wait().unwrap());
    let text = |file: &Path| String::from_utf8_lossy(&std::fs::read(file).unwrap()).into_owned();
    Ended { output: Output { stdout: text(stdout.path()), stderr: text(stderr.path()), code }, took, by_itself }
}

/// A process that is killed at the end of its test.
pub struct Bound(pub Child);

impl Bound {
    pub fn start(command: &mut Command) -> Self {
        Self(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        if self.0.try_wait().is_ok_and(|status| status.is_none()) {
            end_tree(&mut self.0);
        }
    }
}

/// Kills a process that this test started, and all of its descendants.
pub fn end_tree(child: &mut Child) {
    let mut all = descendants(child.id());
    all.insert(0, child.id());
    for pid in all {
        kill(pid);
    }
    let _ = child.wait();
}

fn kill(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

fn descendants(root: u32) -> Vec<u32> {
    let mut parents: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for pid in processes() {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // The name of the program may contain spaces and parentheses.
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        parents.entry(parent.unwrap_or(0)).or_default().push(pid);
    }
    let mut found = Vec::new();
    let mut next = vec![root];
    while let Some(pid) = next.pop() {
        let children = parents.remove(&pid).unwrap_or_default();
        found.extend(&children);
        next.extend(children);
    }
    found
}

fn processes() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The ids and command lines of all processes with this home, which are those of one machine.
pub fn running_at(home: &Path) -> Vec<(u32, String)> {
    let wanted = format!("HOME={}", home.display());
    let is_there = |pid: &u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes())
    };
    let line = |pid: u32| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        (pid, String::from_utf8_lossy(&words).replace('\0', " "))
    };
    processes().into_iter().filter(is_there).map(line).collect()
}

/// The processes of a machine that still run after it had time to end; they are killed now.
pub fn left_at(home: &Path) -> Vec<String> {
    let began = Instant::now();
    loop {
        let left = running_at(home);
        if left.is_empty() {
            return Vec::new();
        }
        if began.elapsed() > Duration::from_secs(3) {
            left.iter().for_each(|(pid, _)| kill(*pid));
            return left.into_iter().map(|(_, line)| line).collect();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

//! `agent ls`: which agent programs are installed, and whether they have the options that their profiles use.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::agent::host::{HOSTS, Host};
use crate::app::{Code, Failure, Hint, Workspace};

/// A program that has not exited after this time counts as broken.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug, Serialize)]
pub struct AgentProgram {
    pub name: &'static str,
    pub title: &'static str,
    /// The path; `None` if the program is not installed.
    pub path: Option<PathBuf>,
    pub version: Option<String>,
    /// Whether `agent.profile` names it.
    pub profile: bool,
    /// Options that its profile uses but this version lacks.
    pub missing: Vec<&'static str>,
    pub install: String,
}

pub fn list_agents(ws: &Workspace) -> Vec<AgentProgram> {
    let profile = ws.settings.text("agent.profile");
    HOSTS.into_iter().map(|host| look_at(host, host.name == profile)).collect()
}

fn look_at(host: &'static Host, profile: bool) -> AgentProgram {
    let path = on_path(host.name);
    let said = |arguments: &[&str]| output_of(path.as_deref()?, arguments);
    let version = said(&["--version"]).and_then(|text| text.lines().next().map(|line| line.trim().to_owned()));
    let missing = said(host.help).map(|help| missing_in(host, &help)).unwrap_or_default();
    let install = format!("npm install -g {}", host.package);
    AgentProgram { name: host.name, title: host.title, path, version, profile, missing, install }
}

fn missing_in(host: &Host, help: &str) -> Vec<&'static str> {
    let words: Vec<&str> = help.split(|c: char| !c.is_alphanumeric() && c != '-').collect();
    host.flags.iter().copied().filter(|flag| !words.contains(flag)).collect()
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|place| place.is_file())
}

/// The output of a program, unless it fails or times out.
fn output_of(program: &Path, arguments: &[impl AsRef<OsStr>]) -> Option<String> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().ok()?;
    // Read both streams while the program runs, because it would block on a full pipe.
    let streams = [child.stdout.take().map(read_all), child.stderr.take().map(read_all)];
    let start = Instant::now();
    while child.try_wait().ok()?.is_none() {
        if start.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    // Programs print their help to either stream.
    Some(streams.into_iter().flatten().filter_map(|stream| stream.join().ok()).collect())
}

fn read_all(mut stream: impl std::io::Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Refuses a program that lacks an option which its profile uses.
pub(in crate::app) fn refuse_outdated(host: &'static Host) -> Result<(), Failure> {
    let found = look_at(host, true);
    if found.missing.is_empty() {
        return Ok(());
    }
    let version = found.version.unwrap_or_default();
    let message = format!("{} {version} has no option {}", host.title, found.missing.join(", "));
    Err(Failure::refused(Code::OldAgent, message).hint(Hint::shell(&found.install, "to update it")).hint(Hint::set(
        "agent.command",
        "COMMAND",
        "to use another command line",
    )))
}

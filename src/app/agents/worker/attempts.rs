//! How often a command failed on a task on this machine, and when it may be tried again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::app::{Failure, Workspace};
use crate::fs;
use crate::task::TaskId;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Attempts {
    pub task: TaskId,
    pub failures: u32,
    /// Runs that completed only a part of the work.
    #[serde(default)]
    pub advances: u32,
    pub not_before: Timestamp,
    /// How many points were open each time the work was sent back.
    #[serde(default)]
    pub rounds: Vec<usize>,
    /// Why each attempt failed.
    pub reasons: Vec<String>,
}

fn folder(ws: &Workspace) -> PathBuf {
    ws.store.local().join("attempts")
}

fn path(ws: &Workspace, id: &TaskId, command: &str) -> PathBuf {
    folder(ws).join(format!("{id}.{command}.toml"))
}

fn at(path: &Path) -> Option<Attempts> {
    toml::from_str(&fs::read_text(path).ok()??).ok()
}

pub(super) fn read(ws: &Workspace, id: &TaskId, command: &str) -> Attempts {
    at(&path(ws, id, command)).unwrap_or_else(|| Attempts {
        task: id.clone(),
        failures: 0,
        advances: 0,
        not_before: Timestamp::UNIX_EPOCH,
        rounds: Vec::new(),
        reasons: Vec::new(),
    })
}

fn write(ws: &Workspace, command: &str, attempts: &Attempts) -> Result<(), Failure> {
    fs::make_dir(&folder(ws))?;
    let path = path(ws, &attempts.task, command);
    Ok(fs::replace(&path, toml::to_string(attempts).expect("attempts are text").as_bytes(), false)?)
}

/// Records one more failure.
pub(super) fn fail(ws: &Workspace, id: &TaskId, command: &str, why: &str) -> Result<Attempts, Failure> {
    let mut attempts = read(ws, id, command);
    attempts.failures += 1;
    attempts.reasons.push(why.to_owned());
    let pause = ws.settings.duration("agent.backoff");
    let factor = 1 << attempts.failures.saturating_sub(1).min(6);
    let pause = SignedDuration::from_secs(pause.as_secs().saturating_mul(factor));
    attempts.not_before = Timestamp::now().checked_add(pause).unwrap_or(Timestamp::MAX);
    write(ws, command, &attempts)?;
    Ok(attempts)
}

/// Records that the work was sent back with `open` points; returns the counts of all rounds.
pub(super) fn round(ws: &Workspace, id: &TaskId, command: &str, open: usize, why: &str) -> Result<Vec<usize>, Failure> {
    let mut attempts = read(ws, id, command);
    attempts.rounds.push(open);
    attempts.reasons.push(why.to_owned());
    write(ws, command, &attempts)?;
    Ok(attempts.rounds)
}

/// Delays the next attempt without counting a failure.
pub(super) fn rest(ws: &Workspace, id: &TaskId, command: &str) -> Result<(), Failure> {
    let mut attempts = read(ws, id, command);
    let pause = ws.settings.duration("agent.backoff");
    attempts.not_before = Timestamp::now().checked_add(pause).unwrap_or(Timestamp::MAX);
    write(ws, command, &attempts)
}

/// Part of the work is done, so the count of failures starts again.
pub(super) fn advance(ws: &Workspace, id: &TaskId, command: &str) -> Result<Attempts, Failure> {
    let mut attempts = read(ws, id, command);
    attempts = Attempts { advances: attempts.advances + 1, failures: 0, reasons: Vec::new(), ..attempts };
    write(ws, command, &attempts)?;
    Ok(attempts)
}

/// Forgets the failures after a success.
pub(super) fn clear(ws: &Workspace, id: &TaskId, command: &str) -> Result<(), Failure> {
    Ok(fs::remove(&path(ws, id, command))?)
}

/// It was handed to a person, so all counts start again.
pub(super) fn forget(ws: &Workspace, id: &TaskId) -> Result<(), Failure> {
    for command in ws.flow().commands() {
        clear(ws, id, &command.name)?;
    }
    Ok(())
}

/// Tasks that are delayed after a failure, and when each can be tried again.
pub(super) fn resting(ws: &Workspace) -> Result<BTreeMap<TaskId, Timestamp>, Failure> {
    let now = Timestamp::now();
    let names = fs::names(&folder(ws))?;
    let all = names.iter().filter_map(|name| at(&folder(ws).join(name)));
    Ok(all.filter(|attempts| attempts.not_before > now).map(|attempts| (attempts.task, attempts.not_before)).collect())
}

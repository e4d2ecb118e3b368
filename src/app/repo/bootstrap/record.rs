//! The record of the setup of a worktree, stored with the files of this machine.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::app::{Failure, Workspace};
use crate::fs;
use crate::store::FileLock;

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct WorktreeRecord {
    /// The first of its ports.
    pub port: Option<u16>,
    /// Its files were included and its setup has succeeded.
    pub ready: bool,
}

impl WorktreeRecord {
    /// A record that cannot be read counts as none: the worktree is made ready again.
    pub fn read(ws: &Workspace, worktree: &Path) -> Result<Option<Self>, Failure> {
        Ok(fs::read_text(&path(ws, worktree, "toml"))?.and_then(|text| toml::from_str(&text).ok()))
    }

    pub fn write(&self, ws: &Workspace, worktree: &Path) -> Result<(), Failure> {
        let text = toml::to_string(self).expect("a record is text");
        Ok(fs::replace(&path(ws, worktree, "toml"), text.as_bytes(), false)?)
    }
}

/// Ports that other worktrees have.
pub(super) fn taken_ports(ws: &Workspace) -> Result<Vec<u16>, Failure> {
    let names = fs::names(&folder(ws))?;
    let worktrees = ws.store.root().join("worktrees");
    let there = names.iter().filter_map(|name| name.strip_suffix(".toml")).map(|name| worktrees.join(name));
    let records = there.filter(|path| path.exists()).map(|path| WorktreeRecord::read(ws, &path));
    Ok(records.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().filter_map(|record| record.port).collect())
}

/// One process at a time makes a worktree ready. It may take as long as `worktree.timeout` allows, so that nobody waits in line for it.
pub(super) fn lock(ws: &Workspace, worktree: &Path) -> Result<FileLock, Failure> {
    fs::make_dir(&folder(ws))?;
    Ok(FileLock::take(&path(ws, worktree, "lock"))?)
}

/// One process at a time chooses ports.
pub(super) fn ports_lock(ws: &Workspace) -> Result<FileLock, Failure> {
    Ok(FileLock::take(&folder(ws).join(".ports"))?)
}

/// For a removed worktree.
pub(in crate::app) fn forget(ws: &Workspace, worktree: &Path) -> Result<(), Failure> {
    for kind in ["toml", "lock"] {
        fs::remove(&path(ws, worktree, kind))?;
    }
    Ok(())
}

fn folder(ws: &Workspace) -> PathBuf {
    ws.store.local().join("worktrees")
}

fn path(ws: &Workspace, worktree: &Path, kind: &str) -> PathBuf {
    let name = worktree.file_name().unwrap_or_default().to_string_lossy();
    folder(ws).join(format!("{name}.{kind}"))
}

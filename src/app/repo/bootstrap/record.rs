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
    /// Files were included and the setup succeeded.
    pub ready: bool,
}

impl WorktreeRecord {
    /// A record that cannot be read counts as missing: the worktree is set up again.
    pub fn read(ws: &Workspace, worktree: &Path) -> Result<Option<Self>, Failure> {
        Ok(fs::read_text(&path(ws, worktree, "toml"))?.and_then(|text| toml::from_str(&text).ok()))
    }

    pub fn write(&self, ws: &Workspace, worktree: &Path) -> Result<(), Failure> {
        let text = toml::to_string(self).expect("a record is text");
        Ok(fs::replace(&path(ws, worktree, "toml"), text.as_bytes(), false)?)
    }
}

/// The first ports of all existing worktrees.
pub(super) fn taken_ports(ws: &Workspace) -> Result<Vec<u16>, Failure> {
    let names = fs::names(&folder(ws))?;
    let worktrees = ws.store.root().join("worktrees");
    let there = names.iter().filter_map(|name| name.strip_suffix(".toml")).map(|name| worktrees.join(name));
    let records = there.filter(|path| path.exists()).map(|path| WorktreeRecord::read(ws, &path));
    Ok(records.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().filter_map(|record| record.port).collect())
}

/// Locks the setup of a worktree. A setup may take as long as `worktree.timeout` allows, so another process soon gives
/// up waiting for it.
pub(super) fn lock(ws: &Workspace, worktree: &Path) -> Result<FileLock, Failure> {
    fs::make_dir(&folder(ws))?;
    Ok(FileLock::take(&path(ws, worktree, "lock"))?)
}

/// Locks the choice of ports.
pub(super) fn ports_lock(ws: &Workspace) -> Result<FileLock, Failure> {
    Ok(FileLock::take(&folder(ws).join(".ports"))?)
}

/// Deletes the record of a removed worktree.
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

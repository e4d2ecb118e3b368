//! Sets up a new worktree: ignored files, ports, and the programs of `worktree.setup`.
//!
//! ```text
//! include.rs    the files that `.worktreeinclude` names
//! ports.rs      free ports
//! programs.rs   setup, before_run and before_remove
//! record.rs     the record of a setup, on this machine
//! ```

mod include;
mod ports;
mod programs;
mod record;

use std::ffi::OsString;
use std::path::PathBuf;

use serde::Serialize;

pub(in crate::app) use programs::{before_remove, before_run, exit_words};
pub(in crate::app) use record::forget;

use crate::app::repo::worktree::{Place, place};
use crate::app::workspace::trust::require_trust;
use crate::app::{Failure, Workspace};
use crate::task::TaskId;
use record::WorktreeRecord;

/// Whether to set up a new worktree, or only to check it out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Setup {
    /// Programs write their output to `log`, or to a log of the worktree.
    Full {
        log: Option<PathBuf>,
    },
    Skip,
}

/// Progress, for display.
#[derive(Debug)]
pub enum WorktreeStep<'a> {
    CheckingOut { done: usize, of: usize },
    Including { path: &'a str },
    Running { program: &'a [String] },
}

/// What was copied or linked from the main worktree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Included {
    /// Files and folders that `.worktreeinclude` matches.
    pub paths: Vec<String>,
    /// How many files were copied.
    pub files: usize,
    /// How many folders were linked.
    pub linked: usize,
}

/// The setup of a worktree.
#[derive(Debug, Default)]
pub(super) struct Bootstrapped {
    pub included: Included,
    pub port: Option<u16>,
}

/// Refuses before anything is created, if the programs of `worktree.setup` are not trusted.
pub(super) fn refuse_untrusted_setup(ws: &Workspace, setup: &Setup) -> Result<(), Failure> {
    match setup {
        Setup::Full { .. } if !ws.settings.programs("worktree.setup").is_empty() => require_trust(ws),
        _ => Ok(()),
    }
}

/// Sets up a worktree unless that was done. If the setup failed, was interrupted or skipped, the next call does it.
pub(super) fn bootstrap(
    ws: &Workspace,
    place: &Place,
    setup: &Setup,
    is_new: bool,
    tell: &mut dyn FnMut(WorktreeStep<'_>),
) -> Result<Bootstrapped, Failure> {
    let _one_at_a_time = record::lock(ws, &place.path)?;
    let mut record = if is_new { None } else { WorktreeRecord::read(ws, &place.path)? }.unwrap_or_default();
    let Setup::Full { log } = setup else {
        return Ok(Bootstrapped { port: record.port, ..Bootstrapped::default() });
    };
    if record.ready {
        return Ok(Bootstrapped { port: record.port, ..Bootstrapped::default() });
    }
    if record.port.is_none() {
        // Otherwise, two worktrees that are created at the same time could choose the same ports.
        let _until_recorded = record::ports_lock(ws)?;
        record.port = ports::free_ports(ws)?;
        record.write(ws, &place.path)?;
    }
    let included = include::include(ws, &place.path, tell)?;
    programs::set_up(ws, place, record.port, log.as_deref(), tell)?;
    record.ready = true;
    record.write(ws, &place.path)?;
    Ok(Bootstrapped { included, port: record.port })
}

/// The first port of a worktree.
pub(super) fn port_of(ws: &Workspace, worktree: &std::path::Path) -> Option<u16> {
    WorktreeRecord::read(ws, worktree).ok().flatten()?.port
}

/// The environment variables for the worktree of a task.
pub(in crate::app) fn environment(ws: &Workspace, id: &TaskId) -> Vec<(&'static str, OsString)> {
    let place = ws.family(id).and_then(|board| place(ws, &board, id));
    place.map_or_else(|_| Vec::new(), |place| ports::variables(ws, port_of(ws, &place.path)))
}

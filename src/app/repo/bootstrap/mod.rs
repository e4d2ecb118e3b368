//! Sets up a new worktree: ignored files, ports, and the programs of `worktree.setup`.
//!
//! ```text
//! include.rs    the files that `.worktreeinclude` names
//! ports.rs      free ports
//! programs.rs   setup, before_run and before_remove
//! record.rs     what was done, on this machine
//! ```

mod include;
mod ports;
mod programs;
mod record;

use std::ffi::OsString;
use std::path::PathBuf;

use serde::Serialize;

pub(in crate::app) use programs::{before_remove, before_run};
pub(in crate::app) use record::forget;

use crate::app::repo::worktree::{Place, place};
use crate::app::workspace::trust::require_trust;
use crate::app::{Failure, Workspace};
use crate::task::TaskId;
use record::WorktreeRecord;

/// Whether a new worktree is made ready, or only checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Setup {
    /// The output of its programs goes to this log, or to one of its own.
    Full {
        log: Option<PathBuf>,
    },
    Skip,
}

/// The progress, for a display.
#[derive(Debug)]
pub enum WorktreeStep<'a> {
    CheckingOut { done: usize, of: usize },
    Including { path: &'a str },
    Running { program: &'a [String] },
}

/// The files that were copied from the main worktree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Included {
    /// Files and folders that `.worktreeinclude` matches.
    pub paths: Vec<String>,
    pub files: usize,
}

/// The setup of a worktree.
#[derive(Debug, Default)]
pub(super) struct Bootstrapped {
    pub included: Included,
    pub port: Option<u16>,
}

/// Refuses before anything is made, where the programs of `worktree.setup` need consent.
pub(super) fn refuse_untrusted_setup(ws: &Workspace, setup: &Setup) -> Result<(), Failure> {
    match setup {
        Setup::Full { .. } if !ws.settings.programs("worktree.setup").is_empty() => require_trust(ws),
        _ => Ok(()),
    }
}

/// Makes a worktree ready, unless it is: one whose setup failed or was interrupted is made ready by the next attempt.
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
        // A skipped setup is not run later either.
        record.ready = true;
        record.write(ws, &place.path)?;
        return Ok(Bootstrapped { port: record.port, ..Bootstrapped::default() });
    };
    if record.ready {
        return Ok(Bootstrapped { port: record.port, ..Bootstrapped::default() });
    }
    if record.port.is_none() {
        // Two worktrees that are made at once must not find the same ports free.
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

/// The environment variables about the worktree of a task.
pub(in crate::app) fn environment(ws: &Workspace, id: &TaskId) -> Vec<(&'static str, OsString)> {
    let place = ws.family(id).and_then(|board| place(ws, &board, id));
    place.map_or_else(|_| Vec::new(), |place| ports::variables(ws, port_of(ws, &place.path)))
}

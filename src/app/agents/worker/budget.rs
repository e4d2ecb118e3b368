//! Checks the budgets before each run. `records/budgets.rs` has the limits.

use super::Job;
use crate::app::records::budgets::{any_budget, raise_task_budget, shared_budget, task_budget};
use crate::app::work::moves::move_with_note;
use crate::app::{Failure, Workspace};
use crate::board::{Goal, Request};
use crate::store::FileLock;
use crate::task::TaskId;
use crate::workflow::Intent;

/// Whether a run may start.
pub(super) enum Verdict {
    /// Holds the lock until the run is recorded; otherwise two workers could both start the last run.
    Granted { _until_recorded: Option<FileLock> },
    /// The budget of the task is used up, and the task was handed to a person.
    Parked(String),
}

/// Checks the budgets of a job. If a shared budget is used up, the worker ends, because no other job may start either.
pub(super) fn admit(ws: &Workspace, job: &Job, teams: &[TaskId]) -> Result<Verdict, Failure> {
    if !any_budget(ws) {
        return Ok(Verdict::Granted { _until_recorded: None });
    }
    let lock = FileLock::take(&ws.store.local().join("budget.lock"))?;
    if let Some(failure) = task_budget(ws, &job.task)? {
        park(ws, job, &failure)?;
        return Ok(Verdict::Parked(format!("{}: {}", job.task, failure.message)));
    }
    match shared_budget(ws, teams)? {
        Some(failure) => Err(failure),
        None => Ok(Verdict::Granted { _until_recorded: Some(lock) }),
    }
}

/// Hands the task to a person.
fn park(ws: &Workspace, job: &Job, failure: &Failure) -> Result<(), Failure> {
    let note = format!("`{}` was not started: {}\n", job.command, raise_task_budget(&job.task, failure));
    let lock = ws.lock()?;
    let board = ws.family(&job.task)?;
    let request = Request { command: Some(&job.command), ..Request::new(&job.task, Goal::Intent(Intent::Escalate)) };
    move_with_note(ws, &lock, &board, &request, "escalate", &note)?;
    Ok(())
}

//! Budgets: limits what agents may use, checked before each run. Only runs on this machine count. A current run counts
//! as a run, and with its tokens and cost once they are reported.

use jiff::{Timestamp, Zoned};

use super::Job;
use crate::app::records::costs::Spent;
use crate::app::records::runs::{Run, list_runs};
use crate::app::work::moves::move_with_note;
use crate::app::{Code, Failure, Hint, Workspace};
use crate::board::{Goal, Request};
use crate::config::Budget;
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

const KEYS: [&str; 3] = ["budget.task", "budget.team", "budget.day"];

/// Checks the budgets of a job. If a shared budget is used up, the worker ends, because no other job may start either.
pub(super) fn admit(ws: &Workspace, job: &Job, teams: &[TaskId]) -> Result<Verdict, Failure> {
    let set: Vec<(&'static str, Budget)> =
        KEYS.into_iter().filter_map(|key| Some((key, ws.settings.budget(key)?))).collect();
    if set.is_empty() {
        return Ok(Verdict::Granted { _until_recorded: None });
    }
    let lock = FileLock::take(&ws.store.local().join("budget.lock"))?;
    let mut runs = list_runs(ws, None, usize::MAX)?;
    runs.retain(Run::is_agents);
    let midnight = midnight();
    for (key, budget) in set {
        let counts = |run: &&Run| match key {
            "budget.task" => run.task == job.task,
            "budget.team" => run.team.as_ref().is_some_and(|team| teams.contains(team)),
            _ => run.started >= midnight,
        };
        let counted: Vec<&Run> = runs.iter().filter(counts).collect();
        let Some(failure) = over(key, budget, &counted) else { continue };
        if key != "budget.task" {
            return Err(failure);
        }
        park(ws, job, &failure)?;
        return Ok(Verdict::Parked(format!("{}: {}", job.task, failure.message)));
    }
    Ok(Verdict::Granted { _until_recorded: Some(lock) })
}

/// Why a budget forbids another run, if it does.
fn over(key: &'static str, budget: Budget, runs: &[&Run]) -> Option<Failure> {
    let spent = Spent::of(runs.iter().copied());
    if spent.reaches(budget) {
        let message = format!("{key} is used up: {} of {budget}", spent.shown_as(budget));
        return Some(
            Failure::refused(Code::BudgetReached, message)
                .hint(Hint::run("costs", "to see what was used"))
                .hint(Hint::set(key, "AMOUNT", "to raise it")),
        );
    }
    // Killed programs could not report their usage. A program that exited without reporting will not report next time
    // either.
    let silent = |run: &&&Run| {
        let usage = run.usage.as_ref();
        run.code.is_some()
            && match budget {
                Budget::Usd(_) => usage.and_then(|usage| usage.cost_usd).is_none(),
                Budget::Tokens(_) => usage.is_none(),
                Budget::Runs(_) => false,
            }
    };
    let run = runs.iter().find(silent)?;
    let (unit, other) = match budget {
        Budget::Usd(_) if run.usage.is_some() => ("cost", "\"5M tokens\""),
        Budget::Usd(_) => ("cost", "\"20 runs\""),
        _ => ("tokens", "\"20 runs\""),
    };
    let program = run.program.first().map_or("the agent", String::as_str);
    let message = format!("{key} ({budget}) cannot be checked: {program} reported no {unit} for {}", run.id);
    Some(Failure::refused(Code::BudgetUnknown, message).hint(Hint::set(
        key,
        other,
        "to use a unit that the agent reports",
    )))
}

fn midnight() -> Timestamp {
    Zoned::now().start_of_day().map_or(Timestamp::UNIX_EPOCH, |day| day.timestamp())
}

/// Hands the task to a person.
fn park(ws: &Workspace, job: &Job, failure: &Failure) -> Result<(), Failure> {
    let note = format!(
        "`{}` was not started: {}.\n\nRaise budget.task, then move the task back to its previous state.\n",
        job.command, failure.message
    );
    let lock = ws.lock()?;
    let board = ws.family(&job.task)?;
    let request = Request { command: Some(&job.command), ..Request::new(&job.task, Goal::Intent(Intent::Escalate)) };
    move_with_note(ws, &lock, &board, &request, "escalate", &note)?;
    Ok(())
}

//! The outcome of a run for its task: done, tried again, moved back, or handed to a person.

use std::process::ExitStatus;

use super::turn::Exit;
use super::{Job, attempts};
use crate::app::records::runs::{Run, RunOutcome, last_words};
use crate::app::records::strays::{self, Strays};
use crate::app::work::moves::move_with_note;
use crate::app::{Failure, Workspace};
use crate::board::{Ended, Goal, Request};
use crate::os::process::exit_code;
use crate::store::new_note;
use crate::task::{StateName, Task};
use crate::workflow::Intent;

/// How many runs may complete only a part of the work.
const MOST_PARTS: u32 = 20;

/// Facts about a run that the board does not have.
pub(super) struct After {
    /// Whether the task's branch has moved.
    pub advanced: bool,
    /// Whether another worker has the claim now.
    pub taken_over: bool,
}

/// Determines the outcome of a run from the board, because the exit code alone does not show it.
pub(super) fn settle(
    ws: &Workspace,
    job: &Job,
    before: &Task,
    mut run: Run,
    exit: &Exit,
    after: &After,
) -> Result<Run, Failure> {
    let board = ws.family(&job.task)?;
    let ended = board.ended(before, &job.command, ws.rules());
    run.code = if let Exit::Ended(status) = exit { Some(exit_code(status)) } else { None };
    let found = found_strays(ws, job, &run);
    let strayed = !found.own.is_empty() && strays::counts(ws);
    (run.outcome, run.message) = match (ended, exit) {
        (Ended::Escalated, _) => (RunOutcome::Escalated, rejected(board.get(&job.task), before)),
        (_, Exit::Closed) => (RunOutcome::Interrupted, Some("its task was closed or taken over during the run".into())),
        (Ended::Done, _) => (RunOutcome::Done, None),
        (Ended::Iterated, _) => (RunOutcome::Iterated, None),
        (Ended::Unmoved, _) if strayed => (RunOutcome::Strayed, Some(strayed_message(&found.own))),
        (Ended::Unmoved, Exit::StoppedBy(by)) => (RunOutcome::Stopped, Some(format!("stopped by {by}"))),
        (Ended::Unmoved, Exit::Stopped) => (RunOutcome::Interrupted, None),
        (Ended::Unmoved, Exit::NotStarted(failure)) => (RunOutcome::Failed, Some(failure.message.clone())),
        (Ended::Unmoved, Exit::TimedOut(limit)) => {
            (RunOutcome::TimedOut, Some(format!("timed out after {}s", limit.as_secs())))
        }
        (Ended::Unmoved, _) if after.taken_over => (RunOutcome::Interrupted, Some("its task was taken over".into())),
        (Ended::Unmoved, Exit::Ended(status)) if after.advanced && status.success() => (RunOutcome::Advanced, None),
        (Ended::Unmoved, Exit::Ended(status)) if status.success() => {
            (RunOutcome::Unmoved, Some(format!("exited with status 0, but left {} in {}", before.id, before.state)))
        }
        (Ended::Unmoved, Exit::Ended(status)) => (RunOutcome::Failed, Some(ended_with(*status))),
    };
    run.strays = found.all();
    if !found.is_empty() && run.outcome != RunOutcome::Strayed {
        tell_of(ws, before, &found.all())?;
    }
    follow_up(ws, job, &mut run)?;
    Ok(run)
}

/// The message for a plan that was rejected too often.
fn rejected(now: Option<&Task>, before: &Task) -> Option<String> {
    let count = now.map(|task| task.rejections).filter(|count| *count > before.rejections)?;
    Some(format!("its plan was rejected {count} times"))
}

/// The changes in the main worktree during a run. A sandboxed run cannot write there, so such changes are not its own.
fn found_strays(ws: &Workspace, job: &Job, run: &Run) -> Strays {
    if run.confined {
        return Strays::default();
    }
    strays::strays(ws, run).unwrap_or_else(|failure| {
        ws.notice(format!("cannot check for changes outside the worktree of {}: {}", job.task, failure.message));
        Strays::default()
    })
}

fn strayed_message(found: &[String]) -> String {
    format!("files changed in the main worktree during the run: {}", found.join(", "))
}

/// Adds a note, and nothing else, because a person may have made the changes.
fn tell_of(ws: &Workspace, task: &Task, found: &[String]) -> Result<(), Failure> {
    let lock = ws.lock()?;
    let note = new_note(&task.id, &ws.me()?, ws.now(), &mut ws.rng(), &strayed_message(found));
    ws.commit(&lock, crate::board::Op::new("note", vec![note]))?;
    Ok(())
}

/// Counts failures, and hands the task to a person after too many.
pub(super) fn follow_up(ws: &Workspace, job: &Job, run: &mut Run) -> Result<(), Failure> {
    let why = run.message.clone().unwrap_or_else(|| run.outcome.words());
    match run.outcome {
        RunOutcome::Done | RunOutcome::Iterated => attempts::clear(ws, &job.task, &job.command),
        RunOutcome::Escalated => attempts::forget(ws, &job.task),
        RunOutcome::Strayed | RunOutcome::Stopped => call_a_person(ws, job, run, &[why]),
        RunOutcome::Advanced => {
            let attempts = attempts::advance(ws, &job.task, &job.command)?;
            if attempts.advances < MOST_PARTS {
                return Ok(());
            }
            call_a_person(
                ws,
                job,
                run,
                &[format!("{MOST_PARTS} runs made commits, but none of them completed the task")],
            )
        }
        outcome if outcome.is_failure() => {
            let attempts = attempts::fail(ws, &job.task, &job.command, &why)?;
            let retries = ws.settings.number("agent.retries").unwrap_or(0);
            if attempts.failures <= retries {
                return Ok(());
            }
            call_a_person(ws, job, run, &attempts.reasons)
        }
        _ => Ok(()),
    }
}

/// Hands the task to a person, with a note that contains the reasons and the end of the output.
pub(super) fn call_a_person(ws: &Workspace, job: &Job, run: &mut Run, reasons: &[String]) -> Result<(), Failure> {
    let said = last_words(ws, run, 12)?;
    let listed: String = reasons.iter().map(|reason| format!("- {reason}\n")).collect();
    let said =
        if said.trim().is_empty() { String::new() } else { format!("\nThe end of its output:\n\n{}", indented(&said)) };
    let note = format!(
        "`{}` was handed to a person:\n\n{listed}{said}\nFull output: `ralph runs show {}`\n",
        job.command, run.id
    );
    let lock = ws.lock()?;
    let board = ws.family(&job.task)?;
    let request = Request { command: Some(&job.command), ..Request::new(&job.task, Goal::Intent(Intent::Escalate)) };
    match move_with_note(ws, &lock, &board, &request, "escalate", &note) {
        Ok(_) => {
            drop(lock);
            attempts::forget(ws, &job.task)
        }
        // Another worker has claimed the task since and now decides about it.
        Err(failure) => {
            ws.notice(format!("cannot hand {} to a person: {}", job.task, failure.message));
            Ok(())
        }
    }
}

/// Describes how a program ended.
fn ended_with(status: ExitStatus) -> String {
    status.code().map_or_else(|| format!("killed ({status})"), |code| format!("exited with status {code}"))
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}

/// Moves a task back to work, with a note on what to change.
pub(super) fn send_back(ws: &Workspace, job: &Job, why: &str) -> Result<(), Failure> {
    let command = ws.flow().command(&job.command)?;
    let Some(to) = command.back.clone() else { return Ok(()) };
    let lock = ws.lock()?;
    let board = ws.family(&job.task)?;
    let request = Request { command: Some(&job.command), ..Request::new(&job.task, Goal::State(to)) };
    move_with_note(ws, &lock, &board, &request, "move", why)?;
    Ok(())
}

/// Completes the record of a run.
pub(super) fn close(ws: &Workspace, mut run: Run) -> Result<Run, Failure> {
    let state = ws.family(&run.task)?.get(&run.task).map(|task| task.state.clone());
    run.to = state.or_else(|| Some(StateName::new("gone")));
    run.ended = Some(jiff::Timestamp::now());
    run.write(ws)?;
    Ok(run)
}

//! The commands of the integrator, which need no agent: pull requests and merges.

use super::{Job, attempts, settle};
use crate::app::records::runs::{Run, RunOutcome};
use crate::app::work::feedback::{feedback, is_stuck};
use crate::app::work::held_claim;
use crate::app::workspace::remote::Reach;
use crate::app::{Code, Consequence, Failure, Workspace, merge, pull_request};

pub(super) fn integrate(ws: &Workspace, job: &Job, began: &mut dyn FnMut(&Run)) -> Result<Run, Failure> {
    let board = ws.family(&job.task)?;
    let before =
        board.get(&job.task).cloned().ok_or_else(|| crate::app::workspace::open::missing(ws, &board, &job.task))?;
    let tenure = held_claim::take(ws, &job.claim(), Reach::Remote)?;
    let mut run = job.begin(ws, &before, None)?;
    began(&run);
    let done = match job.command.as_str() {
        "pr" => pull_request(ws, &job.task, false, false, &mut |_| {})
            .map(|pull| pull.url.unwrap_or_else(|| "nothing to do: no GitHub remote".into())),
        _ => push_again(ws, job)
            .and_then(|()| merge(ws, &job.task, false, &mut |_| {}))
            .map(|merged| format!("{} in {}", merged.commit, merged.into)),
    };
    let judged = judge(ws, job, &mut run, done).and_then(|()| settle::follow_up(ws, job, &mut run));
    tenure.finish(ws)?;
    judged?;
    settle::close(ws, run)
}

/// Pushes new commits and replies to an existing pull request.
fn push_again(ws: &Workspace, job: &Job) -> Result<(), Failure> {
    let board = ws.family(&job.task)?;
    let has_pull = board.get(&job.task).is_some_and(|task| task.artifacts.contains_key("pr"));
    if !has_pull || ws.flow().command("pr").is_err() {
        return Ok(());
    }
    pull_request(ws, &job.task, false, false, &mut |_| {}).map(|_| ())
}

fn judge(ws: &Workspace, job: &Job, run: &mut Run, done: Result<String, Failure>) -> Result<(), Failure> {
    let failure = match done {
        Ok(what) => {
            (run.outcome, run.message) = (RunOutcome::Done, Some(what));
            return Ok(());
        }
        Err(failure) => failure,
    };
    let said: String = failure.causes.iter().map(|cause| format!("{cause}\n")).collect();
    crate::fs::append(&run.path(ws, "output.log"), &format!("{}\n{said}", failure.message))?;
    run.message = Some(failure.message.clone());
    let escalated = ws.family(&job.task)?.get(&job.task).is_some_and(|task| ws.rules().needs_person(task));
    run.outcome = match failure.for_worker() {
        _ if escalated => RunOutcome::Escalated,
        Consequence::Person => {
            settle::call_a_person(ws, job, run, std::slice::from_ref(&failure.message))?;
            RunOutcome::Escalated
        }
        Consequence::Wait | Consequence::Blocked | Consequence::Approval => RunOutcome::Waiting,
        Consequence::Raced => {
            // Another worker was faster, which does not count as a failure.
            attempts::rest(ws, &job.task, &job.command)?;
            RunOutcome::Raced
        }
        Consequence::Mend => mend(ws, job, run, &failure, &said)?,
        Consequence::Overtaken | Consequence::Environment | Consequence::Task => RunOutcome::Failed,
    };
    Ok(())
}

/// Sends the work back to the builder with the open points. If two rounds in a row did not reduce them, the task is
/// handed to a person.
fn mend(ws: &Workspace, job: &Job, run: &mut Run, failure: &Failure, said: &str) -> Result<RunOutcome, Failure> {
    let open = feedback(ws, &job.task)?.points.iter().filter(|point| point.waiting).count();
    if open == 0 && failure.code == Code::ChangesRequested {
        run.message = Some(format!("{}; every point is answered, so the task waits for the reviewer", failure.message));
        return Ok(RunOutcome::Waiting);
    }
    let rounds = attempts::round(ws, &job.task, &job.command, open.max(1), &failure.message)?;
    if is_stuck(&rounds) || ws.settings.number("agent.retries") == Some(0) {
        let listed: Vec<String> = rounds.iter().map(ToString::to_string).collect();
        let reason = format!("{}; open points round by round: {}", failure.message, listed.join(", "));
        settle::call_a_person(ws, job, run, &[reason])?;
        return Ok(RunOutcome::Escalated);
    }
    let said: String = said.lines().map(|line| format!("    {line}\n")).collect();
    settle::send_back(ws, job, &format!("{}\n\n{said}", failure.message))?;
    Ok(RunOutcome::Returned)
}

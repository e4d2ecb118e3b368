//! What the integrator does without any agent: the pull request, and the merge.

use super::{Job, attempts, settle};
use crate::app::records::runs::{Run, RunOutcome};
use crate::app::work::held_claim;
use crate::app::workspace::remote_claims::Reach;
use crate::app::{Consequence, Failure, Workspace, merge, pull_request};

/// The commands that ralph does itself.
pub(super) const OWN: [&str; 2] = ["pr", "merge"];

pub(super) fn integrate(ws: &Workspace, job: &Job, began: &mut dyn FnMut(&Run)) -> Result<Run, Failure> {
    let board = ws.family(&job.task)?;
    let before =
        board.get(&job.task).cloned().ok_or_else(|| crate::app::workspace::open::missing(ws, &board, &job.task))?;
    let tenure = held_claim::take(ws, &job.claim(), Reach::Remote)?;
    let mut run = job.begin(ws, &before, None)?;
    began(&run);
    let done = match job.command.as_str() {
        "pr" => pull_request(ws, &job.task, false, false, &mut |_| {})
            .map(|pull| pull.url.unwrap_or_else(|| "no GitHub: nothing to do".into())),
        _ => merge(ws, &job.task, false, &mut |_| {}).map(|merged| format!("{} in {}", merged.commit, merged.into)),
    };
    let judged = judge(ws, job, &mut run, done).and_then(|()| settle::follow_up(ws, job, &mut run));
    tenure.finish(ws)?;
    judged?;
    settle::close(ws, run)
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
            // Others are at it, too: that is nobody's failure.
            attempts::rest(ws, &job.task, &job.command)?;
            RunOutcome::Raced
        }
        Consequence::Mend => mend(ws, job, &failure, &said)?,
        Consequence::Overtaken | Consequence::Environment | Consequence::Task => RunOutcome::Failed,
    };
    Ok(())
}

/// Back to the builder, so many times; then a person decides.
fn mend(ws: &Workspace, job: &Job, failure: &Failure, said: &str) -> Result<RunOutcome, Failure> {
    let retries = ws.settings.number("agent.retries").unwrap_or(0);
    if attempts::read(ws, &job.task, &job.command).failures >= retries {
        return Ok(RunOutcome::Failed);
    }
    let said: String = said.lines().map(|line| format!("    {line}\n")).collect();
    settle::send_back(ws, job, &format!("{}\n\n{said}", failure.message))?;
    attempts::fail(ws, &job.task, &job.command, &failure.message)?;
    Ok(RunOutcome::Returned)
}

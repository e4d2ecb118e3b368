//! Whether the agent program itself can work: detects unavailable programs and usage limits, and finds the session to
//! resume after an interrupted run.

use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp, Zoned};
use serde::{Deserialize, Serialize};

use super::program::Agent;
use super::{Job, attempts};
use crate::agent::host::{Host, LONGEST_LIMIT, Report, Trouble, trouble_in};
use crate::app::records::runs::{Run, RunOutcome, last_words, list_runs};
use crate::app::{Code, Failure, Hint, Workspace};
use crate::fs;

/// How often in a row a session is resumed.
const MOST_RESUMED: usize = 3;

/// A program that fails within this time has not worked on the task.
const QUICK: SignedDuration = SignedDuration::from_secs(20);

/// A usage limit that an agent program reported: the program is not started before `until`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AgentLimit {
    pub host: String,
    pub said: String,
    pub until: Timestamp,
}

/// Completes the record of a run from the program's output, and checks whether the program itself failed. `code` is its
/// exit code if the task did not move.
pub(super) fn examine(
    ws: &Workspace,
    agent: &Agent,
    run: &mut Run,
    code: Option<i32>,
    advanced: bool,
) -> Result<Option<Failure>, Failure> {
    let report = agent.host().map(|host| Ok::<_, Failure>((host, report(ws, host, run)?))).transpose()?;
    match (report, code) {
        (Some((host, report)), Some(code)) => diagnose(ws, host, &report, run, code),
        (None, Some(code)) if !advanced => diagnose_unknown(ws, run, code),
        _ => Ok(None),
    }
}

/// Adds the facts in the program's output to the record of the run.
fn report(ws: &Workspace, host: &Host, run: &mut Run) -> Result<Report, Failure> {
    let bytes = fs::read(&run.path(ws, "output.log"))?.unwrap_or_default();
    let report = Report::read(host, &String::from_utf8_lossy(&bytes));
    run.session.clone_from(&report.session);
    run.usage.clone_from(&report.usage);
    run.model = report.model.clone().or(run.model.take());
    run.refused.clone_from(&report.refused);
    Ok(report)
}

/// Checks whether the program caused a run to end without a move. A usage limit is recorded for all workers; other
/// problems end the worker.
fn diagnose(
    ws: &Workspace,
    host: &Host,
    report: &Report,
    run: &mut Run,
    code: i32,
) -> Result<Option<Failure>, Failure> {
    let Some(trouble) = trouble_in(report, code, &Zoned::now()) else { return Ok(None) };
    if run.resumed.is_some() && report.tools == 0 {
        // The session may no longer exist, so the next run starts a new one.
        run.session = None;
        run.outcome = RunOutcome::Interrupted;
        run.message = Some("its session could not be resumed; the next run starts a new one".into());
        return Ok(None);
    }
    Ok(match trouble {
        Trouble::Limited { said, until } => {
            let until = until.min(Timestamp::now().saturating_add(LONGEST_LIMIT).unwrap_or(until));
            run.outcome = RunOutcome::Limited;
            run.message = Some(said.clone());
            write_limit(ws, &AgentLimit { host: host.name.to_owned(), said, until })?;
            None
        }
        Trouble::Unavailable { said } => {
            run.outcome = RunOutcome::Unavailable;
            run.message = Some(said.clone());
            Some(unavailable(host, run, &said))
        }
    })
}

fn unavailable(host: &Host, run: &Run, said: &str) -> Failure {
    cannot_work(host.title, run, said)
        .hint(Hint::run(&format!("agent test {}", host.name), "to test it without a task"))
}

fn cannot_work(program: &str, run: &Run, said: &str) -> Failure {
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    Failure::broken(Code::AgentUnavailable, format!("{program} is unavailable: {said}"))
        .hint(Hint::run(&format!("runs show {}", run.id), "to see its output"))
}

/// Checks a failed program that ralph has no profile for. The program itself counts as broken if it also failed quickly
/// on another task, with the same output. These failures do not count against the tasks.
fn diagnose_unknown(ws: &Workspace, run: &mut Run, code: i32) -> Result<Option<Failure>, Failure> {
    let program = run.program.first().cloned().unwrap_or_default();
    if code == 0 || !is_quick(run, Timestamp::now()) {
        return Ok(None);
    }
    let said = words_of(ws, run)?;
    run.code = Some(code);
    let mut alike = Vec::new();
    for other in list_runs(ws, None, 20)?.into_iter().filter(|other| other.program.first() == Some(&program)) {
        let Some(ended) = other.ended else { continue };
        let failed = matches!(other.outcome, RunOutcome::Failed | RunOutcome::Unavailable) && other.code == Some(code);
        if !(failed && is_quick(&other, ended) && words_of(ws, &other)? == said) {
            break;
        }
        alike.push(other);
    }
    if alike.iter().all(|other| other.task == run.task) {
        return Ok(None);
    }
    for other in &alike {
        attempts::clear(ws, &other.task, &other.command)?;
    }
    run.outcome = RunOutcome::Unavailable;
    let said = if said.is_empty() { format!("exited with status {code} and no output") } else { said };
    run.message = Some(said.clone());
    Ok(Some(cannot_work(&program, run, &said)))
}

fn is_quick(run: &Run, ended: Timestamp) -> bool {
    ended.duration_since(run.started) < QUICK
}

/// The last line of a program's output, without the task's id.
fn words_of(ws: &Workspace, run: &Run) -> Result<String, Failure> {
    let last = last_words(ws, run, 1)?;
    Ok(last.trim().replace(run.task.as_str(), "the task"))
}

fn limit_file(ws: &Workspace) -> PathBuf {
    ws.store.local().join("agent-limit.json")
}

fn write_limit(ws: &Workspace, limit: &AgentLimit) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(limit).expect("a limit is text");
    Ok(fs::replace(&limit_file(ws), text.as_bytes(), false)?)
}

/// The current usage limit of a program, if any.
pub fn limit_of(ws: &Workspace, host: &str) -> Option<AgentLimit> {
    let text = fs::read_text(&limit_file(ws)).ok()??;
    let limit: AgentLimit = serde_json::from_str(&text).ok()?;
    (limit.host == host && limit.until > Timestamp::now()).then_some(limit)
}

/// The session of the last run of this command on this task, if that run was interrupted and was not resumed too often.
pub(super) fn session_to_resume(ws: &Workspace, job: &Job, host: &Host) -> Result<Option<String>, Failure> {
    let of_job = |run: &Run| run.command == job.command && run.ended.is_some();
    let runs: Vec<Run> = list_runs(ws, Some(&job.task), 20)?.into_iter().filter(of_job).collect();
    let cut_off = |run: &Run| {
        let outcome = run.outcome;
        run.host.as_deref() == Some(host.name)
            && matches!(outcome, RunOutcome::Limited | RunOutcome::TimedOut | RunOutcome::Interrupted)
    };
    let Some(session) = runs.first().filter(|run| cut_off(run)).and_then(|run| run.session.clone()) else {
        return Ok(None);
    };
    let resumed = runs.iter().take_while(|run| run.resumed.as_ref() == Some(&session)).count();
    Ok((resumed < MOST_RESUMED).then_some(session))
}

//! `ralph worker`: one worker, with a line for each run.

use std::io::Write as _;
use std::process::Command;

use super::run::{end_everything, itself, listen};
use crate::app::{self, Code, Failure, Launch, Options, Run, RunOutcome, Stop, WorkEnd, WorkerAsk, WorkerEvent};
use crate::cli::args::WorkerArgs as Args;
use crate::cli::input::program_from;
use crate::cli::style::{self, paint};
use crate::cli::table::{clean, cut};
use crate::cli::{Answer, Outcome as Exit, Session, words};
use crate::os::Signal;
use crate::os::process::own_group_if_signalled;
use crate::task::{TaskId, Worker};

pub fn run(session: &Session<'_>, args: &Args) -> Answer {
    let teams = args.team.iter().map(|id| Ok(TaskId::new(id)?)).collect::<Result<Vec<_>, Failure>>()?;
    let asked = WorkerAsk {
        role: args.role.clone(),
        teams,
        bough: args.bough,
        program: program_from(&session.options.dir, &args.program),
        most: if args.once { Some(1) } else { args.max },
        wait: args.wait,
        dry_run: args.dry_run,
    };
    let stop = stop_on_signals(!args.events)?;
    let out = session.out;
    let mut tell = |event: &WorkerEvent| {
        if args.events {
            let line = serde_json::to_string(event).unwrap_or_default();
            let _ = writeln!(std::io::stdout().lock(), "{line}");
        } else if !out.json {
            line(event).into_iter().for_each(|text| _ = out.line(&text));
        }
    };
    let guard = || guard();
    let launch =
        Launch { guard: &guard, worker: &|_, _, _| Err(Failure::broken(Code::NoCrew, "a worker starts no workers")) };
    let worked = app::work(&session.options, &asked, &launch, &stop, &mut tell);
    if let (Err(failure), true) = (&worked, args.events) {
        tell(&WorkerEvent::Failed { failure: Box::new(failure.clone()) });
    }
    let worked = worked?;
    if out.json && !args.events {
        out.json(&worked);
    } else if !args.events {
        match &worked.next {
            Some(next) => out.line(&format!(
                "{} would {} {} {} with {}",
                worked.worker,
                paint(style::HEAD, &next.command),
                paint(style::ID, &next.task),
                clean(&next.title),
                next.program.join(" ")
            )),
            None if worked.stopped == WorkEnd::AsRequested => out.line(&format!(
                "{}: stopped after {}, as requested",
                worked.worker,
                words::count(worked.runs.len(), "run")
            )),
            None => {
                let (runs, why) = (words::count(worked.runs.len(), "run"), worked.stopped.words());
                out.line(&format!("{}: {runs}; {why}", worked.worker))
            }
        };
    }
    Ok(Exit::Done)
}

/// The guard that holds a claim's lock while a program runs.
pub(super) fn guard() -> Result<Command, Failure> {
    let mut guard = itself()?;
    guard.args(["guarded", "--sweep"]).arg(std::process::id().to_string());
    Ok(guard)
}

/// Runs a worker of a team as a process. It ends with the team; Ctrl-C on the terminal is handled by the team only.
pub(super) fn worker(
    session: &Session<'_>,
    role: &str,
    worker: &Worker,
    teams: &[TaskId],
    bough: bool,
    program: &[String],
) -> Result<Command, Failure> {
    let mut command = itself()?;
    command.arg("become").arg(std::process::id().to_string()).arg("--").arg(itself()?.get_program());
    on_same_board(&mut command, &session.options);
    command.args(["worker", role, "--as", worker.as_str(), "--events"]);
    if bough {
        command.arg("--bough");
    }
    command.arg("--team").args(teams.iter().map(TaskId::as_str));
    if !program.is_empty() {
        command.arg("--").args(program);
    }
    own_group_if_signalled(&mut command);
    Ok(command)
}

/// The process of a team that runs in the background.
pub(super) fn team_on(options: &Options, task: &TaskId) -> Result<Command, Failure> {
    let mut command = itself()?;
    on_same_board(&mut command, options);
    command.args(["team", task.as_str()]);
    Ok(command)
}

/// Passes on the board and settings of this process, but not its claims.
fn on_same_board(command: &mut Command, options: &Options) {
    if let Some(board) = &options.board {
        command.arg("--board").arg(board);
    }
    for setting in &options.settings {
        command.arg("--config").arg(setting);
    }
    for name in [
        "RALPH_WORKER",
        "RALPH_CLAIM",
        "RALPH_TASK",
        "RALPH_PATHS",
        "RALPH_COMMAND",
        "RALPH_ROLE",
        "RALPH_STEP",
        "RALPH_TEAM",
    ] {
        command.env_remove(name);
    }
}

/// The first Ctrl-C lets the current run finish; a second one, or another signal, ends it at once.
pub(super) fn stop_on_signals(tells: bool) -> Result<Stop, Failure> {
    let stop = Stop::default();
    let signals = listen(&[Signal::Interrupt, Signal::Terminate, Signal::HangUp])?;
    let heard = stop.clone();
    std::thread::spawn(move || {
        for signal in signals {
            if signal == Signal::Interrupt {
                heard.ask();
            } else {
                heard.insist();
            }
            if let Some(wish) = heard.wish().filter(|_| tells) {
                let _ = writeln!(std::io::stderr().lock(), "{wish}");
            }
            if heard.at_once() {
                end_later();
            }
        }
    });
    Ok(stop)
}

/// Kills this process and its descendants after a while, in case a check or a call cannot be interrupted.
fn end_later() {
    std::thread::spawn(|| {
        std::thread::sleep(std::time::Duration::from_secs(15));
        end_everything();
    });
}

/// The line for the start or end of a run.
pub(super) fn line(event: &WorkerEvent) -> Option<String> {
    let at =
        |time: jiff::Timestamp| paint(style::DIM, time.to_zoned(jiff::tz::TimeZone::system()).strftime("%H:%M:%S"));
    match event {
        WorkerEvent::Began { run, title } => {
            let attempt = if run.attempt > 1 { format!(" (attempt {})", run.attempt) } else { String::new() };
            Some(format!(
                "{} {} {:<9} {} {}{attempt}",
                at(run.started),
                paint(style::OWNER, format!("{:<10}", run.worker)),
                run.command,
                paint(style::ID, &run.task),
                cut(&clean(title), 60)
            ))
        }
        WorkerEvent::Ended { run, .. } => Some(format!(
            "{} {} {:<9} {} {}",
            at(run.ended.unwrap_or(run.started)),
            paint(style::OWNER, format!("{:<10}", run.worker)),
            run.command,
            paint(style::ID, &run.task),
            ended(run)
        )),
        WorkerEvent::Paused { said, until } => Some(format!(
            "{} until {}: {}",
            paint(style::WARN, "paused"),
            until.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M"),
            clean(said)
        )),
        WorkerEvent::Note { text } => Some(format!("{} {}", paint(style::WARN, "note:"), clean(text))),
        // The line for the end of the run shows the reason.
        WorkerEvent::Idle | WorkerEvent::Failed { .. } => None,
    }
}

fn ended(run: &Run) -> String {
    let took = run.ended.map(|ended| words::span(ended.duration_since(run.started))).unwrap_or_default();
    let to = run.to.as_ref().map(|to| format!(" → {to}")).unwrap_or_default();
    let why = run.message.as_ref().filter(|_| run.outcome != RunOutcome::Done);
    let why = why.map(|why| format!(": {}", clean(why))).unwrap_or_default();
    let strays = match run.strays.as_slice() {
        [] => String::new(),
        some => format!("; files changed in the main worktree during this run: {}", clean(&some.join(", "))),
    };
    format!("{} in {took}{to}{why}{strays}", paint(outcome(run.outcome), run.outcome.words()))
}

pub(super) fn outcome(outcome: RunOutcome) -> anstyle::Style {
    match outcome {
        RunOutcome::Done => style::READY,
        RunOutcome::Running | RunOutcome::Advanced => style::OWNER,
        RunOutcome::Escalated
        | RunOutcome::Strayed
        | RunOutcome::Iterated
        | RunOutcome::Returned
        | RunOutcome::Stopped
        | RunOutcome::Limited => style::WARN,
        RunOutcome::Failed
        | RunOutcome::TimedOut
        | RunOutcome::SetupFailed
        | RunOutcome::Unmoved
        | RunOutcome::Lost
        | RunOutcome::Unavailable => style::BLOCKED,
        RunOutcome::Waiting | RunOutcome::Raced | RunOutcome::Interrupted => style::DIM,
    }
}

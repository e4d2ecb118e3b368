//! One turn of a worker: a command on a task, from the claim to what becomes of it.

use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::program::{Agent, Filling, filled};
use super::strays::{dirty, strays};
use super::{Job, Launch, Stop, attempts, settle};
use crate::app::prompt::prompt;
use crate::app::remote_claims::Reach;
use crate::app::run::{Running, start_run};
use crate::app::runs::{Outcome, Run};
use crate::app::worktree::{Start, add_worktree, place};
use crate::app::{Failure, Workspace};
use crate::board::ClaimAsk;
use crate::task::{Task, TaskId};

/// How a program's end is waited for.
const LOOK: Duration = Duration::from_millis(2);
const LOOK_LONGEST: Duration = Duration::from_millis(40);
/// What a program that is asked to end has left to do so.
const GRACE: Duration = Duration::from_secs(5);

/// How the program ended.
pub(super) enum Exit {
    Ended(ExitStatus),
    TimedOut(Duration),
    Stopped,
}

/// Runs an agent on a task. `Err` where it could not even begin; everything after is an outcome.
pub(super) fn run_agent(
    ws: &Workspace,
    job: &Job,
    agent: &Agent,
    launch: &Launch<'_>,
    stop: &Stop,
    began: &mut dyn FnMut(&Run),
) -> Result<Run, Failure> {
    let board = ws.board()?;
    let before = board.get(&job.task).cloned().ok_or_else(|| crate::app::moves::missing(ws, &board, &job.task))?;
    let dir = directory(ws, job)?;
    let text = prompt(ws, &job.command, &job.task)?.text;
    let run = Run {
        id: Run::new_id(ws, &job.task, &job.command),
        task: job.task.clone(),
        command: job.command.clone(),
        worker: job.worker.clone(),
        team: job.team.clone(),
        step: job.step.clone(),
        attempt: attempts::read(ws, &job.task, &job.command).failures + 1,
        program: agent.words.clone(),
        started: jiff::Timestamp::now(),
        ended: None,
        outcome: Outcome::Running,
        code: None,
        from: before.state.clone(),
        to: None,
        message: None,
        dirty: if job.command == "implement" { dirty(ws)? } else { Vec::new() },
        dir,
    };
    let tip = tip(ws, &job.task);
    let run = Run::begin(ws, run, &text)?;
    let started = start(ws, job, &run, agent, &text, launch);
    let mut running = match started {
        Ok(running) => running,
        Err(failure) => {
            run.forget(ws);
            return Err(failure);
        }
    };
    began(&run);
    let exit = wait(&mut running, agent.limit, stop)?;
    running.finish(ws)?;
    let advanced = job.command == "implement" && tip != self::tip(ws, &job.task);
    settle::settle(ws, job, &before, run, &exit, advanced)
}

/// The main worktree, or the task's own where its code is written.
fn directory(ws: &Workspace, job: &Job) -> Result<PathBuf, Failure> {
    match job.command.as_str() {
        "implement" => Ok(add_worktree(ws, &job.task, &Start::Main)?.path),
        _ => Ok(ws.store.root().to_owned()),
    }
}

fn tip(ws: &Workspace, id: &TaskId) -> Option<String> {
    let place = place(ws, &ws.family(id).ok()?, id).ok()?;
    ws.repository.tip_of(&place.branch).ok()
}

fn start(
    ws: &Workspace,
    job: &Job,
    run: &Run,
    agent: &Agent,
    text: &str,
    launch: &Launch<'_>,
) -> Result<Running, Failure> {
    let prompt_file = run.path(ws, "prompt.md");
    let role = ws.rules().role_of(&job.worker).unwrap_or_default().to_owned();
    let filling = Filling {
        prompt: text,
        prompt_file: &prompt_file,
        task: job.task.as_str(),
        command: &job.command,
        worker: job.worker.as_str(),
        role: &role,
        dir: &run.dir,
    };
    let (words, given) = filled(&agent.words, &filling)?;
    let mut guard = (launch.guard)()?;
    let open = |path: &PathBuf, write: bool| {
        let file = std::fs::File::options().read(!write).append(write).open(path);
        file.map_err(|error| Failure::broken("io", format!("cannot open {}: {error}", path.display())))
    };
    let log = open(&run.path(ws, "output.log"), true)?;
    let second = log.try_clone().map_err(|error| Failure::broken("io", format!("cannot open the log: {error}")))?;
    let input = if given { Stdio::null() } else { Stdio::from(open(&prompt_file, false)?) };
    // A group of its own: Ctrl-C at the terminal is for the worker, which lets its agent finish.
    guard.current_dir(&run.dir).process_group(0).stdin(input).stdout(log).stderr(second);
    environment(&mut guard, ws, job, run);
    let asked = ClaimAsk { task: &job.task, command: Some(&job.command), step: job.step.as_ref(), force: false };
    start_run(ws, &asked, Reach::Remote, guard, &words)
}

fn environment(guard: &mut Command, ws: &Workspace, job: &Job, run: &Run) {
    guard.env("RALPH_RUN", &run.id).env("GIT_TRACE2_EVENT", run.path(ws, "git.jsonl"));
    for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
        guard.env_remove(name);
    }
    if let (Some(step), Some(team)) = (&job.step, &job.team) {
        guard.env("RALPH_STEP", step.as_str()).env("RALPH_TEAM", team.as_str());
    }
    if job.command == "implement" {
        guard.env("RALPH_WORKTREE", &run.dir);
    }
}

/// Until the program ends, its time is over, or the worker is told to stop at once.
fn wait(running: &mut Running, limit: Duration, stop: &Stop) -> Result<Exit, Failure> {
    let start = Instant::now();
    let mut pause = LOOK;
    loop {
        if let Some(status) = ended(running)? {
            return Ok(Exit::Ended(status));
        }
        if start.elapsed() > limit {
            end(running)?;
            return Ok(Exit::TimedOut(limit));
        }
        if stop.at_once() {
            end(running)?;
            return Ok(Exit::Stopped);
        }
        std::thread::sleep(pause);
        pause = if start.elapsed() > Duration::from_secs(2) { LOOK_LONGEST } else { LOOK };
    }
}

fn ended(running: &mut Running) -> Result<Option<ExitStatus>, Failure> {
    running.child.try_wait().map_err(|error| Failure::broken("wait", format!("cannot wait for the program: {error}")))
}

/// Asks the program to end, then has its guard end it with all that it has started.
fn end(running: &mut Running) -> Result<(), Failure> {
    let guard = i32::try_from(running.child.id()).ok().and_then(Pid::from_raw);
    for (signal, patience) in [(Signal::TERM, GRACE), (Signal::ALARM, GRACE), (Signal::KILL, GRACE)] {
        if let Some(guard) = guard {
            let _ = kill_process(guard, signal);
        }
        let start = Instant::now();
        while start.elapsed() < patience {
            if ended(running)?.is_some() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    Ok(())
}

/// As a shell tells it.
pub(super) fn code(status: &ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

/// What a run of an implementation left where it must not.
pub(super) fn found_strays(ws: &Workspace, run: &Run, before: &Task) -> Vec<String> {
    let found = strays(ws, run);
    found.unwrap_or_else(|failure| {
        ws.notice(format!("whether {} strayed cannot be told: {}", before.id, failure.message));
        Vec::new()
    })
}

//! One turn of a worker: a command on a task, from the claim to what becomes of it.

use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::program::{Agent, Filling, filled};
use super::settle::After;
use super::{Job, Launch, settle};
use crate::app::agents::prompt::{Prompt, prompt};
use crate::app::records::runs::{Run, RunOutcome};
use crate::app::records::strays::dirty;
use crate::app::repo::worktree::{Start, add_worktree, place};
use crate::app::work::held_claim::{self, HeldClaim};
use crate::app::workspace::remote_claims::{Reach, renew_remote};
use crate::app::workspace::trust::require_trust;
use crate::app::{Code, Consequence, Failure, Stop, Workspace};
use crate::config::Source;
use crate::task::TaskId;
use crate::workflow::Command as Workflowed;

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
    /// Somebody closed its task meanwhile.
    Closed,
    /// It could not even begin.
    NotStarted(Failure),
}

/// Runs an agent on a task. `Err` where the task could not be had; everything after that is an outcome.
pub(super) fn run_agent(
    ws: &Workspace,
    job: &Job,
    agent: &Agent,
    launch: &Launch<'_>,
    stop: &Stop,
    began: &mut dyn FnMut(&Run),
) -> Result<Run, Failure> {
    let board = ws.board()?;
    let before =
        board.get(&job.task).cloned().ok_or_else(|| crate::app::workspace::open::missing(ws, &board, &job.task))?;
    let mut tenure = held_claim::take(ws, &job.claim(), Reach::Remote)?;
    let mut run = job.begin(ws, &before, agent.words.clone())?;
    began(&run);
    let (exit, tip) = match start(ws, job, &mut run, agent, launch, &mut tenure) {
        Ok((mut child, tip)) => (wait(ws, &tenure, &mut child, agent.limit, stop)?, tip),
        Err(failure) => (Exit::NotStarted(failure), None),
    };
    tenure.take_back();
    let advanced = tip.is_some() && tip != self::tip(ws, &job.task);
    let after = After { advanced, taken_over: tenure.is_lost(ws) };
    if let Exit::NotStarted(failure) = &exit
        && matches!(failure.for_worker(), Consequence::Environment | Consequence::Approval)
    {
        // The task is not to blame: whoever set this up is told, and it waits as it was.
        run.outcome = RunOutcome::Interrupted;
        tenure.finish(ws)?;
        settle::close(ws, run)?;
        return Err(failure.clone());
    }
    // While the claim is still ours: nobody takes the task up before it is known what came of this.
    let run = settle::settle(ws, job, &before, run, &exit, &after);
    tenure.finish(ws)?;
    settle::close(ws, run?)
}

/// The main worktree, or the task's own where its code is written.
fn directory(ws: &Workspace, job: &Job, command: &Workflowed) -> Result<PathBuf, Failure> {
    match command.worktree {
        true => Ok(add_worktree(ws, &job.task, &Start::Main)?.path),
        false => Ok(ws.store.root().to_owned()),
    }
}

fn tip(ws: &Workspace, id: &TaskId) -> Option<String> {
    let place = place(ws, &ws.family(id).ok()?, id).ok()?;
    ws.repository.tip_of(&place.branch).ok()
}

/// The program with all that it needs, and where the task's branch was before.
fn start(
    ws: &Workspace,
    job: &Job,
    run: &mut Run,
    agent: &Agent,
    launch: &Launch<'_>,
    tenure: &mut HeldClaim,
) -> Result<(Child, Option<String>), Failure> {
    let (board, command) = (ws.family(&job.task)?, ws.flow().command(&job.command)?);
    if let Some(task) = board.get(&job.task) {
        ws.rules().refuse_lacking(task, command, &ws.actor()?, false)?;
    }
    run.dir = directory(ws, job, command)?;
    let tip = tip(ws, &job.task).filter(|_| command.worktree);
    if command.worktree {
        run.dirty = dirty(ws)?;
    }
    let Prompt { text, template, .. } = prompt(ws, &job.command, &job.task)?;
    if template.is_some() {
        // Somebody else's words to one's own agent.
        require_trust(ws)?;
    }
    let prompt_file = run.path(ws, "prompt.md");
    crate::fs::write_new(&prompt_file, text.as_bytes(), false)?;
    run.write(ws)?;
    let role = ws.rules().role_of(&job.worker).unwrap_or_default().to_owned();
    let filling = Filling {
        prompt: &text,
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
        file.map_err(|error| Failure::broken(Code::Io, format!("cannot open {}: {error}", path.display())))
    };
    let log = open(&run.path(ws, "output.log"), true)?;
    let second = log.try_clone().map_err(|error| Failure::broken(Code::Io, format!("cannot open the log: {error}")))?;
    let input = if given { Stdio::null() } else { Stdio::from(open(&prompt_file, false)?) };
    // A group of its own: Ctrl-C at the terminal is for the worker, which lets its agent finish.
    guard.current_dir(&run.dir).process_group(0).stdin(input).stdout(log).stderr(second);
    environment(&mut guard, ws, job, run);
    Ok((tenure.lend(ws, guard, &words)?, tip))
}

fn environment(guard: &mut Command, ws: &Workspace, job: &Job, run: &Run) {
    guard.env("RALPH_RUN", &run.id).env("GIT_TRACE2_EVENT", run.path(ws, "git.jsonl"));
    for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
        guard.env_remove(name);
    }
    if let (Some(step), Some(team)) = (&job.step, &job.team) {
        guard.env("RALPH_STEP", step.as_str()).env("RALPH_TEAM", team.as_str());
    }
    if run.dir != ws.store.root() {
        guard.env("RALPH_WORKTREE", &run.dir);
    }
    // What was set for this run alone holds for what its agents do, too.
    for (spec, setting) in ws.settings.all().filter(|(_, setting)| setting.source == Source::Flag) {
        guard.env(spec.variable(), &setting.value);
    }
}

/// Until the program ends, its time is over, or the worker is told to stop at once. What it has left behind ends with it.
fn wait(ws: &Workspace, tenure: &HeldClaim, child: &mut Child, limit: Duration, stop: &Stop) -> Result<Exit, Failure> {
    let start = Instant::now();
    let (mut pause, mut renewed) = (LOOK, Instant::now());
    let mut closed = Closed::default();
    let lease = Duration::from_secs(ws.lease().as_secs().unsigned_abs() / 3).max(Duration::from_millis(500));
    let exit = loop {
        if let Some(status) = ended(child)? {
            break Exit::Ended(status);
        }
        if start.elapsed() > limit {
            end(child)?;
            break Exit::TimedOut(limit);
        }
        if stop.at_once() {
            end(child)?;
            break Exit::Stopped;
        }
        if closed.is_due() && (tenure.is_lost(ws) || (is_closed(ws, &tenure.claimed.task) && closed.for_long())) {
            end(child)?;
            break Exit::Closed;
        }
        std::thread::sleep(pause);
        pause = if start.elapsed() > Duration::from_secs(2) { LOOK_LONGEST } else { LOOK };
        // Other machines cannot see the lock, so that its lease is renewed for them.
        if tenure.claimed.remote && renewed.elapsed() > lease {
            let _ = renew_remote(ws, &tenure.claimed.task);
            renewed = Instant::now();
        }
    };
    signal_all(child, Signal::KILL);
    Ok(exit)
}

/// Whether somebody has closed the task while an agent is at it; one that did so itself has a moment to end.
#[derive(Default)]
struct Closed {
    looked: Option<Instant>,
    since: Option<Instant>,
}

impl Closed {
    fn is_due(&mut self) -> bool {
        let due = self.looked.is_none_or(|looked| looked.elapsed() > Duration::from_millis(500));
        if due {
            self.looked = Some(Instant::now());
        }
        due
    }

    fn for_long(&mut self) -> bool {
        self.since.get_or_insert_with(Instant::now).elapsed() > GRACE
    }
}

fn is_closed(ws: &Workspace, id: &TaskId) -> bool {
    let task = ws.store.load(id).map(|file| file.task);
    task.is_ok_and(|task| ws.flow().is_terminal(task.kind, &task.state))
}

fn ended(child: &mut Child) -> Result<Option<ExitStatus>, Failure> {
    child.try_wait().map_err(|error| Failure::broken(Code::Wait, format!("cannot wait for the program: {error}")))
}

/// To the guard and all that are in its group.
fn signal_all(child: &Child, signal: Signal) {
    if let Some(guard) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(guard, signal);
    }
}

/// Asks the program to end, then has its guard end it with all that it has started.
fn end(child: &mut Child) -> Result<(), Failure> {
    signal_all(child, Signal::TERM);
    for signal in [Signal::ALARM, Signal::KILL] {
        let start = Instant::now();
        while start.elapsed() < GRACE {
            if ended(child)?.is_some() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        if let Some(guard) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(guard, signal);
        }
    }
    child.wait().map_err(|error| Failure::broken(Code::Wait, format!("cannot wait for the program: {error}")))?;
    Ok(())
}

/// As a shell tells it.
pub(super) fn code(status: &ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

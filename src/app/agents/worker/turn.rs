//! One turn of a worker: runs a command on a task, from the claim to the outcome.

use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use super::launch::{self, start};
use super::program::Agent;
use super::settle::After;
use super::{Job, Launch, health, settle};
use crate::app::records::runs::{Run, RunOutcome};
use crate::app::work::held_claim::{self, HeldClaim};
use crate::app::workspace::remote::{LeaseKeeper, Reach};
use crate::app::{Code, Consequence, Failure, Stop, Workspace};
use crate::board::Ended;
use crate::os::Signal;
use crate::os::process::{exit_code, send_signal, send_signal_to_group};
use crate::task::TaskId;

/// How often to check whether the program has ended.
const LOOK: Duration = Duration::from_millis(2);
const LOOK_LONGEST: Duration = Duration::from_millis(40);
/// How long a program may take to exit after it was asked to.
const GRACE: Duration = Duration::from_secs(5);

/// How the program ended.
pub(super) enum Exit {
    Ended(ExitStatus),
    TimedOut(Duration),
    Stopped,
    /// A person stopped this run.
    StoppedBy(String),
    /// Its task was closed during the run.
    Closed,
    /// The program could not be started.
    NotStarted(Failure),
}

/// Runs an agent on a task. `Err` if the task cannot be claimed or the setup is wrong; otherwise the run has an
/// outcome.
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
    let mut run = job.begin(ws, &before, Some(agent))?;
    began(&run);
    let (exit, tip) = match start(ws, job, &mut run, agent, launch, &mut tenure) {
        Ok(mut started) => {
            let exit = wait(ws, &tenure, &run, &mut started.child, agent.limit, stop)?;
            (exit, started.close(ws)?)
        }
        Err(failure) => (Exit::NotStarted(failure), None),
    };
    tenure.take_back();
    let advanced = tip.is_some() && tip != launch::tip(ws, &job.task);
    let after = After { advanced, taken_over: tenure.is_lost(ws) };
    run.not_started = matches!(exit, Exit::NotStarted(_));
    if let Exit::NotStarted(failure) = &exit
        && matches!(failure.for_worker(), Consequence::Environment | Consequence::Approval)
    {
        // The setup is wrong, not the task, so the task stays unchanged.
        let is_setup = failure.code == Code::SetupFailed;
        run.outcome = if is_setup { RunOutcome::SetupFailed } else { RunOutcome::Interrupted };
        run.message = Some(failure.message.clone());
        tenure.finish(ws)?;
        settle::close(ws, run)?;
        return Err(failure.clone());
    }
    let unmoved = ws.family(&job.task)?.ended(&before, &job.command, ws.rules()) == Ended::Unmoved;
    let status = if let Exit::Ended(status) = &exit { Some(status).filter(|_| unmoved) } else { None };
    let broken = health::examine(ws, agent, &mut run, status.map(exit_code), advanced)?;
    if run.outcome != RunOutcome::Running {
        tenure.finish(ws)?;
        let run = settle::close(ws, run)?;
        return broken.map_or(Ok(run), Err);
    }
    // Settle before the claim is released, so that no other worker takes the task too early.
    let run = settle::settle(ws, job, &before, run, &exit, &after);
    tenure.finish(ws)?;
    settle::close(ws, run?)
}

/// Waits until the program ends, times out, or has to be stopped. Then kills its remaining child processes.
fn wait(
    ws: &Workspace,
    tenure: &HeldClaim,
    run: &Run,
    child: &mut Child,
    limit: Duration,
    stop: &Stop,
) -> Result<Exit, Failure> {
    let start = Instant::now();
    let mut pause = LOOK;
    let mut closed = Closed::default();
    // Other machines cannot see the lock of the claim, so the lease is renewed for them.
    let mut lease = LeaseKeeper::new(ws, &tenure.claimed.task, tenure.claimed.remote);
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
        if closed.is_due() {
            if let Some(by) = run.stop_asked_by(ws) {
                end(child)?;
                break Exit::StoppedBy(by);
            }
            if tenure.is_lost(ws) || (is_closed(ws, &tenure.claimed.task) && closed.for_long()) {
                end(child)?;
                break Exit::Closed;
            }
        }
        std::thread::sleep(pause);
        pause = if start.elapsed() > Duration::from_secs(2) { LOOK_LONGEST } else { LOOK };
        if lease.check(ws).is_some() {
            end(child)?;
            break Exit::Closed;
        }
    };
    send_signal_to_group(child.id(), Signal::Kill);
    Ok(exit)
}

/// Whether the task was closed during the run; an agent that closed it itself gets a moment to exit.
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

/// Asks the program to exit, then has its guard kill it and its descendants.
fn end(child: &mut Child) -> Result<(), Failure> {
    send_signal_to_group(child.id(), Signal::Terminate);
    for signal in [Signal::ParentExited, Signal::Kill] {
        let start = Instant::now();
        while start.elapsed() < GRACE {
            if ended(child)?.is_some() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        send_signal(child.id(), signal);
    }
    child.wait().map_err(|error| Failure::broken(Code::Wait, format!("cannot wait for the program: {error}")))?;
    Ok(())
}

//! `worker`: claims the best task for a role, runs an agent on it, checks the outcome, and repeats.
//!
//! ```text
//! names.rs      unique worker names
//! program.rs    the agent program and its arguments
//! launch.rs     everything that a run needs: directory, prompt, permissions, environment
//! confinement.rs  the paths that an agent can write to
//! budget.rs     checks the budgets before a run
//! job.rs        one command on one task for one worker, and its record
//! turn.rs       runs an agent on a job: claim, run, wait
//! integrate.rs  the same without an agent: pr and merge
//! settle.rs     the outcome for the task
//! health.rs     whether the agent program itself can work, its limits, and its sessions
//! attempts.rs   how often a command failed on a task
//! machines.rs   the exchange with other machines, and an unreachable remote
//! control.rs    commands of a person: stop a run, retry a task
//! worked.rs     what a worker tells, and its result
//! ```

mod attempts;
mod budget;
mod confinement;
mod control;
mod health;
mod integrate;
mod job;
mod launch;
mod machines;
mod names;
mod program;
mod settle;
mod turn;
mod worked;

use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use crate::app::agents::team::{preflight, restep_now};
use crate::app::records::runs::{OWN, Run, RunOutcome};
use crate::app::work::next::as_reaped;
use crate::app::work::reap::{orphans, reap};
use crate::app::{Code, Failure, FailureKind, Hint, Options, Stop, Workspace};
use crate::board::{Board, TeamAsk};
use crate::fs;
use crate::task::{TaskId, Worker};
use crate::watch::{ChangedPaths, Changes};

pub use control::{RetryDone, StopAsked, can_retry, retry, stop_run};
pub use health::{AgentLimit, limit_of};
pub(in crate::app) use job::Job;
pub use names::{Name, free_name, is_at_work, take_name};
pub use program::check_agents;
pub use worked::{Next, WorkEnd, Worked, WorkerEvent};

/// How long a change may go unnoticed if there is no file event.
const LOOK_AGAIN: Duration = Duration::from_secs(2);
/// How long a task that waits for something outside is left alone.
const WAITS: Duration = Duration::from_secs(60);
/// How often in a row other workers may be faster before this one pauses.
const MOST_IN_VAIN: usize = 10;

/// Starts a worker of a role, under a name, for the steps of some teams.
pub type StartWorker<'a> = dyn Fn(&str, &Worker, &[TaskId]) -> Result<Command, Failure> + 'a;

/// How ralph starts itself, as the guard of a program or as a worker of a team.
pub struct Launch<'a> {
    pub guard: &'a dyn Fn() -> Result<Command, Failure>,
    pub worker: &'a StartWorker<'a>,
}

/// The parameters of a worker.
#[derive(Debug, Clone, Default)]
pub struct WorkerAsk {
    pub role: String,
    /// Only steps of these teams, until there are none.
    pub teams: Vec<TaskId>,
    pub bough: bool,
    /// An agent program instead of that in the settings.
    pub program: Vec<String>,
    /// The maximum number of runs.
    pub most: Option<usize>,
    /// How long to wait for work; without it, the worker ends if there is none.
    pub wait: Option<SignedDuration>,
    pub dry_run: bool,
}

/// Runs a worker in this process until it ends.
pub fn work(
    options: &Options,
    asked: &WorkerAsk,
    launch: &Launch<'_>,
    stop: &Stop,
    tell: &mut dyn FnMut(&WorkerEvent),
) -> Result<Worked, Failure> {
    let ws = Workspace::open(options)?;
    ws.refuse_broken_setup()?;
    let role = known_role(&ws, &asked.role)?;
    preflight(&ws)?;
    let name = take_name(&ws, &role, options.worker.as_deref())?;
    if ws.rules().role_of(&name.worker) != Some(role.as_str()) {
        return Err(Failure::usage(Code::NotYourRole, format!("{} is not the name of a {role}", name.worker))
            .hint(Hint::step(format!("use {role}, {role}-2 and so on")))
            .hint(Hint::omit("--as", "to get a free name")));
    }
    let ws = Workspace::open(&Options { worker: Some(name.worker.to_string()), ..options.clone() })?;
    ws.exchange_by_itself();
    let mut shift = Shift {
        ws: &ws,
        role,
        worker: name.worker.clone(),
        asked,
        launch,
        stop,
        left: BTreeMap::new(),
        exchanged: None,
        cut_off: None,
    };
    let mut worked = Worked {
        worker: name.worker,
        role: shift.role.clone(),
        runs: Vec::new(),
        next: None,
        stopped: WorkEnd::NoWork,
    };
    let stopped = shift.go_on(&mut worked.runs, &mut worked.next, tell);
    worked.stopped = ws.finish(stopped)?;
    for text in ws.notices() {
        tell(&WorkerEvent::Note { text });
    }
    Ok(worked)
}

fn known_role(ws: &Workspace, typed: &str) -> Result<String, Failure> {
    let names = || ws.flow().roles().iter().map(|role| role.name.as_str()).collect::<Vec<_>>().join(", ");
    ws.flow().role(typed).map(|role| role.name.clone()).ok_or_else(|| {
        let roles = names();
        let message = match roles.is_empty() {
            true => format!("{typed:?} is not a role: this board's workflow has none"),
            false => format!("{typed:?} is not a role: use {roles}"),
        };
        Failure::usage(Code::UnknownRole, message)
    })
}

/// Ignores a race with another change; the next time reads the board again.
pub(in crate::app) fn unless_raced(done: Result<usize, Failure>) -> Result<(), Failure> {
    match done {
        Err(failure) if failure.kind != FailureKind::Raced => Err(failure),
        _ => Ok(()),
    }
}

/// A running worker.
pub(in crate::app) struct Shift<'a> {
    pub ws: &'a Workspace,
    pub role: String,
    pub worker: Worker,
    pub asked: &'a WorkerAsk,
    pub launch: &'a Launch<'a>,
    pub stop: &'a Stop,
    /// Tasks that wait for something outside, and until when they are left alone.
    pub left: BTreeMap<TaskId, Instant>,
    /// When the board was last exchanged with other machines because there was no work.
    pub exchanged: Option<Instant>,
    /// Since when the remote cannot be reached.
    pub cut_off: Option<Instant>,
}

impl Shift<'_> {
    fn go_on(
        &mut self,
        runs: &mut Vec<Run>,
        next: &mut Option<Next>,
        tell: &mut dyn FnMut(&WorkerEvent),
    ) -> Result<WorkEnd, Failure> {
        let end = self.asked.wait.map(|wait| Instant::now() + Duration::from_secs(wait.as_secs().unsigned_abs()));
        fs::make_dir(&self.ws.store.claims_dir())?;
        // Watch before reading, so that no change is missed in between.
        let mut changes = Changes::of(&[&self.ws.store.tasks_dir(), &self.ws.store.claims_dir()])?;
        let (mut idle, mut in_vain) = (false, 0);
        loop {
            if self.stop.soon() {
                return Ok(WorkEnd::Stopped);
            }
            self.wait_for_limit(tell);
            let Some(job) = self.choose()? else {
                if self.catch_up() {
                    continue;
                }
                if !std::mem::replace(&mut idle, true) {
                    tell(&WorkerEvent::Idle);
                }
                if self.asked.dry_run || !self.may_come(end)? {
                    return Ok(WorkEnd::NoWork);
                }
                self.rest(&mut changes)?;
                continue;
            };
            if self.asked.dry_run {
                *next = Some(self.preview(&job)?);
                return Ok(WorkEnd::DryRun);
            }
            match self.turn(&job, tell)? {
                Some(run) => {
                    (idle, in_vain, self.exchanged) = (false, 0, None);
                    runs.push(run);
                }
                // If another worker was faster, choose again at once, but pause if that repeats.
                None if in_vain < MOST_IN_VAIN => in_vain += 1,
                None => {
                    self.rest(&mut changes)?;
                    in_vain = 0;
                }
            }
            if self.asked.most.is_some_and(|most| runs.len() >= most) {
                return Ok(WorkEnd::AsRequested);
            }
        }
    }

    /// Whether to wait for work: until the given time, while the team has open steps, or while a failed task is
    /// delayed.
    fn may_come(&self, end: Option<Instant>) -> Result<bool, Failure> {
        if !self.asked.teams.is_empty() {
            return Ok(self.ws.board()?.open_steps(&self.asked.teams, self.ws.rules()).next().is_some());
        }
        Ok(end.is_some_and(|end| Instant::now() < end) || self.shortest_rest()?.is_some())
    }

    /// Waits until the usage limit of the agent program has passed.
    pub(in crate::app) fn wait_for_limit(&self, tell: &mut dyn FnMut(&WorkerEvent)) {
        let Some(limit) = self.limit() else { return };
        tell(&WorkerEvent::Paused { said: limit.said.clone(), until: limit.until });
        while !self.stop.soon() && self.limit().is_some() {
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    fn limit(&self) -> Option<AgentLimit> {
        if self.asked.dry_run || !self.asked.program.is_empty() {
            return None;
        }
        limit_of(self.ws, self.ws.settings.text("agent.profile"))
    }

    /// Waits until something changes, a task can be tried again, or the worker must stop.
    fn rest(&self, changes: &mut Changes) -> Result<(), Failure> {
        let longest = self.shortest_rest()?.unwrap_or(LOOK_AGAIN).min(LOOK_AGAIN);
        let start = Instant::now();
        while start.elapsed() < longest && !self.stop.soon() {
            let left = longest.saturating_sub(start.elapsed());
            if changes.wait(left.min(Duration::from_millis(100))) != ChangedPaths::Nothing {
                break;
            }
        }
        Ok(())
    }

    /// How long until the first failed task can be tried again.
    fn shortest_rest(&self) -> Result<Option<Duration>, Failure> {
        let resting = attempts::resting(self.ws)?;
        let board = self.ws.board()?;
        let now = Timestamp::now();
        let ours = resting
            .iter()
            .filter(|(id, _)| board.get(id).is_some_and(|task| !self.ws.flow().is_terminal(task.kind, &task.state)));
        Ok(ours.map(|(_, until)| until.duration_since(now).unsigned_abs()).min())
    }

    /// The best job now. Tasks whose holder is gone count as released.
    pub(in crate::app) fn choose(&self) -> Result<Option<Job>, Failure> {
        self.ws.look_anew();
        let mut board = self.ws.board()?;
        if !orphans(self.ws, &board)?.is_empty() {
            reap(self.ws)?;
            board = as_reaped(self.ws, self.ws.board()?);
        }
        if board.refuse_too_many(self.ws.rules(), &self.worker).is_err() {
            return Ok(None);
        }
        self.job_of(&board)
    }

    /// The best job on this board whose task is not delayed.
    pub(in crate::app) fn job_of(&self, board: &Board) -> Result<Option<Job>, Failure> {
        let resting = attempts::resting(self.ws)?;
        self.job_but(board, &|id| resting.contains_key(id) || self.is_left(id))
    }

    /// Whether there would be a job if no task were delayed.
    pub(in crate::app) fn is_resting(&self, board: &Board) -> Result<bool, Failure> {
        let is_kept_out = board.kept_out(self.ws.rules(), &self.worker).is_some();
        Ok(!is_kept_out && self.job_but(board, &|id| self.is_left(id))?.is_some())
    }

    fn is_left(&self, id: &TaskId) -> bool {
        self.left.get(id).is_some_and(|until| Instant::now() < *until)
    }

    fn job_but(&self, board: &Board, left_out: &dyn Fn(&TaskId) -> bool) -> Result<Option<Job>, Failure> {
        let rules = self.ws.rules();
        if self.asked.teams.is_empty() {
            let choice = board.choose_but(Some(&self.role), Some(&self.worker), left_out, rules);
            return Ok(choice.and_then(|choice| {
                let worker = self.worker.clone();
                let since = Timestamp::now();
                Some(Job { task: choice.task, command: choice.command?, worker, team: None, step: None, since })
            }));
        }
        let taken = |owner: &Worker| is_at_work(self.ws, owner);
        let choice = board.choose_step(&self.asked.teams, &self.role, &self.worker, &taken, left_out, rules);
        Ok(choice.map(|choice| {
            let team = board.get(&choice.step).and_then(|task| task.step.as_ref()).map(|step| step.team.clone());
            Job {
                task: choice.task,
                command: choice.command,
                worker: self.worker.clone(),
                team,
                step: Some(choice.step),
                since: Timestamp::now(),
            }
        }))
    }

    fn preview(&self, job: &Job) -> Result<Next, Failure> {
        let own = OWN.contains(&job.command.as_str());
        let program = match own {
            true => vec!["ralph".into(), job.command.clone(), job.task.to_string()],
            false => program::agent_for(self.ws, &job.command, &self.role, &self.asked.program)?.words(),
        };
        let title = self.title(&job.task);
        Ok(Next { task: job.task.clone(), title, command: job.command.clone(), step: job.step.clone(), program })
    }

    fn title(&self, id: &TaskId) -> String {
        self.ws.store.load(id).map(|file| file.task.title).unwrap_or_default()
    }

    /// Runs one job; `None` if another worker was faster, or the run was not started.
    pub(in crate::app) fn turn(
        &mut self,
        job: &Job,
        tell: &mut dyn FnMut(&WorkerEvent),
    ) -> Result<Option<Run>, Failure> {
        let title = self.title(&job.task);
        let needs_agent = !OWN.contains(&job.command.as_str());
        let granted = match needs_agent.then(|| budget::admit(self.ws, job, &self.asked.teams)).transpose()? {
            Some(budget::Verdict::Parked(text)) => {
                tell(&WorkerEvent::Note { text });
                return Ok(None);
            }
            granted => granted,
        };
        let mut granted = Some(granted);
        let mut began = |run: &Run| {
            granted.take();
            tell(&WorkerEvent::Began { run: Box::new(run.clone()), title: title.clone() });
        };
        let done = if !needs_agent {
            integrate::integrate(self.ws, job, &mut began)
        } else {
            let agent = program::agent_for(self.ws, &job.command, &self.role, &self.asked.program)?;
            turn::run_agent(self.ws, job, &agent, self.launch, self.stop, &mut began)
        };
        let mut run = match done {
            Ok(run) => run,
            Err(failure) if failure.is_overtaken() => return Ok(None),
            Err(failure) if self.waits_for_remote(&failure) => return Ok(None),
            Err(failure) => return Err(failure),
        };
        self.cut_off = None;
        if run.outcome == RunOutcome::Waiting {
            self.left.insert(job.task.clone(), Instant::now() + WAITS);
        }
        if !self.asked.teams.is_empty() {
            let asked = TeamAsk { teams: self.asked.teams.clone(), bough: self.asked.bough, ..TeamAsk::default() };
            unless_raced(restep_now(self.ws, &asked))?;
            // The update of the steps counts as part of the run.
            run.ended = Some(Timestamp::now());
            run.write(self.ws)?;
        }
        tell(&WorkerEvent::Ended { run: Box::new(run.clone()), title });
        Ok(Some(run))
    }
}

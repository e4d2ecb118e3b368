//! `team`: plans the remaining pipeline of some tasks as steps, runs workers on them, and writes a report at the end.
//!
//! ```text
//! choice.rs   the tasks of a team, which no other team may have
//! steps.rs    the steps on disk, updated to the board
//! streams.rs  which plans change the same files
//! crew.rs     the worker processes
//! view.rs     the state of a team, for display
//! report.rs   the report at the end
//! detached.rs a team in its own process
//! hero.rs     the same in a single process, one step at a time
//! ```

mod choice;
mod crew;
mod detached;
mod hero;
mod report;
mod steps;
mod streams;
mod view;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::Serialize;

use crate::app::agents::worker::{Launch, WorkerEvent, check_agents, limit_of};
use crate::app::records::budgets::{forget_stopped_team, note_stopped_team};
use crate::app::records::costs::{MergedCosts, Spent, merged_costs};
use crate::app::records::runs::{Run, RunOutcome, list_runs};
use crate::app::work::next::as_reaped;
use crate::app::{Code, Failure, FailureKind, Hint, Options, Stop, Workspace};
use crate::board::{Board, TeamAsk};
use crate::os::Signal;
use crate::store::FileLock;
use crate::task::{Kind, StateName, TaskId, Worker};
use choice::{locks, named, ready};
use crew::{Crew, Heard};

pub use choice::preflight;
pub use detached::{TeamStarted, can_start_team, start_team};
pub use hero::hero;
pub use steps::{restep, restep_now};
pub use view::{CrewView, Doing, StepView, TeamView};

/// How often the lead reads the board, with and without events. It need not be faster, because workers update the steps
/// of their own tasks.
const LOOK: Duration = Duration::from_millis(200);
const LOOK_IDLE: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Default)]
pub struct TeamWanted {
    pub tasks: Vec<String>,
    /// All tasks that are ready.
    pub ready: bool,
    pub bough: bool,
    pub dry_run: bool,
    /// An agent program instead of that in the settings.
    pub program: Vec<String>,
}

/// The last event.
#[derive(Debug)]
pub enum TeamNews {
    Steps {
        new: usize,
    },
    Worker {
        worker: Worker,
        event: WorkerEvent,
    },
    Died {
        message: String,
    },
    /// No event; time has passed.
    Tick,
}

#[derive(Debug, Serialize)]
pub struct TeamDone {
    pub teams: Vec<TaskId>,
    pub report: Option<String>,
    pub finished: bool,
    /// The team was asked to stop before it was done.
    pub stopped: bool,
    /// The budget that is used up: agents were not started any more.
    pub out_of_budget: Option<Failure>,
    /// Why its workers got no task: others have claimed as many as may be claimed.
    pub kept_out: Vec<String>,
    pub steps: Vec<StepView>,
    pub runs: Vec<Run>,
    /// The usage of the agents.
    pub spent: Spent,
    pub merged: MergedCosts,
    pub left: Vec<Left>,
    pub started: Timestamp,
    pub ended: Timestamp,
}

/// A task that the team could not finish, and why.
#[derive(Debug, Clone, Serialize)]
pub struct Left {
    pub task: TaskId,
    pub title: String,
    pub state: StateName,
    /// A person has to continue it.
    #[serde(skip)]
    pub person: bool,
    pub why: String,
}

/// A running team: its tasks, its start, and its runs.
pub(in crate::app) struct Team<'a> {
    ws: &'a Workspace,
    asked: TeamAsk,
    view: TeamView,
    /// The outcome of the last run of each task.
    last: BTreeMap<TaskId, RunOutcome>,
    /// Why the whole team must stop: the agent program is unavailable.
    broken: Option<Failure>,
    /// The budget because of which no agent is started any more. Integrators finish what is built.
    out_of_budget: Option<Failure>,
    /// Claims of others because of which its workers got no task.
    kept_out: Vec<String>,
    /// While these are held, other teams cannot work on the tasks.
    _locks: Vec<FileLock>,
}

pub fn team(
    options: &Options,
    wanted: &TeamWanted,
    launch: &Launch<'_>,
    stop: &Stop,
    tell: &mut dyn FnMut(&TeamNews, &TeamView),
) -> Result<TeamDone, Failure> {
    let ws = Workspace::open(options)?;
    if !wanted.dry_run {
        ws.exchange_by_itself();
        ws.exchange_now();
    }
    let mut team = Team::assemble(&ws, wanted)?;
    if wanted.dry_run {
        return team.foresee();
    }
    check_agents(&ws, &wanted.program)?;
    let teams = team.asked.teams.clone();
    let mut crew = Crew::new(&ws, launch, &teams);
    team.hire(&mut crew, &ws.board()?)?;
    team.asked.crew = crew.by_role();
    let (new, board) = restep(&ws, &team.asked)?;
    team.look(&crew, &board);
    tell(&TeamNews::Steps { new }, &team.view);
    let stopped = team.run(&mut crew, stop, tell)?;
    ws.exchange_now();
    team.done(&ws.board()?, stopped, true)
}

/// Why and how far the team is stopping.
#[derive(Default)]
struct TeamEnding {
    /// There is nothing left that the team can do.
    over: bool,
    /// A failure that the team cannot recover from.
    failed: Option<Failure>,
    asked: bool,
    insisted: bool,
}

impl<'a> Team<'a> {
    fn assemble(ws: &'a Workspace, wanted: &TeamWanted) -> Result<Self, Failure> {
        ws.refuse_broken_setup()?;
        let board = ws.board()?;
        if ws.flow().command("implement").is_err() || ws.flow().merging().is_none() {
            let message = "this board's workflow has no command `implement`, or no command that merges";
            return Err(Failure::refused(Code::NoPipeline, message)
                .hint(Hint::run("workflow use lite", "to use a workflow that supports teams")));
        }
        let mut teams = if wanted.ready { ready(ws, &board)? } else { named(ws, &board, &wanted.tasks)? };
        preflight(ws)?;
        let locks = if wanted.dry_run { Vec::new() } else { locks(ws, &mut teams, wanted.ready)? };
        if !wanted.dry_run {
            forget_stopped_team(ws)?;
        }
        let view = TeamView {
            teams: teams.clone(),
            started: Timestamp::now(),
            workers: Vec::new(),
            steps: Vec::new(),
            spent: Spent::default(),
            ending: None,
        };
        let asked = TeamAsk { teams, bough: wanted.bough, ..TeamAsk::default() };
        Ok(Self {
            ws,
            asked,
            view,
            last: BTreeMap::new(),
            broken: None,
            out_of_budget: None,
            kept_out: Vec::new(),
            _locks: locks,
        })
    }

    /// The loop of the lead: reads events of workers, updates the steps, and starts missing processes. Returns whether
    /// the team was asked to stop.
    fn run(
        &mut self,
        crew: &mut Crew<'_>,
        stop: &Stop,
        tell: &mut dyn FnMut(&TeamNews, &TeamView),
    ) -> Result<bool, Failure> {
        crew.fill(&|_| true)?;
        let (mut looked, mut happened, mut end) = (Instant::now(), true, TeamEnding::default());
        loop {
            let heard = crew.listen(Duration::from_millis(100));
            let news = heard.map_or(TeamNews::Tick, |heard| self.hear(crew, heard));
            happened = happened || !matches!(news, TeamNews::Tick);
            let due = looked.elapsed() > if happened { LOOK } else { LOOK_IDLE };
            if due && !end.asked {
                match self.keep_up(crew) {
                    Ok(over) => end.over = over,
                    // A file was saved at this moment; the next time reads it.
                    Err(failure) if failure.kind == FailureKind::Raced => {}
                    // The running workers finish their runs.
                    Err(failure) => end.failed = Some(failure),
                }
                (looked, happened) = (Instant::now(), false);
            }
            end.failed = end.failed.or_else(|| self.broken.take());
            self.view.ending = stop.wish();
            tell(&news, &self.view);
            if (stop.soon() || end.over || end.failed.is_some()) && !std::mem::replace(&mut end.asked, true) {
                crew.signal(Signal::Interrupt);
            }
            if stop.at_once() && !std::mem::replace(&mut end.insisted, true) {
                crew.signal(Signal::Terminate);
            }
            if crew.living() == 0 && end.asked {
                return end.failed.map_or(Ok(!end.over), Err);
            }
        }
    }

    /// Updates steps, view and crew to the board; returns whether the team is done.
    fn keep_up(&mut self, crew: &mut Crew<'_>) -> Result<bool, Failure> {
        // All decisions use one snapshot. It reads claims after tasks, so that a task which was just claimed counts as
        // held.
        let (new, board) = restep(self.ws, &self.asked)?;
        self.look(crew, &board);
        // Work that was sent back may need a role that had nothing to do before.
        self.hire(crew, &board)?;
        // A completed step may unblock another.
        if new == 0 && self.is_over(crew, board.clone()) {
            self.kept_out = self.kept_out(crew, &board);
            return Ok(true);
        }
        crew.fill(&|role| self.has_open_step(role))?;
        self.asked.crew = crew.by_role();
        Ok(false)
    }

    fn hear(&mut self, crew: &mut Crew<'_>, heard: Heard) -> TeamNews {
        match heard {
            Heard::Gone(number) => {
                self.view
                    .workers
                    .iter_mut()
                    .filter(|seen| seen.worker == crew.slots[number].worker)
                    .for_each(|seen| seen.doing = None);
                match crew.bury(number) {
                    Some(message) => TeamNews::Died { message },
                    None => TeamNews::Tick,
                }
            }
            Heard::Said(number, event) => {
                let worker = crew.slots[number].worker.clone();
                if let WorkerEvent::Ended { run, .. } = &event {
                    crew.forgive(number);
                    self.last.insert(run.task.clone(), run.outcome);
                }
                if let WorkerEvent::Failed { failure } = &event {
                    crew.failed(number, failure);
                    match failure.code {
                        Code::AgentUnavailable => self.broken = Some((**failure).clone()),
                        Code::BudgetReached | Code::BudgetUnknown => self.out_of_budget = Some((**failure).clone()),
                        _ => {}
                    }
                }
                self.note(&worker, &event);
                TeamNews::Worker { worker, event }
            }
        }
    }

    fn has_open_step(&self, role: &str) -> bool {
        let for_it = |step: &StepView| {
            let command = self.ws.flow().command(&step.command);
            !step.completed && command.is_ok_and(|command| command.is_for(role, self.ws.rules().mode))
        };
        self.view.steps.iter().any(for_it)
    }

    /// Adds workers of each role as far as they help, and at least one for each role with an open step, because a merge
    /// may send work back.
    fn hire(&mut self, crew: &mut Crew<'_>, board: &Board) -> Result<(), Failure> {
        let teams: Vec<TaskId> = self.asked.teams.clone();
        let roster = board.crew_for(&teams, self.ws.rules())?;
        for (role, helpful) in roster.by_role() {
            let allowed = self.ws.rules().limits.get(role).copied().unwrap_or(0);
            let wanted = helpful.max(usize::from(self.has_open_step(role))).min(allowed);
            while crew.slots.iter().filter(|slot| slot.role == role).count() < wanted {
                crew.add(role)?;
            }
        }
        Ok(())
    }

    /// Whether no worker is running and no step can start, even after a pause.
    fn is_over(&self, crew: &Crew<'_>, board: Board) -> bool {
        if limit_of(self.ws, self.ws.settings.text("agent.profile")).is_some() {
            return false;
        }
        let (board, rules) = (as_reaped(self.ws, board), self.ws.rules());
        // Workers of others may take hours, so the team does not wait for them.
        let ours = |worker: &Worker| crew.slots.iter().any(|slot| slot.worker == *worker);
        let held = |id: &TaskId| board.claim(id).is_some_and(|claim| claim.live && ours(&claim.worker));
        let mut open = board.open_steps(&self.asked.teams, rules).peekable();
        if open.peek().is_none() {
            return true;
        }
        let at_work = |at: usize| rules.flow.state(Kind::Step, &board.tasks()[at].state).is_none_or(|state| state.lock);
        if open.any(|(at, step)| at_work(at) || step.of.iter().any(held)) {
            return false;
        }
        let live = |slot: &&crew::Slot| slot.given_up.is_none() && board.kept_out(rules, &slot.worker).is_none();
        let roles: Vec<&str> = crew.slots.iter().filter(live).map(|slot| slot.role.as_str()).collect();
        let waiting = self.waiting();
        !roles.iter().any(|role| self.could_take(&board, role, &waiting))
    }

    /// Why workers of the crew with open steps got no task, although nobody is working.
    fn kept_out(&self, crew: &Crew<'_>, board: &Board) -> Vec<String> {
        let needed = crew.slots.iter().filter(|slot| slot.given_up.is_none() && self.has_open_step(&slot.role));
        let refusals = needed.filter_map(|slot| board.kept_out(self.ws.rules(), &slot.worker));
        refusals.map(|refusal| refusal.to_string()).collect::<std::collections::BTreeSet<_>>().into_iter().collect()
    }

    fn could_take(&self, board: &Board, role: &str, waiting: &[TaskId]) -> bool {
        let Ok(somebody) = Worker::new(format!("{role}-0")) else { return false };
        let left_out = |id: &TaskId| waiting.contains(id);
        board.choose_step(&self.asked.teams, role, &somebody, &|_| false, &left_out, self.ws.rules()).is_some()
    }

    /// Tasks whose last run waits for something outside of the team.
    fn waiting(&self) -> Vec<TaskId> {
        let waits = self.last.iter().filter(|(_, outcome)| **outcome == RunOutcome::Waiting);
        waits.map(|(task, _)| task.clone()).collect()
    }

    /// The result of a dry run.
    fn foresee(self) -> Result<TeamDone, Failure> {
        let board = steps::foreseen(self.ws, &self.asked)?;
        self.done(&board, false, false)
    }

    /// The result at the end, with the report unless it was stopped.
    fn done(mut self, board: &Board, stopped: bool, reports: bool) -> Result<TeamDone, Failure> {
        self.view.steps = self.steps(board);
        // Read from disk, to include runs whose workers died.
        let ours = |run: &Run| run.team.as_ref().is_some_and(|team| self.asked.teams.contains(team));
        let since = self.view.started;
        let mut runs = list_runs(self.ws, None, usize::MAX)?;
        runs.retain(|run| ours(run) && run.started >= since);
        runs.reverse();
        let mut done = TeamDone {
            teams: self.asked.teams.clone(),
            report: None,
            finished: self.view.steps.iter().all(|step| step.completed),
            stopped,
            out_of_budget: self.out_of_budget,
            kept_out: self.kept_out,
            left: report::left(self.ws, board, &self.asked.teams)?,
            steps: self.view.steps,
            spent: Spent::of(&runs),
            merged: merged_costs(self.ws, &runs)?,
            runs,
            started: self.view.started,
            ended: Timestamp::now(),
        };
        if done.out_of_budget.is_some() {
            note_stopped_team(self.ws, &done.teams)?;
        }
        if reports && !stopped {
            done.report = report::write(self.ws, board, &done)?;
        }
        Ok(done)
    }
}

//! `runs`: the runs on this machine, one folder each, with the record, the prompt and the output.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::agent::host::{AgentEvent, Host, Usage};
use crate::app::{Code, Failure, Hint, Workspace};
use crate::fs;
use crate::task::{StateName, TaskId, Worker};

/// The commands that ralph carries out itself, without an agent.
pub(in crate::app) const OWN: [&str; 2] = ["pr", "merge"];
/// How many runs are kept.
const KEPT: usize = 1_000;

/// One run of an agent, or of ralph itself if the command needs no agent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Run {
    pub id: String,
    pub task: TaskId,
    pub command: String,
    pub worker: Worker,
    pub team: Option<TaskId>,
    pub step: Option<TaskId>,
    /// The first is 1.
    pub attempt: u32,
    pub program: Vec<String>,
    /// The agent host whose output format the log has; `None` for any other program.
    #[serde(default)]
    pub host: Option<String>,
    /// The agent's own session, by which it can be continued.
    #[serde(default)]
    pub session: Option<String>,
    /// The session that this run resumed.
    #[serde(default)]
    pub resumed: Option<String>,
    /// As reported by the program, or else as named in the settings.
    #[serde(default)]
    pub model: Option<String>,
    /// `None` if the program reported none.
    #[serde(default)]
    pub usage: Option<Usage>,
    /// The program was never started, so the run used nothing.
    #[serde(default)]
    pub not_started: bool,
    /// Tools that the agent program refused, each with its reason.
    #[serde(default)]
    pub refused: Vec<(String, String)>,
    /// The sandbox prevented writes outside of the worktree.
    #[serde(default)]
    pub confined: bool,
    pub dir: PathBuf,
    pub started: Timestamp,
    pub ended: Option<Timestamp>,
    pub outcome: RunOutcome,
    /// The program's exit code, as a shell reports it.
    pub code: Option<i32>,
    pub from: StateName,
    pub to: Option<StateName>,
    /// Why it failed, or its result.
    pub message: Option<String>,
    /// Changes in the main worktree during the run, by this run or another.
    #[serde(default)]
    pub strays: Vec<String>,
    /// Files of the main worktree that differed from HEAD when it began.
    #[serde(default)]
    pub dirty: Vec<Dirty>,
    /// Branches that agents do not commit to, with their tips when the run began.
    #[serde(default)]
    pub tips: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dirty {
    pub path: String,
    pub stamp: (u64, i64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunOutcome {
    Running,
    /// The worker process died during the run.
    Lost,
    Done,
    /// Part of the work is done; the next run continues.
    Advanced,
    Iterated,
    Escalated,
    /// The task waits for something outside, such as a review on GitHub.
    Waiting,
    /// Another worker was faster.
    Raced,
    /// The work was sent back for changes.
    Returned,
    Unmoved,
    Failed,
    TimedOut,
    /// The agent program has reached its usage limit; the task is unchanged.
    Limited,
    /// The agent program cannot work at all; the task is unchanged.
    Unavailable,
    /// The agent changed files outside of its worktree.
    Strayed,
    Interrupted,
    /// `worktree.setup` or `worktree.before_run` failed; the task is unchanged.
    SetupFailed,
    /// A person stopped the run.
    Stopped,
}

impl RunOutcome {
    pub fn name(self) -> String {
        serde_json::to_value(self).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
    }

    /// The name, for people.
    pub fn words(self) -> String {
        self.name().replace('-', " ")
    }

    /// Whether the outcome counts as a failed attempt, which is repeated a limited number of times.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Unmoved | Self::Failed | Self::TimedOut)
    }
}

#[derive(Debug, Serialize)]
pub struct RunShown {
    #[serde(flatten)]
    pub run: Run,
    pub log: PathBuf,
    pub prompt: PathBuf,
    /// The actions of the agent, if its program reports them.
    pub events: Vec<AgentEvent>,
    /// The end of the agent's output.
    pub tail: String,
}

pub(in crate::app) fn folder(ws: &Workspace) -> PathBuf {
    ws.store.local().join("runs")
}

impl Run {
    pub(in crate::app) fn path(&self, ws: &Workspace, name: &str) -> PathBuf {
        folder(ws).join(&self.id).join(name)
    }

    pub(in crate::app) fn write(&self, ws: &Workspace) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(self).expect("a record is text");
        Ok(fs::replace(&self.path(ws, "run.json"), text.as_bytes(), false)?)
    }

    /// Whether an agent program ran, so that the run counts in costs and budgets.
    pub fn is_agents(&self) -> bool {
        !OWN.contains(&self.command.as_str()) && !self.not_started
    }

    /// The duration; `None` while it runs.
    pub fn took(&self) -> Option<jiff::SignedDuration> {
        Some(self.ended?.duration_since(self.started))
    }

    /// Creates the folder of a new run and removes the oldest ones.
    pub(in crate::app) fn begin(self, ws: &Workspace) -> Result<Self, Failure> {
        let path = folder(ws).join(&self.id);
        fs::make_dir(&path)?;
        fs::write_new(&path.join("output.log"), b"", false)?;
        self.write(ws)?;
        prune(ws)?;
        Ok(self)
    }

    /// Asks the worker process to stop the run.
    pub(in crate::app) fn ask_to_stop(&self, ws: &Workspace, by: &Worker) -> Result<(), Failure> {
        Ok(fs::replace(&self.path(ws, "stop"), by.as_str().as_bytes(), false)?)
    }

    /// The person who asked for the run to be stopped.
    pub(in crate::app) fn stop_asked_by(&self, ws: &Workspace) -> Option<String> {
        fs::read_text(&self.path(ws, "stop")).ok().flatten()
    }

    pub(in crate::app) fn new_id(ws: &Workspace, task: &TaskId, command: &str) -> String {
        let stamp = ws.now().strftime("%Y%m%d-%H%M%S%.3f").to_string().replace('.', "");
        let tail: String = (0..4).map(|_| ws.rng().lowercase()).collect();
        format!("{stamp}-{task}-{command}-{tail}")
    }
}

fn prune(ws: &Workspace) -> Result<(), Failure> {
    let names = fs::names(&folder(ws))?;
    for name in names.iter().take(names.len().saturating_sub(KEPT)) {
        fs::remove_tree(&folder(ws).join(name))?;
    }
    Ok(())
}

fn read(ws: &Workspace, name: &str) -> Option<Run> {
    let text = fs::read_text(&folder(ws).join(name).join("run.json")).ok()??;
    let mut run: Run = serde_json::from_str(&text).ok()?;
    // The worker process died, so it could not record the outcome.
    if run.outcome == RunOutcome::Running && !ws.store.is_held(&run.task) {
        run.outcome = RunOutcome::Lost;
    }
    Some(run)
}

/// Newest first.
pub fn list_runs(ws: &Workspace, task: Option<&TaskId>, limit: usize) -> Result<Vec<Run>, Failure> {
    let names = fs::names(&folder(ws))?;
    let all = names.iter().rev().filter_map(|name| read(ws, name));
    Ok(all.filter(|run| task.is_none_or(|task| run.task == *task)).take(limit).collect())
}

/// Finds a run by its id or a unique part of it, or the last run of a task.
pub fn find_run(ws: &Workspace, typed: &str) -> Result<Run, Failure> {
    let names = fs::names(&folder(ws))?;
    let exact = names.iter().find(|name| *name == typed);
    let fits: Vec<&String> = names.iter().filter(|name| name.contains(typed)).collect();
    let name = match (exact, fits.as_slice()) {
        (Some(name), _) => Some(name.clone()),
        (None, [name]) => Some((*name).clone()),
        _ => None,
    };
    if let Some(run) = name.and_then(|name| read(ws, &name)) {
        return Ok(run);
    }
    let of_task = ws.find(typed).ok().and_then(|task| list_runs(ws, Some(&task), 1).ok()?.pop());
    of_task.ok_or_else(|| {
        let message = match fits.len() {
            0 | 1 => format!("no run {typed:?}"),
            many => format!("{typed:?} matches {many} runs"),
        };
        Failure::refused(Code::NoRun, message).hint(Hint::run("runs ls", "to list the runs"))
    })
}

pub fn show_run(ws: &Workspace, run: Run) -> Result<RunShown, Failure> {
    let log = run.path(ws, "output.log");
    let events = events(ws, &run)?;
    let tail = last_words(ws, &run, 20)?;
    Ok(RunShown { prompt: run.path(ws, "prompt.md"), log, events, tail, run })
}

/// The actions and output of a run, for people; only the end of a long run.
pub fn run_text(ws: &Workspace, run: &Run) -> Result<String, Failure> {
    last_words(ws, run, 2_000)
}

impl Run {
    /// The events in some lines of the log; `None` if the program does not report events.
    pub fn events_in(&self, lines: &str) -> Option<Vec<AgentEvent>> {
        let host = Host::find(self.host.as_deref()?)?;
        Some(lines.lines().flat_map(|line| host.events(line)).collect())
    }
}

fn events(ws: &Workspace, run: &Run) -> Result<Vec<AgentEvent>, Failure> {
    let bytes = fs::read(&run.path(ws, "output.log"))?.unwrap_or_default();
    Ok(run.events_in(&String::from_utf8_lossy(&bytes)).unwrap_or_default())
}

/// The end of a run, for people: the agent's actions and messages, or else the end of the log.
pub(in crate::app) fn last_words(ws: &Workspace, run: &Run, lines: usize) -> Result<String, Failure> {
    if run.host.is_none() {
        return Ok(fs::tail(&run.path(ws, "output.log"), lines)?);
    }
    let told: Vec<String> = events(ws, run)?.iter().filter_map(AgentEvent::line).collect();
    Ok(told[told.len().saturating_sub(lines)..].iter().map(|line| format!("{line}\n")).collect())
}

/// The new part of a run's log since an offset, and whether the run is still running.
pub fn follow_run(ws: &Workspace, run: &Run, from: u64) -> Result<(Vec<u8>, bool), Failure> {
    let runs = read(ws, &run.id).is_some_and(|run| run.outcome == RunOutcome::Running);
    Ok((fs::read_from(&run.path(ws, "output.log"), from)?, runs))
}

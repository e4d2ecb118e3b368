//! `status`: a summary of the board.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::app::view::task::ClaimView;
use crate::app::{Failure, Workspace};
use crate::board::{Board, Change, FlowTimes, Links, Place, Standings, StateStep};
use crate::store::Line;
use crate::task::{Kind, Problem, StateName, Task, TaskId};

#[derive(Debug, Serialize)]
pub struct Status {
    pub name: String,
    pub states: Vec<StateCount>,
    pub claims: Vec<Held>,
    pub ready: Vec<RoleQueue>,
    /// The blockers that block the most tasks, with the number of tasks that each unblocks.
    pub roots: Vec<Root>,
    pub stuck: Vec<Stuck>,
    pub oversized: Vec<Brief>,
    pub waiting_for_person: Vec<Brief>,
    /// Finished per day over the last two weeks, oldest first.
    pub throughput: Vec<usize>,
    pub problems: usize,
    /// The problems; a task whose file cannot be read is in no column.
    pub problem_list: Vec<Problem>,
    pub now: Timestamp,
}

#[derive(Debug, Serialize)]
pub struct StateCount {
    pub state: StateName,
    pub count: usize,
    pub points: u32,
    pub lock: bool,
    /// The median time that tasks spent in this state, in hours, and how many have left it.
    pub median_hours: Option<f64>,
    pub left: usize,
}

#[derive(Debug, Serialize)]
pub struct Held {
    pub task: TaskId,
    pub title: String,
    pub state: StateName,
    pub command: Option<String>,
    #[serde(flatten)]
    pub claim: ClaimView,
}

#[derive(Debug, Serialize)]
pub struct RoleQueue {
    pub role: String,
    /// The number of claims of the role, and their limit.
    pub at_work: usize,
    pub limit: Option<usize>,
    pub count: usize,
    pub first: Vec<Brief>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Brief {
    pub task: TaskId,
    pub title: String,
    pub state: StateName,
}

#[derive(Debug, Serialize)]
pub struct Root {
    #[serde(flatten)]
    pub task: Brief,
    pub frees: usize,
    pub by: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct Stuck {
    #[serde(flatten)]
    pub task: Brief,
    pub hours: i64,
    /// Over 96 hours instead of 48.
    pub critical: bool,
}

const WARNING: i64 = 48;
const CRITICAL: i64 = 96;
const DAYS: usize = 14;
const FIRST: usize = 5;

impl Workspace {
    /// The name in the settings, or else the name of the folder.
    pub fn board_name(&self) -> String {
        let folder = || self.store.root().file_name().map(|name| name.to_string_lossy().into_owned());
        let named = Some(self.settings.text("board.name")).filter(|name| !name.is_empty());
        named.map(str::to_owned).or_else(folder).unwrap_or_default()
    }
}

pub fn status(ws: &Workspace) -> Result<Status, Failure> {
    let board = ws.board()?;
    let standings = Standings::new(&board, ws.rules());
    let times = FlowTimes::new(&steps(&ws.journal()?));
    let now = ws.now();
    let done = ws.flow().closing().map(|state| times.arrivals(state, now, DAYS)).unwrap_or_default();
    Ok(Status {
        name: ws.board_name(),
        states: states(ws, &board, &times),
        claims: held(&board),
        ready: queues(ws, &board, &standings),
        roots: roots(ws, &board, &standings),
        stuck: stuck(ws, &board, &times, now),
        oversized: oversized(&board, &standings),
        waiting_for_person: briefs(&board, |_, task| {
            Some(&task.state) == ws.flow().escalation() || task.attention.is_some()
        }),
        throughput: done,
        problems: board.problems().len(),
        problem_list: board.problems().into_iter().cloned().collect(),
        now,
    })
}

/// The changes of state in the journal, oldest first.
pub(in crate::app) fn steps(lines: &[Line]) -> Vec<StateStep> {
    let text = |value: &Option<crate::task::Value>| value.as_ref().map(|value| StateName::new(value.to_string()));
    let mut steps = Vec::new();
    for line in lines {
        for change in &line.changes {
            let (from, to) = match change {
                Change::Set { key, old, new, .. } if key.as_str() == "state" => (text(old), text(new)),
                Change::File { file: Place::Task, old, new, .. } => (state_in(old), state_in(new)),
                _ => continue,
            };
            if from != to {
                steps.push(StateStep { at: line.at, task: change.task().clone(), from, to });
            }
        }
    }
    steps
}

fn state_in(text: &Option<String>) -> Option<StateName> {
    let table: toml::Table = text.as_ref()?.parse().ok()?;
    table.get("state").and_then(|state| state.as_str()).map(StateName::new)
}

fn brief(task: &Task) -> Brief {
    Brief { task: task.id.clone(), title: task.title.clone(), state: task.state.clone() }
}

fn briefs(board: &Board, wanted: impl Fn(usize, &Task) -> bool) -> Vec<Brief> {
    board.tasks().iter().enumerate().filter(|(at, task)| wanted(*at, task)).map(|(_, task)| brief(task)).collect()
}

fn states(ws: &Workspace, board: &Board, times: &FlowTimes) -> Vec<StateCount> {
    let of = |state: &crate::workflow::State| {
        let here = || board.tasks().iter().filter(|task| task.kind != Kind::Step && task.state == state.name);
        let median = times.median(&state.name);
        StateCount {
            state: state.name.clone(),
            count: here().count(),
            points: here().filter_map(|task| task.estimate).map(|estimate| estimate.points()).sum(),
            lock: state.lock,
            median_hours: median.map(|(time, _)| (time.as_secs_f64() / 360.0).round() / 10.0),
            left: median.map_or(0, |(_, left)| left),
        }
    };
    ws.flow().states().iter().map(of).collect()
}

fn held(board: &Board) -> Vec<Held> {
    let live = board.claims().iter().filter(|(_, claim)| claim.live);
    let shown = live.filter_map(|(id, claim)| {
        let task = board.get(id)?;
        let (title, state) = (task.title.clone(), task.state.clone());
        Some(Held { task: id.clone(), title, state, command: claim.command.clone(), claim: claim.into() })
    });
    shown.collect()
}

fn queues(ws: &Workspace, board: &Board, standings: &Standings) -> Vec<RoleQueue> {
    let rules = ws.rules();
    let of = |role: &crate::workflow::Role| {
        let ready = |at: usize, task: &Task| {
            let state = rules.flow.state(task.kind, &task.state);
            standings.is_ready(at) && state.is_some_and(|state| rules.flow.takes(&role.name, state, rules.mode))
        };
        let mut all: Vec<usize> = (0..board.tasks().len()).filter(|&at| ready(at, &board.tasks()[at])).collect();
        all.sort_by_key(|&at| (board.tasks()[at].priority.map_or(usize::MAX, |p| p as usize), at));
        let workers: std::collections::BTreeSet<_> = board
            .claims()
            .values()
            .filter(|c| c.live && rules.role_of(&c.worker) == Some(&role.name))
            .map(|c| &c.worker)
            .collect();
        RoleQueue {
            role: role.name.clone(),
            at_work: workers.len(),
            limit: rules.limits.get(&role.name).copied(),
            count: all.len(),
            first: all.iter().take(FIRST).map(|&at| brief(&board.tasks()[at])).collect(),
        }
    };
    rules.flow.roles().iter().map(of).collect()
}

/// Open tasks that are not blocked and that block others.
fn roots(ws: &Workspace, board: &Board, standings: &Standings) -> Vec<Root> {
    let links = Links::new(board);
    let root =
        |at: &usize| !links.dependents(*at).is_empty() && !standings.is_finished(*at) && !standings.is_blocked(*at);
    let mut found: Vec<Root> = (0..board.tasks().len())
        .filter(root)
        .map(|at| {
            let task = &board.tasks()[at];
            let by = board.claim(&task.id).filter(|c| c.live).map(|c| c.worker.to_string());
            Root {
                task: brief(task),
                frees: board.freed_by(at, ws.rules(), &links),
                by: by.or(task.owner.as_ref().map(ToString::to_string)),
            }
        })
        .filter(|root| root.frees > 0)
        .collect();
    found.sort_by(|a, b| b.frees.cmp(&a.frees).then_with(|| a.task.task.cmp(&b.task.task)));
    found.truncate(FIRST);
    found
}

fn stuck(ws: &Workspace, board: &Board, times: &FlowTimes, now: Timestamp) -> Vec<Stuck> {
    let counts = |task: &&Task| {
        let state = ws.flow().state(task.kind, &task.state);
        task.kind == Kind::Issue && state.is_some_and(|state| !state.terminal && !state.human)
    };
    let mut found: Vec<Stuck> = Vec::new();
    for task in board.tasks().iter().filter(counts) {
        let since = times.since(&task.id, &task.state).or(task.created);
        let hours = since.map_or(SignedDuration::ZERO, |since| now.duration_since(since)).as_hours();
        if hours >= WARNING {
            found.push(Stuck { task: brief(task), hours, critical: hours >= CRITICAL });
        }
    }
    found.sort_by_key(|stuck| -stuck.hours);
    found
}

/// Open tasks that are too large and have no children.
fn oversized(board: &Board, standings: &Standings) -> Vec<Brief> {
    let links = Links::new(board);
    briefs(board, |at, task| {
        let large = task.estimate.is_some_and(|estimate| estimate.is_oversized());
        large && !standings.is_finished(at) && links.children(at).is_empty()
    })
}

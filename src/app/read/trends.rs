//! Statistics from the journal of the last weeks: done tasks, time in state, ready and blocked tasks.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::app::{Failure, Workspace};
use crate::board::{Change, Day, FlowTimes, Place, TrendPast, Undo, days_of};
use crate::store::Line;
use crate::task::StateName;
use crate::workflow::Meaning;

#[derive(Debug, Serialize)]
pub struct Trends {
    /// Oldest first. Each day ends at its time, the last one now.
    pub days: Vec<Day>,
    /// How many tasks were finished on each day.
    pub finished: Vec<usize>,
    pub states: Vec<StateTime>,
    pub now: Timestamp,
}

/// How long tasks stay in a state.
#[derive(Debug, Serialize)]
pub struct StateTime {
    pub state: StateName,
    pub meaning: Meaning,
    /// In hours: the median, and the time within which nine of ten tasks left the state.
    pub median_hours: Option<f64>,
    pub most_hours: Option<f64>,
    pub left: usize,
}

/// The longest period, because every day is computed from the journal.
const MOST_DAYS: usize = 366;

pub fn trends(ws: &Workspace, days: usize) -> Result<Trends, Failure> {
    let days = days.clamp(1, MOST_DAYS);
    let lines = ws.journal()?;
    let times = FlowTimes::new(&crate::app::read::status::steps(&lines));
    let now = ws.now();
    let tasks = ws.board()?.into_tasks();
    let finished = ws.flow().closing().map(|state| times.arrivals(state, now, days)).unwrap_or_default();
    let states = ws.flow().states().iter().map(|state| StateTime {
        state: state.name.clone(),
        meaning: ws.flow().meaning(state),
        median_hours: times.median(&state.name).map(|(time, _)| hours(time)),
        most_hours: times.most(&state.name).map(hours),
        left: times.median(&state.name).map_or(0, |(_, left)| left),
    });
    let states = states.collect();
    Ok(Trends { days: days_of(tasks, &past(ws, &lines), ws.rules(), now, days), finished, states, now })
}

fn hours(time: SignedDuration) -> f64 {
    (time.as_secs_f64() / 360.0).round() / 10.0
}

fn past(ws: &Workspace, lines: &[Line]) -> Vec<TrendPast> {
    let mut past: Vec<TrendPast> = Vec::new();
    for line in lines {
        for change in &line.changes {
            let undo = match change {
                Change::Set { key, old, .. } => Undo::Put(key.clone(), old.clone()),
                Change::File { file: Place::Task, old: None, .. } => Undo::Remove,
                Change::File { task, file: Place::Task, old: Some(text), .. } => {
                    let Ok(file) = ws.store.file_of(task, text.as_bytes()) else { continue };
                    Undo::Replace(Box::new(file.task))
                }
                Change::File { .. } => continue,
            };
            past.push(TrendPast { at: line.at, task: change.task().clone(), undo });
        }
    }
    past.sort_by_key(|change| change.at);
    past
}

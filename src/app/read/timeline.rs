//! The states that a task has been in: when, for how long, and who moved it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use crate::app::{Failure, Workspace};
use crate::store::Line;
use crate::task::{Kind, StateName, TaskId, Worker};
use crate::workflow::{Meaning, Workflow};

/// A period in one state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stay {
    pub state: StateName,
    pub meaning: Meaning,
    pub since: Timestamp,
    /// `None` if the task is still in this state.
    pub until: Option<Timestamp>,
    /// The worker who moved it there.
    pub by: Worker,
}

/// The periods of one task, oldest first.
pub fn timeline(ws: &Workspace, id: &TaskId) -> Result<Vec<Stay>, Failure> {
    let lines = ws.journal()?.into_iter().filter(|line| line.touches(id));
    Ok(stays(lines, ws.flow()).remove(id).unwrap_or_default())
}

/// The periods of every task in the journal.
pub fn timelines(ws: &Workspace) -> Result<BTreeMap<TaskId, Vec<Stay>>, Failure> {
    Ok(stays(ws.journal()?.into_iter(), ws.flow()))
}

fn stays(lines: impl Iterator<Item = Line>, flow: &Workflow) -> BTreeMap<TaskId, Vec<Stay>> {
    let mut all: BTreeMap<TaskId, Vec<Stay>> = BTreeMap::new();
    for line in lines {
        for step in crate::app::read::status::steps(std::slice::from_ref(&line)) {
            let stays = all.entry(step.task).or_default();
            if let Some(last) = stays.last_mut() {
                last.until.get_or_insert(step.at);
            }
            stays.extend(step.to.map(|state| Stay {
                meaning: flow.meaning_of(Kind::Issue, &state),
                state,
                since: step.at,
                until: None,
                by: line.by.clone(),
            }));
        }
    }
    all
}

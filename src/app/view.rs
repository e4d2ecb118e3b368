//! A task as every face shows it: the one schema.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use crate::board::{Board, Links, Standings};
use crate::task::{Problem, Task, TaskId};

#[derive(Debug, Clone, Serialize)]
pub struct TaskView {
    pub id: TaskId,
    pub kind: &'static str,
    pub title: String,
    pub state: String,
    pub priority: Option<&'static str>,
    pub estimate: Option<&'static str>,
    pub labels: Vec<String>,
    pub owner: Option<String>,
    pub parent: Option<TaskId>,
    pub children: Vec<TaskId>,
    pub blocked_by: Vec<TaskId>,
    pub blocks: Vec<TaskId>,
    pub blocked: bool,
    pub ready: bool,
    pub artifacts: BTreeMap<String, String>,
    pub github: Option<GithubView>,
    #[serde(serialize_with = "stamp")]
    pub created: Option<Timestamp>,
    #[serde(serialize_with = "stamp")]
    pub updated: Option<Timestamp>,
    pub problems: Vec<Problem>,
    /// The blockers that are still open, for people.
    #[serde(skip)]
    pub open_blockers: Vec<TaskId>,
}

#[derive(Debug, Clone, Serialize)]
pub struct GithubView {
    pub number: u64,
    pub url: Option<String>,
}

/// Whole seconds: what people compare, and half the bytes.
fn stamp<S: Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => serializer.collect_str(&Timestamp::from_second(at.as_second()).unwrap_or(*at)),
        None => serializer.serialize_none(),
    }
}

impl TaskView {
    pub fn new(board: &Board, links: &Links<'_>, standings: &Standings<'_>, at: usize) -> Self {
        let task: &Task = &board.tasks()[at];
        let standing = standings.of(at);
        Self {
            id: task.id.clone(),
            kind: task.kind.as_str(),
            title: task.title.clone(),
            state: task.state.to_string(),
            priority: task.priority.map(|p| p.as_str()),
            estimate: task.estimate.map(|e| e.as_str()),
            labels: task.labels.clone(),
            owner: task.owner.as_ref().map(ToString::to_string),
            parent: task.parent.clone(),
            children: links.ids(links.children(at)),
            blocked_by: task.blocked_by.clone(),
            blocks: links.ids(links.dependents(at)),
            blocked: standing.blocked,
            ready: standing.ready,
            artifacts: task.artifacts.clone(),
            github: task.github.as_ref().map(|link| GithubView { number: link.number, url: link.url.clone() }),
            created: task.created,
            updated: task.updated,
            problems: task.problems.clone(),
            open_blockers: standing.open_blockers,
        }
    }
}

/// Views of the tasks at these places.
pub(super) fn views(board: &Board, standings: &Standings<'_>, places: &[usize]) -> Vec<TaskView> {
    let links = Links::new(board);
    places.iter().map(|&at| TaskView::new(board, &links, standings, at)).collect()
}

//! A task as every face shows it, in one schema.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use crate::app::failure::Failure;
use crate::board::{Board, Claim, Links, Standing, Standings};
use crate::task::{Problem, StateName, Task, TaskId, Worker};
use crate::workflow::Meaning;

#[derive(Debug, Clone, Serialize)]
pub struct TaskView {
    pub id: TaskId,
    pub kind: &'static str,
    pub title: String,
    pub state: StateName,
    /// What the state means, independent of its name. For people; programs read the workflow.
    #[serde(skip)]
    pub meaning: Meaning,
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
    /// The owner started the task, but nobody has a live claim on it. For people; programs have `owner` and `claim`.
    #[serde(skip)]
    pub stale: bool,
    pub claim: Option<ClaimView>,
    /// Why a person should check the task: it was moved outside of ralph, against the workflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attention: Option<String>,
    /// The states it can move to for this viewer, and why it cannot move to others; only if a single task is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moves: Option<Vec<MoveView>>,
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

/// A state that a task might move to, for one viewer.
#[derive(Debug, Clone, Serialize)]
pub struct MoveView {
    pub state: StateName,
    pub meaning: Meaning,
    /// The task is already in this state.
    pub here: bool,
    /// The command under which the move would be made.
    pub command: Option<String>,
    /// What a person's move would skip, if it is outside the workflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside: Option<String>,
    /// Why the move would be refused; a person can override some refusals.
    pub refused: Option<Failure>,
}

/// A live claim.
#[derive(Debug, Clone, Serialize)]
pub struct ClaimView {
    pub by: Worker,
    pub host: String,
    pub since: Timestamp,
    pub until: Timestamp,
    pub held: bool,
}

/// Rounds to whole seconds, which is precise enough for people and half as long.
fn stamp<S: Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => serializer.collect_str(&Timestamp::from_second(at.as_second()).unwrap_or(*at)),
        None => serializer.serialize_none(),
    }
}

impl From<&Claim> for ClaimView {
    fn from(claim: &Claim) -> Self {
        let Claim { worker, host, since, until, held, .. } = claim.clone();
        Self { by: worker, host, since, until, held }
    }
}

/// The parts of a view that come from the board, not from the task.
struct Surroundings {
    claim: Option<ClaimView>,
    children: Vec<TaskId>,
    blocks: Vec<TaskId>,
    standing: Standing,
}

impl Surroundings {
    fn of(board: &Board, links: &Links<'_>, standings: &Standings, at: usize) -> Self {
        let (children, blocks) = (links.ids(links.children(at)), links.ids(links.dependents(at)));
        let claim = board.claim(&board.tasks()[at].id).filter(|claim| claim.live);
        Self { claim: claim.map(ClaimView::from), children, blocks, standing: standings.of(board, at) }
    }
}

impl TaskView {
    pub fn new(board: &Board, links: &Links<'_>, standings: &Standings, at: usize) -> Self {
        Self::assemble(board.tasks()[at].clone(), Surroundings::of(board, links, standings, at))
    }

    fn assemble(task: Task, place: Surroundings) -> Self {
        Self {
            id: task.id,
            kind: task.kind.as_str(),
            title: task.title,
            state: task.state,
            meaning: place.standing.meaning,
            priority: task.priority.map(|p| p.as_str()),
            estimate: task.estimate.map(|e| e.as_str()),
            labels: task.labels,
            owner: task.owner.map(|owner| owner.to_string()),
            parent: task.parent,
            children: place.children,
            blocked_by: task.blocked_by,
            blocks: place.blocks,
            blocked: place.standing.blocked,
            ready: place.standing.ready,
            stale: place.standing.stale,
            claim: place.claim,
            attention: task.attention,
            moves: None,
            artifacts: task.artifacts,
            github: task.github.map(|link| GithubView { number: link.number, url: link.url }),
            created: task.created,
            updated: task.updated,
            problems: task.problems,
            open_blockers: place.standing.open_blockers,
        }
    }
}

/// Views of the tasks at these places. Consumes the board, so that no task is copied.
pub(in crate::app) fn views(board: Board, standings: &Standings, places: &[usize]) -> Vec<TaskView> {
    let found: Vec<Surroundings> = {
        let links = Links::new(&board);
        places.iter().map(|&at| Surroundings::of(&board, &links, standings, at)).collect()
    };
    let mut tasks: Vec<Option<Task>> = board.into_tasks().into_iter().map(Some).collect();
    let taken = places.iter().zip(found).filter_map(|(&at, place)| Some(TaskView::assemble(tasks[at].take()?, place)));
    taken.collect()
}

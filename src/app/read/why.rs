//! `why`: explains why a task cannot start.

use serde::Serialize;

use crate::app::view::task::{ClaimView, TaskView, views};
use crate::app::work::ask::open_question;
use crate::app::{Failure, Workspace};
use crate::board::{Board, Cause, Refusal, Standings, left_by};
use crate::task::{StateName, TaskId};

#[derive(Debug, Serialize)]
pub struct Why {
    #[serde(flatten)]
    pub task: TaskView,
    /// Whether the task is ready, or else why not.
    pub verdict: String,
    pub reasons: Vec<Reason>,
}

#[derive(Debug, Serialize)]
pub struct Reason {
    pub task: TaskId,
    pub title: Option<String>,
    pub state: Option<StateName>,
    pub owner: Option<String>,
    pub claim: Option<ClaimView>,
    /// The ancestor whose blocker this is.
    pub through: Option<TaskId>,
    /// Why this blocker can never be finished, if so.
    pub dead: Option<String>,
    /// How many open tasks it blocks.
    pub frees: usize,
    /// Its own blockers were already listed.
    pub again: bool,
    pub reasons: Vec<Reason>,
}

pub fn why(ws: &Workspace, id: &TaskId) -> Result<Why, Failure> {
    let board = ws.board()?;
    let at = board.index_of(id).ok_or_else(|| crate::app::workspace::open::missing(ws, &board, id))?;
    let reasons: Vec<Reason> = board.causes(at, ws.rules()).into_iter().map(|cause| reason(&board, cause)).collect();
    let standings = Standings::new(&board, ws.rules());
    let verdict = verdict(ws, &board, at, &standings, &reasons);
    let task = views(board, &standings, &[at]).remove(0);
    Ok(Why { task, verdict, reasons })
}

fn reason(board: &Board, cause: Cause) -> Reason {
    let task = board.get(&cause.task);
    let claim = board.claim(&cause.task).filter(|claim| claim.live).map(ClaimView::from);
    Reason {
        title: task.map(|task| task.title.clone()),
        state: task.map(|task| task.state.clone()),
        owner: task.and_then(|task| task.owner.as_ref().map(ToString::to_string)),
        claim,
        through: cause.through,
        dead: cause.dead,
        frees: cause.frees,
        again: cause.again,
        reasons: cause.causes.into_iter().map(|cause| reason(board, cause)).collect(),
        task: cause.task,
    }
}

fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn verdict(ws: &Workspace, board: &Board, at: usize, standings: &Standings, reasons: &[Reason]) -> String {
    let task = &board.tasks()[at];
    let flow = ws.flow();
    let children = board.tasks().iter().filter(|other| other.parent.as_ref() == Some(&task.id)).count();
    if standings.is_finished(at) {
        return format!("it is already {}", task.state);
    }
    if !reasons.is_empty() {
        let dead = reasons.iter().filter(|reason| reason.dead.is_some()).count();
        let never = match (dead, reasons.len()) {
            (0, _) => String::new(),
            (1, 1) => ", which can never be finished".to_owned(),
            (dead, _) => format!(", {dead} of which can never be finished"),
        };
        return format!("blocked by {}{never}", counted(reasons.len(), "open task"));
    }
    if let Some(claim) = board.claim(&task.id).filter(|claim| claim.live) {
        return Refusal::held(&task.id, claim).to_string();
    }
    if ws.rules().needs_person(task) {
        return match open_question(ws, &task.id) {
            Ok(Some(question)) => question.reported(),
            _ => "it was handed to a person".into(),
        };
    }
    if children > 0 {
        return format!(
            "its state follows its {}",
            if children == 1 { "child".into() } else { format!("{children} children") }
        );
    }
    if let Some(reason) = &task.attention {
        return format!("flagged for a person: {reason}");
    }
    if board.is_kept(at, ws.rules()) {
        return format!("reserved for its owner, {}", task.owner.as_ref().map(ToString::to_string).unwrap_or_default());
    }
    if let Some(turn) = board.not_its_turn(at, ws.rules()) {
        return turn.to_string();
    }
    if let Some(overlap) = board.overlap_at(at, ws.rules()) {
        return overlap.to_string();
    }
    if let Some((command, label)) = left_by(task, ws.rules()) {
        return format!(
            "{} left it in its state, with the label {label}; remove the label to have it considered again",
            command.name
        );
    }
    if standings.is_ready(at) {
        let mode = ws.rules().mode;
        let state = flow.state(task.kind, &task.state);
        let takes = |role: &str| state.is_some_and(|state| flow.takes(role, state, mode));
        let roles: Vec<&str> = flow.roles().iter().map(|role| role.name.as_str()).filter(|role| takes(role)).collect();
        return format!("ready for {}", if roles.is_empty() { "anyone".into() } else { roles.join(" or ") });
    }
    format!("no role starts work in {}", task.state)
}

//! `task edit`: a person edits the file of a task; the file is checked before it is saved.

use serde::Serialize;

use crate::app::edit::fields::differences;
use crate::app::work::admit::{Commit, Gathered, apply, decide_with, gather};
use crate::app::work::claim::{Lease, drawn};
use crate::app::workspace::remote::{Published, Reach, publish};
use crate::app::{Code, Failure, FieldChange, Workspace};
use crate::board::{Actor, Admission, Board, Change, Goal, Place, Request};
use crate::store::codec;
use crate::store::merge::merge;
use crate::task::{Key, Problem, Task, TaskId};

/// The text of a file when the editor was opened.
pub struct Editing {
    pub id: TaskId,
    pub text: String,
}

#[derive(Debug, Serialize)]
pub struct Edited {
    pub task: TaskId,
    pub changed: bool,
    pub changes: Vec<FieldChange>,
    /// Invalid values of a file that can still be read.
    pub problems: Vec<Problem>,
}

/// How to handle a text that can be parsed but has invalid values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubts {
    Refuse,
    /// A person has seen the problems and confirmed them.
    Accept,
}

/// Also accepts a file that cannot be read as a task, so that a person can correct it.
pub fn begin_edit(ws: &Workspace, id: &TaskId) -> Result<Editing, Failure> {
    let text = ws.store.text_of(&ws.store.path(id, &Place::Task))?.ok_or_else(|| ws.store.absent(id))?;
    Ok(Editing { id: id.clone(), text })
}

/// Merges the edit with a change that was made in the meantime. Conflict markers surround what both changed, so that
/// the person can choose.
pub fn resume_edit(ws: &Workspace, editing: &Editing, text: &str) -> Result<(Editing, String), Failure> {
    let now = begin_edit(ws, &editing.id)?;
    let merged = match merge(&editing.text, text, &now.text) {
        Some(merged) => merged.text,
        // One of the texts is not valid TOML yet, so merge the lines.
        None => diffy::merge(&editing.text, text, &now.text).unwrap_or_else(|marked| marked),
    };
    Ok((now, merged))
}

/// Parses the text into a task with its problems; fails if the text cannot be saved at all.
fn read(ws: &Workspace, id: &TaskId, text: &str) -> Result<Task, Failure> {
    let shown = ws.store.shown(&ws.store.path(id, &Place::Task));
    Ok(codec::read(id, &shown, text, ws.flow())?.task)
}

pub fn finish_edit(ws: &Workspace, editing: &Editing, text: &str, doubts: Doubts) -> Result<Edited, Failure> {
    let id = &editing.id;
    let read = read(ws, id, text)?;
    let problems = read.problems.clone();
    if text == editing.text {
        return Ok(Edited { task: id.clone(), changed: false, changes: Vec::new(), problems });
    }
    if doubts == Doubts::Refuse && !problems.is_empty() {
        return Err(wrong_values(&problems));
    }
    let moving = Moving::of(ws, read)?;
    let published = moving.publish(ws)?;
    let lock = ws.lock()?;
    refuse_cycles(ws, &moving.task)?;
    let whole = Change::File {
        task: id.clone(),
        file: Place::Task,
        old: Some(editing.text.clone()),
        new: Some(text.to_owned()),
    };
    let board = moving.board(ws)?;
    let mut admission = moving.decided(ws, &board)?;
    admission.changes.retain(|change| !change.is_state_of(id));
    admission.changes.insert(0, whole);
    let commit = Commit { published: published.as_ref(), ..Commit::new("edit", &moving.actor) };
    apply(ws, &lock, &board, id, &admission, &commit)?;
    Ok(Edited { task: id.clone(), changed: true, changes: differences(id, &editing.text, text), problems })
}

fn wrong_values(problems: &[Problem]) -> Failure {
    let causes = problems.iter().map(ToString::to_string).collect();
    Failure { causes, ..Failure::refused(Code::BadValues, "the edited file has invalid values") }
}

fn refuse_cycles(ws: &Workspace, read: &Task) -> Result<(), Failure> {
    let id = &read.id;
    let board = ws.board()?;
    let before = board.get(id);
    if before.is_some_and(|task| task.parent == read.parent && task.blocked_by == read.blocked_by) {
        return Ok(());
    }
    let key = |name: &str| Key::new(name);
    let changes = [
        Change::Set { task: id.clone(), key: key("parent"), old: None, new: read.value(&key("parent")) },
        Change::Set { task: id.clone(), key: key("blocked_by"), old: None, new: read.value(&key("blocked_by")) },
    ];
    let mut tasks: Vec<_> = board.tasks().iter().filter(|task| task.id != *id).cloned().collect();
    tasks.push(read.clone());
    Ok(Board::new(tasks, Vec::new(), Vec::new()).refuse_cycles(&changes)?)
}

/// A state that was changed in the editor is a move like any other.
struct Moving {
    /// The edited task, in its new state.
    task: Task,
    actor: Actor,
    gathered: Gathered,
}

impl Moving {
    fn of(ws: &Workspace, task: Task) -> Result<Self, Failure> {
        let mut moving = Self { task, actor: ws.actor()?, gathered: Gathered::default() };
        let id = &moving.task.id;
        let before = ws.family(id)?;
        // A new owner becomes the holder, so that no other worker can claim the task.
        let named = moving.task.owner.clone().filter(|owner| *owner != moving.actor.worker);
        let was = before.get(id).and_then(|task| task.owner.as_ref());
        if let Some(owner) = named.filter(|owner| Some(owner) != was && moving.actor.role(ws.rules()).is_none()) {
            moving.actor = Actor::outside(owner);
        }
        let board = moving.board(ws)?;
        if moving.is_move(&board) {
            moving.gathered = gather(ws, &board, &moving.actor, &moving.request());
        }
        Ok(moving)
    }

    /// The board with the edited task, still in its old state.
    fn board(&self, ws: &Workspace) -> Result<Board, Failure> {
        let board = ws.family(&self.task.id)?;
        let Some(before) = board.get(&self.task.id) else { return Ok(board) };
        let task = Task { state: before.state.clone(), ..self.task.clone() };
        Ok(board.with_task(task))
    }

    fn is_move(&self, board: &Board) -> bool {
        board.get(&self.task.id).is_some_and(|task| task.state != self.task.state)
    }

    fn request(&self) -> Request<'_> {
        Request::new(&self.task.id, Goal::State(self.task.state.clone()))
    }

    fn decided(&self, ws: &Workspace, board: &Board) -> Result<Admission, Failure> {
        match self.is_move(board) {
            true => decide_with(ws, board, &self.actor, &self.request(), &self.gathered),
            false => Ok(Admission::staying(self.task.state.clone())),
        }
    }

    /// If claims are shared through a remote, publishes the new claim before the state changes.
    fn publish(&self, ws: &Workspace) -> Result<Option<Published>, Failure> {
        if ws.claims_remote().is_none() || !self.decided(ws, &self.board(ws)?)?.takes() {
            return Ok(None);
        }
        let id = &self.task.id;
        let draft = |board: &Board| {
            let admission = self.decided(ws, board)?;
            Ok((id.clone(), drawn(ws, board, id, &self.actor.worker, &admission, Lease::Timed)))
        };
        Ok(publish(ws, Reach::Remote, draft, || self.board(ws))?.map(|(_, published)| published))
    }
}

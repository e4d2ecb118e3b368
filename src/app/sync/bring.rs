//! Applies one value from GitHub to a task, with all consequences on the board.

use super::compare::task_id;
use super::edits::FileEdit;
use super::local::Local;
use crate::app::workspace::open::missing;
use crate::app::{Code, Failure, Workspace};
use crate::board::{Actor, Change, ClaimEffect, Goal, Place, Refusal, Request};
use crate::github::{Field, canonical};
use crate::task::{StateName, TaskId, Value, Worker};

/// The effects of a value from GitHub, besides its own key.
#[derive(Debug)]
pub struct Effects {
    /// Who moved the card, if GitHub says so.
    pub mover: Worker,
    /// Changes to other files, and the change of state that the workflow decides on.
    pub changes: Vec<Change>,
    /// The worker whose claim the move ends.
    pub dropped: Option<Worker>,
    /// Why the move is outside the workflow, if it is.
    pub flag: Option<Refusal>,
}

impl Effects {
    pub fn by(mover: Worker) -> Self {
        Self { mover, changes: Vec::new(), dropped: None, flag: None }
    }
}

/// Applies a value to a task; refuses if a rule of the board forbids it.
pub fn bring(
    ws: &Workspace,
    edit: &mut FileEdit,
    local: &Local,
    field: Field,
    value: Option<Value>,
    effects: &mut Effects,
) -> Result<(), Failure> {
    match (field, value) {
        (Field::State, Some(state)) => move_to(ws, local, &StateName::new(state.to_string()), effects),
        (Field::State, None) => Ok(()),
        (Field::Description, text) => {
            edit.set(field.key(), text.map(|text| Value::Text(format!("{}\n", canonical(&text.to_string())))))
        }
        (Field::Parent, value) => relink(ws, edit, local, field, value, effects),
        (Field::BlockedBy, value) => {
            let value = with_unmirrored(ws, local.value(field), value.as_ref());
            relink(ws, edit, local, field, value, effects)
        }
        (_, value) => edit.set(field.key(), value),
    }
}

/// Moves the task of a card that was moved on GitHub, with all consequences.
fn move_to(ws: &Workspace, local: &Local, state: &StateName, effects: &mut Effects) -> Result<(), Failure> {
    let id = &local.id;
    if local.place != Place::Task {
        let message =
            format!("{id} is archived, but in {state} on GitHub: restore it in both places, or close the issue");
        return Err(Failure::refused(Code::Archived, message));
    }
    let board = ws.family(id)?;
    board.get(id).ok_or_else(|| missing(ws, &board, id))?;
    let request = Request::new(id, Goal::State(state.clone()));
    let admission = board.admit(ws.rules(), &Actor::outside(effects.mover.clone()), &request)?;
    effects.changes.extend(admission.changes);
    if admission.claim == ClaimEffect::Ended {
        effects.dropped = board.claim(id).map(|claim| claim.worker.clone());
    }
    effects.flag = admission.flag;
    Ok(())
}

fn relink(
    ws: &Workspace,
    edit: &mut FileEdit,
    local: &Local,
    field: Field,
    new: Option<Value>,
    effects: &mut Effects,
) -> Result<(), Failure> {
    let (id, key) = (&local.id, field.key());
    let change = Change::Set { task: id.clone(), key: key.clone(), old: edit.get(&key), new: new.clone() };
    let board = ws.board()?;
    board.refuse_cycles(std::slice::from_ref(&change)).map_err(|refusal| {
        let message = format!("cannot apply the change from GitHub: {refusal}");
        Failure { message, ..Failure::from(refusal) }
    })?;
    effects.changes.extend(board.after(&[change]).parents_over(std::slice::from_ref(id), ws.rules()));
    edit.set(key, new)
}

/// GitHub's blockers, and those of the task that are not mirrored.
fn with_unmirrored(ws: &Workspace, here: Option<&Value>, there: Option<&Value>) -> Option<Value> {
    let ids = |value: Option<&Value>| match value {
        Some(Value::List(list)) => list.iter().filter_map(task_id).collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    let linked =
        |id: &TaskId, place: Place| matches!(Local::load(ws, id, place), Ok(Some(local)) if local.link.node.is_some());
    let hidden = |id: &TaskId| !linked(id, Place::Task) && !linked(id, Place::Archive);
    let mut all = ids(there);
    all.extend(ids(here).into_iter().filter(hidden));
    all.sort();
    all.dedup();
    (!all.is_empty()).then(|| Value::texts(all))
}

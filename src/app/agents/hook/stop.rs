//! The policy checks for a worker that stops: its document, its commits, and the state of its task.

use super::documents::lacking;
use super::scene::Scene;
use super::{Failure, Gate};
use crate::agent::document::DocumentKind;
use crate::app::work::proof::refuse_unbuilt;
use crate::board::Change;
use crate::task::{Task, TaskId, Value};
use crate::workflow::{Command, ReviewMode};

/// plan-postcondition: the plan is complete and linked, and the task was moved.
pub fn after_plan(scene: &Scene<'_>) -> Result<Gate, Failure> {
    let Some((command, task)) = subject(scene, "plan")? else { return Ok(Gate::Allow) };
    if let Some(gate) = lacking(scene, DocumentKind::Plan, &task.id)? {
        return Ok(gate);
    }
    Ok(unmoved(scene, command, task))
}

/// review-postcondition: the review is complete and linked, and the task was moved.
pub fn after_review(scene: &Scene<'_>) -> Result<Gate, Failure> {
    let Some((command, task)) = subject(scene, "review")? else { return Ok(Gate::Allow) };
    let holds = scene.held().iter().any(|held| held.id == task.id);
    // If the plan was rejected, the task is in its next round, and the review belongs to the previous one.
    let written = holds || command.complete.as_ref() == Some(&task.state);
    let needed = written && scene.ws.rules().mode != ReviewMode::Skip;
    if needed && let Some(gate) = lacking(scene, DocumentKind::Review, &task.id)? {
        return Ok(gate);
    }
    if !holds {
        return Ok(Gate::Allow);
    }
    let why = format!("{} is still in {}: the review is not finished", task.id, task.state);
    let (pass, back) = ends(scene, command, &task.id);
    Ok(Gate::block(why, format!("approve it with `{pass}`, or reject it with `{back}`")))
}

fn ends(scene: &Scene<'_>, command: &Command, id: &TaskId) -> (String, String) {
    let to =
        command.iterate.as_ref().map_or_else(|| "__ESCALATE__".to_owned(), |state| format!("{:?}", state.as_str()));
    let said = |to: &str| scene.signed(format!("ralph move {id} {to} --for {}", command.name));
    (said("__COMPLETE__"), said(&to))
}

/// impl-postcondition: the work is complete and committed, and the task was moved.
pub fn after_implement(scene: &Scene<'_>) -> Result<Gate, Failure> {
    let Some((command, task)) = subject(scene, "implement")? else { return Ok(Gate::Allow) };
    match refuse_unbuilt(scene.ws, &scene.board, &task.id) {
        Ok(()) => Ok(unmoved(scene, command, task)),
        Err(failure) => {
            let place = scene.place(&task.id)?;
            let otherwise = format!("implement it in {}, and commit there", place.path.display());
            Ok(Gate::refused(&failure, &otherwise))
        }
    }
}

/// Blocks while the worker still holds the task: it must move or release it.
fn unmoved(scene: &Scene<'_>, command: &Command, task: &Task) -> Gate {
    if !scene.held().iter().any(|held| held.id == task.id) {
        return Gate::Allow;
    }
    let hand = scene.signed(format!("ralph move {} __COMPLETE__ --for {}", task.id, command.name));
    let back = scene.signed(format!("ralph release {}", task.id));
    Gate::block(format!("{} is still in {}", task.id, task.state), format!("run `{hand}` if it is done, else `{back}`"))
}

/// The task of a command: one that the worker holds for it, or else the one that it moved last.
fn subject<'a>(scene: &'a Scene<'_>, name: &str) -> Result<Option<(&'a Command, &'a Task)>, Failure> {
    let (Ok(command), Some(worker)) = (scene.ws.flow().command(name), &scene.worker) else { return Ok(None) };
    if let Some(held) = scene.held().into_iter().find(|task| scene.is_doing(task, name)) {
        return Ok(Some((command, held)));
    }
    let journal = scene.ws.journal()?;
    let moves = journal.iter().rev().filter(|line| line.by == *worker && line.verb.starts_with("move"));
    let last = moves.flat_map(|line| line.changes.first()).find_map(state_change);
    let Some((id, from, to)) = last else { return Ok(None) };
    let starts = command.lock.as_ref().map_or_else(|| command.from.iter().collect(), |lock| vec![lock]);
    let of_command = starts.iter().any(|state| state.as_str() == from);
    let Some(task) = scene.board.get(id).filter(|task| of_command && task.state.as_str() == to) else {
        return Ok(None);
    };
    // An escalated task is not expected to be complete.
    let escalated = scene.ws.rules().needs_person(task);
    Ok((!escalated).then_some((command, task)))
}

fn state_change(change: &Change) -> Option<(&TaskId, &str, &str)> {
    match change {
        Change::Set { task, old: Some(Value::Text(old)), new: Some(Value::Text(new)), .. }
            if change.is_state_of(task) =>
        {
            Some((task, old, new))
        }
        _ => None,
    }
}

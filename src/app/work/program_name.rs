//! The worker name of a program that was not named: it contains the role whose work the program does, so that the rules
//! of that role apply. People have no role, and may do more.

use crate::app::work::claim::give_up;
use crate::app::work::next::as_reaped;
use crate::app::workspace::session::{HeldLocks, is_mine, is_of_session};
use crate::app::{Failure, Workspace};
use crate::board::{Links, command_for};
use crate::task::TaskId;

/// What a program says that it is about to do.
#[derive(Debug, Clone, Default)]
pub struct ProgramAction {
    pub command: Option<String>,
    pub role: Option<String>,
    pub task: Option<String>,
    /// Whether it starts work on the task.
    pub takes: bool,
}

/// For example `analyst@claude-code-77`; just the session if no role applies.
pub fn program_name(ws: &Workspace, session: &str, acts: &ProgramAction) -> Result<String, Failure> {
    // The verb reports an unknown task with a better message.
    let task = acts.task.as_deref().and_then(|typed| ws.find(typed).ok());
    let claim = task.as_ref().map(|id| Ok::<_, Failure>(ws.claims()?.remove(id))).transpose()?.flatten();
    // With a different name, the program would be refused because of its own claim.
    if let Some(claim) = claim.filter(|claim| claim.live && is_of_session(&claim.worker, session)) {
        return Ok(claim.worker.to_string());
    }
    let flow = ws.flow();
    let role = match (&acts.command, &acts.role, &task) {
        (Some(command), ..) => {
            let command = flow.command(command)?;
            flow.roles().iter().find(|role| command.is_for(&role.name, ws.rules().mode)).map(|role| role.name.clone())
        }
        (None, Some(role), _) => flow.role(role).map(|role| role.name.clone()),
        (None, None, Some(id)) if acts.takes => role_by_state(ws, id)?,
        (None, None, _) => None,
    };
    Ok(role.map_or_else(|| session.to_owned(), |role| format!("{role}@{session}")))
}

/// Releases the tasks of a session that has ended.
pub fn release_session(ws: &Workspace, holds: &HeldLocks, session: &str) -> Result<(), Failure> {
    holds.settle(ws, session)?;
    for id in &holds.held() {
        let lock = ws.lock()?;
        let board = ws.family(id)?;
        if let Some(claim) = board.claim(id).filter(|claim| is_mine(claim, session)) {
            give_up(ws, &lock, &board, id, &claim.worker, "release")?;
        }
        holds.let_go(id);
    }
    Ok(())
}

/// The role that the state of a task calls for; a task whose holder is gone counts as released.
fn role_by_state(ws: &Workspace, id: &TaskId) -> Result<Option<String>, Failure> {
    let board = as_reaped(ws, ws.family(id)?);
    let Some(at) = board.index_of(id) else { return Ok(None) };
    let has_children = !Links::new(&board).children(at).is_empty();
    let takes =
        |role: &&crate::workflow::Role| command_for(&board.tasks()[at], has_children, &role.name, ws.rules()).is_some();
    Ok(ws.flow().roles().iter().find(takes).map(|role| role.name.clone()))
}

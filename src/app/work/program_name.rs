//! Under which name a program acts that nobody named: that of the role whose work it does, so that it is held to the rules of
//! that role. A person has none, and may do more.

use crate::app::work::claim::give_up;
use crate::app::work::next::as_reaped;
use crate::app::workspace::session::{HeldLocks, is_mine, is_of_session};
use crate::app::{Failure, Workspace};
use crate::board::{Links, command_for};
use crate::task::TaskId;

/// What it is about to do, as it says so.
#[derive(Debug, Clone, Default)]
pub struct ProgramAction {
    pub command: Option<String>,
    pub role: Option<String>,
    pub task: Option<String>,
    /// It takes the task up, for whatever is to be done.
    pub takes: bool,
}

/// `analyst@claude-code-77`; the bare name of the session where no role is meant.
pub fn program_name(ws: &Workspace, session: &str, acts: &ProgramAction) -> Result<String, Failure> {
    // What it names and cannot be found, the verb says better.
    let task = acts.task.as_deref().and_then(|typed| ws.find(typed).ok());
    let claim = task.as_ref().map(|id| Ok::<_, Failure>(ws.claims()?.remove(id))).transpose()?.flatten();
    // Under another name, it would be told that somebody else has what it has itself.
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

/// The session is over: its tasks go back to where the workflow says.
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

/// The role that would take the task as it stands; a lock that nobody holds is none.
fn role_by_state(ws: &Workspace, id: &TaskId) -> Result<Option<String>, Failure> {
    let board = as_reaped(ws, ws.family(id)?);
    let Some(at) = board.index_of(id) else { return Ok(None) };
    let has_children = !Links::new(&board).children(at).is_empty();
    let takes =
        |role: &&crate::workflow::Role| command_for(&board.tasks()[at], has_children, &role.name, ws.rules()).is_some();
    Ok(ws.flow().roles().iter().find(takes).map(|role| role.name.clone()))
}

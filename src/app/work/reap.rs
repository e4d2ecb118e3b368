//! `reap`: releases claims whose holders are gone.

use serde::Serialize;

use crate::app::work::admit::{Commit, apply};
use crate::app::{Failure, FailureKind, Workspace};
use crate::board::{Actor, Board, Change, Goal, Op, Place, Request, Return};
use crate::store::{BoardLock, Line, codec};
use crate::task::{StateName, TaskId, Worker};

#[derive(Debug, Clone, Serialize)]
pub struct Reaped {
    pub task: TaskId,
    pub worker: Option<Worker>,
    pub from: StateName,
    pub to: StateName,
}

pub fn reap(ws: &Workspace) -> Result<Vec<Reaped>, Failure> {
    if let Err(failure) = ws.refresh_claims() {
        ws.notice(format!("{}: claims of other machines were not released", failure.message));
    }
    let lock = ws.lock()?;
    let board = ws.board()?;
    reap_from(ws, &lock, &board, Orphans::All)
}

/// Which tasks to reap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum Orphans {
    /// Tasks with an ended claim, and tasks in a lock state without a claim.
    All,
    Claimed,
}

/// Reaps the tasks whose holders are gone, in one change each.
pub(in crate::app) fn reap_from(
    ws: &Workspace,
    lock: &BoardLock,
    board: &Board,
    which: Orphans,
) -> Result<Vec<Reaped>, Failure> {
    let mut reaped = Vec::new();
    let known = |id: &TaskId| ws.knows_all_claims() || board.claim(id).is_some_and(|claim| !claim.foreign);
    for back in orphans(ws, board)?.into_iter().filter(|back| known(&back.task)) {
        if which == Orphans::Claimed && board.claim(&back.task).is_none() {
            continue;
        }
        ws.drop_claim(&back.task, None)?;
        if !back.changes.is_empty() {
            let actor = Actor { proof: None, ..ws.actor()? };
            ws.commit_as(lock, Op::new("reap", back.changes), &actor)?;
        }
        reaped.push(Reaped { task: back.task, worker: back.worker, from: back.from, to: back.to });
    }
    if which == Orphans::All {
        adopt_unowned(ws, lock, board)?;
    }
    // Claims on tasks that no longer exist are removed.
    for (id, claim) in board.claims() {
        if !claim.live && board.get(id).is_none() && board.broken_file(id).is_none() {
            ws.drop_claim(id, None)?;
        }
    }
    Ok(reaped)
}

/// Tasks whose holder is gone. Without shared claims, a lock state that came through git from another machine is left
/// alone: its worker may still be active, which only a person can tell.
pub(in crate::app) fn orphans(ws: &Workspace, board: &Board) -> Result<Vec<Return>, Failure> {
    let mut found = board.orphans(ws.rules());
    if ws.claims_remote().is_some() || found.iter().all(|back| board.claim(&back.task).is_some()) {
        return Ok(found);
    }
    let journal = ws.store.journal()?.0;
    let taken = |back: &Return| {
        let moved = |line: &&Line| line.changes.iter().any(|change| change.is_state_of(&back.task));
        journal.iter().rev().find(moved).map(|line| line.id.clone())
    };
    let mut own = Vec::new();
    for back in found.drain(..) {
        let here = match taken(&back).filter(|_| board.claim(&back.task).is_none()) {
            Some(line) => ws.store.was_moved_here(&line)?,
            None => true,
        };
        own.extend(here.then_some(back));
    }
    Ok(own)
}

/// Adopts tasks that are in a lock state without an owner, after an edit by hand or a pull: whoever changed the state
/// becomes the owner.
fn adopt_unowned(ws: &Workspace, lock: &BoardLock, board: &Board) -> Result<(), Failure> {
    let unowned = board.unowned_locks(ws.rules());
    if unowned.is_empty() || !ws.knows_all_claims() {
        return Ok(());
    }
    let journal = ws.store.journal()?.0;
    for task in unowned.into_iter().filter_map(|id| board.get(id)) {
        let Some(editor) = editor(ws, &task.id) else { continue };
        let from = journaled_state(ws, &journal, &task.id).unwrap_or_else(|| ws.flow().initial(task.kind).clone());
        let actor = Actor::outside(editor);
        let request = Request::new(&task.id, Goal::State(task.state.clone()));
        let mut admission = board.with_state(&task.id, &from).admit(ws.rules(), &actor, &request)?;
        admission.changes.retain(|change| !change.is_state_of(&task.id));
        let commit = Commit::new("hand-edit", &actor);
        match apply(ws, lock, board, &task.id, &admission, &commit) {
            // The file changed in the meantime; the next reap looks at it again.
            Err(failure) if failure.kind == FailureKind::Raced => {}
            done => drop(done?),
        }
    }
    Ok(())
}

/// The state that the journal last recorded for a task, by a move or with the whole file.
fn journaled_state(ws: &Workspace, journal: &[Line], id: &TaskId) -> Option<StateName> {
    let of = |change: &Change| match change {
        Change::Set { new: Some(new), .. } if change.is_state_of(id) => Some(StateName::new(new.to_string())),
        Change::File { task, file: Place::Task, new: Some(text), .. } if task == id => {
            codec::read(id, "", text, ws.flow()).ok().map(|read| read.task.state)
        }
        _ => None,
    };
    journal.iter().rev().find_map(|line| line.changes.iter().rev().find_map(of))
}

/// The worker that last changed a task's file: the author of its last commit, or the user of this machine if the change
/// is not committed.
fn editor(ws: &Workspace, id: &TaskId) -> Option<Worker> {
    let path = ws.store.path(id, &Place::Task);
    let author = ws.repository.last_author(&ws.store.shown(&path)).ok().flatten();
    let text = ws.store.text_of(&path).ok().flatten();
    let committed =
        author.filter(|(_, content)| text.as_ref().is_some_and(|text| text.as_bytes() == content.as_slice()));
    let name = committed.map(|(name, _)| name).or_else(|| ws.repository.user_name());
    name.and_then(|name| Worker::new(name).ok())
}

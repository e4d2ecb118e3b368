//! `move`, `done`, `cancel`, `escalate`: a task to another state, as the workflow allows.

use serde::Serialize;

use crate::app::repo::worktree::{main_branch, place};
use crate::app::work::admit::{Commit, Gathered, admit, apply, decide_with, gather};
use crate::app::work::claim::{Lease, drawn};
use crate::app::workspace::open::missing;
use crate::app::workspace::remote_claims::{Reach, publish};
use crate::app::{Code, Expected, Failure, Hint, Workspace};
use crate::board::{Actor, Admission, Assignment, Board, Change, ClaimEffect, Goal, Links, Request, joined};
use crate::store::{BoardLock, new_note};
use crate::task::{Kind, StateName, TaskId, Worker};
use crate::workflow::Intent;

#[derive(Debug, Serialize)]
pub struct Moved {
    pub task: TaskId,
    pub from: StateName,
    pub to: StateName,
    pub command: Option<String>,
    /// Parents and members of its group that moved along.
    pub along: Vec<Along>,
    /// Somebody else's claim or an open blocker was overridden.
    pub forced: bool,
    /// Who had claimed it, and does not any more.
    pub taken_from: Option<Worker>,
    /// It waits for a person, where the workflow has no state for that.
    pub flagged: bool,
    /// What a person's move skips, where the workflow does not have it.
    pub outside: Option<String>,
    /// Tasks that waited for it, and wait for nothing any more.
    pub unblocked: Vec<TaskId>,
    pub changed: bool,
}

#[derive(Debug, Serialize)]
pub struct Along {
    pub task: TaskId,
    pub to: StateName,
}

/// `typed` is a state in any spelling, or an intent such as `__COMPLETE__`.
pub fn move_task(
    ws: &Workspace,
    id: &TaskId,
    typed: &str,
    command: Option<&str>,
    force: bool,
) -> Result<Moved, Failure> {
    move_with(ws, &MoveAsk { id, typed, command, force, fields: &[], note: None, seen: &Expected::default() })
}

/// A move as it was typed, with what is set and said in the same verb.
pub(in crate::app) struct MoveAsk<'a> {
    pub id: &'a TaskId,
    pub typed: &'a str,
    pub command: Option<&'a str>,
    pub force: bool,
    pub fields: &'a [Assignment],
    pub note: Option<&'a str>,
    pub seen: &'a Expected,
}

impl MoveAsk<'_> {
    fn request(&self, ws: &Workspace, board: &Board) -> Result<Request<'_>, Failure> {
        let goal = goal(ws, board, self.id, self.typed)?;
        Ok(Request { command: self.command, force: self.force, ..Request::new(self.id, goal) })
    }

    /// The board on which it is judged, with its fields set, and what setting them changes.
    fn board(&self, ws: &Workspace) -> Result<(Board, Vec<Change>), Failure> {
        let board = ws.family(self.id)?;
        let fields = match board.get(self.id) {
            Some(_) if !self.fields.is_empty() => crate::app::edit::set::changes(ws, self.id, self.fields)?,
            _ => Vec::new(),
        };
        self.seen.refuse_changed(ws, self.id)?;
        Ok((if fields.is_empty() { board } else { board.with(&fields) }, fields))
    }
}

pub(in crate::app) fn move_with(ws: &Workspace, asked: &MoveAsk<'_>) -> Result<Moved, Failure> {
    ws.look_for_claims();
    let actor = ws.actor()?;
    ws.rules().refuse_fields(&actor, asked.fields)?;
    let mut gathered = Gathered::default();
    if actor.is_held(ws.rules()) {
        let (board, _) = asked.board(ws)?;
        gathered = gather(ws, &board, &actor, &asked.request(ws, &board)?);
    }
    let decided = |board: &Board| decide_with(ws, board, &actor, &asked.request(ws, board)?, &gathered);
    // Where machines agree through a remote, it hears of a lock before it is taken.
    let published = match ws.claims_remote() {
        Some(_) if decided(&asked.board(ws)?.0)?.takes() => {
            let draft = |board: &Board| {
                let command = decided(board)?.command;
                Ok((asked.id.clone(), drawn(ws, board, asked.id, &actor.worker, command, Lease::Timed)))
            };
            publish(ws, Reach::Remote, draft, || Ok(asked.board(ws)?.0))?.map(|(_, published)| published)
        }
        _ => None,
    };
    let lock = ws.lock()?;
    let (board, fields) = asked.board(ws)?;
    let mut admission = decided(&board)?;
    if !asked.force {
        refuse_unmerged(ws, &board, &actor, asked.id, &admission)?;
    }
    admission.changes = joined(fields, admission.changes);
    if let Some(text) = asked.note {
        admission.changes.push(new_note(asked.id, &actor.worker, ws.now(), &mut ws.rng(), text));
    }
    carry_out_with(
        ws,
        &lock,
        &board,
        asked.id,
        admission,
        &Commit { published: published.as_ref(), ..Commit::new("move", &actor) },
    )
}

/// A person who closes a task may not know that its branch was never merged.
fn refuse_unmerged(
    ws: &Workspace,
    board: &Board,
    actor: &Actor,
    id: &TaskId,
    admission: &Admission,
) -> Result<(), Failure> {
    let closes = admission.from != admission.to && Some(&admission.to) == ws.flow().closing();
    let step = board.get(id).is_none_or(|task| task.kind == Kind::Step);
    if !closes || step || actor.is_held(ws.rules()) {
        return Ok(());
    }
    let (branch, main) = (place(ws, board, id)?.branch, main_branch(ws));
    if !ws.repository.has_branch(&branch) || !ws.repository.has_branch(&main) {
        return Ok(());
    }
    match ws.repository.distance(&branch, &main)?.ahead {
        0 => Ok(()),
        ahead => {
            let commits = if ahead == 1 { "1 commit".to_owned() } else { format!("{ahead} commits") };
            Err(Failure::refused(Code::Unmerged, format!("{branch} has {commits} that {main} does not have"))
                .hint(Hint::run(&format!("merge {id}"), "to merge and close it"))
                .hint(Hint::Force))
        }
    }
}

/// Who waited for a task that is over now, and for nothing else.
fn unblocked(ws: &Workspace, board: &Board, id: &TaskId, admission: &Admission) -> Vec<TaskId> {
    let kind = board.get(id).map_or(Kind::Issue, |task| task.kind);
    let over = |state: &StateName| ws.flow().is_terminal(kind, state);
    if !over(&admission.to) || over(&admission.from) {
        return Vec::new();
    }
    let after = board.clone().with(&admission.changes);
    let links = Links::new(board);
    let dependents = board.index_of(id).map(|at| links.ids(links.dependents(at))).unwrap_or_default();
    let is_free = |id: &TaskId| {
        after.index_of(id).is_some_and(|at| {
            let task = &after.tasks()[at];
            !ws.flow().is_terminal(task.kind, &task.state) && after.open_blockers(at, ws.rules()).is_empty()
        })
    };
    dependents.into_iter().filter(is_free).collect()
}

/// A state in any spelling, or an intent.
pub(in crate::app) fn goal(ws: &Workspace, board: &Board, id: &TaskId, typed: &str) -> Result<Goal, Failure> {
    let kind = board.get(id).map(|task| task.kind).ok_or_else(|| missing(ws, board, id))?;
    match Intent::parse(typed) {
        Some(intent) => Ok(Goal::Intent(intent)),
        None if typed.starts_with("__") => Err(no_intent(typed)),
        None => Ok(Goal::State(ws.flow().find_state(kind, typed)?.name.clone())),
    }
}

fn no_intent(typed: &str) -> Failure {
    let all = "__LOCK__, __COMPLETE__, __ESCALATE__, __CLOSE__, __CANCEL__";
    Failure::usage(Code::NoIntent, format!("{typed:?} is not an intent: use {all}"))
}

/// A move with the reason for it as a note, in one verb.
pub(in crate::app) fn move_with_note(
    ws: &Workspace,
    lock: &BoardLock,
    board: &Board,
    request: &Request<'_>,
    verb: &str,
    why: &str,
) -> Result<Moved, Failure> {
    let mut admission = admit(ws, board, &ws.actor()?, request)?;
    admission.changes.push(new_note(request.task, &ws.me()?, ws.now(), &mut ws.rng(), why));
    carry_out(ws, lock, board, request.task, verb, admission)
}

/// Commits what was admitted, and tells it as a move.
pub(in crate::app) fn carry_out(
    ws: &Workspace,
    lock: &BoardLock,
    board: &Board,
    id: &TaskId,
    verb: &str,
    admission: Admission,
) -> Result<Moved, Failure> {
    carry_out_with(ws, lock, board, id, admission, &Commit::new(verb, &ws.actor()?))
}

fn carry_out_with(
    ws: &Workspace,
    lock: &BoardLock,
    board: &Board,
    id: &TaskId,
    admission: Admission,
    commit: &Commit<'_>,
) -> Result<Moved, Failure> {
    let verb = match (&admission.departure, admission.forced) {
        (Some(departure), true) => format!("{} --force (outside the workflow: {departure})", commit.verb),
        (None, true) => format!("{} --force", commit.verb),
        (Some(departure), false) => format!("{} (outside the workflow: {departure})", commit.verb),
        (None, false) => commit.verb.to_owned(),
    };
    apply(ws, lock, board, id, &admission, &Commit { verb: &verb, ..*commit })?;
    let taken = admission.claim == ClaimEffect::Taken;
    let unblocked = unblocked(ws, board, id, &admission);
    let holder = board.index_of(id).and_then(|at| board.binding_claim(at)).map(|(_, claim)| claim.worker.clone());
    let taken_from = holder.filter(|holder| admission.forced && *holder != commit.actor.worker);
    let flagged = admission.changes.iter().any(|change| change.sets(id, "attention"));
    let Admission { from, to, command, changes, forced, departure, along, .. } = admission;
    let along = along.into_iter().map(|(task, to)| Along { task, to }).collect();
    let outside = departure.map(|departure| departure.to_string());
    Ok(Moved {
        task: id.clone(),
        from,
        to,
        command,
        along,
        forced,
        taken_from,
        flagged,
        outside,
        unblocked,
        changed: taken || !changes.is_empty(),
    })
}

//! `move`, `done`, `cancel`, `escalate`: a task to another state, as the judge allows.

use serde::Serialize;

use super::claim::{Kind, drawn};
use super::proof::refuse_unproven;
use super::remote_claims::{Published, Reach, publish};
use super::{Code, Failure, Hint, Seen, Workspace};
use crate::board::{Actor, Assignment, Board, Change, Move, Op, Target, Verdict, joined};
use crate::store::{BoardLock, new_note};
use crate::task::{Key, StateName, Task, TaskId, Value};
use crate::workflow::Intent;

#[derive(Debug, Serialize)]
pub struct Moved {
    pub task: TaskId,
    pub from: StateName,
    pub to: StateName,
    pub command: Option<String>,
    /// Parents and members of its group that moved along.
    pub along: Vec<Along>,
    /// Against the table, because a person insisted.
    pub forced: bool,
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
    move_with(ws, &Asked { id, typed, command, force, fields: &[], note: None, seen: &Seen::default() })
}

/// A move as it was typed, with what is set and said in the same verb.
pub(super) struct Asked<'a> {
    pub id: &'a TaskId,
    pub typed: &'a str,
    pub command: Option<&'a str>,
    pub force: bool,
    pub fields: &'a [Assignment],
    pub note: Option<&'a str>,
    pub seen: &'a Seen,
}

impl Asked<'_> {
    /// The board on which it is judged, with its fields set, and what setting them changes.
    fn board(&self, ws: &Workspace) -> Result<(Board, Vec<Change>), Failure> {
        let board = ws.family(self.id)?;
        let fields = match board.get(self.id) {
            Some(_) if !self.fields.is_empty() => super::set::changes(ws, self.id, self.fields)?,
            _ => Vec::new(),
        };
        self.seen.refuse_changed(ws, self.id)?;
        Ok((if fields.is_empty() { board } else { board.with(&fields) }, fields))
    }
}

pub(super) fn move_with(ws: &Workspace, asked: &Asked<'_>) -> Result<Moved, Failure> {
    let &Asked { id, typed, command, force, .. } = asked;
    ws.look_for_claims();
    let actor = ws.actor()?;
    if command.is_none() && ws.is_program() && ws.rules().role_of(&actor.worker).is_none() {
        return Err(Failure::usage(Code::NeedsCommand, "only a person moves a task without a command")
            .hint(Hint::SayCommand { choices: Vec::new() }));
    }
    let judge = |board: &Board| {
        let verdict = judged(ws, board, &actor, id, typed, command, force)?;
        let is_lock = |task: &Task| ws.flow().state(task.kind, &verdict.to).is_some_and(|state| state.lock);
        let enters = verdict.from != verdict.to && board.get(id).is_some_and(is_lock);
        // A review that lets work begin leaves the lock to whoever takes it up; who goes there to work takes it.
        let takes = enters && (!verdict.hands_off || verdict.command.is_none());
        Ok::<_, Failure>((verdict, takes))
    };
    // Where machines agree through a remote, it hears of a lock before it is taken.
    let published = match ws.claims_remote() {
        Some(_) if judge(&asked.board(ws)?.0)?.1 => {
            let draft = |board: &Board| {
                let (verdict, _) = judge(board)?;
                refuse_too_many(ws, board, id, &actor)?;
                Ok((id.clone(), drawn(ws, board, id, &actor.worker, verdict.command, Kind::Leased)))
            };
            publish(ws, Reach::Remote, draft, || Ok(asked.board(ws)?.0))?.map(|(_, published)| published)
        }
        _ => None,
    };
    if ws.rules().role_of(&actor.worker).is_some() {
        // Before the lock: to look at a worktree takes its time.
        let (board, _) = asked.board(ws)?;
        refuse_unproven(ws, &board, &actor, id, &judge(&board)?.0)?;
    }
    let lock = ws.lock()?;
    let (board, fields) = asked.board(ws)?;
    let (mut verdict, takes) = judge(&board)?;
    verdict.changes = joined(fields, verdict.changes);
    if let Some(text) = asked.note {
        verdict.changes.push(new_note(id, &actor.worker, ws.now(), &mut ws.rng(), text));
    }
    if takes {
        verdict.hands_off = false;
        return take_lock(ws, &lock, &board, id, &actor, verdict, published);
    }
    carry_out(ws, &lock, &board, id, "move", verdict)
}

/// What the judge says of a move, as it was typed.
pub(super) fn judged(
    ws: &Workspace,
    board: &Board,
    actor: &Actor,
    id: &TaskId,
    typed: &str,
    command: Option<&str>,
    force: bool,
) -> Result<Verdict, Failure> {
    let kind = board.get(id).map(|task| task.kind).ok_or_else(|| missing(ws, board, id))?;
    let to = match Intent::parse(typed) {
        Some(intent) => Target::Intent(intent),
        None if typed.starts_with("__") => return Err(no_intent(typed)),
        None => Target::State(ws.flow().find_state(kind, typed)?.name.clone()),
    };
    Ok(board.judge(ws.rules(), actor, &Move { task: id, to, command, force })?)
}

/// A move into a lock is a claim: limits hold for it, and its mover has the task.
fn take_lock(
    ws: &Workspace,
    lock: &BoardLock,
    board: &Board,
    id: &TaskId,
    actor: &Actor,
    mut verdict: Verdict,
    published: Option<Published>,
) -> Result<Moved, Failure> {
    let task = board.get(id).ok_or_else(|| missing(ws, board, id))?;
    refuse_too_many(ws, board, id, actor)?;
    let (old, new) = (task.value(&Key::new("owner")), Some(Value::text(&actor.worker)));
    verdict.changes = joined(verdict.changes, vec![Change::set(id, "owner", old, new)]);
    let command = verdict.command.clone();
    let mut claim = drawn(ws, board, id, &actor.worker, command, Kind::Leased);
    ws.take_in_hand(id, &mut claim)?;
    let moved = carry_out(ws, lock, board, id, "move", verdict)?;
    if let Some(published) = &published {
        published.mark(&mut claim);
    }
    ws.store.write_claim(id, &claim)?;
    if let Some(published) = &published {
        published.settle(ws, id)?;
    }
    Ok(moved)
}

/// Limits hold for whoever takes one more, not for whoever has it already.
fn refuse_too_many(ws: &Workspace, board: &Board, id: &TaskId, actor: &Actor) -> Result<(), Failure> {
    if board.claim(id).is_some_and(|claim| claim.live && claim.is_of(&actor.worker)) {
        return Ok(());
    }
    Ok(board.refuse_too_many(ws.rules(), &actor.worker)?)
}

fn no_intent(typed: &str) -> Failure {
    let all = "__LOCK__, __COMPLETE__, __ESCALATE__, __CLOSE__, __CANCEL__";
    Failure::usage(Code::NoIntent, format!("{typed:?} is not an intent: use {all}"))
}

/// A task that is not there, or whose file cannot be read.
pub(super) fn missing(ws: &Workspace, board: &Board, id: &TaskId) -> Failure {
    match board.broken_file(id) {
        Some(problem) => problem.clone().into(),
        None => ws.store.absent(id).into(),
    }
}

/// A move with the reason for it as a note, in one verb.
pub(super) fn move_with_note(
    ws: &Workspace,
    lock: &BoardLock,
    board: &Board,
    asked: &Move<'_>,
    verb: &str,
    why: &str,
) -> Result<Moved, Failure> {
    let mut verdict = board.judge(ws.rules(), &ws.actor()?, asked)?;
    verdict.changes.push(new_note(asked.task, &ws.me()?, ws.now(), &mut ws.rng(), why));
    carry_out(ws, lock, board, asked.task, verb, verdict)
}

/// The claim goes last: a verb that dies in between leaves one on a task that has moved on, where its holder, whose verb it
/// was, is the only one to be hindered.
pub(super) fn carry_out(
    ws: &Workspace,
    lock: &BoardLock,
    board: &Board,
    id: &TaskId,
    verb: &str,
    verdict: Verdict,
) -> Result<Moved, Failure> {
    let Verdict { from, to, command, changes, hands_off, forced, along } = verdict;
    let changed = !changes.is_empty();
    let verb = if forced { format!("{verb} --force") } else { verb.to_owned() };
    if changed {
        ws.commit(lock, Op::new(verb, changes))?;
    }
    if hands_off && board.claim(id).is_some() {
        ws.drop_claim(id)?;
    }
    let along = along.into_iter().map(|(task, to)| Along { task, to }).collect();
    Ok(Moved { task: id.clone(), from, to, command, along, forced, changed })
}

//! `next`: chooses the best task for a role, and claims it if asked.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;

use jiff::SignedDuration;
use serde::Serialize;

use crate::app::work::claim::{Lease, drafted, grant};
use crate::app::work::reap::{Orphans, Reaped, orphans, reap_from};
use crate::app::work::served;
use crate::app::work::wait::{until, until_in_line};
use crate::app::workspace::remote::{Reach, publish};
use crate::app::{Claimed, Code, Failure, FailureKind, Hint, Stop, Workspace};
use crate::board::{Board, Choice, Request, left_by};
use crate::fs;
use crate::task::{StateName, TaskId};

/// The parameters of `next`.
#[derive(Debug, Clone, Default)]
pub struct NextAsk {
    /// Defaults to the worker's own role.
    pub role: Option<String>,
    pub claim: bool,
    pub reach: Reach,
}

#[derive(Debug, Serialize)]
pub struct Chosen {
    pub task: TaskId,
    pub title: String,
    pub state: StateName,
    pub command: Option<String>,
    pub role: Option<String>,
    /// The worker already holds the task and should continue.
    pub resume: bool,
    pub claim: Option<Claimed>,
    /// Tasks that were released because their workers are gone.
    pub reaped: Vec<Reaped>,
}

pub fn next(ws: &Workspace, asked: &NextAsk) -> Result<Chosen, Failure> {
    let role = role(ws, asked)?;
    if asked.claim { claim_next(ws, role.as_deref(), asked.reach) } else { look(ws, role.as_deref()) }
}

/// `None` for a person, and on a board without roles: all tasks count then.
fn role(ws: &Workspace, asked: &NextAsk) -> Result<Option<String>, Failure> {
    let roles = ws.flow().roles();
    let names = || roles.iter().map(|role| role.name.as_str()).collect::<Vec<_>>().join(", ");
    if let Some(name) = &asked.role {
        let unknown = || match roles.is_empty() {
            true => Failure::usage(Code::UnknownRole, format!("{name:?} is not a role: this board has none"))
                .hint(Hint::omit("--role", "on this board")),
            false => Failure::usage(Code::UnknownRole, format!("{name:?} is not a role: use {}", names())),
        };
        return Ok(Some(ws.flow().role(name).ok_or_else(unknown)?.name.clone()));
    }
    if roles.is_empty() {
        return Ok(None);
    }
    let actor = ws.actor()?;
    let me = &actor.worker;
    match ws.flow().role_of(me) {
        Some(role) => Ok(Some(role.name.clone())),
        None if actor.is_held(ws.rules()) => Err(Failure::usage(Code::NoRole, format!("{me} has no role"))
            .hint(Hint::SayRole { roles: roles.iter().map(|role| role.name.clone()).collect() })),
        None => Ok(None),
    }
}

/// Changes nothing. Tasks whose holder is gone are treated as already released.
fn look(ws: &Workspace, role: Option<&str>) -> Result<Chosen, Failure> {
    let board = as_reaped(ws, ws.board()?);
    let worker = ws.me().ok();
    let choice = board.choose(role, worker.as_ref(), ws.rules()).ok_or_else(|| nothing(ws, &board, role))?;
    Ok(chosen(&board, choice, role, None, Vec::new()))
}

pub(in crate::app) fn as_reaped(ws: &Workspace, board: Board) -> Board {
    let orphans = orphans(ws, &board).unwrap_or_default();
    if orphans.is_empty() { board } else { board.with_returned(&orphans) }
}

/// Chooses and claims under one lock, so that two workers never get the same task.
fn claim_next(ws: &Workspace, role: Option<&str>, reach: Reach) -> Result<Chosen, Failure> {
    let me = ws.me()?;
    if let (Some(own), Some(role)) = (ws.rules().role_of(&me), role)
        && own != role
    {
        return Err(Failure::usage(Code::NotYourRole, format!("{me} has the role {own}, not {role}")));
    }
    let choose = |board: &Board| board.choose(role, Some(&me), ws.rules()).ok_or_else(|| nothing(ws, board, role));
    // If claims are shared through a remote, publish the claim first.
    let draft = |board: &Board| {
        let choice = choose(board)?;
        drafted(ws, board, &Request::claim(&choice.task, choice.command.as_deref()))
    };
    let published = publish(ws, reach, draft, || Ok(as_reaped(ws, ws.board()?)))?;
    let lock = ws.lock()?;
    let board = ws.board()?;
    let reaped = reap_from(ws, &lock, &board, Orphans::All)?;
    let board = if reaped.is_empty() { board } else { as_reaped(ws, board) };
    let choice = choose(&board)?;
    let published = match published {
        Some((id, published)) if id == choice.task => Some(published),
        // A better task has appeared since. The claim was published for another one, so choose again.
        Some(_) => {
            return Err(Failure::new(FailureKind::Raced, Code::Raced, "the board changed just now").hint(Hint::Retry));
        }
        None => None,
    };
    let asked = Request::claim(&choice.task, choice.command.as_deref());
    let claimed = grant(ws, &lock, &board, &asked, Lease::Timed, published.as_ref())?;
    if ws.actor()?.is_held(ws.rules()) && served::is_once_too_often(ws, &claimed)? {
        served::call_a_person(ws, &lock, &claimed)?;
        drop(lock);
        return claim_next(ws, role, reach);
    }
    let state = claimed.state.clone();
    Ok(Chosen { state, ..chosen(&board, choice, role, Some(claimed), reaped) })
}

fn chosen(board: &Board, choice: Choice, role: Option<&str>, claim: Option<Claimed>, reaped: Vec<Reaped>) -> Chosen {
    let task = board.get(&choice.task).expect("a choice is made from the board");
    let (title, state) = (task.title.clone(), task.state.clone());
    Chosen {
        title,
        state,
        command: choice.command,
        role: role.map(str::to_owned),
        resume: choice.resume,
        claim,
        reaped,
        task: choice.task,
    }
}

fn nothing(ws: &Workspace, board: &Board, role: Option<&str>) -> Failure {
    let whom = role.map(|role| format!(" for {role}")).unwrap_or_default();
    let failure = Failure::new(FailureKind::Nothing, Code::NothingReady, format!("no work{whom}"));
    let failure = failure.hint(Hint::Ready);
    let overlapping = (0..board.tasks().len()).find(|&at| board.overlap_at(at, ws.rules()).is_some());
    let failure = match overlapping {
        Some(at) => failure.hint(Hint::Why { task: board.tasks()[at].id.clone() }),
        None => failure,
    };
    let (rules, role) = (ws.rules(), role.unwrap_or_default());
    let left = board.tasks().iter().filter_map(|task| left_by(task, rules));
    let mine: Vec<_> = left.filter(|(command, _)| command.is_for(role, rules.mode)).collect();
    match mine.first() {
        Some((command, label)) => failure.hint(Hint::step(format!(
            "{} left tasks to a person ({} with the label {label})",
            command.name,
            mine.len()
        ))),
        None => failure,
    }
}

/// Waits until there is work, or until the limits allow this worker a claim; returns after `limit`, or when `stop` is
/// set. Watches the board instead of polling.
pub fn next_or_wait(ws: &Workspace, asked: &NextAsk, limit: SignedDuration, stop: &Stop) -> Result<Chosen, Failure> {
    let ask = || match next(ws, asked) {
        Err(failure) if is_passing(failure.code) => Err(Some(failure)),
        other => Ok(other),
    };
    match asked.claim {
        true => until_in_line(ws, &line(ws, role(ws, asked)?.as_deref())?, limit, stop, ask)?,
        false => until(ws, limit, stop, ask)?,
    }
}

/// Whether the failure may be gone soon.
fn is_passing(code: Code) -> bool {
    matches!(code, Code::NothingReady | Code::RoleFull | Code::ScopeHeld | Code::Raced | Code::Busy)
}

/// The lock file for workers that wait for the same tasks: one file per role and rules.
fn line(ws: &Workspace, role: Option<&str>) -> Result<PathBuf, Failure> {
    let mut hasher = DefaultHasher::new();
    format!("{role:?} {:?}", ws.rules()).hash(&mut hasher);
    let folder = ws.store.local().join("waiting");
    fs::make_dir(&folder)?;
    Ok(folder.join(format!("{:016x}", hasher.finish())))
}

//! `claim`, `renew`, `release`: a task in one pair of hands.

use jiff::Timestamp;
use serde::Serialize;

use crate::app::work::admit::{Commit, admit, apply};
use crate::app::workspace::remote::{Published, Reach, publish};
use crate::app::{Failure, Hint, Workspace};
use crate::board::{Actor, Admission, Board, Claim, ClaimEffect, Op, Refusal, Request, Scope};
use crate::store::BoardLock;
use crate::task::{StateName, TaskId, Worker};

#[derive(Debug, Clone, Serialize)]
pub struct Claimed {
    pub task: TaskId,
    pub title: String,
    pub worker: Worker,
    pub command: Option<String>,
    pub state: StateName,
    pub until: Timestamp,
    /// What to put into RALPH_CLAIM, so that a lost claim is noticed.
    pub claim: String,
    /// Other machines know of it, too.
    pub remote: bool,
    pub renewed: bool,
    /// The files that no other claim covers meanwhile; empty where its plan names none.
    #[serde(skip_serializing_if = "Scope::is_empty")]
    pub paths: Scope,
    /// Whose claim was taken over.
    pub taken_from: Option<Worker>,
}

#[derive(Debug, Serialize)]
pub struct Released {
    pub task: TaskId,
    pub from: StateName,
    pub to: StateName,
    pub worker: Worker,
}

pub fn claim(
    ws: &Workspace,
    id: &TaskId,
    command: Option<&str>,
    force: bool,
    reach: Reach,
) -> Result<Claimed, Failure> {
    let request = Request { force, ..Request::claim(id, command) };
    let published = publish_for(ws, &request, reach)?;
    let lock = ws.lock()?;
    let board = ws.family_by_hand(id)?;
    grant(ws, &lock, &board, &request, Lease::Timed, published.as_ref())
}

/// The claim of one task on the remote, if there is one to agree through.
pub(in crate::app) fn publish_for(
    ws: &Workspace,
    request: &Request<'_>,
    reach: Reach,
) -> Result<Option<Published>, Failure> {
    let draft = |board: &Board| drafted(ws, board, request);
    let published = publish(ws, reach, draft, || ws.family(request.task))?;
    Ok(published.map(|(_, published)| published))
}

/// The claim as it would be granted on this board, for publishing.
pub(in crate::app) fn drafted(
    ws: &Workspace,
    board: &Board,
    request: &Request<'_>,
) -> Result<(TaskId, Claim), Failure> {
    let actor = ws.actor()?;
    let admission = admit(ws, board, &actor, request)?;
    let lease = Lease::Timed;
    Ok((request.task.clone(), drawn(ws, board, request.task, &actor.worker, &admission, lease)))
}

/// How a claim lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum Lease {
    /// Until its time is over.
    Timed,
    /// As long as a process holds its lock.
    Held,
}

/// A claim that begins now, or goes on where the worker has it already.
pub(in crate::app) fn drawn(
    ws: &Workspace,
    board: &Board,
    id: &TaskId,
    worker: &Worker,
    admission: &Admission,
    lease: Lease,
) -> Claim {
    let before = board.claim(id).filter(|claim| claim.live && claim.is_of(worker));
    let now = ws.now();
    Claim {
        worker: worker.clone(),
        host: host(),
        since: before.map_or(now, |claim| claim.since),
        until: now.checked_add(ws.lease()).unwrap_or(now),
        held: lease == Lease::Held || before.is_some_and(|claim| claim.held),
        token: before.map_or_else(|| token(ws), |claim| claim.token.clone()),
        command: admission.command.clone(),
        paths: admission.paths.clone(),
        session: host_session().or_else(|| before.and_then(|claim| claim.session.clone())),
        remote: before.and_then(|claim| claim.remote.clone()),
        renewing: before.and_then(|claim| claim.renewing.clone()),
        published: before.and_then(|claim| claim.published),
        leased: before.and_then(|claim| claim.leased),
        live: true,
        foreign: false,
    }
}

/// The session of the agent host that runs this process, as the host itself says. Only Claude Code tells its shells and MCP
/// servers the id that it tells its hooks.
fn host_session() -> Option<String> {
    std::env::var("CLAUDE_CODE_SESSION_ID").ok().filter(|session| !session.is_empty())
}

/// Gives the claim under the lock that the caller holds. What was published and is then refused is taken back at the end of
/// the command.
pub(in crate::app) fn grant(
    ws: &Workspace,
    lock: &BoardLock,
    board: &Board,
    request: &Request<'_>,
    lease: Lease,
    published: Option<&Published>,
) -> Result<Claimed, Failure> {
    let (id, actor) = (request.task, ws.actor()?);
    let admission = admit(ws, board, &actor, request)?;
    let before = board.claim(id).filter(|claim| claim.live);
    let verb = if request.force { "claim --force" } else { "claim" };
    let claim = apply(ws, lock, board, id, &admission, &Commit { verb, actor: &actor, lease, published })?;
    let claim = claim.expect("a claim that is admitted is taken");
    let renewed = admission.claim == ClaimEffect::Renewed;
    Ok(Claimed {
        task: id.clone(),
        title: board.get(id).map(|task| task.title.clone()).unwrap_or_default(),
        command: admission.command,
        state: admission.to,
        until: claim.until,
        claim: claim.proof(id),
        remote: claim.remote.is_some(),
        paths: claim.paths,
        worker: claim.worker,
        renewed,
        taken_from: before.filter(|_| !renewed).map(|claim| claim.worker.clone()),
    })
}

fn token(ws: &Workspace) -> String {
    (0..12).map(|_| ws.rng().alphanumeric()).collect()
}

pub(in crate::app) fn host() -> String {
    crate::os::process::host_name()
}

/// One's own claim, for another lease.
pub fn renew(ws: &Workspace, id: &TaskId) -> Result<Claimed, Failure> {
    ws.look_for_claims(id)?;
    let request = Request::claim(id, None);
    let board = ws.family(id)?;
    own(ws, &board, id)?;
    let on_remote = board.claim(id).is_some_and(|claim| claim.remote.is_some());
    let published = publish_for(ws, &request, if on_remote { Reach::Remote } else { Reach::Local })?;
    let lock = ws.lock()?;
    let board = ws.family(id)?;
    own(ws, &board, id)?;
    grant(ws, &lock, &board, &request, Lease::Timed, published.as_ref())
}

/// One's own claim, or with `force` another's: the task goes back to where the workflow says.
pub fn release(ws: &Workspace, id: &TaskId, force: bool) -> Result<Released, Failure> {
    let lock = ws.lock()?;
    let board = ws.family(id)?;
    let claim = board.claim(id).cloned();
    if !ws.rules().insists(&ws.actor()?, force) {
        own(ws, &board, id)?;
    }
    let owner = board.get(id).and_then(|task| task.owner.clone());
    let worker = claim.map(|claim| claim.worker).or(owner).ok_or_else(|| Refusal::Unclaimed { task: id.clone() })?;
    give_up(ws, &lock, &board, id, &worker, if force { "release --force" } else { "release" })
}

/// The claim goes first: a verb that dies in between leaves a lock that nobody holds, which heals by itself.
pub(in crate::app) fn give_up(
    ws: &Workspace,
    lock: &BoardLock,
    board: &Board,
    id: &TaskId,
    worker: &Worker,
    verb: &'static str,
) -> Result<Released, Failure> {
    let back = board
        .give_back(id, Some(worker), ws.rules())
        .ok_or_else(|| crate::app::workspace::open::missing(ws, board, id))?;
    ws.drop_claim(id, None)?;
    if !back.changes.is_empty() {
        let actor = Actor { proof: None, ..ws.actor()? };
        ws.commit_as(lock, Op::new(verb, back.changes), &actor)?;
    }
    Ok(Released { task: id.clone(), from: back.from, to: back.to, worker: worker.clone() })
}

/// Refuses unless the claim is live, this worker's, and the one that it was given.
fn own(ws: &Workspace, board: &Board, id: &TaskId) -> Result<(), Failure> {
    if board.get(id).is_none() {
        return Err(crate::app::workspace::open::missing(ws, board, id));
    }
    let actor = ws.actor()?;
    let claim = board.claim(id).filter(|claim| claim.live);
    let proof = actor.proof_for(id);
    match claim {
        Some(claim) if !claim.is_of(&actor.worker) => {
            let failure = Failure::from(Refusal::held(id, claim));
            Err(if ws.rules().insists(&actor, true) { failure.hint(Hint::Force) } else { failure })
        }
        Some(claim) if proof.is_some_and(|proof| proof != claim.proof(id)) => {
            Err(Refusal::Lost { task: id.clone() }.into())
        }
        Some(_) => Ok(()),
        None if proof.is_some() => Err(Refusal::Lost { task: id.clone() }.into()),
        // Owned without a claim: by hand, or the claim has ended and nobody has noticed yet.
        None if board.get(id).is_some_and(|task| task.owner.as_ref() == Some(&actor.worker)) => Ok(()),
        None => Err(Refusal::Unclaimed { task: id.clone() }.into()),
    }
}

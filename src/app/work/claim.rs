//! `claim`, `renew`, `release`: the exclusive right of one worker to a task.

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
    /// The value for RALPH_CLAIM, which lets a worker notice that it lost the claim.
    pub claim: String,
    /// Whether the claim was published, so that other machines know it.
    pub remote: bool,
    pub renewed: bool,
    /// The files that no other claim may cover; empty if the plan names none.
    #[serde(skip_serializing_if = "Scope::is_empty")]
    pub paths: Scope,
    /// The worker whose claim was taken over.
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

/// Publishes the claim of a task, if claims are shared through a remote.
pub(in crate::app) fn publish_for(
    ws: &Workspace,
    request: &Request<'_>,
    reach: Reach,
) -> Result<Option<Published>, Failure> {
    let draft = |board: &Board| drafted(ws, board, request);
    let published = publish(ws, reach, draft, || ws.family(request.task))?;
    Ok(published.map(|(_, published)| published))
}

/// The claim that this board would grant, for publishing.
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

/// How long a claim lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum Lease {
    /// Until the lease expires.
    Timed,
    /// As long as a process holds the lock file of the claim.
    Held,
}

/// A new claim, or the renewal of a claim that the worker already has.
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

/// The session of the agent host that runs this process. Only Claude Code passes the same session id to its shells and
/// MCP servers as to its hooks.
fn host_session() -> Option<String> {
    std::env::var("CLAUDE_CODE_SESSION_ID").ok().filter(|session| !session.is_empty())
}

/// Grants the claim under the caller's lock. If a published claim is refused here, it is withdrawn from the remote at
/// the end of the command.
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

/// Renews the worker's own claim.
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

/// Releases the worker's own claim, or with `force` another worker's, and moves the task to the state that the workflow
/// names.
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

/// Removes the claim first: if the process dies before the commit, the task is in a lock state without a claim, which
/// `reap` repairs.
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

/// Refuses unless the claim is live, belongs to this worker, and is the one that the worker was given.
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
        // The worker owns the task without a claim: by an edit of the file, or because its claim has expired.
        None if board.get(id).is_some_and(|task| task.owner.as_ref() == Some(&actor.worker)) => Ok(()),
        None => Err(Refusal::Unclaimed { task: id.clone() }.into()),
    }
}

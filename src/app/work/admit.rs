//! From a request to its effect: what a worker has to show is gathered, the board decides, and the effect is committed
//! together with the claim.

use std::collections::BTreeSet;

use crate::agent::host::running_in;
use crate::app::work::claim::{Lease, drawn};
use crate::app::work::proof::show;
use crate::app::workspace::remote_claims::Published;
use crate::app::{Failure, Hint, Workspace};
use crate::board::{Actor, Admission, Board, Claim, ClaimEffect, Evidence, Op, Proof, Refusal, Request};
use crate::store::BoardLock;
use crate::task::TaskId;

/// What a worker has to show, and why some of it does not hold.
#[derive(Default)]
pub(in crate::app) struct Gathered {
    evidence: Evidence,
    failures: Vec<(Proof, Failure)>,
}

/// Looks at the documents and the worktree that this request needs. It takes its time, so it is done before the board's lock
/// is taken.
pub(in crate::app) fn gather(ws: &Workspace, board: &Board, actor: &Actor, request: &Request<'_>) -> Gathered {
    let (mut shown, mut failures) = (BTreeSet::new(), Vec::new());
    for proof in board.proofs(ws.rules(), actor, request) {
        match show(ws, board, request.task, &proof) {
            Ok(()) => drop(shown.insert(proof)),
            Err(failure) => failures.push((proof, failure)),
        }
    }
    Gathered { evidence: Evidence::Shown(shown), failures }
}

/// What the board says, with the reason in full where the evidence does not hold.
pub(in crate::app) fn decide_with(
    ws: &Workspace,
    board: &Board,
    actor: &Actor,
    request: &Request<'_>,
    gathered: &Gathered,
) -> Result<Admission, Failure> {
    let request = Request { evidence: gathered.evidence.clone(), ..request.clone() };
    admitted(ws, board, actor, &request)?.map_err(|refusal| {
        let known =
            gathered.failures.iter().find(|(of, _)| matches!(&refusal, Refusal::Unproven { proof, .. } if proof == of));
        known.map_or_else(|| refused(ws, actor, &request, refusal.clone()), |(_, failure)| failure.clone())
    })
}

/// What the board says to a request that brings its evidence.
pub(in crate::app) fn decide(
    ws: &Workspace,
    board: &Board,
    actor: &Actor,
    request: &Request<'_>,
) -> Result<Admission, Failure> {
    admitted(ws, board, actor, request)?.map_err(|refusal| refused(ws, actor, request, refusal))
}

fn admitted(
    ws: &Workspace,
    board: &Board,
    actor: &Actor,
    request: &Request<'_>,
) -> Result<Result<Admission, Refusal>, Failure> {
    match board.get(request.task) {
        Some(_) => Ok(board.admit(ws.rules(), actor, request)),
        None => Err(crate::app::workspace::open::missing(ws, board, request.task)),
    }
}

fn refused(ws: &Workspace, actor: &Actor, request: &Request<'_>, refusal: Refusal) -> Failure {
    let may_force = ws.rules().insists(actor, true) && !request.force;
    let overridable = matches!(refusal, Refusal::Blocked { .. } | Refusal::Held { .. }) && may_force;
    let failure = told_of_host(ws, actor, refusal);
    if overridable { failure.hint(Hint::Force) } else { failure }
}

/// A person who types in an agent's shell is taken for the agent, and is told so.
fn told_of_host(ws: &Workspace, actor: &Actor, refusal: Refusal) -> Failure {
    let failure = Failure::from(refusal);
    match running_in().filter(|_| actor.is_program() && ws.rules().role_of(&actor.worker).is_none()) {
        Some((host, variable)) => failure.hint(Hint::step(format!(
            "this runs inside {} ({variable} is set), where the workflow applies; people move tasks freely in a terminal of \
             their own",
            host.title
        ))),
        None => failure,
    }
}

/// The same in one go, for a look ahead and for verbs that a worker has nothing to show for.
pub(in crate::app) fn admit(
    ws: &Workspace,
    board: &Board,
    actor: &Actor,
    request: &Request<'_>,
) -> Result<Admission, Failure> {
    decide_with(ws, board, actor, request, &gather(ws, board, actor, request))
}

/// How an admission is written down.
pub(in crate::app) struct Commit<'a> {
    pub verb: &'a str,
    pub actor: &'a Actor,
    /// How a claim that is taken lives.
    pub lease: Lease,
    /// The claim as the remote has it already.
    pub published: Option<&'a Published>,
}

impl<'a> Commit<'a> {
    pub fn new(verb: &'a str, actor: &'a Actor) -> Self {
        Self { verb, actor, lease: Lease::Timed, published: None }
    }
}

/// Commits the effect under the lock that the caller holds, then gives or ends the claim.
///
/// The board changes first. A claim that is to be taken and is not there yet leaves a lock that heals by itself, while a
/// claim without its task would bind a task that nobody works on. A claim that is to end and is still there hinders only its
/// holder, whose verb it was.
pub(in crate::app) fn apply(
    ws: &Workspace,
    lock: &BoardLock,
    board: &Board,
    id: &TaskId,
    admission: &Admission,
    commit: &Commit<'_>,
) -> Result<Option<Claim>, Failure> {
    let Commit { verb, actor, lease, published } = *commit;
    if !admission.takes() {
        write(ws, lock, verb, admission, actor)?;
        if admission.claim == ClaimEffect::Ended && board.claim(id).is_some() {
            ws.drop_claim(id)?;
        }
        return Ok(None);
    }
    let mut claim = drawn(ws, board, id, &actor.worker, admission.command.clone(), lease);
    if let Some(published) = published {
        published.mark(&mut claim);
    }
    ws.take_in_hand(id, &mut claim)?;
    // The old proof, if any, is of the claim that this one replaces.
    write(ws, lock, verb, admission, &Actor { proof: None, ..actor.clone() })?;
    ws.store.write_claim(id, &claim)?;
    if let Some(published) = published {
        published.settle(ws, id)?;
    }
    Ok(Some(claim))
}

fn write(ws: &Workspace, lock: &BoardLock, verb: &str, admission: &Admission, actor: &Actor) -> Result<(), Failure> {
    if !admission.changes.is_empty() {
        ws.commit_as(lock, Op::new(verb, admission.changes.clone()), actor)?;
    }
    Ok(())
}

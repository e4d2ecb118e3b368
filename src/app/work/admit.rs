//! Carries out a request: gathers the worker's evidence, lets the board decide, and commits the effect together with
//! the claim.

use std::collections::BTreeSet;

use crate::agent::host::running_in;
use crate::app::work::claim::{Lease, drawn};
use crate::app::work::proof::show;
use crate::app::work::scope::{beyond_scope, listed, out_of_scope};
use crate::app::workspace::remote::Published;
use crate::app::{Failure, Hint, Workspace};
use crate::board::{
    Actor, Admission, Board, Claim, ClaimEffect, Evidence, Goal, Op, Proof, Refusal, Request, ScopeMode,
};
use crate::store::{BoardLock, new_note};
use crate::task::TaskId;

/// The evidence of a worker, and the problems with it.
#[derive(Default)]
pub(in crate::app) struct Gathered {
    evidence: Evidence,
    failures: Vec<(Proof, Failure)>,
    out_of_scope: Vec<String>,
}

/// Checks the documents and the worktree that this request needs. This is slow, so it happens before the board is
/// locked.
pub(in crate::app) fn gather(ws: &Workspace, board: &Board, actor: &Actor, request: &Request<'_>) -> Gathered {
    let mut gathered = prove(ws, board, actor, request);
    if request.goal != Goal::Claim && board.ends_build(ws.rules(), actor, request) {
        gathered.compare_scope(ws, board, request.task);
    }
    gathered
}

fn prove(ws: &Workspace, board: &Board, actor: &Actor, request: &Request<'_>) -> Gathered {
    let (mut shown, mut failures) = (BTreeSet::new(), Vec::new());
    for proof in board.proofs(ws.rules(), actor, request) {
        match show(ws, board, request.task, &proof) {
            Ok(()) => drop(shown.insert(proof)),
            Err(failure) => failures.push((proof, failure)),
        }
    }
    Gathered { evidence: Evidence::Shown(shown), failures, out_of_scope: Vec::new() }
}

impl Gathered {
    /// Finds changed files outside the scope. With strict scopes, such files invalidate the evidence of the build.
    fn compare_scope(&mut self, ws: &Workspace, board: &Board, id: &TaskId) {
        self.out_of_scope = out_of_scope(ws, board, id);
        let Evidence::Shown(shown) = &mut self.evidence else { return };
        let refused = ws.rules().scopes == ScopeMode::Strict && !self.out_of_scope.is_empty();
        if refused && shown.remove(&Proof::Build) {
            self.failures.push((Proof::Build, beyond_scope(id, &self.out_of_scope)));
        }
    }
}

/// The decision of the board; if evidence is invalid, the failure states the complete reason.
pub(in crate::app) fn decide_with(
    ws: &Workspace,
    board: &Board,
    actor: &Actor,
    request: &Request<'_>,
    gathered: &Gathered,
) -> Result<Admission, Failure> {
    let request = Request { evidence: gathered.evidence.clone(), ..request.clone() };
    let admission = admitted(ws, board, actor, &request)?;
    let told = |admission: Admission| match admission.from == admission.to {
        true => admission,
        false => Admission { out_of_scope: gathered.out_of_scope.clone(), ..admission },
    };
    admission.map(told).map_err(|refusal| {
        let known =
            gathered.failures.iter().find(|(of, _)| matches!(&refusal, Refusal::Unproven { proof, .. } if proof == of));
        known.map_or_else(|| refused(ws, actor, &request, refusal.clone()), |(_, failure)| failure.clone())
    })
}

/// The decision of the board on a request that carries its evidence.
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
        Some(task) => {
            let scope = ws.scope_of(task).unwrap_or_default();
            Ok(board.admit(ws.rules(), actor, &Request { scope, ..request.clone() }))
        }
        None => Err(crate::app::workspace::open::missing(ws, board, request.task)),
    }
}

fn refused(ws: &Workspace, actor: &Actor, request: &Request<'_>, refusal: Refusal) -> Failure {
    let may_force = ws.rules().insists(actor, true) && !request.force;
    let overridable =
        matches!(refusal, Refusal::Blocked { .. } | Refusal::Held { .. } | Refusal::Overlaps { .. }) && may_force;
    let failure = told_of_host(ws, actor, refusal);
    if overridable { failure.hint(Hint::Force) } else { failure }
}

/// Adds a hint if a command in an agent's shell counts as the agent's, because a person may have typed it.
fn told_of_host(ws: &Workspace, actor: &Actor, refusal: Refusal) -> Failure {
    let failure = Failure::from(refusal);
    match running_in().filter(|_| actor.is_program() && ws.rules().role_of(&actor.worker).is_none()) {
        Some((host, variable)) => failure.hint(Hint::step(format!(
            "this command runs inside {} ({variable} is set), so the workflow applies; to move the task freely, run it in a \
             terminal of your own",
            host.title
        ))),
        None => failure,
    }
}

/// Gathers the evidence and decides at once, for previews and for verbs that need no evidence.
pub(in crate::app) fn admit(
    ws: &Workspace,
    board: &Board,
    actor: &Actor,
    request: &Request<'_>,
) -> Result<Admission, Failure> {
    // Files outside the scope only matter to workers that the workflow binds, so others skip that comparison.
    let gathered = match actor.is_held(ws.rules()) {
        true => gather(ws, board, actor, request),
        false => prove(ws, board, actor, request),
    };
    decide_with(ws, board, actor, request, &gathered)
}

/// How an admission is committed.
pub(in crate::app) struct Commit<'a> {
    pub verb: &'a str,
    pub actor: &'a Actor,
    /// How long a taken claim lasts.
    pub lease: Lease,
    /// The claim, if the remote already has it.
    pub published: Option<&'a Published>,
}

impl<'a> Commit<'a> {
    pub fn new(verb: &'a str, actor: &'a Actor) -> Self {
        Self { verb, actor, lease: Lease::Timed, published: None }
    }
}

/// Commits the effect under the caller's lock, then writes or ends the claim.
///
/// The board changes first. If the process dies before the claim is written, the task is in a lock state without a
/// claim, which `reap` repairs; a claim without its lock state would block a task that nobody works on. If it dies
/// before a claim is ended, the leftover claim hinders only its holder, who ran the command.
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
        let line = write(ws, lock, id, verb, admission, actor)?;
        if admission.claim == ClaimEffect::Ended && board.claim(id).is_some() {
            ws.drop_claim(id, line)?;
        }
        return Ok(None);
    }
    let mut claim = drawn(ws, board, id, &actor.worker, admission, lease);
    if let Some(published) = published {
        published.mark(&mut claim);
    }
    ws.take_in_hand(id, &mut claim)?;
    // An old proof belongs to the claim that this one replaces.
    write(ws, lock, id, verb, admission, &Actor { proof: None, ..actor.clone() })?;
    ws.store.write_claim(id, &claim)?;
    if let Some(overlap) = &admission.overlap {
        ws.notice(overlap.to_string());
    }
    if let Some(published) = published {
        published.settle(ws, id)?;
    }
    Ok(Some(claim))
}

fn write(
    ws: &Workspace,
    lock: &BoardLock,
    id: &TaskId,
    verb: &str,
    admission: &Admission,
    actor: &Actor,
) -> Result<Option<String>, Failure> {
    let mut changes = admission.changes.clone();
    if !admission.out_of_scope.is_empty() {
        let text =
            format!("The branch changes files outside the scope of its plan: {}", listed(&admission.out_of_scope));
        changes.push(new_note(id, &actor.worker, ws.now(), &mut ws.rng(), &text));
    }
    if changes.is_empty() {
        return Ok(None);
    }
    Ok(Some(ws.commit_as(lock, Op::new(verb, changes), actor)?.id))
}

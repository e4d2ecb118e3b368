//! Admission: the one place that decides whether a task may change its state, and everything that follows if it may.
//!
//! Every way to change a state (a command, an editor, a card on GitHub, a tool call, a worker's turn) builds a [`Request`]
//! and calls [`Board::admit`]. The answer is the whole effect as a value: the changes to the task, its group and its
//! parents, its owner, and what happens to the claim. The caller commits the changes in one step and applies the
//! [`ClaimEffect`]. Nothing here reads a file or a clock, so a look ahead is the same call without the commit.

mod case;
mod claim;
mod departure;
mod effect;
mod evidence;
mod moves;
mod outside;
mod scope;
mod table;
mod undo;

use super::{Actor, Board, Change, Refusal, Rules, Scope};
use crate::task::{StateName, TaskId};
use crate::workflow::Intent;
use case::Case;

pub use departure::Departure;
pub use evidence::{Ending, Evidence, Proof};

/// A change of state as it is asked for.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    pub task: &'a TaskId,
    pub goal: Goal,
    /// The command that the actor works as; found by role and state where it is left out.
    pub command: Option<&'a str>,
    /// A person insists; it is journaled.
    pub force: bool,
    /// The step of a team that a claim serves.
    pub step: Option<&'a TaskId>,
    /// What a worker has to show for its work.
    pub evidence: Evidence,
    /// The files of the task's plan, as the caller has just read them.
    pub scope: Scope,
}

/// Where a request leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Goal {
    State(StateName),
    Intent(Intent),
    /// The task for oneself, in whatever state that leads to.
    Claim,
}

/// The whole effect of an admitted request.
///
/// The caller commits `changes` in one step, under the board lock under which the board was read, and then applies
/// `claim`; a caller that leaves one of them out has applied half of a decision. Nothing has happened until then, so an
/// admission that is only looked at can be dropped.
#[derive(Debug, Clone, PartialEq)]
pub struct Admission {
    pub from: StateName,
    pub to: StateName,
    pub command: Option<String>,
    /// All that changes on the board, to be committed together.
    pub changes: Vec<Change>,
    pub claim: ClaimEffect,
    /// The paths of a claim that is taken or renewed.
    pub paths: Scope,
    /// Another claim covers some of them, which did not keep this actor from taking them.
    pub overlap: Option<Refusal>,
    /// Files that the finished work changes, though its plan does not name them; the caller looked for them.
    pub out_of_scope: Vec<String>,
    /// Allowed only because a person used force.
    pub forced: bool,
    /// A person's move that the workflow's table does not have: what it skips. People are free, so it is only said.
    pub departure: Option<Departure>,
    /// For a move that happened outside of ralph: why the workflow does not allow it. A person should look at it.
    pub flag: Option<Refusal>,
    /// Other tasks that move with it, and their new states: members of its group, and parents.
    pub along: Vec<(TaskId, StateName)>,
}

/// What happens to the claim on the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimEffect {
    Unchanged,
    /// It becomes the actor's.
    Taken,
    /// It is the actor's already, and its lease begins anew.
    Renewed,
    /// It ends, whoever holds it: the work is handed on, or a move outside of ralph overrules it.
    Ended,
}

impl<'a> Request<'a> {
    pub fn new(task: &'a TaskId, goal: Goal) -> Self {
        Self {
            task,
            goal,
            command: None,
            force: false,
            step: None,
            evidence: Evidence::default(),
            scope: Scope::default(),
        }
    }

    /// A claim, for a command or for whatever the task needs.
    pub fn claim(task: &'a TaskId, command: Option<&'a str>) -> Self {
        Self { command, ..Self::new(task, Goal::Claim) }
    }
}

impl Admission {
    /// Nothing moves.
    pub fn staying(state: StateName) -> Self {
        Self {
            from: state.clone(),
            to: state,
            command: None,
            changes: Vec::new(),
            claim: ClaimEffect::Unchanged,
            paths: Scope::default(),
            overlap: None,
            out_of_scope: Vec::new(),
            forced: false,
            departure: None,
            flag: None,
            along: Vec::new(),
        }
    }

    /// Whether it counts as a rejection, wherever it leads.
    pub fn is_rejection(&self) -> bool {
        let counts = |change: &Change| matches!(change, Change::Set { key, .. } if key.as_str() == "review.rejections");
        self.changes.iter().any(counts)
    }

    /// Whether the task is in the actor's hands afterwards.
    pub fn takes(&self) -> bool {
        matches!(self.claim, ClaimEffect::Taken | ClaimEffect::Renewed)
    }
}

impl Board {
    /// Decides a change of state. It checks the workflow's table, live claims, limits of roles and workers, blockers, size
    /// and group of the task, the paths of other claims, and what the actor has to show.
    ///
    /// A worker or program is held to the table. A person may move a task anywhere; what the table does not have is reported
    /// as a [`Departure`]. A person is refused only what would harm somebody else: a task that another worker holds, and the
    /// start of a blocked task; force overrides both. A move that has already happened outside of ralph is never refused; it
    /// is flagged if the table does not allow it.
    ///
    /// The board must hold at least the family of the task, with its claims, and must have been read under the board lock
    /// if the result is to be committed. A worker's `evidence` must have been checked: whatever is not in it counts as not
    /// shown. Nothing is read or written here, so a look ahead is the same call.
    pub fn admit(&self, rules: &Rules, actor: &Actor, request: &Request<'_>) -> Result<Admission, Refusal> {
        let links = super::Links::new(self);
        let case = Case::new(self, &links, rules, actor, request.task)?;
        match &request.goal {
            Goal::Claim => case.claim(request),
            _ if actor.is_outside() => case.outside(request),
            _ => case.moved(request),
        }
    }

    /// What the actor would have to show for this request. The caller checks it on disk, then calls [`admit`](Self::admit)
    /// with what holds. Empty if the request would be refused anyway.
    pub fn proofs(&self, rules: &Rules, actor: &Actor, request: &Request<'_>) -> Vec<Proof> {
        let request = Request { evidence: Evidence::Assumed, ..request.clone() };
        match self.admit(rules, actor, &request) {
            Ok(admission) => evidence::proofs(rules, actor, &admission),
            Err(_) => Vec::new(),
        }
    }

    /// Whether this request would end work in a worktree, so that its scope can be compared with what was changed.
    pub fn ends_build(&self, rules: &Rules, actor: &Actor, request: &Request<'_>) -> bool {
        let request = Request { evidence: Evidence::Assumed, ..request.clone() };
        self.admit(rules, actor, &request).is_ok_and(|admission| evidence::ends_build(rules, &admission))
    }
}

#[cfg(test)]
mod claim_tests;
#[cfg(test)]
mod tests;

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

/// A request to change a state.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    pub task: &'a TaskId,
    pub goal: Goal,
    /// The command that the actor works as; if it is left out, role and state decide.
    pub command: Option<&'a str>,
    /// A person uses force; the journal records it.
    pub force: bool,
    /// The step of a team that a claim serves.
    pub step: Option<&'a TaskId>,
    /// What a worker shows for its work.
    pub evidence: Evidence,
    /// The files of the task's plan, as the caller has just read them.
    pub scope: Scope,
}

/// What is requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Goal {
    State(StateName),
    Intent(Intent),
    /// A claim on the task, whatever state the claim leads to.
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
    /// All changes of the board, to be committed together.
    pub changes: Vec<Change>,
    pub claim: ClaimEffect,
    /// The paths of a claim that is taken or renewed.
    pub paths: Scope,
    /// The live claim of another task that covers some of these paths, if the actor was not refused because of it.
    pub overlap: Option<Refusal>,
    /// Files that the finished work changes, though its plan does not name them; the caller adds them.
    pub out_of_scope: Vec<String>,
    /// Allowed only because a person used force.
    pub forced: bool,
    /// What a person's move outside of the workflow skips. It is allowed, so this is only reported.
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
    /// It is already the actor's, and its lease starts again.
    Renewed,
    /// It ends, whoever holds it: the work is finished or handed on, or a move outside of ralph overrides it.
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

    /// A request for a claim, for a command or for whatever the task needs.
    pub fn claim(task: &'a TaskId, command: Option<&'a str>) -> Self {
        Self { command, ..Self::new(task, Goal::Claim) }
    }
}

impl Admission {
    /// An admission without changes.
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

    /// Whether the actor holds the task afterwards.
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
    /// with what it found. Empty if the request would be refused anyway.
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

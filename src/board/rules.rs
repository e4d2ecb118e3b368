//! The basis of decisions besides the board: the workflow, the settings that affect it, and the actor.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Scope, ScopeMode};
use crate::task::{Task, TaskId, Worker};
use crate::workflow::{Command, ReviewMode, Workflow};

#[derive(Debug, Clone)]
pub struct Rules {
    pub flow: Workflow,
    pub mode: ReviewMode,
    pub max_rejections: u32,
    /// How many workers of a role may hold a claim at once.
    pub limits: BTreeMap<String, usize>,
    /// How many claims a worker may hold; people have no limit.
    pub per_worker: usize,
    /// How strictly a plan's list of files is enforced.
    pub scopes: ScopeMode,
    /// A number of this clone: each clone orders equally good tasks differently, so that machines do not race for the same one.
    pub spread: Option<u64>,
}

impl Rules {
    /// The workflow with default settings.
    pub fn of(flow: Workflow) -> Self {
        let limits = flow.roles().iter().map(|role| (role.name.clone(), role.limit)).collect();
        let scopes = ScopeMode::default();
        Self { flow, mode: ReviewMode::Skip, max_rejections: 3, limits, per_worker: 1, scopes, spread: None }
    }

    /// Whether the command has already left this task in its state.
    pub fn is_left(&self, task: &Task, command: &str) -> bool {
        let mark = self.flow.command(command).ok().and_then(|command| command.stay.as_ref());
        mark.is_some_and(|mark| task.labels.contains(mark))
    }

    /// The merge command for a task that a person can merge or reject now.
    pub fn pending_merge(&self, task: &Task) -> Option<&Command> {
        self.flow.merging().filter(|command| command.back.is_some() && command.from.contains(&task.state))
    }

    /// Whether a task is handed to a person: in the state for that, or flagged if the workflow has none.
    pub fn needs_person(&self, task: &Task) -> bool {
        match self.flow.escalation() {
            Some(state) => task.state == *state,
            None => task.attention.is_some(),
        }
    }

    /// The role of a worker; a person has none.
    pub fn role_of(&self, worker: &Worker) -> Option<&str> {
        self.flow.role_of(worker).map(|role| role.name.as_str())
    }
}

/// Who makes a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    pub worker: Worker,
    pub kind: ActorKind,
    /// The claim that the actor shows, as `TASK:TOKEN`.
    pub proof: Option<String>,
}

/// How far an actor is bound by the workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActorKind {
    /// Acts under a name: a worker with a role if the name is that of a role, otherwise a person.
    Named,
    /// A program without a name. The workflow applies to it, and it cannot use force.
    Program,
    /// A program whose host vouches for it. It needs no claim, documents or command, but it is not a person: moves follow the
    /// table, and it neither reopens a finished task nor moves one that was handed to a person.
    Hosted,
    /// Reports a change from elsewhere: a saved file, or a card that was moved on GitHub.
    Outside,
}

impl Actor {
    pub fn named(worker: Worker) -> Self {
        Self { worker, kind: ActorKind::Named, proof: None }
    }

    pub fn outside(worker: Worker) -> Self {
        Self { worker, kind: ActorKind::Outside, proof: None }
    }

    pub fn is_outside(&self) -> bool {
        self.kind == ActorKind::Outside
    }

    pub fn is_program(&self) -> bool {
        self.kind == ActorKind::Program
    }

    /// The role whose rules apply to it. A change from outside counts as a person's, whatever the name.
    pub fn role<'r>(&self, rules: &'r Rules) -> Option<&'r str> {
        if self.is_outside() { None } else { rules.role_of(&self.worker) }
    }

    /// Whether the workflow applies to it: a worker with a role, or a program on a board whose workflow has commands.
    pub fn is_held(&self, rules: &Rules) -> bool {
        self.role(rules).is_some() || (self.is_program() && !rules.flow.commands().is_empty())
    }

    /// The token that it shows for its claim on this task.
    pub fn proof_for(&self, task: &TaskId) -> Option<&str> {
        let of = |proof: &&str| proof.split_once(':').is_some_and(|(id, _)| id == task.as_str());
        self.proof.as_deref().filter(of)
    }
}

/// Who works on a task, and whether that worker is still alive.
///
/// A leased claim is live until `until`. A held claim is live while a process holds the lock of the claim, whatever
/// `until` says. `live` and `foreign` are not stored: the reader of the claim sets them, so they are true only for the
/// moment of reading.
///
/// Only a live claim excludes others. A dead one stays until it is reaped. A claim does not name the owner of the task; that
/// is `owner` in the task file. Compare workers with [`is_of`](Claim::is_of), because the same name in another clone belongs
/// to another worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub worker: Worker,
    pub host: String,
    pub since: Timestamp,
    /// The end of the lease.
    pub until: Timestamp,
    /// Live while a process holds its lock.
    pub held: bool,
    /// Random. The holder shows it, so that a worker that has lost its claim is noticed.
    pub token: String,
    pub command: Option<String>,
    /// The files of the plan, if the claim is for work in a worktree: no other live claim covers any of them.
    #[serde(default, skip_serializing_if = "Scope::is_empty")]
    pub paths: Scope,
    /// The session of the agent host in which it was taken: everything that session does counts as this worker's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The hash of the git object with this claim on the remote through which machines agree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// The object that replaces `remote` there. Until the remote has answered, either of the two is this claim's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renewing: Option<String>,
    /// How often this clone had read the remote when the remote accepted the claim. Earlier reads cannot have seen it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<u64>,
    /// The start of its lease on the remote, in milliseconds of this machine's monotonic clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leased: Option<u64>,
    #[serde(skip)]
    pub live: bool,
    /// It belongs to another clone, where the same name is another worker.
    #[serde(skip)]
    pub foreign: bool,
}

impl Claim {
    /// Whether it belongs to this worker of this clone.
    pub fn is_of(&self, worker: &Worker) -> bool {
        !self.foreign && self.worker == *worker
    }

    /// The text with which its holder proves that it still has the claim.
    pub fn proof(&self, task: &TaskId) -> String {
        format!("{task}:{}", self.token)
    }
}

//! What decides beside the board itself: the workflow, and the settings that bear on it. And who asks.

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
    /// How many claims a worker may hold; a person is not counted.
    pub per_worker: usize,
    /// How far the files of a plan bind whoever builds it.
    pub scopes: ScopeMode,
    /// Of tasks that are equally good, each clone prefers others, so that machines do not race for the same one.
    pub spread: Option<u64>,
}

impl Rules {
    /// The workflow alone, with the usual settings.
    pub fn of(flow: Workflow) -> Self {
        let limits = flow.roles().iter().map(|role| (role.name.clone(), role.limit)).collect();
        let scopes = ScopeMode::default();
        Self { flow, mode: ReviewMode::Skip, max_rejections: 3, limits, per_worker: 1, scopes, spread: None }
    }

    /// Whether a command has looked at a task and left it where it was.
    pub fn is_left(&self, task: &Task, command: &str) -> bool {
        let mark = self.flow.command(command).ok().and_then(|command| command.stay.as_ref());
        mark.is_some_and(|mark| task.labels.contains(mark))
    }

    /// The merge that finished work waits for, where a person can also send it back.
    pub fn pending_merge(&self, task: &Task) -> Option<&Command> {
        self.flow.merging().filter(|command| command.back.is_some() && command.from.contains(&task.state))
    }

    /// Whether a task is for a person now: in the state for that, or flagged where the workflow has none.
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

/// Who asks for a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    pub worker: Worker,
    pub kind: ActorKind,
    /// The claim that it was given, if it brought it along: `TASK:TOKEN`.
    pub proof: Option<String>,
}

/// How far an actor is bound by the workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActorKind {
    /// Acts under a name: a worker where that is the name of a role, else a person.
    Named,
    /// A program that nobody named. It is held to the workflow, and may not insist.
    Program,
    /// A program whose host vouches for it: believed like a person, but it leaves to people what waits for a person.
    Hosted,
    /// Reports what has happened elsewhere already: somebody saved a file, or moved a card on GitHub.
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

    /// The role that it is held to. What happens outside is a person's doing, whatever their name.
    pub fn role<'r>(&self, rules: &'r Rules) -> Option<&'r str> {
        if self.is_outside() { None } else { rules.role_of(&self.worker) }
    }

    /// Whether the workflow holds it: a worker of a role, or a program on a board whose workflow has commands.
    pub fn is_held(&self, rules: &Rules) -> bool {
        self.role(rules).is_some() || (self.is_program() && !rules.flow.commands().is_empty())
    }

    /// What it has to show for this task.
    pub fn proof_for(&self, task: &TaskId) -> Option<&str> {
        let of = |proof: &&str| proof.split_once(':').is_some_and(|(id, _)| id == task.as_str());
        self.proof.as_deref().filter(of)
    }
}

/// Who works on a task, and whether that worker is still alive.
///
/// A leased claim is live until `until`. A held claim is live while a process holds the lock of the claim, whatever
/// `until` says. `live` and `foreign` are not stored: whoever reads the claim sets them, so they are true only for the
/// moment of reading.
///
/// Only a live claim keeps others out. A dead one stays until it is reaped. A claim never says who owns the task; that is
/// `owner` in the task file. Compare workers with [`is_of`](Claim::is_of), because a worker of the same name in another
/// clone is somebody else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub worker: Worker,
    pub host: String,
    pub since: Timestamp,
    /// The end of the lease.
    pub until: Timestamp,
    /// Live while a process holds its lock.
    pub held: bool,
    /// Random. The holder shows it, so that a worker that lost its claim is noticed.
    pub token: String,
    pub command: Option<String>,
    /// The files of the plan, where it is for work in a worktree: no other live claim covers any of them.
    #[serde(default, skip_serializing_if = "Scope::is_empty")]
    pub paths: Scope,
    /// The session of the agent host in which it was taken: whatever that session does is done by this worker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The object that holds it on the remote through which machines agree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// The object that is to take its place there: until the remote has answered, either is its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renewing: Option<String>,
    /// How often this clone had looked at the remote when that took it: what earlier looks saw says nothing about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<u64>,
    /// When its lease on the remote began, in milliseconds of this machine's steady clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leased: Option<u64>,
    #[serde(skip)]
    pub live: bool,
    /// Another clone's: a worker of the same name there is somebody else.
    #[serde(skip)]
    pub foreign: bool,
}

impl Claim {
    /// Whether it is this worker's, of this clone.
    pub fn is_of(&self, worker: &Worker) -> bool {
        !self.foreign && self.worker == *worker
    }

    /// What its holder shows to prove that it still has it.
    pub fn proof(&self, task: &TaskId) -> String {
        format!("{task}:{}", self.token)
    }
}

//! Why a rule refuses a change: what is wrong, what is allowed instead, and whose claim conflicts.

use jiff::Timestamp;

use super::{Claim, Cycle, Ending, Proof};
use crate::task::{ParseError, StateName, TaskId, Worker};
use crate::workflow::WorkflowError;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("this would create a cycle: {cycle}")]
    Cycle { task: TaskId, cycle: Cycle },
    /// A cycle that no blocker is part of.
    #[error("this would create a cycle of parents: {cycle}")]
    ParentCycle { task: TaskId, cycle: Cycle },
    #[error("other tasks link to {task}: {}", ids(needed_by))]
    Needed { task: TaskId, needed_by: Vec<TaskId> },
    #[error("no task {0}")]
    Missing(TaskId),
    #[error("{0:?} is not KEY=VALUE")]
    NotAssignment(String),
    #[error("{key:?} is not a field of a task{}", meant.as_ref().map(|m| format!(": did you mean {m:?}?")).unwrap_or_default())]
    UnknownKey { key: String, meant: Option<String> },
    #[error("{0:?} cannot be a key: use letters, digits, `-` and `_`, with dots between parts")]
    BadKey(String),
    #[error("{0:?} cannot be set: ralph sets it itself")]
    Fixed(String),
    #[error("{0} cannot be empty")]
    Empty(&'static str),
    #[error("{key:?} has a single value: use `{key}=VALUE`")]
    NotASet { key: String },
    #[error(transparent)]
    Value(#[from] ParseError),
    #[error(transparent)]
    State(#[from] WorkflowError),
    #[error("{0}")]
    Id(String),

    #[error("{actor} cannot move {task} from {from} to {to}; {}", onward(allowed))]
    NotAllowed { task: TaskId, from: StateName, to: String, actor: String, allowed: Vec<StateName> },
    #[error("{command} does not support {intent}; it supports {}, and can end in {}", intents.join(", "), states(ends))]
    NoSuchIntent { command: String, intent: &'static str, intents: Vec<&'static str>, ends: Vec<StateName> },
    #[error("this board's workflow has no state for canceled tasks")]
    NoCanceling { task: TaskId },
    #[error("{intent} does not apply to {task} in {state}")]
    NoPlainIntent { task: TaskId, intent: &'static str, state: StateName },
    #[error("{command} is for {}, not for {role}", roles.join(" or "))]
    NotYourCommand { command: String, role: String, roles: Vec<String> },
    #[error("several commands could move {task}: {}; choose one with --for", choices.join(", "))]
    NeedsCommand { task: TaskId, choices: Vec<String> },
    #[error("{task} was handed to a person, and only a person can move it")]
    NeedsPerson { task: TaskId },
    #[error("only a person can {what}, and {worker} is acting as an agent")]
    PeopleOnly { worker: Worker, what: &'static str },
    #[error("cannot restore {task} to {state}: this board's workflow has no such state")]
    UndoesState { task: TaskId, state: StateName },
    #[error("{worker} cannot change `attention`: only a person can clear a flag")]
    FlagNeedsPerson { worker: Worker },
    #[error("an agent can create tasks only in {initial}, not in {state}")]
    NotInitial { state: StateName, initial: StateName },
    #[error("{task} is not claimed by you for {command}")]
    NotClaimed { task: TaskId, command: String },
    #[error("{task} is blocked by {}", ids(by))]
    Blocked { task: TaskId, by: Vec<TaskId> },
    #[error("{task} is of size {size}, too large for {command}")]
    Oversized { task: TaskId, size: &'static str, command: String },
    #[error("{task} is too small for {command}, which is for tasks of size M and above")]
    SmallEnough { task: TaskId, command: String },
    #[error("{task} moves with {primary}, the first of its group; use {command} on {primary}")]
    NotPrimary { task: TaskId, primary: TaskId, command: String },
    #[error("{task} waits for {}", placed(waiting_for))]
    NotConverged { task: TaskId, waiting_for: Vec<(TaskId, StateName)>, for_person: bool },
    #[error("{task} cannot be ahead of its children, and these are behind: {}", ids(children))]
    AheadOfChildren { task: TaskId, children: Vec<TaskId> },
    #[error("{state} is not a gate state; use one of {}", states(gates))]
    NotAGate { state: StateName, gates: Vec<StateName> },
    #[error("these tasks of a group block each other: {}", ids(members))]
    GroupCycle { members: Vec<TaskId> },

    #[error("{task} is claimed by {holder}{}{}", elsewhere.as_ref().map(|host| format!(" in another clone on {host}")).unwrap_or_default(), if *held { " while its process runs".into() } else { format!(", until {}", at(*until)) })]
    Held { task: TaskId, holder: Worker, elsewhere: Option<String>, until: Timestamp, held: bool },
    #[error("{task} overlaps with {other}, which is claimed by {holder}{}: both change {path}", elsewhere.as_ref().map(|host| format!(" in another clone on {host}")).unwrap_or_default())]
    Overlaps { task: TaskId, path: String, other: TaskId, holder: Worker, elsewhere: Option<String> },
    #[error("step {task} has no result yet")]
    NoResult { task: TaskId },
    #[error("{task} has no {kind}")]
    Lacks { task: TaskId, kind: String },
    #[error("the linked {kind} of {task} is from an earlier round; this is round {round}")]
    Stale { task: TaskId, kind: String, round: u32 },
    #[error("{task} is not finished: {}", missing(proof))]
    Unproven { task: TaskId, proof: Proof },
    #[error("--for COMMAND is required to move {task}")]
    ProgramNeedsCommand { task: TaskId },
    #[error("your claim on {task} expired or was taken over")]
    Lost { task: TaskId },
    #[error("{task} is already {state}")]
    Finished { task: TaskId, state: StateName },
    #[error("{task} is in {state}; {command} starts from {}", states(from))]
    NotStart { task: TaskId, state: StateName, command: String, from: Vec<StateName> },
    #[error("{task} is in {state}, where no {role} starts work")]
    NotIntake { task: TaskId, role: String, state: StateName },
    #[error("the limit of {limit} for {role} is reached: {}", holders.iter().map(Worker::as_str).collect::<Vec<_>>().join(", "))]
    RoleFull { role: String, limit: usize, holders: Vec<Worker> },
    #[error("{worker} has already claimed {}", ids(tasks))]
    WorkerFull { worker: Worker, tasks: Vec<TaskId> },
    #[error("{task} was changed on {place}, and this clone does not have that yet")]
    Outdated { task: TaskId, place: String },
    #[error("{task} is not claimed")]
    Unclaimed { task: TaskId },
}

impl Refusal {
    pub fn held(task: &TaskId, claim: &Claim) -> Self {
        let Claim { worker: holder, until, held, .. } = claim.clone();
        let elsewhere = claim.foreign.then(|| claim.host.clone());
        Self::Held { task: task.clone(), holder, elsewhere, until, held }
    }
}

/// The most similar name in `all`, if it is similar enough to suggest.
pub(super) fn nearest<const N: usize>(typed: &str, all: [&str; N]) -> Option<String> {
    let score = |known: &str| strsim::jaro_winkler(typed, known);
    let near = all.into_iter().max_by(|a, b| score(a).total_cmp(&score(b)))?;
    (score(near) > 0.8).then(|| near.to_owned())
}

fn missing(proof: &Proof) -> String {
    match proof {
        Proof::Document { kind, ending: Ending::Complete } => format!("its {kind} is not complete"),
        Proof::Document { kind, ending: Ending::Rejected } => format!("its {kind} does not ask for another round"),
        Proof::Merged => "its branch is not merged".into(),
        Proof::Build => "its branch does not contain the finished work".into(),
    }
}

fn at(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M:%SZ").to_string()
}

fn ids(list: &[TaskId]) -> String {
    list.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", ")
}

/// The tasks, each with its state.
fn placed(list: &[(TaskId, StateName)]) -> String {
    list.iter().map(|(task, state)| format!("{task} ({state})")).collect::<Vec<_>>().join(", ")
}

/// The states that are allowed instead.
fn onward(allowed: &[StateName]) -> String {
    if allowed.is_empty() { "no move from there is allowed".into() } else { format!("allowed: {}", states(allowed)) }
}

fn states(list: &[StateName]) -> String {
    if list.is_empty() { "no state".into() } else { list.iter().map(StateName::as_str).collect::<Vec<_>>().join(", ") }
}

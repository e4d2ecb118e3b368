//! The events of a board, as `ralph watch` reports them: one for each change.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use jiff::Timestamp;
use serde::Serialize;

use super::{Board, Change, Claim, Links, Place, Rules, Standings, command_for, inspect};
use crate::task::{Key, ParseError, StateName, TaskId, Value, Worker};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    Created,
    Changed,
    Moved,
    Removed,
    Archived,
    Noted,
    Asked,
    Claimed,
    Released,
    Unblocked,
    Ready,
    Converged,
    Reaped,
    Illegal,
    Problem,
    Solved,
    Rescanned,
    RuleFailed,
}

impl EventKind {
    pub const ALL: [Self; 18] = [
        Self::Created,
        Self::Changed,
        Self::Moved,
        Self::Removed,
        Self::Archived,
        Self::Noted,
        Self::Asked,
        Self::Claimed,
        Self::Released,
        Self::Unblocked,
        Self::Ready,
        Self::Converged,
        Self::Reaped,
        Self::Illegal,
        Self::Problem,
        Self::Solved,
        Self::Rescanned,
        Self::RuleFailed,
    ];

    /// The meaning of the event, for readers of events.
    pub fn about(self) -> &'static str {
        match self {
            Self::Created => "a task was added",
            Self::Changed => "fields of a task changed, but not its state",
            Self::Moved => "a task moved from one state to another",
            Self::Removed => "a task was removed",
            Self::Archived => "a finished task was archived",
            Self::Noted => "a note was added, changed or removed",
            Self::Asked => "somebody asked a question about a task",
            Self::Claimed => "a worker claimed a task",
            Self::Released => "a claim was released",
            Self::Unblocked => "the last open blocker of a task was finished",
            Self::Ready => "a task can be started: one event for each role that can start it",
            Self::Converged => "all members of a group have reached a gate",
            Self::Reaped => "a claim ended because its worker died or its lease expired",
            Self::Illegal => "a hand edit moved a task in a way that the workflow does not allow",
            Self::Problem => "a file or a link is broken",
            Self::Solved => "a problem is gone",
            Self::Rescanned => "the system reported too many changes to follow, so every file was read again",
            Self::RuleFailed => "the program of an `[[on]]` rule failed, timed out or is not trusted",
        }
    }

    /// The name in JSON and in settings.
    pub fn name(self) -> String {
        let text = format!("{self:?}");
        let dashed = text.chars().flat_map(|c| c.is_uppercase().then_some('-').into_iter().chain(c.to_lowercase()));
        dashed.collect::<String>().trim_start_matches('-').to_owned()
    }
}

impl FromStr for EventKind {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == text);
        found.ok_or_else(|| ParseError {
            what: "an event",
            text: text.to_owned(),
            allowed: Self::ALL.map(Self::name).join(", "),
        })
    }
}

/// How a change was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Via {
    /// By a command of ralph.
    Verb,
    /// By hand: the file was saved.
    Hand,
    /// By git: a checkout, a merge or a stash.
    Git,
    /// It follows from other changes.
    Board,
}

/// One event. `id`, `at`, `by`, `verb` and `changes` are those of the journal's line, if there is one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Event {
    pub event: EventKind,
    pub at: Timestamp,
    pub via: Via,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Worker>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verb: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<StateName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<StateName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Event {
    pub fn new(event: EventKind, at: Timestamp, via: Via, task: Option<&TaskId>) -> Self {
        Self {
            event,
            at,
            via,
            task: task.cloned(),
            title: None,
            id: None,
            by: None,
            verb: None,
            changes: Vec::new(),
            from: None,
            to: None,
            role: None,
            command: None,
            until: None,
            message: None,
        }
    }

    #[must_use]
    pub fn saying(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }
}

/// The event for the changes of one task in one command or save.
pub fn changed(at: Timestamp, via: Via, task: &TaskId, verb: &str, changes: Vec<Change>) -> Event {
    let state = |value: &Option<Value>| value.as_ref().map(|value| StateName::new(value.to_string()));
    let moved = changes.iter().find_map(|change| match change {
        Change::Set { key, old, new, .. } if *key == Key::new("state") => Some((state(old), state(new))),
        _ => None,
    });
    let file = |wanted: &dyn Fn(&Place, bool, bool) -> bool| {
        changes.iter().any(
            |change| matches!(change, Change::File { file, old, new, .. } if wanted(file, old.is_some(), new.is_some())),
        )
    };
    let kind = match &moved {
        _ if file(&|place, old, new| *place == Place::Archive && !old && new) => EventKind::Archived,
        _ if file(&|place, old, new| *place == Place::Task && !old && new) => EventKind::Created,
        _ if file(&|place, old, new| *place == Place::Task && old && !new) => EventKind::Removed,
        _ if verb == "reap" => EventKind::Reaped,
        _ if verb.starts_with("ask") && file(&|place, _, new| matches!(place, Place::Note(_)) && new) => {
            EventKind::Asked
        }
        Some(_) => EventKind::Moved,
        None if file(&|place, _, _| matches!(place, Place::Note(_))) => EventKind::Noted,
        None => EventKind::Changed,
    };
    let (from, to) = moved.unwrap_or_default();
    let question = changes.iter().filter(|_| kind == EventKind::Asked).find_map(|change| match change {
        Change::File { file: Place::Note(_), new: Some(text), .. } => {
            text.rsplit_once("\n+++\n").map(|(_, body)| body.trim().to_owned())
        }
        _ => None,
    });
    Event { from, to, changes, message: question, ..Event::new(kind, at, via, Some(task)) }
}

/// The facts about a board whose changes are reported as events.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    blocked: BTreeSet<TaskId>,
    /// The ready tasks, each with the roles that can take it and their commands.
    ready: BTreeMap<TaskId, Vec<(String, String)>>,
    /// The furthest gate that all members of a group have reached.
    converged: BTreeMap<TaskId, StateName>,
    claims: BTreeMap<TaskId, Claim>,
    /// The problems by their message, so that each is reported once.
    problems: BTreeMap<String, Option<TaskId>>,
}

impl Facts {
    pub fn of(board: &Board, rules: &Rules) -> Self {
        let standings = Standings::new(board, rules);
        let links = Links::new(board);
        let mut facts = Self { claims: board.claims().clone(), ..Self::default() };
        for (at, task) in board.tasks().iter().enumerate() {
            if standings.is_blocked(at) {
                facts.blocked.insert(task.id.clone());
            }
            if standings.is_ready(at) {
                let has_children = !links.children(at).is_empty();
                let takes = |role: &str| command_for(task, has_children, role, rules).map(|command| &command.name);
                let roles = rules.flow.roles().iter();
                let for_whom = roles.filter_map(|role| Some((role.name.clone(), takes(&role.name)?.clone())));
                facts.ready.insert(task.id.clone(), for_whom.collect());
            }
            if task.atomic {
                facts.converged.extend(gate(board, &links, at, rules).map(|gate| (task.id.clone(), gate)));
            }
        }
        let files = board.problems().into_iter().map(|problem| (problem.to_string(), None));
        let links = inspect(board, &rules.flow).into_iter().map(|found| (found.message, found.task));
        facts.problems = links.chain(files).collect();
        facts
    }

    /// The events for what has changed since `before`.
    pub fn since(&self, before: &Self, at: Timestamp) -> Vec<Event> {
        let tell = |kind, task: &TaskId| Event::new(kind, at, Via::Board, Some(task));
        let mut events = self.claims_since(before, at);
        for id in before.blocked.iter().filter(|id| !self.blocked.contains(*id)) {
            events.extend(self.ready.contains_key(id).then(|| tell(EventKind::Unblocked, id)));
        }
        for (id, roles) in &self.ready {
            let known = before.ready.get(id);
            let one = |(role, command): &(String, String)| Event {
                role: Some(role.clone()),
                command: Some(command.clone()),
                ..tell(EventKind::Ready, id)
            };
            events.extend(roles.iter().filter(|role| !known.is_some_and(|known| known.contains(role))).map(one));
            events.extend((roles.is_empty() && known.is_none()).then(|| tell(EventKind::Ready, id)));
        }
        for (id, gate) in self.converged.iter().filter(|(id, gate)| before.converged.get(*id) != Some(*gate)) {
            events.push(Event { to: Some(gate.clone()), ..tell(EventKind::Converged, id) });
        }
        let told = |kind, (message, task): (&String, &Option<TaskId>)| {
            Event::new(kind, at, Via::Board, task.as_ref()).saying(message)
        };
        let new = self.problems.iter().filter(|(message, _)| !before.problems.contains_key(*message));
        events.extend(new.map(|problem| told(EventKind::Problem, problem)));
        let gone = before.problems.iter().filter(|(message, _)| !self.problems.contains_key(*message));
        events.extend(gone.map(|problem| told(EventKind::Solved, problem)));
        events
    }

    fn claims_since(&self, before: &Self, at: Timestamp) -> Vec<Event> {
        let mut events = Vec::new();
        let live = |facts: &Self, id: &TaskId| facts.claims.get(id).filter(|claim| claim.live).cloned();
        let ids: BTreeSet<&TaskId> = self.claims.keys().chain(before.claims.keys()).collect();
        for id in ids {
            let (old, new) = (live(before, id), live(self, id));
            let kept = old.as_ref().zip(new.as_ref()).is_some_and(|(old, new)| is_same(old, new));
            if let Some(old) = old.filter(|_| !kept) {
                let event = Event::new(EventKind::Released, at, Via::Board, Some(id));
                events.push(Event { by: Some(old.worker), command: old.command, ..event });
            }
            if let Some(new) = new.filter(|_| !kept) {
                let event = Event::new(EventKind::Claimed, at, Via::Board, Some(id));
                let until = (!new.held).then_some(new.until);
                events.push(Event { by: Some(new.worker), command: new.command, until, ..event });
            }
        }
        events
    }

    /// Renewed claims. They are not events for `ralph watch`, but the web board shows when a claim expires.
    pub fn renewed_since(&self, before: &Self, at: Timestamp) -> Vec<Event> {
        let known = self.claims.iter().filter_map(|(id, claim)| Some((id, claim, before.claims.get(id)?)));
        let renewed = known.filter(|(_, new, old)| new.live && old.live && is_same(new, old) && new.until != old.until);
        let tell = |(id, claim, _): (&TaskId, &Claim, &Claim)| Event {
            by: Some(claim.worker.clone()),
            command: claim.command.clone(),
            until: (!claim.held).then_some(claim.until),
            ..Event::new(EventKind::Claimed, at, Via::Board, Some(id))
        };
        renewed.map(tell).collect()
    }

    /// The numbers of tasks that are ready, claimed and blocked, and of problems, for a summary.
    pub fn counts(&self) -> [usize; 4] {
        let live = self.claims.values().filter(|claim| claim.live).count();
        [self.ready.len(), live, self.blocked.len(), self.problems.len()]
    }
}

/// Whether two are the same claim, even if it was renewed.
fn is_same(one: &Claim, other: &Claim) -> bool {
    one.worker == other.worker && one.since == other.since && one.command == other.command
}

/// The furthest gate that every member under this parent has reached.
fn gate(board: &Board, links: &Links<'_>, parent: usize, rules: &Rules) -> Option<StateName> {
    let members = links.children(parent);
    let kind = board.tasks().get(*members.first()?)?.kind;
    let mut gates = rules.flow.states_of(kind).iter().filter(|state| state.gate).map(|state| &state.name);
    gates.rfind(|gate| board.converged(members, gate, rules).met).cloned()
}

#[cfg(test)]
mod tests;

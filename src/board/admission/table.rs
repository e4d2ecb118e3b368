//! The workflow's table: which command makes a move, where it leads, and whether it is allowed.

use super::case::Case;
use super::{Departure, Goal, Request};
use crate::board::Refusal;
use crate::task::{Kind, StateName, Task, TaskId};
use crate::workflow::{Command, Intent, Sizes};

/// How a move is allowed: by the table, by a person outside of it, or by force.
#[derive(Default)]
pub(super) struct Leave {
    departure: Option<Departure>,
    forced: bool,
}

impl Leave {
    pub fn mark(self, admission: &mut super::Admission) {
        admission.departure = self.departure;
        admission.forced |= self.forced;
    }
}

impl<'a> Case<'a> {
    /// The command that makes the move: the named one, or the only one that fits. A person needs none.
    pub(super) fn command(&self, request: &Request<'_>) -> Result<Option<&'a Command>, Refusal> {
        let flow = &self.rules.flow;
        if let Some(name) = request.command {
            let command = flow.command(name)?;
            self.refuse_other_roles(command)?;
            if !self.escalates_elsewhere(command, request) {
                return Ok(Some(command));
            }
        }
        // A person who moves a task to its current state does nothing; a worker may report that the task stays.
        let idle = self.role().is_none() && request.goal == Goal::State(self.task.state.clone());
        if self.is_free() || idle {
            return Ok(None);
        }
        let oversized = self.is_oversized();
        let sized = |command: &&Command| command.sizes != Sizes::Oversized || oversized;
        let mine = |command: &&Command| match self.role() {
            Some(role) => command.is_for(role, self.rules.mode),
            None => !command.people || self.is_decided_by_person(),
        };
        let fits = |command: &&Command| {
            let to = match &request.goal {
                Goal::State(state) => Some(state.clone()),
                Goal::Intent(intent) => command.intend(*intent, flow),
                Goal::Claim => command.lock.clone(),
            };
            to.is_some_and(|to| command.leads(&self.task.state, &to, self.rules.mode, flow))
        };
        let found: Vec<&Command> = flow.commands().iter().filter(mine).filter(sized).filter(fits).collect();
        match (found.as_slice(), self.role()) {
            ([], None) => Ok(None),
            ([], Some(role)) => Err(self.no_way(role, request)),
            ([one], _) => Ok(Some(one)),
            // Several commands escalate in the same way, and a person's move to a named state is the same for each.
            ([first, ..], None) if matches!(request.goal, Goal::State(_)) => Ok(Some(first)),
            ([first, ..], _) if request.goal == Goal::Intent(Intent::Escalate) => Ok(Some(first)),
            (many, _) => Err(Refusal::NeedsCommand {
                task: self.task.id.clone(),
                choices: many.iter().map(|command| command.name.clone()).collect(),
            }),
        }
    }

    /// Whether this escalates a task in a state that the command does not have. Escalating needs no command, so it is ignored.
    fn escalates_elsewhere(&self, command: &Command, request: &Request<'_>) -> bool {
        let flow = &self.rules.flow;
        let leads = |to: &StateName| command.leads(&self.task.state, to, self.rules.mode, flow);
        let here = command.intend(Intent::Escalate, flow).is_some_and(|to| leads(&to));
        request.goal == Goal::Intent(Intent::Escalate) && self.role().is_none() && !here
    }

    /// The refusal if no command of the role leads from the task's state to the goal.
    fn no_way(&self, role: &str, request: &Request<'_>) -> Refusal {
        let flow = &self.rules.flow;
        let mut allowed = Vec::new();
        for command in flow.commands_of(role, self.rules.mode) {
            for state in flow.states() {
                if command.leads(&self.task.state, &state.name, self.rules.mode, flow) && !allowed.contains(&state.name)
                {
                    allowed.push(state.name.clone());
                }
            }
        }
        if Some(&self.task.state) == flow.escalation() {
            return Refusal::NeedsPerson { task: self.task.id.clone() };
        }
        let unlocked = |command: &&Command| {
            let starts = command.from.contains(&self.task.state) && command.modes.contains(&self.rules.mode);
            let ends = match &request.goal {
                Goal::State(state) => command.may_end_in(flow).contains(state),
                Goal::Intent(intent) => command.intend(*intent, flow).is_some(),
                Goal::Claim => command.lock.is_some(),
            };
            starts && ends && command.lock.is_some()
        };
        if let Some(command) = flow.commands_of(role, self.rules.mode).find(unlocked) {
            return Refusal::NotClaimed { task: self.task.id.clone(), command: command.name.clone() };
        }
        Refusal::NotAllowed {
            task: self.task.id.clone(),
            from: self.task.state.clone(),
            to: match &request.goal {
                Goal::State(state) => state.to_string(),
                Goal::Intent(intent) => intent.as_str().into(),
                Goal::Claim => "a claim".into(),
            },
            actor: role.to_owned(),
            allowed,
        }
    }

    pub(super) fn target(&self, request: &Request<'_>, command: Option<&Command>) -> Result<StateName, Refusal> {
        let flow = &self.rules.flow;
        match (&request.goal, command) {
            (Goal::State(state), _) => Ok(state.clone()),
            (Goal::Intent(intent), Some(command)) => {
                command.intend(*intent, flow).ok_or_else(|| Refusal::NoSuchIntent {
                    command: command.name.clone(),
                    intent: intent.as_str(),
                    intents: command.intents(flow),
                    ends: command.may_end_in(flow),
                })
            }
            (Goal::Intent(intent), None) => self.plain_intent(*intent),
            (Goal::Claim, command) => match command.and_then(|command| command.lock.clone()) {
                Some(lock) => Ok(lock),
                None => self.plain_intent(Intent::Lock),
            },
        }
    }

    /// The state that an intent means without a command, by the whole workflow.
    fn plain_intent(&self, intent: Intent) -> Result<StateName, Refusal> {
        let flow = &self.rules.flow;
        let states = flow.states_of(self.task.kind);
        let here = states.iter().find(|state| state.name == self.task.state);
        let place = flow.position(self.task.kind, &self.task.state);
        let free = self.is_free();
        let named = match intent {
            Intent::Lock => here.and_then(|state| state.claim.clone()),
            Intent::Complete if free => {
                states.iter().skip(place + 1).find(|s| !s.lock && !s.off).map(|s| s.name.clone())
            }
            Intent::Complete => None,
            Intent::Escalate => flow.escalation().cloned().filter(|_| self.task.kind != Kind::Step),
            Intent::Close => {
                let closing = flow.closing().cloned().filter(|_| self.task.kind != Kind::Step);
                closing.or_else(|| states.iter().find(|s| s.terminal && !s.off).map(|s| s.name.clone()))
            }
            Intent::Cancel => flow.canceling().cloned().filter(|_| self.task.kind != Kind::Step),
        };
        if named.is_none() && intent == Intent::Cancel && self.task.kind != Kind::Step {
            return Err(Refusal::NoCanceling { task: self.task.id.clone() });
        }
        named.ok_or_else(|| Refusal::NoPlainIntent {
            task: self.task.id.clone(),
            intent: intent.as_str(),
            state: self.task.state.clone(),
        })
    }

    /// Whether the move is allowed, and how.
    pub(super) fn allowed(
        &self,
        request: &Request<'_>,
        command: Option<&Command>,
        to: &StateName,
    ) -> Result<Leave, Refusal> {
        let blocked = self.starts_blocked(command, to);
        if let Some(blocked) = blocked.clone().filter(|_| !self.insists(request.force)) {
            return Err(blocked);
        }
        let leave = self.granted(self.refusal(command, to), request.force, to)?;
        Ok(Leave { forced: leave.forced || blocked.is_some(), ..leave })
    }

    pub(super) fn granted(&self, refusal: Option<Refusal>, force: bool, to: &StateName) -> Result<Leave, Refusal> {
        match refusal {
            None => Ok(Leave::default()),
            Some(refusal) if self.is_person() && !Self::harms(&refusal) => {
                let departure = (!self.only_skips_a_claim(to)).then(|| self.departure(refusal, to));
                Ok(Leave { departure, forced: false })
            }
            Some(_) if self.insists(force) => Ok(Leave { departure: None, forced: true }),
            Some(refusal) => Err(refusal),
        }
    }

    pub(super) fn refusal(&self, command: Option<&Command>, to: &StateName) -> Option<Refusal> {
        let (flow, mode) = (&self.rules.flow, self.rules.mode);
        let (id, from) = (&self.task.id, &self.task.state);
        let here = flow.state(self.task.kind, from);
        let person = self.is_decided_by_person();
        // Nothing changes, or a person moves a task out of a state that the workflow does not have.
        if (command.is_none() && from == to) || (person && here.is_none()) {
            return None;
        }
        if self.lacks_result(to) {
            return Some(Refusal::NoResult { task: id.clone() });
        }
        if self.is_free() {
            return (from == to && here.is_some_and(|s| s.terminal)).then(|| self.not_allowed(to));
        }
        if Some(from) == flow.escalation() && !person {
            return Some(Refusal::NeedsPerson { task: id.clone() });
        }
        let leaves = here.is_some_and(|state| state.leave.contains(to));
        if leaves && !person && here.is_some_and(|state| state.terminal) {
            return Some(Refusal::PeopleOnly { worker: self.actor.worker.clone(), what: "reopen a finished task" });
        }
        if let Some(ahead) = self.ahead_of_children(to) {
            return Some(ahead);
        }
        // People can cancel any open task.
        let cancels = here.is_some_and(|state| !state.terminal) && flow.canceling() == Some(to);
        let left_by_person = person && (leaves || cancels);
        match command {
            _ if left_by_person => None,
            Some(command) if command.leads(from, to, mode, flow) => self.ready_for(command, to),
            Some(command) => Some(self.wrong_way(command, to)),
            None => Some(self.not_allowed(to)),
        }
    }

    /// The refusal if a person, or anybody on a board without commands, starts a blocked task.
    fn starts_blocked(&self, command: Option<&Command>, to: &StateName) -> Option<Refusal> {
        let starts = self.task.state != *to && self.is_lock(to) && self.task.kind != Kind::Step;
        let anyway = command.is_some_and(|command| command.on_blocked);
        if !starts || anyway || !(self.is_person() || self.is_free()) {
            return None;
        }
        let by = self.board.open_blockers(self.at, self.rules);
        (!by.is_empty()).then(|| Refusal::Blocked { task: self.task.id.clone(), by })
    }

    /// Whether a worker completes a step without stating its result.
    fn lacks_result(&self, to: &StateName) -> bool {
        let done = self.rules.flow.is_terminal(self.task.kind, to);
        done && self.is_held() && self.task.step.as_ref().is_some_and(|step| step.result.is_none())
    }

    fn not_allowed(&self, to: &StateName) -> Refusal {
        let (flow, mode, from) = (&self.rules.flow, self.rules.mode, &self.task.state);
        let here = flow.state(self.task.kind, from).filter(|_| self.is_decided_by_person());
        let leave = here.map(|state| state.leave.as_slice()).unwrap_or_default();
        let leads =
            |to: &StateName| leave.contains(to) || flow.commands().iter().any(|c| c.leads(from, to, mode, flow));
        let allowed = flow
            .states()
            .iter()
            .map(|state| &state.name)
            // A target that would be refused because of size or blockers is not offered.
            .filter(|name| *name != from && *name != to && leads(name))
            .cloned()
            .collect();
        self.refused_to(to, self.who(), allowed)
    }

    fn refused_to(&self, to: &StateName, actor: &str, allowed: Vec<StateName>) -> Refusal {
        let (task, from) = (self.task.id.clone(), self.task.state.clone());
        Refusal::NotAllowed { task, from, to: to.to_string(), actor: actor.to_owned(), allowed }
    }

    fn wrong_way(&self, command: &Command, to: &StateName) -> Refusal {
        let (flow, mode, from) = (&self.rules.flow, self.rules.mode, &self.task.state);
        let starts = command.from.contains(from) && command.modes.contains(&mode);
        if starts && command.lock.is_some() && command.may_end_in(flow).contains(to) {
            return Refusal::NotClaimed { task: self.task.id.clone(), command: command.name.clone() };
        }
        let allowed = flow
            .states()
            .iter()
            .map(|s| &s.name)
            .filter(|name| command.leads(from, name, mode, flow))
            .cloned()
            .collect();
        self.refused_to(to, &command.name, allowed)
    }

    /// Checks the requirements of the command: the task is unblocked and small enough, it is its turn in the group, the actor
    /// holds the lock, and the documents are linked.
    fn ready_for(&self, command: &Command, to: &StateName) -> Option<Refusal> {
        let escalates = self.rules.flow.escalation() == Some(to);
        if escalates {
            return None;
        }
        let id = &self.task.id;
        let oversized = self.is_oversized();
        if oversized && command.small_ends.contains(to) && self.links.children(self.at).is_empty() {
            let size = self.task.estimate.map(|e| e.as_str()).unwrap_or_default();
            return Some(Refusal::Oversized { task: id.clone(), size, command: format!("{} to {to}", command.name) });
        }
        let epic = self.task.kind == Kind::Epic;
        if command.sizes == Sizes::Oversized && !oversized && !epic && self.is_held() {
            return Some(Refusal::SmallEnough { task: id.clone(), command: command.name.clone() });
        }
        let entering = command.lock.as_ref() == Some(to) && self.task.state != *to;
        let works = entering || command.lock.is_none();
        if works && let Some(refusal) = self.board.unfit(self.at, command, self.rules, self.links) {
            return Some(refusal);
        }
        let locked = command.lock.as_ref() == Some(&self.task.state);
        let mine = self.board.claim(id).is_some_and(|claim| claim.live && claim.is_of(&self.actor.worker));
        (self.is_held() && locked && !mine)
            .then(|| Refusal::NotClaimed { task: id.clone(), command: command.name.clone() })
            .or_else(|| self.unlinked(command, to))
    }

    /// Refuses to move a parent ahead of its children.
    fn ahead_of_children(&self, to: &StateName) -> Option<Refusal> {
        let flow = &self.rules.flow;
        let goal = flow.state(self.task.kind, to).filter(|state| !state.off)?;
        let rank = |task: &Task| flow.position(task.kind, &task.state);
        let goal_rank = flow.position(self.task.kind, &goal.name);
        let children = self.links.children(self.at).iter().map(|&child| &self.board.tasks()[child]);
        let open = children.filter(|task| Some(&task.state) != flow.canceling());
        let behind = |task: &&Task| flow.state(task.kind, &task.state).is_none_or(|s| s.off || rank(task) < goal_rank);
        let forward = goal_rank > rank(self.task);
        let waiting: Vec<TaskId> = open.filter(behind).map(|task| task.id.clone()).collect();
        (forward && !waiting.is_empty())
            .then(|| Refusal::AheadOfChildren { task: self.task.id.clone(), children: waiting })
    }
}

//! Moves that a person, a worker or a program requests.

use super::case::Case;
use super::{Admission, ClaimEffect, Goal, Request, evidence};
use crate::board::{Change, Refusal};
use crate::task::{Key, Kind, StateName, Value};
use crate::workflow::{Command, Intent};

impl Case<'_> {
    pub fn moved(&self, request: &Request<'_>) -> Result<Admission, Refusal> {
        self.refuse_strangers(request.force)?;
        if self.is_held() {
            self.refuse_outdated(request.force)?;
        }
        if request.goal == Goal::Intent(Intent::Escalate) && self.escalates_in_place() {
            self.refuse_finished()?;
            return Ok(self.escalated_in_place());
        }
        self.refuse_unnamed(request)?;
        let command = self.command(request)?;
        let to = self.target(request, command)?;
        // A move into the lock state of a command is a claim for that command, from every interface.
        if let Some(command) = command.filter(|command| self.claims(command, &to, request)) {
            return self.take_for(command, request);
        }
        let leave = self.allowed(request, command, &to)?;
        let mut admission = self.effect(command, to)?;
        leave.mark(&mut admission);
        admission.forced |= self.overrides_claim();
        if self.takes_lock(&admission) {
            self.refuse_too_many()?;
            self.own(&mut admission.changes);
            admission.claim = if self.is_mine() { ClaimEffect::Renewed } else { ClaimEffect::Taken };
            self.grant_paths(&mut admission, request)?;
        }
        evidence::refuse_unproven(self, &admission, &request.evidence)?;
        Ok(admission)
    }

    /// Whether another worker holds the task, so that only force made the move possible.
    fn overrides_claim(&self) -> bool {
        self.board.binding_claim(self.at).is_some_and(|(_, claim)| !claim.is_of(&self.actor.worker))
    }

    /// Whether the workflow has no state for tasks handed to a person: the task is flagged, and no worker takes it.
    fn escalates_in_place(&self) -> bool {
        self.rules.flow.escalation().is_none() && self.task.kind != Kind::Step
    }

    fn escalated_in_place(&self) -> Admission {
        let task = &self.task.id;
        let state = self.rules.flow.state(self.task.kind, &self.task.state);
        let to = state.and_then(|state| state.release.clone()).unwrap_or_else(|| self.task.state.clone());
        let mut admission = Admission { claim: ClaimEffect::Ended, ..Admission::staying(self.task.state.clone()) };
        let set = |key: &str, new: Option<Value>| Change::set(task, key, self.task.value(&Key::new(key)), new);
        if to != self.task.state {
            admission.changes.push(set("state", Some(Value::text(&to))));
        }
        if self.task.owner.is_some() {
            admission.changes.push(set("owner", None));
        }
        if self.task.attention.is_none() {
            admission.changes.push(set("attention", Some(Value::text("handed to a person"))));
        }
        admission.to = to;
        admission
    }

    /// Only a person can move a task without naming a command.
    fn refuse_unnamed(&self, request: &Request<'_>) -> Result<(), Refusal> {
        match request.command.is_none() && self.role().is_none() && self.actor.is_held(self.rules) {
            true => Err(Refusal::ProgramNeedsCommand { task: self.task.id.clone() }),
            false => Ok(()),
        }
    }

    /// Whether a move into a lock state is a claim, as it is even if the task is in that state already. A person who names the
    /// current state requests nothing.
    fn claims(&self, command: &Command, to: &StateName, request: &Request<'_>) -> bool {
        let idle = self.task.state == *to && self.is_person() && request.goal != Goal::Intent(Intent::Lock);
        command.lock.as_ref() == Some(to) && !idle
    }

    /// Whether the move makes the actor the holder. A review that moves a task to a lock state leaves the claim to another worker.
    fn takes_lock(&self, admission: &Admission) -> bool {
        let enters = admission.from != admission.to && self.is_lock(&admission.to);
        enters && (admission.claim != ClaimEffect::Ended || admission.command.is_none())
    }
}

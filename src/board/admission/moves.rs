//! Moves that a person, a worker or a program asks for.

use super::case::Case;
use super::{Admission, ClaimEffect, Goal, Request, evidence};
use crate::board::Refusal;
use crate::task::StateName;
use crate::workflow::{Command, Intent};

impl Case<'_> {
    pub fn moved(&self, request: &Request<'_>) -> Result<Admission, Refusal> {
        self.refuse_strangers(request.force)?;
        self.refuse_unnamed(request)?;
        let command = self.command(request)?;
        let to = self.target(request, command)?;
        // To go to a command's own lock is to claim the task for it, whichever door is used.
        if let Some(command) = command.filter(|command| self.claims(command, &to, request)) {
            return self.take_for(command, request);
        }
        let forced = self.allowed(request, command, &to)?;
        let mut admission = self.effect(command, to, forced)?;
        if self.takes_lock(&admission) {
            self.refuse_too_many()?;
            self.own(&mut admission.changes);
            admission.claim = if self.is_mine() { ClaimEffect::Renewed } else { ClaimEffect::Taken };
        }
        evidence::refuse_unproven(self, &admission, &request.evidence)?;
        Ok(admission)
    }

    /// Only a person moves a task without saying as what.
    fn refuse_unnamed(&self, request: &Request<'_>) -> Result<(), Refusal> {
        match request.command.is_none() && self.role().is_none() && self.actor.is_held(self.rules) {
            true => Err(Refusal::ProgramNeedsCommand { task: self.task.id.clone() }),
            false => Ok(()),
        }
    }

    /// Whoever asks for a lock wants to hold it, also where the task is in that state already. Only a person who names the
    /// state that it is in asks for nothing.
    fn claims(&self, command: &Command, to: &StateName, request: &Request<'_>) -> bool {
        let idle = self.task.state == *to && self.is_person() && request.goal != Goal::Intent(Intent::Lock);
        command.lock.as_ref() == Some(to) && !idle
    }

    /// Whoever goes into a lock to work holds it. A review that lets work begin leaves the lock to whoever takes it up.
    fn takes_lock(&self, admission: &Admission) -> bool {
        let enters = admission.from != admission.to && self.is_lock(&admission.to);
        enters && (admission.claim != ClaimEffect::Ended || admission.command.is_none())
    }
}

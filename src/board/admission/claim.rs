//! Claims: one worker takes a task, for a command or for none.

use super::case::Case;
use super::{Admission, ClaimEffect, Request};
use crate::board::{Actor, Change, Claim, Refusal, Rules};
use crate::task::{Key, Kind, Task, Value};
use crate::workflow::{Command, Sizes};

impl<'a> Case<'a> {
    pub fn claim(&self, request: &Request<'_>) -> Result<Admission, Refusal> {
        let others = self.board.binding_claim(self.at).filter(|(_, claim)| !claim.is_of(&self.actor.worker));
        if let Some((held, claim)) = others.filter(|_| !self.insists(request.force)) {
            return Err(Refusal::held(held, claim));
        }
        self.refuse_outdated(request.force)?;
        if request.command.is_none() {
            self.refuse_finished()?;
        }
        match self.claimed_for(request)? {
            Some(command) => self.take_for(command, request),
            None => self.take_plainly(request),
        }
    }

    /// Moves the task into the command's lock state; only claims it if the command has none or the task is already there.
    pub fn take_for(&self, command: &Command, request: &Request<'_>) -> Result<Admission, Refusal> {
        self.refuse_other_roles(command)?;
        self.refuse_finished()?;
        let own = self.own_claim();
        let renews = own.is_some_and(|own| own.command.as_ref() == Some(&command.name));
        if command.group && !renews && !self.insists(request.force) {
            self.refuse_holder_ahead()?;
        }
        let enters = command.lock.as_ref().filter(|lock| **lock != self.task.state);
        let admission = match enters {
            // A claim that is renewed stays, even if the task has become blocked since.
            _ if renews => self.kept(Some(command)),
            Some(lock) => {
                let leave = self.allowed(request, Some(command), lock)?;
                let mut admission = self.effect(Some(command), lock.clone())?;
                leave.mark(&mut admission);
                admission
            }
            None => {
                let leave = self.granted(self.not_startable(command), request.force, &self.task.state)?;
                let mut admission = self.kept(Some(command));
                leave.mark(&mut admission);
                admission
            }
        };
        self.taken(admission, request)
    }

    /// Refuses shared work on a member that follows its group while another worker holds the members ahead: the group has one
    /// worktree.
    fn refuse_holder_ahead(&self) -> Result<(), Refusal> {
        let place = |task: &Task| self.rules.flow.position(task.kind, &task.state);
        let Ok(group) = self.board.group_of(self.at, self.links, self.rules) else { return Ok(()) };
        let mut ahead =
            group.members.iter().map(|&at| &self.board.tasks()[at]).filter(|task| place(task) > place(self.task));
        let held = |task: &Task| {
            let claim = self.board.claim(&task.id).filter(|claim| claim.live && !claim.is_of(&self.actor.worker))?;
            Some(Refusal::held(&task.id, claim))
        };
        ahead.find_map(held).map_or(Ok(()), Err)
    }

    /// A claim without a command leaves the state as it is, unless the workflow names a state for claimed tasks.
    fn take_plainly(&self, request: &Request<'_>) -> Result<Admission, Refusal> {
        let leads = self.rules.flow.state(self.task.kind, &self.task.state).and_then(|state| state.claim.clone());
        let admission = match leads.filter(|_| self.own_claim().is_none()) {
            Some(to) => {
                let leave = self.allowed(request, None, &to)?;
                let mut admission = self.effect(None, to)?;
                leave.mark(&mut admission);
                admission
            }
            None => self.kept(None),
        };
        self.taken(admission, request)
    }

    /// Adds the claim: the actor becomes holder and owner of the task, and of the step that it serves.
    fn taken(&self, mut admission: Admission, request: &Request<'_>) -> Result<Admission, Refusal> {
        self.refuse_too_many()?;
        self.own(&mut admission.changes);
        let step = request.step.and_then(|step| self.board.get(step));
        admission.changes.extend(step.into_iter().flat_map(|step| step_in_hand(step, self.actor, self.rules)));
        admission.claim = if self.own_claim().is_some() { ClaimEffect::Renewed } else { ClaimEffect::Taken };
        self.grant_paths(&mut admission, request)?;
        Ok(admission)
    }

    fn kept(&self, command: Option<&Command>) -> Admission {
        let command = command.map(|command| command.name.clone());
        Admission { command, ..Admission::staying(self.task.state.clone()) }
    }

    pub(super) fn own_claim(&self) -> Option<&'a Claim> {
        self.board.claim(&self.task.id).filter(|claim| claim.live && claim.is_of(&self.actor.worker))
    }

    pub fn refuse_finished(&self) -> Result<(), Refusal> {
        match self.rules.flow.is_terminal(self.task.kind, &self.task.state) {
            true => Err(Refusal::Finished { task: self.task.id.clone(), state: self.task.state.clone() }),
            false => Ok(()),
        }
    }

    /// Limits apply to a worker who takes one more task, not to one who already holds it.
    pub fn refuse_too_many(&self) -> Result<(), Refusal> {
        match self.is_mine() {
            true => Ok(()),
            false => self.board.refuse_too_many(self.rules, &self.actor.worker),
        }
    }

    /// Makes the actor the owner of the task, and removes other changes of its owner.
    pub fn own(&self, changes: &mut Vec<Change>) {
        let (id, owner) = (&self.task.id, Key::new("owner"));
        let (old, new) = (self.task.value(&owner), Some(Value::text(&self.actor.worker)));
        changes.retain(|change| !matches!(change, Change::Set { task, key, .. } if task == id && *key == owner));
        if old != new {
            changes.push(Change::Set { task: id.clone(), key: owner, old, new });
        }
    }

    /// The command a claim is for: the named one, that of the claim being renewed, or the only one that fits the role.
    fn claimed_for(&self, request: &Request<'_>) -> Result<Option<&'a Command>, Refusal> {
        let flow = &self.rules.flow;
        let own = self.own_claim().and_then(|claim| claim.command.as_deref());
        if let Some(name) = request.command.or(own) {
            return Ok(Some(flow.command(name)?));
        }
        // A person claims without a command.
        if !self.is_held() || self.task.kind == Kind::Step || flow.commands().is_empty() {
            return Ok(None);
        }
        let role = self.role();
        let none_fits = || {
            let role = role.unwrap_or(self.actor.worker.as_str()).to_owned();
            Refusal::NotIntake { task: self.task.id.clone(), role, state: self.task.state.clone() }
        };
        let state = flow.state(self.task.kind, &self.task.state).ok_or_else(none_fits)?;
        let sized = |command: &Command| command.sizes != Sizes::Oversized || self.is_oversized();
        let fits = |command: &&Command| {
            (command.takes(state, self.rules.mode) && sized(command)) || command.lock.as_ref() == Some(&state.name)
        };
        let mine = |command: &&Command| role.is_none_or(|role| command.is_for(role, self.rules.mode));
        let found: Vec<&Command> = flow.commands().iter().filter(mine).filter(fits).collect();
        match found.as_slice() {
            [] => Err(none_fits()),
            [one] => Ok(Some(one)),
            many => {
                let choices = many.iter().map(|command| command.name.clone()).collect();
                Err(Refusal::NeedsCommand { task: self.task.id.clone(), choices })
            }
        }
    }

    /// Why a command cannot start in the task's state: it starts in other states, or the task is not fit for it.
    fn not_startable(&self, command: &Command) -> Option<Refusal> {
        let state = self.rules.flow.state(self.task.kind, &self.task.state);
        let locked = command.lock.as_ref() == Some(&self.task.state);
        if !locked && !state.is_some_and(|state| command.takes(state, self.rules.mode)) {
            return Some(Refusal::NotStart {
                task: self.task.id.clone(),
                state: self.task.state.clone(),
                command: command.name.clone(),
                from: command.from.clone(),
            });
        }
        self.board.unfit(self.at, command, self.rules, self.links)
    }
}

/// Gives a step of a team to the worker, and moves it to its lock state.
fn step_in_hand(step: &Task, actor: &Actor, rules: &Rules) -> Vec<Change> {
    let lock = rules.flow.states_of(step.kind).iter().find(|state| state.lock);
    let mut changes: Vec<Change> = lock
        .filter(|lock| lock.name != step.state)
        .map(|lock| Change::set(&step.id, "state", Some(Value::text(&step.state)), Some(Value::text(&lock.name))))
        .into_iter()
        .collect();
    let (old, new) = (step.value(&Key::new("owner")), Some(Value::text(&actor.worker)));
    if old != new {
        changes.push(Change::set(&step.id, "owner", old, new));
    }
    changes
}

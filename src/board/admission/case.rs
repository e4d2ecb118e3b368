//! One request with the board, the rules and the actor, and the checks that every decision starts with.

use super::super::{Actor, ActorKind, Board, Links, Refusal, Rules};
use crate::task::{Kind, Task, TaskId};
use crate::workflow::{Command, Role};

pub(super) struct Case<'a> {
    pub board: &'a Board,
    pub links: &'a Links<'a>,
    pub rules: &'a Rules,
    pub actor: &'a Actor,
    pub at: usize,
    pub task: &'a Task,
}

impl<'a> Case<'a> {
    pub fn new(
        board: &'a Board,
        links: &'a Links<'a>,
        rules: &'a Rules,
        actor: &'a Actor,
        id: &TaskId,
    ) -> Result<Self, Refusal> {
        let at = board.index_of(id).ok_or_else(|| Refusal::Missing(id.clone()))?;
        Ok(Self { board, links, rules, actor, at, task: &board.tasks()[at] })
    }

    pub fn role(&self) -> Option<&'a str> {
        self.actor.role(self.rules)
    }

    pub fn is_person(&self) -> bool {
        self.actor.kind == ActorKind::Named && self.role().is_none()
    }

    /// Whether a person decided about it: here, or outside of ralph. A hosted session is trusted, but it is not a person.
    pub fn is_decided_by_person(&self) -> bool {
        self.is_person() || self.actor.is_outside()
    }

    /// The actor as a refusal names it.
    pub fn who(&self) -> &'a str {
        if self.is_decided_by_person() { "a person" } else { self.actor.worker.as_str() }
    }

    /// Whether the actor is bound by the workflow's table.
    pub fn is_held(&self) -> bool {
        self.actor.is_held(self.rules)
    }

    /// Whether every move between states is allowed: for steps of a team, and on boards whose workflow has no commands.
    pub fn is_free(&self) -> bool {
        self.task.kind == Kind::Step || self.rules.flow.commands().is_empty()
    }

    pub fn is_lock(&self, state: &crate::task::StateName) -> bool {
        self.rules.flow.state(self.task.kind, state).is_some_and(|state| state.lock)
    }

    /// Whether the actor holds the task's own claim.
    pub fn is_mine(&self) -> bool {
        self.board.claim(&self.task.id).is_some_and(|claim| claim.live && claim.is_of(&self.actor.worker))
    }

    /// Whether the actor is allowed to use force, and does.
    pub fn insists(&self, force: bool) -> bool {
        self.rules.insists(self.actor, force)
    }

    /// Refuses if another worker has a live claim, or if the actor has lost the claim that it shows.
    pub fn refuse_strangers(&self, force: bool) -> Result<(), Refusal> {
        let id = &self.task.id;
        let claim = self.board.binding_claim(self.at);
        let proof = self.actor.proof_for(id);
        match (claim, proof) {
            (Some((held, claim)), _) if !claim.is_of(&self.actor.worker) => match self.insists(force) {
                true => Ok(()),
                false => Err(Refusal::held(held, claim)),
            },
            (Some((_, claim)), Some(proof)) if claim.proof(id) != proof => Err(Refusal::Lost { task: id.clone() }),
            (None, Some(_)) => Err(Refusal::Lost { task: id.clone() }),
            _ => Ok(()),
        }
    }

    /// Refuses a task that has changed in a place that this clone has not read yet: work on it would be done twice.
    pub fn refuse_outdated(&self, force: bool) -> Result<(), Refusal> {
        let known = self.is_mine() || self.insists(force);
        match self.board.changed_at(&self.task.id).filter(|_| !known) {
            Some(place) => Err(Refusal::Outdated { task: self.task.id.clone(), place: place.to_owned() }),
            None => Ok(()),
        }
    }

    pub fn refuse_other_roles(&self, command: &Command) -> Result<(), Refusal> {
        if command.people && !self.is_decided_by_person() {
            return Err(Refusal::PeopleOnly { worker: self.actor.worker.clone(), what: "merge" });
        }
        let Some(role) = self.role().filter(|role| !command.is_for(role, self.rules.mode)) else { return Ok(()) };
        let is_for = |other: &&Role| command.is_for(&other.name, self.rules.mode);
        let roles = self.rules.flow.roles().iter().filter(is_for).map(|role| role.name.clone()).collect();
        Err(Refusal::NotYourCommand { command: command.name.clone(), role: role.to_owned(), roles })
    }

    pub fn is_oversized(&self) -> bool {
        self.task.estimate.is_some_and(|estimate| estimate.is_oversized())
    }
}

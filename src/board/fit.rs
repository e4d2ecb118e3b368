//! Whether a command can start on a task, apart from its state: its blockers, its size, its documents, and its group.

use super::{Actor, Assignment, Board, Links, Refusal, Rules};
use crate::task::{Kind, StateName, Task, TaskId};
use crate::workflow::{Command, Sizes};

impl Rules {
    /// Whether the actor is allowed to use force, and does.
    pub fn insists(&self, actor: &Actor, force: bool) -> bool {
        force && actor.role(self).is_none() && !actor.is_program()
    }

    /// The requirements of a command on a task before it can start.
    pub fn refuse_lacking(&self, task: &Task, command: &Command) -> Result<(), Refusal> {
        self.lacking(task, command).map_or(Ok(()), Err)
    }

    /// A person can create tasks in any state, an agent only in the initial one.
    pub fn refuse_start(&self, actor: &Actor, kind: Kind, state: &StateName) -> Result<(), Refusal> {
        let initial = self.flow.initial(kind);
        match actor.is_held(self) && state != initial {
            true => Err(Refusal::NotInitial { state: state.clone(), initial: initial.clone() }),
            false => Ok(()),
        }
    }

    /// Only a person can handle a flagged task.
    pub fn refuse_fields(&self, actor: &Actor, wanted: &[Assignment]) -> Result<(), Refusal> {
        let flag = wanted.iter().find(|assignment| assignment.key().as_str() == "attention");
        match flag.filter(|_| actor.is_held(self)) {
            Some(_) => Err(Refusal::FlagNeedsPerson { worker: actor.worker.clone() }),
            None => Ok(()),
        }
    }

    /// The first document that a command needs and the task does not link.
    pub fn lacking(&self, task: &Task, command: &Command) -> Option<Refusal> {
        let kind = command.needs.iter().find(|kind| !task.artifacts.contains_key(*kind))?;
        Some(Refusal::Lacks { task: task.id.clone(), kind: kind.clone() })
    }
}

impl Board {
    /// Why a command cannot start on this task, apart from its state; `None` if it can.
    pub(super) fn unfit(&self, at: usize, command: &Command, rules: &Rules, links: &Links<'_>) -> Option<Refusal> {
        let task = &self.tasks()[at];
        if !command.on_blocked {
            let blockers = self.open_blockers(at, rules);
            if !blockers.is_empty() {
                return Some(Refusal::Blocked { task: task.id.clone(), by: blockers });
            }
        }
        let oversized = task.estimate.is_some_and(|estimate| estimate.is_oversized());
        if command.sizes == Sizes::Small && oversized {
            let size = task.estimate.map(|e| e.as_str()).unwrap_or_default();
            return Some(Refusal::Oversized { task: task.id.clone(), size, command: command.name.clone() });
        }
        if !command.group {
            return None;
        }
        let group = match self.group_of(at, links, rules) {
            Ok(group) => group,
            Err(refusal) => return Some(refusal),
        };
        if let Some(behind) = self.not_converged(at, &group, rules) {
            return Some(behind);
        }
        let primary = self.acting_primary(at, &group);
        (primary != at).then(|| Refusal::NotPrimary {
            task: task.id.clone(),
            primary: self.tasks()[primary].id.clone(),
            command: command.name.clone(),
        })
    }

    /// Whether it is the task's turn in its group: some command takes it alone, or as the primary once all members are there.
    pub(super) fn is_its_turn(&self, at: usize, links: &Links<'_>, rules: &Rules) -> bool {
        let grouped = self.parent_of(at).is_some_and(|parent| self.tasks()[parent].atomic);
        let task = &self.tasks()[at];
        let Some(state) = rules.flow.state(task.kind, &task.state).filter(|_| grouped) else { return true };
        let mut commands = rules.flow.commands().iter().filter(|command| command.takes(state, rules.mode));
        commands.any(|command| !command.group || self.unfit(at, command, rules, links).is_none())
    }

    /// Why it is not the task's turn in its group; `None` if it is.
    pub fn not_its_turn(&self, at: usize, rules: &Rules) -> Option<Refusal> {
        let links = Links::new(self);
        if self.is_its_turn(at, &links, rules) {
            return None;
        }
        let task = &self.tasks()[at];
        let state = rules.flow.state(task.kind, &task.state)?;
        let mut commands = rules.flow.commands().iter().filter(|command| command.takes(state, rules.mode));
        commands.find_map(|command| self.unfit(at, command, rules, &links))
    }

    /// The open blockers of a task and its ancestors; inside an atomic group, blockers only order the phases.
    pub fn open_blockers(&self, at: usize, rules: &Rules) -> Vec<TaskId> {
        let mut found = Vec::new();
        let mut seen = Vec::new();
        let mut next = Some(at);
        while let Some(here) = next.filter(|here| !seen.contains(here)) {
            seen.push(here);
            for (id, place) in self.blockers_of(here) {
                let within = place.is_some_and(|other| self.are_phases(here, other));
                let over = match place {
                    Some(other) => rules.flow.is_terminal(self.tasks()[other].kind, &self.tasks()[other].state),
                    None => self.archived(id).is_some(),
                };
                if !within && !over && !found.contains(id) {
                    found.push(id.clone());
                }
            }
            next = self.parent_of(here);
        }
        found
    }
}

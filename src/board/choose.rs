//! Choosing work: the best task for a worker, and the command for it.

use std::cmp::Reverse;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::{Board, Links, Rules, ScopeMode, Standings};
use crate::task::{Estimate, Kind, StateName, Task, TaskId, Worker};
use crate::workflow::{Command, Sizes};

/// A task to start, and the command for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    pub task: TaskId,
    /// None on a board whose workflow has no commands.
    pub command: Option<String>,
    /// The worker already holds it.
    pub resume: bool,
}

/// The command of a role for a task in its current state: split for a large task, otherwise the last one that fits.
pub fn command_for<'r>(task: &Task, has_children: bool, role: &str, rules: &'r Rules) -> Option<&'r Command> {
    let state = rules.flow.state(task.kind, &task.state)?;
    let oversized = !has_children && task.estimate.is_some_and(|estimate| estimate.is_oversized());
    let fits = |command: &&Command| {
        command.takes(state, rules.mode)
            && !rules.is_left(task, &command.name)
            && match command.sizes {
                Sizes::Oversized => oversized,
                Sizes::Small => !oversized,
                Sizes::Any => true,
            }
    };
    let found: Vec<&Command> = rules.flow.commands_of(role, rules.mode).filter(fits).collect();
    let splits = found.iter().find(|command| command.sizes == Sizes::Oversized);
    splits.or_else(|| unopened(task, &found)).or(found.last()).copied()
}

/// The command that left a task in its state, if no other command takes the task from there, and the label that marks this.
pub fn left_by<'r>(task: &Task, rules: &'r Rules) -> Option<(&'r Command, &'r str)> {
    let state = rules.flow.state(task.kind, &task.state)?;
    let left = |command: &&Command| command.takes(state, rules.mode) && rules.is_left(task, &command.name);
    let command = rules.flow.commands().iter().find(left)?;
    let taken = rules.flow.roles().iter().any(|role| command_for(task, false, &role.name, rules).is_some());
    command.stay.as_deref().filter(|_| !taken).map(|mark| (command, mark))
}

/// A mirrored task gets a pull request before it is merged: of two commands that start in the same state, the one that also
/// ends there comes first.
fn unopened<'a, 'r>(task: &Task, found: &'a [&'r Command]) -> Option<&'a &'r Command> {
    let mirrored = task.github.is_some() && !task.artifacts.contains_key("pr");
    found.iter().find(|command| mirrored && command.complete.as_ref() == Some(&task.state))
}

impl Board {
    /// The best task for a role, or for a person: first the tasks that the worker holds, then those it owns, then by priority,
    /// then by progress, then the oldest.
    pub fn choose(&self, role: Option<&str>, worker: Option<&Worker>, rules: &Rules) -> Option<Choice> {
        self.choose_but(role, worker, &|_| false, rules)
    }

    /// The same as `choose`, without the tasks that `is_left_out` names.
    pub fn choose_but(
        &self,
        role: Option<&str>,
        worker: Option<&Worker>,
        is_left_out: &dyn Fn(&TaskId) -> bool,
        rules: &Rules,
    ) -> Option<Choice> {
        let links = Links::new(self);
        let standings = Standings::new(self, rules);
        let mut best: Option<(Order<'_>, Choice)> = None;
        for (at, task) in self.tasks().iter().enumerate().filter(|(_, task)| !is_left_out(&task.id)) {
            let own = worker
                .is_some_and(|worker| self.claim(&task.id).is_some_and(|claim| claim.live && claim.is_of(worker)));
            let owned = role.is_none() && worker.is_some() && task.owner.as_ref() == worker;
            let held = if own {
                Held::Claimed
            } else if owned {
                Held::Owned
            } else {
                Held::No
            };
            let Some(choice) = self.candidate(at, role, held, &links, &standings, rules) else { continue };
            let order = Order::of(task, held, standings.rank(at), rules);
            if best.as_ref().is_none_or(|(other, _)| order < *other) {
                best = Some((order, choice));
            }
        }
        best.map(|(_, choice)| choice)
    }

    /// The places of all tasks in a state that can be taken, best first: first those that the worker holds, then those that are
    /// free and ready. A task without an estimate counts as small.
    pub fn takeable(
        &self,
        state: &StateName,
        most: Estimate,
        worker: Option<&Worker>,
        rules: &Rules,
    ) -> Vec<(usize, bool)> {
        let (links, standings) = (Links::new(self), Standings::new(self, rules));
        let held =
            |at: usize| self.binding_claim(at).map(|(_, claim)| worker.is_some_and(|worker| claim.is_of(worker)));
        let mut found: Vec<(Order<'_>, usize)> = Vec::new();
        for (at, task) in self.tasks().iter().enumerate().filter(|(_, task)| task.state == *state) {
            let issue = task.kind != Kind::Step && task.problems.is_empty() && links.children(at).is_empty();
            let fits = issue && !standings.is_finished(at) && task.estimate.is_none_or(|size| size <= most);
            // A task that the worker holds is continued, even if it has become blocked since.
            let owned = || worker.is_some() && task.owner.as_ref() == worker && !standings.is_blocked(at);
            let mine = held(at).unwrap_or_else(owned);
            if fits && (mine || standings.is_ready(at)) {
                let held = if mine { Held::Claimed } else { Held::No };
                found.push((Order::of(task, held, standings.rank(at), rules), at));
            }
        }
        found.sort();
        found.into_iter().map(|(order, at)| (at, order.held == Held::Claimed)).collect()
    }

    fn candidate(
        &self,
        at: usize,
        role: Option<&str>,
        held: Held,
        links: &Links<'_>,
        standings: &Standings,
        rules: &Rules,
    ) -> Option<Choice> {
        let task = &self.tasks()[at];
        if standings.is_finished(at) || !task.problems.is_empty() || task.kind == Kind::Step {
            return None;
        }
        if held == Held::No && self.changed_at(&task.id).is_some() {
            return None;
        }
        if held == Held::Claimed {
            let command = self.claim(&task.id)?.command.clone();
            return Some(Choice { task: task.id.clone(), command, resume: true });
        }
        // A parent moves with its children; an epic without children must be split first.
        if !links.children(at).is_empty() || (self.is_kept(at, rules) && held == Held::No) {
            return None;
        }
        let Some(role) = role else {
            let free = self.binding_claim(at).is_none();
            let ready = if held == Held::Owned { free && !standings.is_blocked(at) } else { standings.is_ready(at) };
            // People are only warned of overlapping scopes, unless the mode is strict.
            let apart = rules.scopes == ScopeMode::Strict && self.overlap_at(at, rules).is_some();
            return (ready && !apart).then(|| Choice { task: task.id.clone(), command: None, resume: false });
        };
        let command = command_for(task, false, role, rules)?;
        // Work that cannot start, or that is flagged for a person, is not chosen.
        let lacking = command.lock.is_some() && rules.lacking(task, command).is_some();
        if task.attention.is_some() || lacking || self.overlap_of(at, command, rules).is_some() {
            return None;
        }
        let unfit = standings.is_blocked(at) && !command.on_blocked;
        let grouped = command.group && self.parent_of(at).is_some_and(|parent| self.tasks()[parent].atomic);
        if unfit || (grouped && self.unfit(at, command, rules, links).is_some()) {
            return None;
        }
        Some(Choice { task: task.id.clone(), command: Some(command.name.clone()), resume: false })
    }
}

/// Whether the worker already holds a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Held {
    Claimed,
    Owned,
    No,
}

/// The order of candidates; the smallest is the best.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Order<'a> {
    held: Held,
    priority: usize,
    progress: Reverse<usize>,
    /// The place in this clone's own order, for equal tasks, if the clones agree through a remote.
    turn: u64,
    created: (bool, Option<jiff::Timestamp>),
    id: &'a TaskId,
}

impl<'a> Order<'a> {
    fn of(task: &'a Task, held: Held, rank: usize, rules: &Rules) -> Self {
        let priority = task.priority.map_or(usize::MAX, |priority| priority as usize);
        let turn = rules.spread.map_or(0, |clone| turn_of(clone, &task.id));
        let created = (task.created.is_none(), task.created);
        Self { held, priority, progress: Reverse(rank), turn, created, id: &task.id }
    }
}

/// The place of a task in the order of this clone; each clone has a different order.
fn turn_of(clone: u64, id: &TaskId) -> u64 {
    let mut hasher = DefaultHasher::new();
    (clone, id.as_str()).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests;

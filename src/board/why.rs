//! Why a task cannot be started: the chain down to its roots.

use std::collections::HashSet;

use super::{Board, Links, Rules};
use crate::task::TaskId;

/// A task in the chain, and what it waits for in turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    pub task: TaskId,
    /// It is waited for through this ancestor.
    pub through: Option<TaskId>,
    /// It can never be finished as things stand.
    pub dead: Option<String>,
    /// How many open tasks wait for it, directly or not.
    pub frees: usize,
    pub causes: Vec<Cause>,
    /// What it waits for in turn was told before.
    pub again: bool,
}

/// Where the search is, and what it has opened.
struct Trail {
    path: Vec<usize>,
    opened: HashSet<usize>,
}

const DEEPEST: usize = 60;

impl Board {
    /// What a task waits for, each with its own chain; a ring ends where it closes.
    pub fn causes(&self, at: usize, rules: &Rules) -> Vec<Cause> {
        let links = Links::new(self);
        let mut trail = Trail { path: vec![at], opened: HashSet::new() };
        self.causes_of(at, rules, &links, &mut trail)
    }

    fn causes_of(&self, at: usize, rules: &Rules, links: &Links<'_>, trail: &mut Trail) -> Vec<Cause> {
        let mut found: Vec<Cause> = Vec::new();
        let mut next = Some(at);
        let mut seen = Vec::new();
        while let Some(here) = next.filter(|here| !seen.contains(here)) {
            seen.push(here);
            for (id, place) in self.blockers_of(here) {
                let over = place.map_or_else(
                    || self.archived(id).is_some(),
                    |other| {
                        rules.flow.is_terminal(self.tasks()[other].kind, &self.tasks()[other].state)
                            || self.are_phases(here, other)
                    },
                );
                if !over && !found.iter().any(|cause| cause.task == *id) {
                    let through = (here != at).then(|| self.tasks()[here].id.clone());
                    found.push(self.cause(id, place, through, rules, links, trail));
                }
            }
            next = self.parent_of(here);
        }
        found
    }

    fn cause(
        &self,
        id: &TaskId,
        place: Option<usize>,
        through: Option<TaskId>,
        rules: &Rules,
        links: &Links<'_>,
        trail: &mut Trail,
    ) -> Cause {
        let mut cause = Cause {
            task: id.clone(),
            through,
            dead: self.dead(id, place, rules),
            frees: 0,
            causes: Vec::new(),
            again: false,
        };
        let Some(at) = place else { return cause };
        cause.frees = self.freed_by(at, rules, links);
        if trail.path.contains(&at) {
            cause.dead = Some("it waits for itself".into());
            return cause;
        }
        // Deep chains are cut, and what two wait for is opened once: the page stays as long as the board.
        if trail.path.len() > DEEPEST || !trail.opened.insert(at) {
            cause.again = self.blockers_of(at).next().is_some();
            return cause;
        }
        trail.path.push(at);
        cause.causes = self.causes_of(at, rules, links, trail);
        trail.path.pop();
        cause
    }

    /// Why a blocker can never complete by itself.
    fn dead(&self, id: &TaskId, place: Option<usize>, rules: &Rules) -> Option<String> {
        let Some(at) = place else {
            return Some(
                if self.broken_file(id).is_some() { "its file cannot be read" } else { "it does not exist" }.into(),
            );
        };
        let task = &self.tasks()[at];
        let state = rules.flow.state(task.kind, &task.state);
        let canceled =
            self.parent_of(at).map(|parent| &self.tasks()[parent]).filter(|p| Some(&p.state) == rules.flow.canceling());
        match state {
            None => Some(format!("its state {:?} is not known", task.state.as_str())),
            Some(_) if Some(&task.state) == rules.flow.escalation() => Some("it waits for a person".into()),
            Some(_) => canceled.map(|parent| format!("its parent {} is {}", parent.id, parent.state)),
        }
    }

    /// How many open tasks wait for this one, directly or through others.
    pub fn freed_by(&self, at: usize, rules: &Rules, links: &Links<'_>) -> usize {
        let mut seen = HashSet::from([at]);
        let mut queue = vec![at];
        while let Some(here) = queue.pop() {
            for &next in links.dependents(here).iter().chain(links.children(here)) {
                let task = &self.tasks()[next];
                if !rules.flow.is_terminal(task.kind, &task.state) && seen.insert(next) {
                    queue.push(next);
                }
            }
        }
        seen.len() - 1
    }
}

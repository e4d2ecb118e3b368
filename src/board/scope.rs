//! Path scopes: the files that a plan changes, when two of them overlap, and which claims conflict.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Board, Claim, Refusal, Rules};
use crate::task::{Kind, StateName, Task, TaskId};
use crate::workflow::Command;

/// The values of `scopes.mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScopeMode {
    /// Claims carry no paths.
    Off,
    /// Workers whose scopes overlap are refused. Everything else is only reported.
    #[default]
    Tell,
    /// People are refused as well, and so are changes outside the scope.
    Strict,
}

/// Files and folders from the root of the repository, in order. A folder covers everything below it. No path means no scope:
/// such a scope covers nothing and overlaps nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<String>")]
pub struct Scope(Vec<String>);

/// Whether a path is outside all scopes: the board itself, and the documents of tasks.
pub fn is_unscoped(path: &str) -> bool {
    [".ralph", "thoughts"].iter().any(|folder| is_below(path, folder))
}

/// The path of a scope that covers the whole repository.
const ROOT: &str = ".";

impl From<Vec<String>> for Scope {
    fn from(paths: Vec<String>) -> Self {
        Self::new(paths)
    }
}

impl Scope {
    /// Paths outside the repository are left out, and so is every path below another. A pattern is replaced by the folder that
    /// contains all possible matches.
    pub fn new<P: AsRef<str>>(paths: impl IntoIterator<Item = P>) -> Self {
        let mut paths: Vec<String> =
            paths.into_iter().filter_map(|path| normalized(before_pattern(path.as_ref()))).collect();
        paths.sort();
        paths.dedup();
        let all = paths.clone();
        paths.retain(|path| !all.iter().any(|other| other != path && is_below(path, other)));
        Self(paths)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn paths(&self) -> &[String] {
        &self.0
    }

    /// Whether it covers a file or folder.
    pub fn covers(&self, path: &str) -> bool {
        normalized(path).is_some_and(|path| self.0.iter().any(|own| is_below(&path, own)))
    }

    pub fn covers_all(&self, other: &Self) -> bool {
        other.0.iter().all(|path| self.0.iter().any(|own| is_below(path, own)))
    }

    /// The first path that both cover; of a folder and a path in it, the path in it.
    pub fn overlap<'a>(&'a self, other: &'a Self) -> Option<&'a str> {
        let shared = |one: &'a String, two: &'a String| {
            if is_below(one, two) { Some(one) } else { is_below(two, one).then_some(two) }
        };
        self.0.iter().find_map(|one| other.0.iter().find_map(|two| shared(one, two))).map(String::as_str)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(", "))
    }
}

/// `./src//sync/../a.rs` → `src/a.rs`; `None` for a path that leads out of the repository.
fn normalized(path: &str) -> Option<String> {
    if path.starts_with(['/', '~']) {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match part {
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(if parts.is_empty() { ROOT.to_owned() } else { parts.join("/") })
}

/// `src/*/mod.rs` → `src/`: the folders before the first part with a wildcard or alternatives.
fn before_pattern(path: &str) -> &str {
    let is_pattern = |part: &str| part.contains('*') || part.find('{').is_some_and(|at| part[at..].contains(','));
    let mut start = 0;
    for part in path.split('/') {
        if is_pattern(part) {
            return if start == 0 { ROOT } else { &path[..start] };
        }
        start += part.len() + 1;
    }
    path
}

/// Whether a path is equal to another or below it, compared by whole components.
fn is_below(path: &str, folder: &str) -> bool {
    folder == ROOT || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl Rules {
    /// Whether a claim has paths because it is for work in a worktree: by its command, or by the state if it has none.
    pub fn has_scope(&self, task: &Task, command: Option<&Command>, state: &StateName) -> bool {
        let builds = |command: &&Command| command.worktree && command.lock.is_some();
        let building = match command {
            Some(command) => builds(&command),
            None => self.flow.commands().iter().filter(builds).any(|command| command.lock.as_ref() == Some(state)),
        };
        building && task.kind != Kind::Step && self.scopes != ScopeMode::Off
    }
}

impl Board {
    /// The same board with the scopes of plans, for tasks that could be taken.
    #[must_use]
    pub fn with_scopes(mut self, scopes: impl IntoIterator<Item = (TaskId, Scope)>) -> Self {
        self.scopes = scopes.into_iter().collect();
        self
    }

    /// Refuses a scope for a task if the live claim of another task covers some of it.
    pub fn refuse_overlap(&self, task: &TaskId, scope: &Scope) -> Result<(), Refusal> {
        let others = self.claims().iter().filter(|(id, claim)| *id != task && claim.live);
        let meets = |(other, claim): (&TaskId, &Claim)| {
            let path = scope.overlap(&claim.paths)?.to_owned();
            let elsewhere = claim.foreign.then(|| claim.host.clone());
            let (task, other, holder) = (task.clone(), other.clone(), claim.worker.clone());
            Some(Refusal::Overlaps { task, path, other, holder, elsewhere })
        };
        others.filter_map(meets).next().map_or(Ok(()), Err)
    }

    /// Why a task should not be taken for a command now, by the scopes that the board was given.
    pub fn overlap_of(&self, at: usize, command: &Command, rules: &Rules) -> Option<Refusal> {
        let task = &self.tasks()[at];
        let scope = self.scopes.get(&task.id).filter(|_| rules.has_scope(task, Some(command), &task.state))?;
        self.refuse_overlap(&task.id, scope).err()
    }

    /// The same for every command that works in a worktree and could start or continue in the task's state.
    pub fn overlap_at(&self, at: usize, rules: &Rules) -> Option<Refusal> {
        rules.builders(&self.tasks()[at]).find_map(|command| self.overlap_of(at, command, rules))
    }
}

impl Rules {
    /// The commands that work in a worktree and that could take a task in its state.
    pub fn builders<'r>(&'r self, task: &Task) -> impl Iterator<Item = &'r Command> {
        let state = self.flow.state(task.kind, &task.state);
        let takes = move |command: &&Command| {
            state.is_some_and(|state| command.takes(state, self.mode) || command.lock.as_ref() == Some(&state.name))
        };
        self.flow.commands().iter().filter(|command| command.worktree && command.lock.is_some()).filter(takes)
    }
}

#[cfg(test)]
mod tests;

//! The decisions behind the plain commands: set, block, unblock, remove. Each returns the changes, or a refusal.

use super::refs::Refs;
use super::refusal::nearest;
use super::{Board, Change, Links, Refusal};
use crate::task::{Estimate, Key, Kind, ParseError, Priority, Task, TaskId, Value, Worker};

/// A checked assignment: `KEY=VALUE`, `KEY+=VALUE` or `KEY-=VALUE`.
#[derive(Debug, Clone, PartialEq)]
pub enum Assignment {
    Put(Key, Option<Value>),
    Add(Key, Vec<String>),
    Drop(Key, Vec<String>),
}

const KEYS: [&str; 12] = [
    "title",
    "description",
    "kind",
    "priority",
    "estimate",
    "labels",
    "owner",
    "parent",
    "blocked_by",
    "atomic",
    "attention",
    "result",
];
const SETS: [&str; 2] = ["labels", "blocked_by"];
const FIXED: [&str; 5] = ["id", "created", "github", "review", "state"];

/// Parses an assignment as typed. The caller's `find` resolves ids in it.
pub fn parse_assignment(
    typed: &str,
    custom: bool,
    find: &mut dyn FnMut(&str) -> Result<TaskId, String>,
) -> Result<Assignment, Refusal> {
    let (left, value) = typed.split_once('=').ok_or_else(|| Refusal::NotAssignment(typed.to_owned()))?;
    let (name, sign) = match left.strip_suffix(['+', '-']) {
        Some(name) => (name, left.chars().next_back()),
        None => (left, None),
    };
    let name = alias(name.trim());
    if FIXED.contains(&name.split('.').next().unwrap_or(&name)) {
        return Err(Refusal::Fixed(name));
    }
    let key = Key::new(name.clone());
    if SETS.contains(&name.as_str()) {
        let items = set_items(&name, value, find)?;
        return Ok(match sign {
            Some('+') => Assignment::Add(key, items),
            Some(_) => Assignment::Drop(key, items),
            None => Assignment::Put(key, (!items.is_empty()).then(|| Value::texts(items))),
        });
    }
    if sign.is_some() {
        return Err(match nearest(&name, SETS) {
            Some(meant) => Refusal::UnknownKey { key: name, meant: Some(meant) },
            None => Refusal::NotASet { key: name },
        });
    }
    Ok(Assignment::Put(key, single(&name, value, custom, find)?))
}

/// Whether a key links a document: `artifacts.` and a kind.
fn is_artifact(name: &str) -> bool {
    name.strip_prefix("artifacts.").is_some_and(|kind| !kind.is_empty() && kind.chars().all(|c| c.is_ascii_lowercase()))
}

fn alias(name: &str) -> String {
    match name {
        "label" => "labels".into(),
        "blocked-by" | "blocks-on" => "blocked_by".into(),
        "body" => "description".into(),
        "prio" => "priority".into(),
        "size" => "estimate".into(),
        other => other.to_owned(),
    }
}

fn set_items(
    name: &str,
    value: &str,
    find: &mut dyn FnMut(&str) -> Result<TaskId, String>,
) -> Result<Vec<String>, Refusal> {
    // A JSON list, as programs write it, so that an item can contain a comma; otherwise items separated by commas.
    let listed: Option<Vec<String>> = serde_json::from_str(value).ok();
    let typed = listed.unwrap_or_else(|| value.split(',').map(str::to_owned).collect());
    let typed = typed.iter().map(|item| item.trim()).filter(|item| !item.is_empty());
    let mut items: Vec<String> = match name {
        "blocked_by" => {
            typed.map(|item| find(item).map(|id| id.to_string())).collect::<Result<_, _>>().map_err(Refusal::Id)?
        }
        _ => typed.map(str::to_owned).collect(),
    };
    items.sort();
    items.dedup();
    Ok(items)
}

fn single(
    name: &str,
    value: &str,
    custom: bool,
    find: &mut dyn FnMut(&str) -> Result<TaskId, String>,
) -> Result<Option<Value>, Refusal> {
    let trimmed = value.trim();
    let checked = match name {
        "title" if trimmed.is_empty() => return Err(Refusal::Empty("the title")),
        "title" => Value::text(trimmed.split_whitespace().collect::<Vec<_>>().join(" ")),
        _ if trimmed.is_empty() && (custom || KEYS.contains(&name) || is_artifact(name)) => return Ok(None),
        _ if is_artifact(name) => Value::text(trimmed),
        "description" => Value::text(format!("{}\n", value.trim_end())),
        // A task cannot become a step, nor a step a task, because steps have other states.
        "kind" => match trimmed.parse::<Kind>()? {
            Kind::Step => return Err(Refusal::Fixed("kind = step".into())),
            kind => Value::text(kind),
        },
        "priority" => Value::text(trimmed.parse::<Priority>()?),
        "estimate" => Value::text(trimmed.parse::<Estimate>()?),
        "owner" => Value::text(Worker::new(trimmed)?),
        "result" | "attention" => Value::text(trimmed),
        "parent" => Value::text(find(trimmed).map_err(Refusal::Id)?),
        "atomic" => Value::Bool(trimmed.parse().map_err(|_| Refusal::Value(not_a_bool(trimmed)))?),
        _ if custom && !is_plain_key(name) => return Err(Refusal::BadKey(name.to_owned())),
        _ if custom => loose(value),
        _ => return Err(unknown_key(name)),
    };
    Ok(Some(checked))
}

fn not_a_bool(text: &str) -> ParseError {
    ParseError { what: "true or false", text: text.to_owned(), allowed: "true, false".into() }
}

fn unknown_key(name: &str) -> Refusal {
    Refusal::UnknownKey { key: name.to_owned(), meant: nearest(name, KEYS) }
}

/// The value of a custom key: a number or a boolean if the text is one.
fn loose(value: &str) -> Value {
    let number = || value.parse().ok().filter(|n: &f64| n.is_finite()).map(Value::Float);
    value
        .parse()
        .map(Value::Bool)
        .ok()
        .or_else(|| value.parse().map(Value::Integer).ok())
        .or_else(number)
        .unwrap_or_else(|| Value::text(value))
}

/// Whether a key has only letters, digits, `-` and `_`, in parts joined by dots.
fn is_plain_key(name: &str) -> bool {
    name.split('.')
        .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b)))
}

/// The changes that these assignments make to one task. `current` returns the present value of a key.
pub fn set_keys(id: &TaskId, wanted: &[Assignment], current: impl Fn(&Key) -> Option<Value>) -> Vec<Change> {
    // Each key with its present and its final value: several assignments to one key are one change.
    let mut ends: Vec<(&Key, Option<Value>, Option<Value>)> = Vec::new();
    for assignment in wanted {
        let key = assignment.key();
        let place = ends.iter().position(|(other, ..)| *other == key).unwrap_or_else(|| {
            let old = current(key);
            ends.push((key, old.clone(), old));
            ends.len() - 1
        });
        ends[place].2 = assignment.apply(ends[place].2.take());
    }
    let changed = ends.into_iter().filter(|(_, old, new)| old != new);
    changed.map(|(key, old, new)| Change::Set { task: id.clone(), key: key.clone(), old, new }).collect()
}

impl Board {
    /// The board after these changes of links.
    #[must_use]
    pub fn after(&self, changes: &[Change]) -> Self {
        Self::new(self.tasks.clone(), Vec::new(), Vec::new()).with(changes)
    }

    /// The board after these changes.
    #[must_use]
    pub fn with(mut self, changes: &[Change]) -> Self {
        for change in changes {
            let Change::Set { task, key, new, .. } = change else { continue };
            if let Some(at) = self.index_of(task) {
                self.tasks[at].put(key, new.as_ref());
            }
        }
        self.refs = Refs::new(&self.tasks);
        self
    }

    /// Refuses changes that would let a task block itself, directly or through others. Removing links is always allowed.
    pub fn refuse_cycles(&self, changes: &[Change]) -> Result<(), Refusal> {
        let after = self.after(changes);
        let gained = |id: &TaskId| {
            let (Some(before), Some(now)) = (self.get(id), after.get(id)) else { return false };
            let parent = now.parent.is_some() && now.parent != before.parent;
            parent || now.blocked_by.iter().any(|blocker| !before.blocked_by.contains(blocker))
        };
        let mut relinked: Vec<TaskId> = changes.iter().map(|change| change.task().clone()).filter(gained).collect();
        relinked.dedup();
        Links::new(&after).refuse_cycles(&relinked)
    }

    /// The assignments that unlink tasks which are to be removed from the board. Without force, this is refused if another task
    /// links to one of them.
    pub fn unlink(&self, gone: &[TaskId], force: bool) -> Result<Vec<(TaskId, Vec<Assignment>)>, Refusal> {
        let mut wanted = Vec::new();
        for task in self.tasks().iter().filter(|task| !gone.contains(&task.id)) {
            let named = task.parent.iter().chain(&task.blocked_by).find(|id| gone.contains(id));
            let Some(named) = named else { continue };
            if !force {
                return Err(Refusal::Needed { task: named.clone(), needed_by: self.naming(named, gone) });
            }
            wanted.push((task.id.clone(), unlinking(task, |id| gone.contains(id))));
        }
        Ok(wanted)
    }

    fn naming(&self, id: &TaskId, except: &[TaskId]) -> Vec<TaskId> {
        let names = |task: &&Task| task.parent.as_ref() == Some(id) || task.blocked_by.contains(id);
        self.tasks().iter().filter(names).map(|task| task.id.clone()).filter(|other| !except.contains(other)).collect()
    }
}

/// The assignments that remove a task's links to `gone`.
pub(super) fn unlinking(task: &Task, gone: impl Fn(&TaskId) -> bool) -> Vec<Assignment> {
    let mut wanted = Vec::new();
    if task.parent.as_ref().is_some_and(&gone) {
        wanted.push(Assignment::Put(Key::new("parent"), None));
    }
    let blockers: Vec<String> = task.blocked_by.iter().filter(|id| gone(id)).map(ToString::to_string).collect();
    if !blockers.is_empty() {
        wanted.push(Assignment::Drop(Key::new("blocked_by"), blockers));
    }
    wanted
}

impl Assignment {
    pub fn key(&self) -> &Key {
        match self {
            Self::Put(key, _) | Self::Add(key, _) | Self::Drop(key, _) => key,
        }
    }

    fn apply(&self, now: Option<Value>) -> Option<Value> {
        match self {
            Self::Put(_, value) => value.clone(),
            Self::Add(_, items) => edit_set(now.as_ref(), |set| set.extend(items.iter().cloned())),
            Self::Drop(_, items) => edit_set(now.as_ref(), |set| set.retain(|item| !items.contains(item))),
        }
    }

    /// Whether it changes the blockers or the parent.
    pub fn relinks(&self) -> bool {
        matches!(self.key().as_str(), "parent" | "blocked_by")
    }
}

fn edit_set(old: Option<&Value>, edit: impl FnOnce(&mut Vec<String>)) -> Option<Value> {
    let mut items: Vec<String> = match old {
        Some(Value::List(list)) => list.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    };
    edit(&mut items);
    let mut seen = std::collections::HashSet::new();
    items.retain(|item| seen.insert(item.clone()));
    (!items.is_empty()).then(|| Value::texts(items))
}

/// Merges two consecutive sets of changes: each key from its first old value to its last new one.
pub fn joined(first: Vec<Change>, then: Vec<Change>) -> Vec<Change> {
    let mut all = first;
    for change in then {
        let Change::Set { task, key, new, .. } = &change else {
            all.push(change);
            continue;
        };
        let same =
            |other: &&mut Change| matches!(other, Change::Set { task: of, key: at, .. } if of == task && at == key);
        match all.iter_mut().find(same) {
            Some(Change::Set { new: last, .. }) => last.clone_from(new),
            _ => all.push(change),
        }
    }
    all.retain(|change| !matches!(change, Change::Set { old, new, .. } if old == new));
    all
}

#[cfg(test)]
mod tests;

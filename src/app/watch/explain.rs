//! Determines the origin of a change: a command, git, or an edit by hand.

use std::collections::{BTreeMap, BTreeSet};

use super::Watch;
use crate::board::{Change, Event, EventKind, Place, Via, changed_event};
use crate::store::codec::Doc;
use crate::store::{Delta, Difference, Line};
use crate::task::{Key, TaskId, Value, Worker};

/// Files that git has written since the last look.
pub(super) struct GitPut {
    pub objects: BTreeMap<String, String>,
    /// Whether HEAD has moved.
    pub moved: bool,
    /// The previous entries of git's index.
    pub before: BTreeSet<String>,
    /// The whole journal.
    pub journal: Vec<Line>,
}

/// A task file that somebody saved, created or removed by hand. `old` includes the changes by commands, `new` is the
/// file.
pub(super) struct HandEdit {
    pub id: TaskId,
    pub old: Leaves,
    pub new: Leaves,
    pub existed: bool,
    pub exists: bool,
    pub changes: Vec<Change>,
}

/// The changes that one look at the board found.
#[derive(Default)]
pub(super) struct Look {
    pub events: Vec<Event>,
    pub by_hand: Vec<HandEdit>,
}

impl Watch {
    /// Explains changes by commands first, in their order, then remaining differences in the files.
    pub(super) fn explain(&self, delta: Delta, git: Option<&GitPut>) -> Look {
        let mut look = Look::default();
        let mut known: BTreeMap<&TaskId, Leaves> = BTreeMap::new();
        for file in &delta.files {
            known.insert(&file.id, leaves(file.old.as_deref()));
        }
        // Journal lines that are much older than the last look came with git.
        let since = self.looked.checked_sub(jiff::SignedDuration::from_secs(10)).unwrap_or(self.looked);
        let verbs: Vec<&Line> = delta.lines.iter().filter(|line| !delta.rewritten && line.at >= since).collect();
        for line in &verbs {
            for edit in overwritten(line, &known) {
                look.events.push(self.by_hand(&edit.id, edit.changes.clone()));
                look.by_hand.push(edit);
            }
            let is_news = |change: &&Change| delta.unread.contains(change.task()) || apply(line, change, &mut known);
            let news: Vec<Change> = line.changes.iter().filter(is_news).cloned().collect();
            look.events.extend(events_of(line, news));
            look.events.extend(claims_of(line));
        }
        for file in &delta.files {
            let (before, now) = (&known[&file.id], leaves(file.new.as_deref()));
            let mut rest = differences(&file.id, before, &now);
            // A missing state, or another spelling, may mean the same state.
            if self.state_of(&file.id, before) == self.state_of(&file.id, &now) {
                rest.retain(|change| !matches!(change, Change::Set { key, .. } if key.as_str() == "state"));
            }
            let told = file.old.is_some() == file.new.is_some() || verbs.iter().any(|line| makes(line, &file.id));
            let changes = match (told, &file.old, &file.new) {
                (false, old, new) => whole(&file.id, old.as_ref(), new.as_ref()),
                (true, ..) => rest,
            };
            let is_verb = verbs.iter().any(|line| line.touches(&file.id));
            let same = changes.is_empty() && file.old == file.new;
            if same || (changes.is_empty() && is_verb) {
                continue;
            }
            if git.is_some_and(|put| self.is_gits(put, file) || tells(&put.journal, &changes)) {
                look.events.push(self.by_git(file, changes, &delta.lines));
            } else {
                look.by_hand.push(HandEdit {
                    id: file.id.clone(),
                    old: before.clone(),
                    new: now,
                    existed: file.old.is_some(),
                    exists: file.new.is_some(),
                    changes: changes.clone(),
                });
                look.events.push(self.by_hand(&file.id, changes));
            }
        }
        look
    }

    /// Git wrote a file if its index has that content, and removed a file if the index no longer has it.
    fn is_gits(&self, put: &GitPut, file: &Difference) -> bool {
        let there = put.objects.get(&format!("{}.toml", file.id));
        match &file.new {
            None => there.is_none() && (put.moved || put.before.contains(&format!("{}.toml", file.id))),
            Some(text) => {
                let names =
                    [text.clone(), text.replace("\r\n", "\n")].map(|text| self.ws.repository.object_name(&text));
                there.is_some_and(|object| names.contains(object))
            }
        }
    }

    fn by_hand(&self, id: &TaskId, changes: Vec<Change>) -> Event {
        let event = changed_event(self.ws.now(), Via::Hand, id, "hand-edit", changes);
        Event { verb: Some("hand-edit".into()), ..event }
    }

    /// The journal that came with the change names the worker who made it.
    fn by_git(&self, file: &Difference, changes: Vec<Change>, lines: &[Line]) -> Event {
        let mut event = changed_event(self.ws.now(), Via::Git, &file.id, "", changes);
        if let Some(line) = lines.iter().rev().find(|line| line.touches(&file.id)) {
            (event.id, event.by, event.verb) = (Some(line.id.clone()), Some(line.by.clone()), Some(line.verb.clone()));
        }
        event
    }
}

pub(super) type Leaves = BTreeMap<Key, Value>;

pub(super) fn leaves(text: Option<&str>) -> Leaves {
    text.and_then(|text| Doc::new(text).ok()).map(|doc| doc.leaves().into_iter().collect()).unwrap_or_default()
}

/// Applies a command's change to the known values; returns whether it is news.
fn apply(line: &Line, change: &Change, known: &mut BTreeMap<&TaskId, Leaves>) -> bool {
    match change {
        Change::Set { task, key, old, new } => {
            let Some(leaves) = known.get_mut(task) else { return false };
            // An edit by hand may be journaled after the file was saved again.
            if line.verb == "hand-edit" && leaves.get(key) != old.as_ref() {
                return false;
            }
            let before = match new {
                Some(new) => leaves.insert(key.clone(), new.clone()),
                None => leaves.remove(key),
            };
            before != *new
        }
        Change::File { task, file: Place::Task, new, .. } => {
            let Some(known) = known.get_mut(task) else { return false };
            *known = leaves(new.as_deref());
            true
        }
        Change::File { .. } => true,
    }
}

/// Edits by hand that a command's change to the same key has overwritten before they were reported.
fn overwritten(line: &Line, known: &BTreeMap<&TaskId, Leaves>) -> Vec<HandEdit> {
    let mut edits: Vec<HandEdit> = Vec::new();
    for change in line.changes.iter().filter(|_| line.verb != "hand-edit") {
        let Change::Set { task, key, old, new } = change else { continue };
        let Some(leaves) = known.get(task) else { continue };
        let before = leaves.get(key).cloned();
        if before == *old || before == *new || key.as_str() == "state" {
            continue;
        }
        let saved = Change::Set { task: task.clone(), key: key.clone(), old: before, new: old.clone() };
        match edits.iter_mut().find(|edit| edit.id == *task) {
            Some(edit) => edit.changes.push(saved),
            None => edits.push(HandEdit {
                id: task.clone(),
                old: leaves.clone(),
                new: leaves.clone(),
                existed: true,
                exists: true,
                changes: vec![saved],
            }),
        }
    }
    edits
}

/// Claims that are taken and released between two looks appear only in the journal.
fn claims_of(line: &Line) -> Vec<Event> {
    let kind = match line.verb.as_str() {
        "claim" | "claim --force" => EventKind::Claimed,
        "release" | "release --force" => EventKind::Released,
        _ => return Vec::new(),
    };
    let owners = line.changes.iter().filter_map(|change| match change {
        Change::Set { task, key, old, new } if key.as_str() == "owner" => {
            let worker = if kind == EventKind::Claimed { new } else { old };
            Some((task, worker.as_ref().and_then(|name| Worker::new(name.to_string()).ok())))
        }
        _ => None,
    });
    owners.map(|(task, by)| Event { by, ..Event::new(kind, line.at, Via::Board, Some(task)) }).collect()
}

/// Whether these changes repeat the last ones in the journal, as when `git stash pop` restores a known version.
fn tells(lines: &[Line], changes: &[Change]) -> bool {
    let last = |task: &TaskId, wanted: &Key| {
        let all = lines.iter().rev().flat_map(|line| line.changes.iter());
        all.filter_map(|change| match change {
            Change::Set { task: of, key, new, .. } if of == task && key == wanted => Some(new),
            _ => None,
        })
        .next()
    };
    let told = |change: &Change| matches!(change, Change::Set { task, key, new, .. } if last(task, key) == Some(new));
    !changes.is_empty() && changes.iter().all(told)
}

/// Whether a command created or removed a task's file.
fn makes(line: &Line, id: &TaskId) -> bool {
    line.changes.iter().any(|change| {
        matches!(change, Change::File { task, file: Place::Task, old, new } if task == id && old.is_some() != new.is_some())
    })
}

fn whole(id: &TaskId, old: Option<&String>, new: Option<&String>) -> Vec<Change> {
    vec![Change::File { task: id.clone(), file: Place::Task, old: old.cloned(), new: new.cloned() }]
}

fn differences(id: &TaskId, old: &Leaves, new: &Leaves) -> Vec<Change> {
    let keys: BTreeSet<&Key> = old.keys().chain(new.keys()).collect();
    let differ = keys.into_iter().filter(|key| old.get(*key) != new.get(*key));
    differ
        .map(|key| Change::Set {
            task: id.clone(),
            key: key.clone(),
            old: old.get(key).cloned(),
            new: new.get(key).cloned(),
        })
        .collect()
}

/// One event for each task that a command changed.
pub(super) fn events_of(line: &Line, changes: Vec<Change>) -> Vec<Event> {
    let mut tasks: Vec<(TaskId, Vec<Change>)> = Vec::new();
    for change in changes.into_iter().filter(|change| !change.is_bookkeeping()) {
        match tasks.iter_mut().find(|(id, _)| id == change.task()) {
            Some((_, list)) => list.push(change),
            None => tasks.push((change.task().clone(), vec![change])),
        }
    }
    let via = if line.verb == "hand-edit" { Via::Hand } else { Via::Verb };
    let tell = |(id, changes): (TaskId, Vec<Change>)| {
        let event = changed_event(line.at, via, &id, &line.verb, changes);
        Event { id: Some(line.id.clone()), by: Some(line.by.clone()), verb: Some(line.verb.clone()), ..event }
    };
    tasks.into_iter().map(tell).collect()
}

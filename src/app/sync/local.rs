//! The local side of the mirror: the values, link and notes of each task.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::app::{Failure, Workspace};
use crate::board::Place;
use crate::github::{Field, Link, Names, Node, Values, canonical, title_of};
use crate::store::codec::Doc;
use crate::store::{Note, NoteKind, TaskFile};
use crate::task::{Key, Kind, TaskId, Value};

/// A task that is mirrored or could be.
#[derive(Debug, Clone)]
pub struct Local {
    pub id: TaskId,
    pub kind: Kind,
    pub title: String,
    pub values: Values,
    pub link: Link,
    pub notes: Vec<Note>,
    pub created: Option<Timestamp>,
    pub place: Place,
    pub pull: Option<String>,
    /// The description as in the file.
    pub description: String,
}

/// All tasks that can be mirrored, and those that cannot.
#[derive(Debug, Default)]
pub struct Locals {
    pub tasks: BTreeMap<TaskId, Local>,
    /// Tasks that are linked to the same issue as another task.
    pub twins: Vec<(TaskId, TaskId)>,
    /// Tasks that are not mirrored: steps, tasks whose files say so, and unreadable files.
    pub unmirrored: BTreeSet<TaskId>,
    /// The issues of such tasks, which must not be adopted as new.
    pub kept_out: BTreeSet<Node>,
    /// Tasks whose files cannot be read.
    pub broken: Vec<TaskId>,
}

impl Locals {
    pub fn read(ws: &Workspace) -> Result<Self, Failure> {
        let board = ws.board()?;
        let mut locals = Self::default();
        let mut seen: BTreeMap<Node, TaskId> = BTreeMap::new();
        for broken in board.broken() {
            locals.leave_out(ws, &broken.id, &Place::Task);
            locals.broken.push(broken.id.clone());
        }
        let mut put = |locals: &mut Self, local: Local| {
            let node = local.link.node.clone();
            match node.as_ref().and_then(|node| seen.get(node)).cloned() {
                Some(first) => {
                    locals.unmirrored.insert(local.id.clone());
                    locals.twins.push((first, local.id));
                }
                None => {
                    seen.extend(node.map(|node| (node, local.id.clone())));
                    locals.tasks.insert(local.id.clone(), local);
                }
            }
        };
        for task in board.tasks() {
            match Local::load(ws, &task.id, Place::Task)? {
                Some(local) => put(&mut locals, local),
                None => locals.leave_out(ws, &task.id, &Place::Task),
            }
        }
        for id in ws.store.archived_ids()? {
            // Tasks that were archived before they were mirrored are not mirrored.
            let Some(local) = Local::load(ws, &id, Place::Archive)? else {
                locals.leave_out(ws, &id, &Place::Archive);
                continue;
            };
            let local = Some(local).filter(|local| local.link.node.is_some());
            if let Some(local) = local.filter(|local| !locals.tasks.contains_key(&local.id)) {
                put(&mut locals, local);
            }
        }
        Ok(locals)
    }

    /// Excludes a task, and its issue. Even a broken file has the issue on a line of its own.
    fn leave_out(&mut self, ws: &Workspace, id: &TaskId, place: &Place) {
        self.unmirrored.insert(id.clone());
        let bytes = crate::fs::read(&ws.store.path(id, place)).ok().flatten().unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let nodes = text.lines().filter_map(|line| line.trim().strip_prefix("node")?.trim_start().strip_prefix('='));
        self.kept_out.extend(nodes.map(|node| Node::new(node.trim().trim_matches(['"', '\'']))));
    }

    pub fn names(&self) -> Names {
        let mut names = Names::default();
        for local in self.tasks.values() {
            if let Some(node) = &local.link.node {
                names.insert(node.clone(), local.id.clone());
            }
        }
        names
    }
}

impl Local {
    /// `None` if the task is not to be mirrored, or was just deleted.
    pub fn load(ws: &Workspace, id: &TaskId, place: Place) -> Result<Option<Self>, Failure> {
        let read = if place == Place::Archive { ws.store.load_archived(id) } else { ws.store.load(id) };
        let Ok(file) = read else { return Ok(None) };
        let Ok(doc) = Doc::new(file.text.clone()) else { return Ok(None) };
        let link = Link::read(doc.get(&Key::new("github")).as_ref());
        if file.task.kind == Kind::Step || link.off {
            return Ok(None);
        }
        let values = values(&file, place == Place::Archive);
        let TaskFile { task, description, .. } = file;
        Ok(Some(Self {
            id: id.clone(),
            kind: task.kind,
            title: task.title,
            values,
            link,
            notes: mirrored_notes(ws, id)?,
            created: task.created,
            place,
            pull: task.artifacts.get("pr").cloned(),
            description,
        }))
    }

    pub fn value(&self, field: Field) -> Option<&Value> {
        self.values.get(&field)
    }
}

/// Notes without feedback and replies: those belong to a pull request, not to the issue.
fn mirrored_notes(ws: &Workspace, id: &TaskId) -> Result<Vec<Note>, Failure> {
    let mut notes = ws.store.notes(id)?;
    notes.retain(|note| !matches!(note.facts.kind, Some(NoteKind::Feedback | NoteKind::Reply)));
    Ok(notes)
}

fn values(file: &TaskFile, archived: bool) -> Values {
    let task = &file.task;
    let mut values = Values::new();
    values.insert(Field::Title, Value::Text(title_of(&task.title)));
    let text = canonical(&file.description);
    if !text.is_empty() {
        values.insert(Field::Description, Value::Text(text));
    }
    for field in [Field::State, Field::Priority, Field::Estimate, Field::Labels, Field::Parent, Field::BlockedBy] {
        values.extend(task.value(&field.key()).map(|value| (field, value)));
    }
    values.extend(archived.then_some((Field::Archived, Value::Bool(true))));
    values
}

/// The name of a note in the link; a dot would split a key.
pub fn stem(file: &str) -> String {
    file.trim_end_matches(".md").replace('.', "_")
}

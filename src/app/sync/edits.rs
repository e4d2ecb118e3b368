//! How sync changes task files: sets keys on the board or in the archive, refuses if the file changed, and journals the
//! change as `github`.

use std::collections::BTreeMap;

use super::local::Local;
use crate::app::{Failure, Workspace};
use crate::board::{Actor, Change, Op, Place};
use crate::store::codec::Doc;
use crate::store::{BoardLock, StoreError};
use crate::task::{Key, TaskId, Value, Worker};

/// The worker in the journal for changes that people make on GitHub. It counts as a person.
pub fn github() -> Actor {
    Actor::named(Worker::new("github").expect("a plain word is a name"))
}

pub const VERB: &str = "sync";

/// Collects changes of one task's file.
pub struct FileEdit {
    id: TaskId,
    place: Place,
    original: String,
    doc: Doc,
    changes: Vec<Change>,
}

impl FileEdit {
    /// Opens the current file; the caller holds the lock.
    pub fn open(ws: &Workspace, id: &TaskId, place: &Place) -> Result<Self, Failure> {
        let text = ws.store.text_of(&ws.store.path(id, place))?.ok_or_else(|| ws.store.absent(id))?;
        let doc = parsed(id, text.clone())?;
        Ok(Self { id: id.clone(), place: place.clone(), original: text, doc, changes: Vec::new() })
    }

    pub fn get(&self, key: &Key) -> Option<Value> {
        self.doc.get(key)
    }

    pub fn set(&mut self, key: Key, new: Option<Value>) -> Result<(), Failure> {
        let old = self.doc.get(&key);
        if self.doc.says(&key, new.as_ref()) {
            return Ok(());
        }
        let edit = |source| StoreError::Edit { task: self.id.clone(), source };
        let text = self.doc.with(&key, new.as_ref()).map_err(edit)?;
        self.doc = parsed(&self.id, text)?;
        self.changes.push(Change::Set { task: self.id.clone(), key, old, new });
        Ok(())
    }

    /// Adds a change that was computed for an earlier version of the file. Of a list, only added and removed items are
    /// applied.
    pub fn add(&mut self, change: Change) -> Result<(), Failure> {
        let Change::Set { key, old, new, .. } = change else { return Ok(()) };
        let items = |value: Option<&Value>| match value {
            Some(Value::List(list)) => list.clone(),
            _ => Vec::new(),
        };
        let is_list = [&old, &new].into_iter().flatten().any(|value| matches!(value, Value::List(_)));
        if !is_list {
            return self.set(key, new);
        }
        let (before, after) = (items(old.as_ref()), items(new.as_ref()));
        let mut now = items(self.get(&key).as_ref());
        now.retain(|item| !before.contains(item) || after.contains(item));
        let added: Vec<Value> =
            after.into_iter().filter(|item| !before.contains(item) && !now.contains(item)).collect();
        now.extend(added);
        self.set(key, (!now.is_empty()).then_some(Value::List(now)))
    }

    /// The collected changes. An archived file is replaced as a whole, because keys are only set on the board.
    pub fn changes(self) -> Vec<Change> {
        match self.place {
            _ if self.changes.is_empty() => Vec::new(),
            Place::Task => self.changes,
            file => {
                let new = Some(self.doc.text().to_owned());
                vec![Change::File { task: self.id, file, old: Some(self.original), new }]
            }
        }
    }
}

fn parsed(id: &TaskId, text: String) -> Result<Doc, Failure> {
    Ok(Doc::new(text).map_err(|source| StoreError::Edit { task: id.clone(), source })?)
}

pub fn commit(ws: &Workspace, lock: &BoardLock, changes: Vec<Change>) -> Result<(), Failure> {
    if changes.is_empty() {
        return Ok(());
    }
    ws.commit_part(lock, Op::new(VERB, changes), &github()).map(|_| ())
}

/// Agreed values of one task.
pub struct Agreed {
    pub task: TaskId,
    pub place: Place,
    pub keys: Vec<(Key, Option<Value>)>,
    /// A key that is only set if it still has the value that was sent.
    pub kept: Option<Kept>,
}

pub struct Kept {
    pub key: Key,
    pub sent: Option<Value>,
    pub new: Option<Value>,
}

impl Agreed {
    pub fn new(local: &Local, keys: Vec<(Key, Option<Value>)>) -> Self {
        Self { task: local.id.clone(), place: local.place.clone(), keys, kept: None }
    }
}

/// Writes the values that both sides now agree on, for several tasks at once. Returns the tasks that could not be
/// written, except deleted ones.
pub fn agree(ws: &Workspace, agreed: Vec<Agreed>) -> Result<Vec<TaskId>, Failure> {
    let mut unwritten = Vec::new();
    if agreed.iter().all(|agreed| agreed.keys.is_empty()) {
        return Ok(unwritten);
    }
    let mut by_file: BTreeMap<(TaskId, Place), Vec<Agreed>> = BTreeMap::new();
    for agreed in agreed {
        by_file.entry((agreed.task.clone(), agreed.place.clone())).or_default().push(agreed);
    }
    let lock = ws.lock()?;
    let mut files: Vec<(TaskId, Vec<Change>)> = Vec::new();
    for ((task, place), all) in by_file {
        let mut edit = match FileEdit::open(ws, &task, &place) {
            Ok(edit) => edit,
            Err(_) if !ws.store.path(&task, &place).exists() => continue,
            // A person is editing the file; the next sync determines the agreed values again.
            Err(_) => {
                unwritten.push(task);
                continue;
            }
        };
        for Agreed { keys, kept, .. } in all {
            for (key, value) in keys {
                edit.set(key, value)?;
            }
            if let Some(kept) =
                kept.filter(|kept| canonical_text(edit.get(&kept.key)) == canonical_text(kept.sent.clone()))
            {
                edit.set(kept.key, kept.new)?;
            }
        }
        files.push((task, edit.changes()));
    }
    unwritten.extend(commit_each(ws, &lock, files)?);
    Ok(unwritten)
}

/// Commits all files at once, or one by one if a file was changed in between. Returns the tasks that could not be
/// written.
pub fn commit_each(
    ws: &Workspace,
    lock: &BoardLock,
    files: Vec<(TaskId, Vec<Change>)>,
) -> Result<Vec<TaskId>, Failure> {
    let together = files.iter().flat_map(|(_, changes)| changes.clone()).collect();
    match commit(ws, lock, together) {
        Err(failure) if failure.is_about_one_task() => {}
        done => return done.map(|()| Vec::new()),
    }
    let mut unwritten = Vec::new();
    for (task, changes) in files {
        match commit(ws, lock, changes) {
            Err(failure) if failure.is_about_one_task() => unwritten.push(task),
            done => done?,
        }
    }
    Ok(unwritten)
}

fn canonical_text(value: Option<Value>) -> Option<String> {
    value.map(|value| crate::github::canonical(&value.to_string()))
}

//! The board's files as sync changes them: keys of a task wherever it lies, guarded by what is there, journaled as `github`.

use std::collections::BTreeMap;

use crate::app::{Failure, Workspace};
use crate::board::{Actor, Change, Op, Place};
use crate::store::codec::Doc;
use crate::store::{BoardLock, StoreError};
use crate::task::{Key, TaskId, Value, Worker};

/// Who did it, in the journal: whatever people do on GitHub, as persons.
pub fn github() -> Actor {
    Actor { worker: Worker::new("github").expect("a plain word is a name"), proof: None }
}

pub const VERB: &str = "sync";

/// Changes of one task's file that are being put together.
pub struct FileEdit {
    id: TaskId,
    place: Place,
    original: String,
    doc: Doc,
    changes: Vec<Change>,
}

impl FileEdit {
    /// As the file is now; the caller has the lock.
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

    /// What it comes to. An archived file is replaced as a whole: keys are set only on the board.
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
    ws.commit_as(lock, Op::new(VERB, changes), &github()).map(|_| ())
}

/// Keys of one task.
pub struct Agreed {
    pub task: TaskId,
    pub place: Place,
    pub keys: Vec<(Key, Option<Value>)>,
}

/// Writes what both sides now agree on, for several tasks at once. A task that has gone meanwhile is left out.
pub fn agree(ws: &Workspace, agreed: Vec<Agreed>) -> Result<(), Failure> {
    if agreed.iter().all(|agreed| agreed.keys.is_empty()) {
        return Ok(());
    }
    let mut by_file: BTreeMap<(TaskId, Place), Vec<(Key, Option<Value>)>> = BTreeMap::new();
    for Agreed { task, place, keys } in agreed {
        by_file.entry((task, place)).or_default().extend(keys);
    }
    let lock = ws.lock()?;
    let mut changes = Vec::new();
    for ((task, place), keys) in by_file {
        let Ok(mut edit) = FileEdit::open(ws, &task, &place) else { continue };
        for (key, value) in keys {
            edit.set(key, value)?;
        }
        changes.extend(edit.changes());
    }
    commit(ws, &lock, changes)
}

//! Committing a verb: all of its changes or none, even if the process is killed.
//!
//! The verb's journal line is written first as an intent, then the files, then the journal, then the intent goes. A
//! process that dies in between leaves the intent, and the next one completes it from there.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;

use super::codec::{Doc, EditError};
use super::guard::{self, GuardOutcome};
use super::{BoardLock, FileLock, Line, Store, StoreError, journal};
use crate::board::{Change, Op, Place};
use crate::fs;
use crate::task::{Key, Kind, TaskId, Value, Worker};
use crate::workflow::Workflow;

/// How often a verb is repeated when a file is saved in between.
const TRIES: usize = 5;

/// A verb that is durable.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Committed {
    pub id: String,
}

/// One file of a verb: its old and its new content.
struct Edit {
    task: TaskId,
    place: Place,
    path: PathBuf,
    old: Option<String>,
    new: Option<String>,
}

/// Whether the old values must match.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    /// A verb that is decided now.
    Exactly,
    /// A verb that died half way: what is done stays done, and what a person has changed since is theirs.
    WhatIsLeft,
}

impl Store {
    /// Takes the board's lock and completes what a dead process left.
    pub fn lock(&self) -> Result<BoardLock, StoreError> {
        fs::make_dir(&self.intents_dir())?;
        let lock = BoardLock::of(FileLock::take(&self.local.join("lock"))?);
        self.recover()?;
        Ok(lock)
    }

    /// Worktrees are made and removed one at a time in the whole repository.
    pub fn worktree_lock(&self) -> Result<FileLock, StoreError> {
        fs::make_dir(&self.local)?;
        FileLock::take(&self.local.join("worktrees.lock"))
    }

    /// One merge at a time, however long its checks take.
    pub fn merge_lock(&self) -> Result<FileLock, StoreError> {
        fs::make_dir(&self.local)?;
        FileLock::take(&self.local.join("merge.lock"))
    }

    /// One sync at a time; `None` while another one runs.
    pub fn try_sync_lock(&self) -> Result<Option<FileLock>, StoreError> {
        fs::make_dir(&self.sync_dir())?;
        FileLock::try_take(&self.sync_dir().join("lock"))
    }

    /// The data of GitHub that this machine keeps.
    pub fn sync_dir(&self) -> PathBuf {
        self.local.join("sync")
    }

    fn intent_path(&self) -> PathBuf {
        self.intents_dir().join("intent.json")
    }

    /// A folder of its own: its time changes with every verb, and with nothing else.
    pub(super) fn intents_dir(&self) -> PathBuf {
        self.local.join("intent")
    }

    pub(super) fn is_pending(&self) -> bool {
        self.intent_path().exists()
    }

    /// For readers: waits for a verb that is under way, or completes one that died.
    pub(super) fn settle(&self) -> Result<(), StoreError> {
        if !self.is_pending() {
            return Ok(());
        }
        match self.lock() {
            // Where nothing can be written, what is there is all that can be shown.
            Err(StoreError::Fs(_)) => Ok(()),
            other => other.map(|_| ()),
        }
    }

    /// Makes `op` durable under the lock.
    pub fn commit(
        &self,
        _lock: &BoardLock,
        op: Op,
        by: &Worker,
        at: Timestamp,
        rng: &mut fastrand::Rng,
    ) -> Result<Committed, StoreError> {
        let line = line_of(op, by, at, rng);
        let id = line.id.clone();
        self.note_move(&line)?;
        let before = self.folder_stamp();
        let mut raced = None;
        for _ in 0..TRIES {
            let edits = self.edits(&line.changes, Expect::Exactly)?;
            if line.undoes.is_none() {
                self.refuse_unreadable(&edits)?;
            }
            fs::replace(&self.intent_path(), line.to_text().as_bytes(), edits.len() > 1)?;
            match self.apply(&edits, &id) {
                Ok(None) => match self.journal_line(&line) {
                    Ok(()) => {
                        self.take_in_late_saves(&edits, &line)?;
                        fs::remove(&self.intent_path())?;
                        self.after(&edits, &line, before);
                        return Ok(Committed { id });
                    }
                    Err(error) => {
                        self.take_back(&edits, &id);
                        fs::remove(&self.intent_path())?;
                        return Err(error);
                    }
                },
                Ok(Some(task)) => raced = Some(task),
                Err(error) => {
                    self.take_back(&edits, &id);
                    fs::remove(&self.intent_path())?;
                    return Err(error);
                }
            }
            self.take_back(&edits, &id);
            fs::remove(&self.intent_path())?;
        }
        Err(StoreError::Raced { task: raced.expect("the loop ends early unless somebody raced"), key: None })
    }

    /// Journals what somebody has done to the files by hand. Nothing is written but the line.
    pub fn record(
        &self,
        _lock: &BoardLock,
        op: Op,
        by: &Worker,
        at: Timestamp,
        rng: &mut fastrand::Rng,
    ) -> Result<Committed, StoreError> {
        let line = line_of(op, by, at, rng);
        self.journal_line(&line)?;
        Ok(Committed { id: line.id })
    }

    fn journal_line(&self, line: &Line) -> Result<(), StoreError> {
        self.inside(line.file(&self.journal_dir()))?;
        Ok(journal::append(&self.journal_dir(), line)?)
    }

    /// What we write, we must be able to read: too long, or with conflict markers in it, it would be a broken file.
    fn refuse_unreadable(&self, edits: &[Edit]) -> Result<(), StoreError> {
        for edit in edits {
            let Some(text) = &edit.new else { continue };
            let shown = self.shown(&edit.path);
            if text.len() as u64 > super::codec::MAX_FILE_SIZE {
                return Err(StoreError::Unwritable(super::too_large(&shown)));
            }
            if edit.place != Place::Task {
                continue;
            }
            let was_broken =
                edit.old.as_ref().is_some_and(|old| super::codec::read(&edit.task, &shown, old, &self.flow).is_err());
            match super::codec::read(&edit.task, &shown, text, &self.flow) {
                Err(problem) if !was_broken => return Err(StoreError::Unwritable(problem)),
                _ => {}
            }
        }
        Ok(())
    }

    /// A person who had a file open while it was replaced, and wrote to what it was: the verb is done again on their text,
    /// or theirs stands where it says something else.
    fn take_in_late_saves(&self, edits: &[Edit], line: &Line) -> Result<(), StoreError> {
        for edit in edits {
            let (Some(old), Some(new)) = (&edit.old, &edit.new) else { continue };
            let temp = guard::temp_path(&edit.path, &line.id);
            match guard::late_save(&edit.path, &line.id, old)? {
                None => fs::remove(&temp)?,
                Some(theirs) => match edited(&theirs, line, &edit.task, &self.flow) {
                    Some(both) => {
                        fs::remove(&temp)?;
                        guard::replace(&edit.path, &line.id, Some(new), Some(&both))?;
                        fs::remove(&temp)?;
                    }
                    None => guard::give_back(&edit.path, &temp, new)?,
                },
            }
        }
        Ok(())
    }

    /// Tells the index, and leaves no empty folder where notes were.
    fn after(&self, edits: &[Edit], line: &Line, before: super::index::Nanos) {
        for edit in edits.iter().filter(|edit| edit.new.is_none() && matches!(edit.place, Place::Note(_))) {
            fs::remove_empty_dir(edit.path.parent().unwrap_or(&edit.path));
        }
        let ids: std::collections::BTreeSet<TaskId> = line.changes.iter().map(|change| change.task().clone()).collect();
        self.note_touched(before, ids.into_iter().collect());
    }

    /// Writes every file; returns the task that another process changed first.
    fn apply(&self, edits: &[Edit], op: &str) -> Result<Option<TaskId>, StoreError> {
        for edit in edits {
            if guard::replace(&edit.path, op, edit.old.as_deref(), edit.new.as_deref())? == GuardOutcome::Changed {
                return Ok(Some(edit.task.clone()));
            }
        }
        let mut folders: Vec<_> =
            edits.iter().filter_map(|edit| edit.path.parent()).filter(|folder| folder.exists()).collect();
        folders.dedup();
        for folder in folders {
            fs::sync_dir(folder)?;
        }
        Ok(None)
    }

    /// Undoes the files that were already written, unless they have changed since.
    fn take_back(&self, edits: &[Edit], op: &str) {
        for edit in edits {
            let temp = guard::temp_path(&edit.path, op);
            let written = self.text_of(&edit.path).ok().flatten();
            if written == edit.new && written != edit.old {
                let _ = guard::replace(&edit.path, op, edit.new.as_deref(), edit.old.as_deref());
            }
            let _ = fs::remove(&temp);
        }
    }

    fn edits(&self, changes: &[Change], expect: Expect) -> Result<Vec<Edit>, StoreError> {
        let mut edits: BTreeMap<PathBuf, Edit> = BTreeMap::new();
        for change in changes {
            let place = if let Change::File { file, .. } = change { file } else { &Place::Task };
            let path = self.inside(self.path(change.task(), place))?;
            if !edits.contains_key(&path) {
                let old = self.text_of(&path)?;
                let place = place.clone();
                let edit = Edit { task: change.task().clone(), place, path: path.clone(), new: old.clone(), old };
                edits.insert(path.clone(), edit);
            }
            let edit = edits.get_mut(&path).expect("it was put there above");
            edit.new = changed(edit.new.take(), change, expect, &self.flow)?;
        }
        Ok(edits.into_values().filter(|edit| edit.old != edit.new).collect())
    }

    /// Completes the verb of a process that died: under the lock, so nobody else is at it.
    fn recover(&self) -> Result<(), StoreError> {
        let Some(bytes) = fs::read(&self.intent_path())? else { return Ok(()) };
        let Ok(line) = serde_json::from_slice::<Line>(&bytes) else {
            // Written whole or not at all; damaged only by the disk. Keep it for whoever wants to look.
            return Ok(fs::rename(&self.intent_path(), &self.intents_dir().join("damaged"))?);
        };
        self.restore_swapped(&line)?;
        let edits = self.edits(&line.changes, Expect::WhatIsLeft)?;
        self.apply(&edits, &line.id)?;
        self.take_in_late_saves(&edits, &line)?;
        if !self.is_journaled(&line)? {
            self.journal_line(&line)?;
        }
        fs::remove(&self.intent_path())?;
        Ok(())
    }

    fn is_journaled(&self, line: &Line) -> Result<bool, StoreError> {
        let bytes = fs::read(&line.file(&self.journal_dir()))?.unwrap_or_default();
        let needle = format!("\"{}\"", line.id);
        Ok(String::from_utf8_lossy(&bytes).lines().rev().take(64).any(|text| text.contains(&needle)))
    }

    /// A kill between a swap and its check leaves in the temporary file what was swapped out. If that is not what the verb
    /// had read, a person saved it, and it goes back.
    fn restore_swapped(&self, line: &Line) -> Result<(), StoreError> {
        for change in &line.changes {
            let place = if let Change::File { file, .. } = change { file } else { &Place::Task };
            let Ok(path) = self.inside(self.path(change.task(), place)) else { continue };
            let temp = guard::temp_path(&path, &line.id);
            let Some(swapped) = self.text_of(&temp).ok().flatten() else { continue };
            match self.text_of(&path).ok().flatten() {
                Some(now)
                    if is_written(&now, line, change.task())
                        && edited(&swapped, line, change.task(), &self.flow).as_ref() != Some(&now) =>
                {
                    guard::give_back(&path, &temp, &now)?;
                }
                None if matches!(change, Change::File { old: Some(old), new: None, .. } if *old != swapped) => {
                    fs::rename_new(&temp, &path)?;
                }
                _ => {}
            }
            fs::remove(&temp)?;
        }
        Ok(())
    }
}

/// The line of a verb in the journal.
fn line_of(op: Op, by: &Worker, at: Timestamp, rng: &mut fastrand::Rng) -> Line {
    let id = (0..10).map(|_| rng.alphanumeric().to_ascii_lowercase()).collect();
    Line { id, at, by: by.clone(), verb: op.verb, undoes: op.undoes, changes: op.changes }
}

/// `text` after the line's changes to that task, if they apply.
fn edited(text: &str, line: &Line, task: &TaskId, flow: &Workflow) -> Option<String> {
    let mut text = Some(text.to_owned());
    for change in line.changes.iter().filter(|change| change.task() == task) {
        text = changed(text, change, Expect::Exactly, flow).ok()?;
    }
    text
}

/// Whether `text` already says what the line was to make of that task.
fn is_written(text: &str, line: &Line, task: &TaskId) -> bool {
    line.changes.iter().filter(|change| change.task() == task).all(|change| match change {
        Change::File { new, .. } => new.as_deref() == Some(text),
        Change::Set { key, new, .. } => Doc::new(text).is_ok_and(|doc| doc.says(key, new.as_ref())),
    })
}

/// The text after one change.
fn changed(
    text: Option<String>,
    change: &Change,
    expect: Expect,
    flow: &Workflow,
) -> Result<Option<String>, StoreError> {
    let lenient = expect == Expect::WhatIsLeft;
    match change {
        Change::File { task, old, new, .. } => {
            if text == *old {
                Ok(new.clone())
            } else if lenient {
                Ok(text)
            } else {
                Err(StoreError::Raced { task: task.clone(), key: None })
            }
        }
        Change::Set { task, key, old, new } => {
            let Some(text) = text else {
                return if lenient { Ok(None) } else { Err(StoreError::Missing(task.clone())) };
            };
            let edit = |source: EditError| StoreError::Edit { task: task.clone(), source };
            let doc = match Doc::new(text.clone()) {
                Ok(doc) => doc,
                Err(_) if lenient => return Ok(Some(text)),
                Err(error) => return Err(edit(error)),
            };
            if doc.says(key, old.as_ref()) || is_same_state(&doc, key, old.as_ref(), flow) {
                Ok(Some(doc.with(key, new.as_ref()).map_err(edit)?))
            } else if lenient {
                Ok(Some(text))
            } else {
                Err(StoreError::Raced { task: task.clone(), key: Some(key.clone()) })
            }
        }
    }
}

/// A file may leave its state out, or spell it carelessly: what it means is what counts.
fn is_same_state(doc: &Doc, key: &Key, expected: Option<&Value>, flow: &Workflow) -> bool {
    if key.as_str() != "state" {
        return false;
    }
    let text = |key: &str| doc.get(&Key::new(key)).map(|value| value.to_string());
    let kind: Kind = text("kind").and_then(|kind| kind.parse().ok()).unwrap_or(Kind::Issue);
    let means = match text("state") {
        Some(typed) => flow.find_state(kind, &typed).ok().map(|state| &state.name),
        None => Some(flow.initial(kind)),
    };
    means.is_some_and(|name| expected.is_some_and(|value| value.to_string() == name.as_str()))
}

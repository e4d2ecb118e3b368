//! Committing a verb: all of its changes or none, even if the process is killed.
//!
//! The verb's journal line is written first as an intent, then the files, then the journal, and then the intent is removed.
//! If the process dies in between, the next process completes the verb from the intent.

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

/// How often a verb is repeated if a file was saved in the meantime.
const TRIES: usize = 5;

/// A committed verb, which is durable.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Committed {
    pub id: String,
}

/// One file that a verb changes, with its old and its new content.
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
    /// They must match, because the verb was just decided.
    Exactly,
    /// They need not, because a dead process may have written some files, and people may have changed others since.
    WhatIsLeft,
}

impl Store {
    /// Takes the board's lock and completes the verb of a dead process, if any.
    pub fn lock(&self) -> Result<BoardLock, StoreError> {
        fs::make_dir(&self.intents_dir())?;
        let lock = BoardLock::of(FileLock::take(&self.local.join("lock"))?);
        self.recover()?;
        Ok(lock)
    }

    /// Lets only one process at a time make or remove worktrees of the repository.
    pub fn worktree_lock(&self) -> Result<FileLock, StoreError> {
        fs::make_dir(&self.local)?;
        FileLock::take(&self.local.join("worktrees.lock"))
    }

    /// Allows one merge at a time, including its checks.
    pub fn merge_lock(&self) -> Result<FileLock, StoreError> {
        fs::make_dir(&self.local)?;
        FileLock::take(&self.local.join("merge.lock"))
    }

    /// Allows one sync at a time; `None` while another one runs.
    pub fn try_sync_lock(&self) -> Result<Option<FileLock>, StoreError> {
        fs::make_dir(&self.sync_dir())?;
        FileLock::try_take(&self.sync_dir().join("lock"))
    }

    /// The folder for this machine's data about GitHub.
    pub fn sync_dir(&self) -> PathBuf {
        self.local.join("sync")
    }

    fn intent_path(&self) -> PathBuf {
        self.intents_dir().join("intent.json")
    }

    /// A separate folder, so that its modification time changes only with verbs.
    pub(super) fn intents_dir(&self) -> PathBuf {
        self.local.join("intent")
    }

    pub(super) fn is_pending(&self) -> bool {
        self.intent_path().exists()
    }

    /// For readers: waits for a verb in progress, or completes that of a dead process.
    pub(super) fn settle(&self) -> Result<(), StoreError> {
        if !self.is_pending() {
            return Ok(());
        }
        match self.lock() {
            // If this process cannot write, it shows the files as they are.
            Err(StoreError::Fs(_)) => Ok(()),
            other => other.map(|_| ()),
        }
    }

    /// Commits `op` under the lock.
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

    /// Adds a journal line for a change that somebody made by hand; the task files are not written.
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

    /// Refuses to write a file that could not be read again because it is too long or has conflict markers.
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

    /// Handles a save of a person who had a file open while it was replaced, and wrote to the old file: the verb's changes are
    /// applied to the person's text, or that text replaces the file if the changes do not apply.
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

    /// Updates the index, and removes empty folders of notes.
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

    /// Restores the files that were already written, unless they have changed since.
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

    /// Completes the verb of a dead process. The caller holds the lock.
    fn recover(&self) -> Result<(), StoreError> {
        let Some(bytes) = fs::read(&self.intent_path())? else { return Ok(()) };
        let Ok(line) = serde_json::from_slice::<Line>(&bytes) else {
            // The intent is written as a whole, so only the disk can have damaged it. It is kept for inspection.
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

    /// Moves back a file that a process swapped out and did not compare before it was killed, if it is not the file that the verb
    /// had read: then a person has saved it.
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

/// The journal line of a verb.
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

/// Whether `text` already has the values that the line gives to that task.
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

/// Whether the state in a file means the expected one, though it may be missing or spelled differently.
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

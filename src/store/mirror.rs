//! The board as seen by a watcher: read once, then updated file by file.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::index::{Content, Stamp};
use super::journal::{self, Line, Mark};
use super::{Store, StoreError, codec};
use crate::board::{Board, Broken, Change, Place};
use crate::fs;
use crate::task::{Problem, TaskId};

/// One task's file when it was last read.
struct SeenFile {
    stamp: Stamp,
    content: Content,
    /// Its last readable content.
    text: Option<String>,
}

#[derive(Default)]
pub struct Mirror {
    files: BTreeMap<TaskId, SeenFile>,
    misnamed: Vec<Problem>,
    marks: Vec<Mark>,
    /// The ids of the journal lines that were read.
    lines: HashSet<String>,
}

/// A file whose content has changed; `None` if there was or is no readable file.
#[derive(Debug, Clone)]
pub struct Difference {
    pub id: TaskId,
    pub old: Option<String>,
    pub new: Option<String>,
}

/// The changes since the last update.
#[derive(Default)]
pub struct Delta {
    pub files: Vec<Difference>,
    /// New lines of the journal.
    pub lines: Vec<Line>,
    /// A file of the journal was rewritten, probably by git, so that the new lines are about changes of others at any time.
    pub rewritten: bool,
    /// Files that are probably being written at the moment.
    pub unsettled: Vec<TaskId>,
    /// Tasks that a verb has changed but whose files cannot be read, so that only the journal tells their values.
    pub unread: BTreeSet<TaskId>,
}

impl Delta {
    /// Combines two deltas: from the state before the first to the state after the second.
    #[must_use]
    pub fn and_then(mut self, later: Self) -> Self {
        for file in later.files {
            match self.files.iter_mut().find(|known| known.id == file.id) {
                Some(known) => known.new = file.new,
                None => self.files.push(file),
            }
        }
        self.lines.extend(later.lines);
        self.rewritten |= later.rewritten;
        self.unsettled = later.unsettled;
        self.unread.extend(later.unread);
        self
    }
}

impl Mirror {
    pub fn new(store: &Store) -> Result<Self, StoreError> {
        let mut mirror = Self::default();
        mirror.update(store, None)?;
        Ok(mirror)
    }

    /// Updates these files, or all. Callers hold the board's lock, so that they see each verb as a whole.
    pub fn update(&mut self, store: &Store, dirty: Option<&BTreeSet<TaskId>>) -> Result<Delta, StoreError> {
        let mut delta = Delta::default();
        let since = journal::since(&store.journal_dir(), &self.marks)?;
        (self.marks, delta.rewritten) = (since.marks, since.rewritten);
        delta.lines = since.lines.into_iter().filter(|line| self.lines.insert(line.id.clone())).collect();
        match dirty {
            Some(ids) => {
                // The files that a verb has changed are read together with its line, whether or not their events have arrived.
                let named = delta.lines.iter().flat_map(|line| line.changes.iter().map(|change| change.task().clone()));
                let all: BTreeSet<TaskId> = ids.iter().cloned().chain(named).collect();
                for id in &all {
                    let meta = fs::metadata(&store.path(id, &Place::Task))?.filter(std::fs::Metadata::is_file);
                    self.look_at(store, id, meta.map(|meta| Stamp::of(&meta)), &mut delta)?;
                }
            }
            None => {
                let listing = store.listing()?;
                self.misnamed = listing.misnamed;
                let there: BTreeSet<&TaskId> = listing.files.iter().map(|(id, _)| id).collect();
                let gone: Vec<TaskId> = self.files.keys().filter(|id| !there.contains(id)).cloned().collect();
                for id in &gone {
                    self.look_at(store, id, None, &mut delta)?;
                }
                for (id, stamp) in &listing.files {
                    self.look_at(store, id, Some(*stamp), &mut delta)?;
                }
            }
        }
        self.take_their_word(&mut delta);
        self.show_named(&mut delta);
        Ok(delta)
    }

    /// Applies the journal's values to files that cannot be read because somebody is saving them, and keeps the result as their
    /// last content.
    fn take_their_word(&mut self, delta: &mut Delta) {
        for change in delta.lines.iter().flat_map(|line| &line.changes) {
            let Change::Set { task, key, new, .. } = change else { continue };
            let Some(seen) = self.files.get_mut(task) else { continue };
            if matches!(seen.content, Content::Task(_)) {
                continue;
            }
            let doc = seen.text.as_ref().and_then(|text| codec::Doc::new(text.clone()).ok());
            if let Some(text) = doc.and_then(|doc| doc.with(key, new.as_ref()).ok()) {
                seen.text = Some(text);
                delta.unread.insert(task.clone());
            }
        }
    }

    /// Lists files that a verb has changed but that are as before, because somebody has restored the old content in the meantime.
    fn show_named(&self, delta: &mut Delta) {
        let shown: BTreeSet<TaskId> = delta.files.iter().map(|file| file.id.clone()).collect();
        let named: BTreeSet<&TaskId> = delta.lines.iter().flat_map(|line| &line.changes).map(Change::task).collect();
        for id in named.into_iter().filter(|id| !shown.contains(*id) && !delta.unread.contains(*id)) {
            if let Some(text) = self.text(id) {
                delta.files.push(Difference { id: id.clone(), old: Some(text.to_owned()), new: Some(text.to_owned()) });
            }
        }
    }

    fn look_at(
        &mut self,
        store: &Store,
        id: &TaskId,
        stamp: Option<Stamp>,
        delta: &mut Delta,
    ) -> Result<(), StoreError> {
        let before = self.files.get(id);
        let Some(stamp) = stamp else {
            if let Some(seen) = self.files.remove(id) {
                delta.files.push(Difference { id: id.clone(), old: seen.text, new: None });
            }
            return Ok(());
        };
        // A file can change within one clock tick without changing its stamp, so recent files are read again.
        if before.is_some_and(|seen| seen.stamp == stamp && !is_recent(&stamp)) {
            return Ok(());
        }
        let Some((entry, text)) = store.read_file_and_text(id)? else { return Ok(()) };
        let old = before.and_then(|seen| seen.text.clone());
        if text.is_none() && is_recent(&entry.stamp) {
            delta.unsettled.push(id.clone());
        }
        let kept = text.clone().or_else(|| old.clone());
        self.files.insert(id.clone(), SeenFile { stamp: entry.stamp, content: entry.content, text: kept });
        if let Some(text) = text.filter(|text| old.as_ref() != Some(text)) {
            delta.files.push(Difference { id: id.clone(), old, new: Some(text) });
        }
        Ok(())
    }

    /// Marks a journal line as read, because the watcher has written it itself.
    pub fn knows_line(&mut self, id: &str) {
        self.lines.insert(id.to_owned());
    }

    pub fn board(&self, store: &Store) -> Board {
        let mut tasks = Vec::with_capacity(self.files.len());
        let mut broken = Vec::new();
        for seen in self.files.values() {
            match &seen.content {
                Content::Task(task) => tasks.push(task.clone()),
                Content::Broken(id, problem) => broken.push(Broken { id: id.clone(), problem: problem.clone() }),
            }
        }
        let unnamed = TaskId::new("unnamed").expect("a plain word is an id");
        broken.extend(self.misnamed.iter().map(|problem| Broken { id: unnamed.clone(), problem: problem.clone() }));
        store.with_archive(Board::new(tasks, broken, Vec::new()))
    }

    /// The content of a task's file, or its last readable content.
    pub fn text(&self, id: &TaskId) -> Option<&str> {
        self.files.get(id).and_then(|seen| seen.text.as_deref())
    }

    /// Parses the files again for another workflow, under which they may have another meaning.
    pub fn read_again(&mut self, store: &Store) {
        for (id, seen) in &mut self.files {
            let Some(text) = &seen.text else { continue };
            let shown = store.shown(&store.path(id, &Place::Task));
            if let (Ok(read), Content::Task(_)) = (codec::read(id, &shown, text, store.flow()), &seen.content) {
                seen.content = Content::Task(read.task);
            }
        }
    }
}

/// Whether a file was written so recently that a later write may have the same time, or that the write may not be complete.
fn is_recent(stamp: &Stamp) -> bool {
    let now = jiff::Timestamp::now().as_nanosecond();
    now - i128::from(stamp.mtime) < 150_000_000
}

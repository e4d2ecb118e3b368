//! The board as a watcher knows it: read once, then kept up to date file by file.

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
    /// Lines of the journal that have been seen, by their ids.
    lines: HashSet<String>,
}

/// A file that says something else than before; `None` where there was or is no readable one.
#[derive(Debug, Clone)]
pub struct Difference {
    pub id: TaskId,
    pub old: Option<String>,
    pub new: Option<String>,
}

/// The changes since the last look.
#[derive(Default)]
pub struct Delta {
    pub files: Vec<Difference>,
    /// Lines of the journal that were not there before.
    pub lines: Vec<Line>,
    /// The journal is another one now: git has put it there, and its lines tell what others did at some time.
    pub rewritten: bool,
    /// Files that somebody seems to be writing just now.
    pub unsettled: Vec<TaskId>,
    /// Tasks that a verb has changed and whose files cannot be read: the verb's word is all that is known of them.
    pub unread: BTreeSet<TaskId>,
}

impl Delta {
    /// Both as one: from what was there before the first to what is there after the second.
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

    /// Looks at these files, or at all of them. Callers hold the board's lock, so that no verb is half seen.
    pub fn update(&mut self, store: &Store, dirty: Option<&BTreeSet<TaskId>>) -> Result<Delta, StoreError> {
        let mut delta = Delta::default();
        let since = journal::since(&store.journal_dir(), &self.marks)?;
        (self.marks, delta.rewritten) = (since.marks, since.rewritten);
        delta.lines = since.lines.into_iter().filter(|line| self.lines.insert(line.id.clone())).collect();
        match dirty {
            Some(ids) => {
                // What a verb has changed is looked at with it, whenever the file's own event comes.
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

    /// A file that somebody is saving over what a verb has just written says nothing, or not what the verb made of it; what
    /// it said last is then what the verb says.
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

    /// Somebody may have saved over a verb just what was there before it: only with the verb's word in between is that a change.
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
        // Within one tick of the clock a file can change and keep its stamp; it is then told of by an event.
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

    /// A line that the watcher has written itself.
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

    /// The same files can mean something else under another workflow.
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

/// Written so lately that the next write may have the same time, or that this one may not be over.
fn is_recent(stamp: &Stamp) -> bool {
    let now = jiff::Timestamp::now().as_nanosecond();
    now - i128::from(stamp.mtime) < 150_000_000
}

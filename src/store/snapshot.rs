//! Reads the board: all of it through the index, or one task with its related tasks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::index::{self, Content, Entry, Header, IndexFile, Nanos, Stamp};
use super::{FileLock, Store, StoreError, codec, too_large};
use crate::board::{Board, Broken, DEEPEST_PARENTS, Place};
use crate::fs::{self, FsError, ReadFile};
use crate::task::{Problem, Task, TaskId};

/// The version of the tasks' layout in the index.
const LAYOUT: u32 = 3;
/// If fewer files have changed, they are read again each time instead of writing a new index.
const WORTH_WRITING: usize = 32;
const WORTH_THREADS: usize = 64;
const WORTH_INDEX: usize = 2_000;
const UNREAD_JOURNAL: u64 = 256 * 1024;

/// The tasks whose children may be members of a group with the task: itself and its parent.
const MEMBERS_OF: usize = 2;

/// Which related tasks are read with a task.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    Links,
    Family,
}

/// The files in the folder, listed before any of them is opened.
pub(super) struct Listing {
    pub files: Vec<(TaskId, Stamp)>,
    pub misnamed: Vec<Problem>,
    folder: Nanos,
}

/// Files that were read so far, so that each is read once.
struct FileReads<'a> {
    store: &'a Store,
    read: BTreeMap<TaskId, Option<Entry>>,
}

impl FileReads<'_> {
    fn read(&mut self, id: &TaskId) -> Result<Option<&Entry>, FsError> {
        if !self.read.contains_key(id) {
            self.read.insert(id.clone(), self.store.read_file(id)?);
        }
        Ok(self.read.get(id).and_then(Option::as_ref))
    }

    fn take(&mut self, id: &TaskId) -> Result<Option<Entry>, FsError> {
        match self.read.remove(id) {
            Some(entry) => Ok(entry),
            None => self.store.read_file(id),
        }
    }
}

impl Store {
    pub(crate) fn index_path(&self) -> PathBuf {
        self.local.join("index")
    }

    /// A hash that changes if another version of ralph, or another workflow, could read the same file differently.
    pub(crate) fn reader(&self) -> u32 {
        crc32fast::hash(format!("{} {LAYOUT} {:?}", env!("CARGO_PKG_VERSION"), self.flow).as_bytes())
    }

    /// The whole board at one instant, never with half of a verb.
    pub fn snapshot(&self) -> Result<Board, StoreError> {
        for _ in 0..3 {
            self.settle()?;
            let before = self.generation();
            let board = self.read_all()?;
            if !self.is_pending() && before == self.generation() {
                return Ok(board);
            }
        }
        // Verbs are committed faster than the board is read, so they are locked out if possible.
        let lock = FileLock::take(&self.local.join("lock"));
        let board = self.read_all();
        drop(lock);
        board
    }

    /// A value that changes with every verb, because its intent is made and removed in this folder.
    fn generation(&self) -> Option<Nanos> {
        fs::metadata(&self.intents_dir()).ok().flatten().map(|meta| index::mtime(&meta))
    }

    pub(super) fn read_all(&self) -> Result<Board, StoreError> {
        // Listing the files and reading the index take about the same time, so they run in parallel.
        let (listing, old) = std::thread::scope(|scope| {
            let old = scope
                .spawn(|| IndexFile::open(&self.index_path(), self.reader()).map(|index| (index.entries(), index)));
            (self.listing(), old.join().ok().flatten())
        });
        let (listing, (entries, old)) = (listing?, old.unzip());
        let known_folder = old.as_ref().map(IndexFile::folder);
        let touched = old.as_ref().map(IndexFile::touched).unwrap_or_default();
        let header = old.map(|index| index.header).unwrap_or_default();
        let entries = entries.flatten();
        let intact = entries.is_some();
        let (mut kept, changed) = reconcile(&listing.files, entries.unwrap_or_default(), header.began);

        // Files that were changed by hand are not listed in the index, so that readers of one task would miss them.
        let by_hand = changed.iter().any(|id| !touched.contains(id));
        let worth = !intact || by_hand || changed.len() > WORTH_WRITING || known_folder != Some(listing.folder);
        // The time is taken before the files are read, so that later changes are newer than it.
        let began = if worth { self.begin_index() } else { None };
        let marks = if intact { header.marks.as_slice() } else { &[] };
        let news = index::read_journal(&self.journal_dir(), marks)?;
        let read = self.read_files(&changed)?;
        merge_in(&mut kept, read);
        for (id, at) in news.newest {
            if let Ok(place) = kept.binary_search_by(|entry| entry.id().cmp(&id)) {
                kept[place].journaled = kept[place].journaled.max(Some(at));
            }
        }
        let began = began.or_else(|| if news.unread > UNREAD_JOURNAL { self.begin_index() } else { None });
        if let Some((temp, began)) = began {
            let problems = kept.iter().filter(|entry| entry.has_problems()).map(|entry| entry.id().clone()).collect();
            let header = Header {
                reader: self.reader(),
                began,
                folder: listing.folder,
                tasks: kept.len() as u64,
                problems,
                marks: news.marks,
            };
            // A reading command must not fail because the cache cannot be written.
            let _ = index::write(&self.index_path(), &temp, &header, &kept);
        }
        Ok(self.assemble(kept, listing.misnamed))
    }

    /// Creates the temporary file of a new index; its modification time is the file system's current time.
    fn begin_index(&self) -> Option<(PathBuf, Nanos)> {
        let temp = self.local.join(format!(".index.{}.tmp", std::process::id()));
        fs::make_dir(&self.local).ok()?;
        fs::write_over(&temp, b"", false).ok()?;
        let began = fs::metadata(&temp).ok()??;
        Some((temp, index::mtime(&began)))
    }

    pub(super) fn listing(&self) -> Result<Listing, FsError> {
        let folder_path = self.tasks_dir();
        fs::refuse_link_out(&folder_path)?;
        let error = |source| FsError { doing: "list", path: folder_path.clone(), source };
        let folder = fs::metadata(&folder_path)?.map_or(0, |meta| index::mtime(&meta));
        let mut listing = Listing { files: Vec::new(), misnamed: Vec::new(), folder };
        if folder == 0 {
            return Ok(listing);
        }
        let mut found = Vec::new();
        for entry in std::fs::read_dir(&folder_path).map_err(error)? {
            let entry = entry.map_err(error)?;
            let name = entry.file_name();
            let Some(stem) =
                name.to_str().and_then(|name| name.strip_suffix(".toml")).filter(|stem| !stem.starts_with('.'))
            else {
                continue;
            };
            let id = match TaskId::new(stem) {
                Ok(id) => id,
                Err(why) => {
                    let problem = Problem::whole(self.shown(&entry.path()), why.to_string());
                    listing.misnamed.push(problem.hint("rename the file"));
                    continue;
                }
            };
            found.push((id, entry));
        }
        listing.files = in_chunks(found, |(id, entry)| Ok(stamp_of(&entry).map(|stamp| (id, stamp))))?;
        listing.files.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Ok(listing)
    }

    fn read_files(&self, ids: &[TaskId]) -> Result<Vec<Entry>, FsError> {
        in_chunks(ids.iter().collect(), |id| self.read_file(id))
    }

    /// Reads a task file; `None` if it was removed since it was listed.
    fn read_file(&self, id: &TaskId) -> Result<Option<Entry>, FsError> {
        Ok(self.read_file_and_text(id)?.map(|(entry, _)| entry))
    }

    /// The same with the text of the file, if it is a valid task.
    pub(super) fn read_file_and_text(&self, id: &TaskId) -> Result<Option<(Entry, Option<String>)>, FsError> {
        let path = self.path(id, &Place::Task);
        let shown = format!(".ralph/tasks/{id}.toml");
        let mut text = None;
        let (meta, content) = match fs::read_with(&path, codec::MAX_FILE_SIZE) {
            Ok(None) => return Ok(None),
            Ok(Some(ReadFile { meta, bytes: None })) => (meta, Content::Broken(id.clone(), too_large(&shown))),
            Ok(Some(ReadFile { meta, bytes: Some(bytes) })) => {
                let content = self.content(id, &shown, &bytes);
                text = String::from_utf8(bytes).ok().filter(|_| matches!(content, Content::Task(_)));
                (meta, content)
            }
            // A link that leads out of the repository, a pipe, or a file without read permission.
            Err(error) => {
                let Some(meta) = fs::itself(&path)? else { return Ok(None) };
                let problem = match path.is_symlink().then(|| self.inside(path.clone()).err()).flatten() {
                    Some(StoreError::Broken(problem)) => problem,
                    _ => Problem::whole(&shown, format!("{error}: {}", error.source)),
                };
                (meta, Content::Broken(id.clone(), problem))
            }
        };
        let stamp = Stamp::of(&meta);
        Ok(Some((Entry { stamp, content, journaled: None }, text)))
    }

    fn content(&self, id: &TaskId, shown: &str, bytes: &[u8]) -> Content {
        let read = codec::utf8(shown, bytes).and_then(|text| codec::read(id, shown, text, &self.flow));
        match read {
            Ok(read) => Content::Task(read.task),
            Err(problem) => Content::Broken(id.clone(), problem),
        }
    }

    fn assemble(&self, entries: Vec<Entry>, misnamed: Vec<Problem>) -> Board {
        let mut tasks = Vec::with_capacity(entries.len());
        let mut broken = Vec::new();
        for entry in entries {
            match entry.content {
                Content::Task(task) => tasks.push(dated(task, entry.journaled, entry.stamp)),
                Content::Broken(id, problem) => broken.push(Broken { id, problem }),
            }
        }
        let unnamed = TaskId::new("unnamed").expect("a plain word is an id");
        broken.extend(misnamed.into_iter().map(|problem| Broken { id: unnamed.clone(), problem }));
        self.with_archive(Board::new(tasks, broken, Vec::new()))
    }

    /// A board from texts, such as those of another revision: its tasks and its archive.
    pub fn board_of(
        &self,
        tasks: &BTreeMap<TaskId, Vec<u8>>,
        archive: &BTreeMap<TaskId, Vec<u8>>,
        lines: &[super::Line],
    ) -> Board {
        let mut newest: BTreeMap<&TaskId, Timestamp> = BTreeMap::new();
        for (task, at) in lines.iter().flat_map(|line| line.changes.iter().map(move |change| (change.task(), line.at)))
        {
            newest.entry(task).and_modify(|known| *known = at.max(*known)).or_insert(at);
        }
        let (mut read, mut broken) = (Vec::new(), Vec::new());
        for (id, bytes) in tasks {
            let shown = format!(".ralph/tasks/{id}.toml");
            match self.content(id, &shown, bytes) {
                _ if bytes.len() as u64 > codec::MAX_FILE_SIZE => {
                    broken.push(Broken { id: id.clone(), problem: too_large(&shown) });
                }
                Content::Task(task) => read.push(Task { updated: newest.get(id).copied().or(task.created), ..task }),
                Content::Broken(id, problem) => broken.push(Broken { id, problem }),
            }
        }
        let archived =
            archive.iter().filter_map(|(id, bytes)| Some((id.clone(), self.file_of(id, bytes).ok()?.task.state)));
        Board::new(read, broken, archived.collect())
    }

    pub(super) fn with_archive(&self, mut board: Board) -> Board {
        let found = board.unresolved().into_iter().filter_map(|id| {
            let file = self.load_archived(&id).ok()?;
            Some((id, file.task.state))
        });
        let found = found.collect();
        board.put_archived(found);
        board
    }

    /// The part of the board that concerns one task: its blockers, its ancestors and their blockers, its children, and the tasks that
    /// it blocks. The cost does not depend on the size of the board.
    pub fn around(&self, id: &TaskId) -> Result<Board, StoreError> {
        self.near(id, Extent::Links)
    }

    /// The same with its ancestors' other children, and with the children of all that may be members of its group: all tasks that a
    /// move of it can change, or that decide about it.
    pub fn family(&self, id: &TaskId) -> Result<Board, StoreError> {
        self.near(id, Extent::Family)
    }

    /// The same, but it checks all files for changes by hand: another task may have been made a child of this one, which only that
    /// task's file shows.
    pub fn family_by_hand(&self, id: &TaskId) -> Result<Board, StoreError> {
        let index = IndexFile::open(&self.index_path(), self.reader());
        let (Some(index), listing) = (index, self.listing()?) else { return self.snapshot() };
        let touched = index.touched();
        let unseen = |(id, stamp): &(TaskId, Stamp)| stamp.mtime >= index.header.began && !touched.contains(id);
        // Reading the whole board also updates the index, so that the next call finds the change there.
        if listing.files.iter().any(unseen) { self.snapshot() } else { self.family(id) }
    }

    fn near(&self, id: &TaskId, reach: Extent) -> Result<Board, StoreError> {
        self.settle()?;
        let folder = self.folder_stamp();
        let index = IndexFile::open(&self.index_path(), self.reader()).filter(|index| index.folder() == folder);
        let Some(index) = index else { return self.snapshot() };
        let mut files = FileReads { store: self, read: BTreeMap::new() };
        let mut wanted: Vec<TaskId> = index.header.problems.clone();
        let mut ancestors = vec![id.clone()];
        while let Some(next) = ancestors.last().cloned() {
            let Some(naming) = naming(&index, &mut files, &next, next == *id)? else { return self.snapshot() };
            // Whether a member of a group has children of its own decides whether it is one.
            let members =
                if reach == Extent::Family && ancestors.len() <= MEMBERS_OF { naming.as_slice() } else { &[] };
            for (member, _) in members.iter().filter(|(_, child)| *child) {
                let Some(below) = self::naming(&index, &mut files, member, false)? else { return self.snapshot() };
                wanted.extend(below.into_iter().map(|(below, _)| below));
            }
            wanted.extend(naming.into_iter().map(|(other, _)| other));
            let parent = files.read(&next)?.and_then(parent);
            let more = reach == Extent::Family && ancestors.len() <= DEEPEST_PARENTS;
            match parent.filter(|parent| more && !ancestors.contains(parent)) {
                Some(parent) => ancestors.push(parent),
                None => break,
            }
        }
        wanted.extend(ancestors);
        match self.closed_over(id, wanted, &index, files)? {
            Some(found) => Ok(self.assemble(found, Vec::new())),
            None => self.snapshot(),
        }
    }

    /// These tasks with their parents and blockers, and theirs. `None` for so many tasks that reading through the index is faster.
    fn closed_over(
        &self,
        id: &TaskId,
        mut wanted: Vec<TaskId>,
        index: &IndexFile,
        mut files: FileReads<'_>,
    ) -> Result<Option<Vec<Entry>>, StoreError> {
        let mut found: BTreeMap<TaskId, Entry> = BTreeMap::new();
        while let Some(next) = wanted.pop() {
            if found.contains_key(&next) {
                continue;
            }
            if found.len() > WORTH_INDEX {
                return Ok(None);
            }
            let Some(mut entry) = files.take(&next)? else { continue };
            if next == *id {
                entry.journaled = self.last_line(index, id)?;
            }
            if let Content::Task(task) = &entry.content {
                wanted.extend(task.parent.iter().chain(&task.blocked_by).cloned());
            }
            found.insert(next, entry);
        }
        Ok(Some(found.into_values().collect()))
    }

    fn last_line(&self, index: &IndexFile, id: &TaskId) -> Result<Option<Timestamp>, FsError> {
        let news = index::read_journal(&self.journal_dir(), &index.header.marks)?;
        let indexed = index.entry(id).and_then(|entry| entry.journaled);
        Ok(news.newest.get(id).copied().max(indexed))
    }

    /// The approximate number of tasks, to choose the length of an id.
    pub fn rough_count(&self) -> usize {
        let index = IndexFile::open(&self.index_path(), self.reader());
        index.map_or_else(
            || fs::names(&self.tasks_dir()).map_or(0, |names| names.len()),
            |index| index.header.tasks as usize,
        )
    }

    /// Adds to the index which tasks a verb has changed. `before` is the folder's stamp before the verb.
    pub(super) fn note_touched(&self, before: Nanos, ids: Vec<TaskId>) {
        let folder = self.folder_stamp();
        IndexFile::touch(&self.index_path(), self.reader(), before, folder, ids);
    }

    pub(super) fn folder_stamp(&self) -> Nanos {
        fs::metadata(&self.tasks_dir()).ok().flatten().map_or(0, |meta| index::mtime(&meta))
    }

    /// Whether the index, if there is one, is undamaged.
    pub fn index_is_intact(&self) -> Option<bool> {
        let path: &Path = &self.index_path();
        path.exists().then(|| IndexFile::is_whole(path))
    }

    pub fn drop_index(&self) -> Result<(), StoreError> {
        Ok(fs::remove(&self.index_path())?)
    }
}

/// Applies a function to all items, on several threads if there are many. Keeps their order and omits empty results.
fn in_chunks<T: Send, R: Send>(
    mut all: Vec<T>,
    each: impl Fn(T) -> Result<Option<R>, FsError> + Sync,
) -> Result<Vec<R>, FsError> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    if all.len() < WORTH_THREADS || threads == 1 {
        return all.into_iter().filter_map(|one| each(one).transpose()).collect();
    }
    let size = all.len().div_ceil(threads);
    let mut chunks = Vec::with_capacity(threads);
    while !all.is_empty() {
        chunks.push(all.split_off(all.len().saturating_sub(size)));
    }
    std::thread::scope(|scope| {
        let each = &each;
        let run =
            |chunk: Vec<T>| chunk.into_iter().filter_map(|one| each(one).transpose()).collect::<Result<Vec<_>, _>>();
        let running: Vec<_> = chunks.into_iter().rev().map(|chunk| scope.spawn(move || run(chunk))).collect();
        let mut done = Vec::new();
        for thread in running {
            done.extend(thread.join().expect("a reader does not panic")?);
        }
        Ok(done)
    })
}

/// The stamp of a file; `None` if it was removed since it was listed, or is not a file.
fn stamp_of(entry: &std::fs::DirEntry) -> Option<Stamp> {
    let meta = entry.metadata().ok()?;
    // A link that leads out of the repository is listed, and reported as a problem when it is read.
    let meta = if meta.is_symlink() { fs::metadata(&entry.path()).unwrap_or(Some(meta))? } else { meta };
    (meta.is_file() || meta.is_symlink()).then(|| Stamp::of(&meta))
}

/// The entries that are still valid, and the files that must be read; both in the order of the ids.
fn reconcile(files: &[(TaskId, Stamp)], entries: Vec<Entry>, began: Nanos) -> (Vec<Entry>, Vec<TaskId>) {
    let (mut kept, mut changed) = (Vec::with_capacity(files.len()), Vec::new());
    let mut entries = entries.into_iter().peekable();
    for (id, stamp) in files {
        while entries.next_if(|entry| entry.id() < id).is_some() {}
        let entry = entries.next_if(|entry| entry.id() == id);
        match entry {
            Some(entry) if entry.stamp == *stamp && stamp.mtime < began => kept.push(entry),
            Some(entry) => {
                // The entry keeps its time from the journal. The inode 0 marks it as outdated.
                kept.push(Entry { stamp: Stamp { inode: 0, ..*stamp }, ..entry });
                changed.push(id.clone());
            }
            None => changed.push(id.clone()),
        }
    }
    (kept, changed)
}

/// Replaces outdated entries but keeps their times from the journal; entries of removed files are dropped.
fn merge_in(kept: &mut Vec<Entry>, read: Vec<Entry>) {
    let mut fresh = Vec::new();
    for mut entry in read {
        match kept.binary_search_by(|other| other.id().cmp(entry.id())) {
            Ok(place) => {
                entry.journaled = kept[place].journaled;
                kept[place] = entry;
            }
            Err(_) => fresh.push(entry),
        }
    }
    kept.retain(|entry| entry.stamp.inode != 0);
    if !fresh.is_empty() {
        kept.extend(fresh);
        kept.sort_by(|a, b| a.id().cmp(b.id()));
    }
}

/// Whether a task has another as its parent or, with `blocker`, as a blocker.
/// The tasks whose files name this one as their parent, each with `true`, and with `blocker` those that it blocks. `None` if the
/// index cannot say.
fn naming(
    index: &IndexFile,
    files: &mut FileReads<'_>,
    id: &TaskId,
    blocker: bool,
) -> Result<Option<Vec<(TaskId, bool)>>, StoreError> {
    let Some(ids) = index.may_name(id) else { return Ok(None) };
    let mut found = Vec::new();
    for other in ids {
        let Some(Content::Task(task)) = files.read(&other)?.map(|entry| &entry.content) else { continue };
        let child = task.parent.as_ref() == Some(id);
        if child || (blocker && task.blocked_by.contains(id)) {
            found.push((other, child));
        }
    }
    Ok(Some(found))
}

fn parent(entry: &Entry) -> Option<TaskId> {
    match &entry.content {
        Content::Task(task) => task.parent.clone(),
        Content::Broken(..) => None,
    }
}

fn dated(mut task: Task, journaled: Option<Timestamp>, stamp: Stamp) -> Task {
    task.updated = journaled.or_else(|| Timestamp::from_nanosecond(stamp.mtime.into()).ok());
    task
}

//! The index: what the files said when they were last read, so that a list reads only what has changed since.
//!
//! It is a cache, never the truth. An entry counts only while its file's stamp is the same and older than the moment at
//! which the index began to read (git's racily-clean rule): a change within one tick of the clock cannot hide.
//! Behind the records lie two sorted tables, so that one task's neighbours are found without reading the rest.

mod format;

use std::collections::HashMap;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use format::{IndexFile, write};

use crate::fs::{self, FsError};
use crate::task::{Problem, Task, TaskId};

/// Since 1970; enough until the year 2262.
pub type Nanos = i64;

/// What the file system says of a file; any change of content shows in one of them, or within one tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    pub mtime: Nanos,
    pub size: u64,
    pub inode: u64,
}

impl Stamp {
    pub fn of(meta: &std::fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self { mtime: mtime(meta), size: meta.size(), inode: meta.ino() }
    }
}

pub fn mtime(meta: &std::fs::Metadata) -> Nanos {
    use std::os::unix::fs::MetadataExt as _;
    meta.mtime().saturating_mul(1_000_000_000).saturating_add(meta.mtime_nsec())
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Entry {
    pub stamp: Stamp,
    pub content: Content,
    /// The last journal line about it.
    #[serde(with = "jiff::fmt::serde::timestamp::microsecond::optional")]
    pub journaled: Option<Timestamp>,
}

// Nearly all are tasks, and boxing each would cost more than the space of the few that are not.
#[allow(clippy::large_enum_variant)]
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Content {
    Task(Task),
    Broken(TaskId, Problem),
}

impl Entry {
    pub fn id(&self) -> &TaskId {
        match &self.content {
            Content::Task(task) => &task.id,
            Content::Broken(id, _) => id,
        }
    }

    pub fn has_problems(&self) -> bool {
        match &self.content {
            Content::Task(task) => !task.problems.is_empty(),
            Content::Broken(..) => true,
        }
    }
}

/// How far a journal file has been read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    pub name: String,
    pub read: u64,
    /// Of the last bytes read, to notice a file that was rewritten rather than appended to.
    pub tail: u32,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Header {
    /// Ralph's version and the workflow: another one may read the same file otherwise.
    pub reader: u32,
    /// The file system's clock when the reading began.
    pub began: Nanos,
    /// The folder's own stamp: it changes when a file comes, goes or is replaced.
    pub folder: Nanos,
    pub tasks: u64,
    pub problems: Vec<TaskId>,
    pub marks: Vec<Mark>,
}

const TAIL: u64 = 64;

/// What the journal says beyond the marks.
#[derive(Default)]
pub struct News {
    /// The newest line about each task.
    pub newest: HashMap<TaskId, Timestamp>,
    pub marks: Vec<Mark>,
    /// How many bytes had to be read.
    pub unread: u64,
}

pub fn read_journal(folder: &Path, marks: &[Mark]) -> Result<News, FsError> {
    let mut news = News::default();
    for path in super::journal::files(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let size = fs::metadata(&path)?.map_or(0, |meta| meta.len());
        let mark = marks.iter().find(|mark| mark.name == name && mark.read <= size);
        if mark.is_some_and(|mark| mark.read == size) {
            news.marks.extend(mark.cloned());
            continue;
        }
        let bytes = fs::read(&path)?.unwrap_or_default();
        // A file that a merge rewrote is read again from its beginning.
        let start = mark.filter(|mark| tail_of(&bytes, mark.read) == mark.tail).map_or(0, |mark| mark.read);
        news.unread += bytes.len() as u64 - start;
        for line in super::journal::parse(&bytes[start as usize..]).0 {
            for change in &line.changes {
                let latest = news.newest.entry(change.task().clone()).or_insert(line.at);
                *latest = (*latest).max(line.at);
            }
        }
        let read = bytes.len() as u64;
        news.marks.push(Mark { name, read, tail: tail_of(&bytes, read) });
    }
    Ok(news)
}

fn tail_of(bytes: &[u8], end: u64) -> u32 {
    let end = (end as usize).min(bytes.len());
    crc32fast::hash(&bytes[end.saturating_sub(TAIL as usize)..end])
}

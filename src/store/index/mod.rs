//! The index: a cache of the task files, so that a list reads only the files that have changed.
//!
//! The files always take precedence. An entry is valid only while its file's stamp is the same and older than the time at
//! which the index began to be read (as in git's racily-clean rule), so that a change within one clock tick is noticed.
//! Two sorted tables after the records are used to find related tasks without reading the rest.

mod format;

use std::collections::HashMap;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use format::{IndexFile, write};

use super::journal::{self, Mark};
use crate::fs::FsError;
use crate::os::files;
use crate::task::{Problem, Task, TaskId};

/// Nanoseconds since 1970; sufficient until the year 2262.
pub type Nanos = i64;

/// The metadata of a file; a change of content changes one of these values, except within one clock tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    pub mtime: Nanos,
    pub size: u64,
    pub inode: u64,
}

impl Stamp {
    pub fn of(meta: &std::fs::Metadata) -> Self {
        Self { mtime: mtime(meta), size: meta.len(), inode: files::identity(meta) }
    }
}

pub use crate::os::files::mtime;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Entry {
    pub stamp: Stamp,
    pub content: Content,
    /// The time of the last journal line about it.
    #[serde(with = "jiff::fmt::serde::timestamp::microsecond::optional")]
    pub journaled: Option<Timestamp>,
}

// Nearly all entries are tasks, and boxing each would cost more than the unused space in the others.
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

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Header {
    /// A hash of the version of ralph and the workflow, which determine how a file is read.
    pub reader: u32,
    /// The file system's time when the reading began.
    pub began: Nanos,
    /// The folder's stamp, which changes when a file is created, removed or replaced.
    pub folder: Nanos,
    pub tasks: u64,
    pub problems: Vec<TaskId>,
    pub marks: Vec<Mark>,
}

/// The lines of the journal after the marks.
#[derive(Default)]
pub struct News {
    /// The newest line about each task.
    pub newest: HashMap<TaskId, Timestamp>,
    pub marks: Vec<Mark>,
    /// The number of bytes that were read.
    pub unread: u64,
}

pub fn read_journal(folder: &Path, marks: &[Mark]) -> Result<News, FsError> {
    let since = journal::since(folder, marks)?;
    let mut news = News { marks: since.marks, unread: since.unread, ..News::default() };
    for line in since.lines {
        for change in &line.changes {
            let latest = news.newest.entry(change.task().clone()).or_insert(line.at);
            *latest = (*latest).max(line.at);
        }
    }
    Ok(news)
}

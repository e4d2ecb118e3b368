//! The index: a cache of the task files, so that a list reads only the files that have changed.
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

use super::journal::{self, Mark};
use crate::fs::FsError;
use crate::os::files;
use crate::task::{Problem, Task, TaskId};

/// Since 1970; enough until the year 2262.
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

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Header {
    /// A hash of the version of ralph and the workflow, which determine how a file is read.
    pub reader: u32,
    /// The file system's clock when the reading began.
    pub began: Nanos,
    /// The folder's own stamp: it changes when a file comes, goes or is replaced.
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
    /// How many bytes had to be read.
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

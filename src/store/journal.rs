//! The journal: one line per committed verb, in a file per month.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::board::{Change, Place};
use crate::fs::{self, FsError};
use crate::task::{Problem, TaskId, Worker};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    pub id: String,
    pub at: Timestamp,
    pub by: Worker,
    pub verb: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<String>,
    pub changes: Vec<Change>,
}

impl Line {
    pub fn touches(&self, task: &TaskId) -> bool {
        self.changes.iter().any(|change| change.task() == task)
    }

    pub fn to_text(&self) -> String {
        serde_json::to_string(self).expect("a journal line has only text keys")
    }

    pub fn file(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.jsonl", self.at.strftime("%Y-%m")))
    }
}

pub fn append(folder: &Path, line: &Line) -> Result<(), FsError> {
    fs::make_dir(folder)?;
    fs::append(&line.file(folder), &format!("{}\n", line.to_text()))
}

/// The lines in `bytes` that can be parsed, and the numbers of the others.
pub fn parse(bytes: &[u8]) -> (Vec<Line>, Vec<usize>) {
    let mut lines = Vec::new();
    let mut bad = Vec::new();
    for (number, raw) in bytes.split(|b| *b == b'\n').enumerate() {
        if raw.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match serde_json::from_slice::<Line>(raw) {
            Ok(line) if line.changes.iter().all(is_sound) => lines.push(line),
            _ => bad.push(number + 1),
        }
    }
    (lines, bad)
}

/// Whether a change names only files of the board. The journal of a clone may come from strangers.
fn is_sound(change: &Change) -> bool {
    match change {
        Change::File { file: Place::Note(name), .. } => {
            name.ends_with(".md") && !name.starts_with('.') && !name.contains(['/', '\\', '\0'])
        }
        _ => true,
    }
}

/// The lines that can be parsed.
pub fn lines_of(bytes: &[u8]) -> Vec<Line> {
    parse(bytes).0
}

/// The problems of the lines that cannot be parsed.
pub fn problems_of(file: &str, bytes: &[u8]) -> Vec<Problem> {
    let problem = |number: usize| Problem {
        file: file.to_owned(),
        line: number as u32,
        column: 1,
        message: "invalid journal entry".into(),
        hint: Some("remove the line, or restore it from git".into()),
    };
    parse(bytes).1.into_iter().map(problem).collect()
}

/// How far a journal file has been read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    pub name: String,
    pub read: u64,
    /// The hash of the last bytes that were read, which shows whether the file was rewritten instead of appended to.
    pub tail: u32,
}

const TAIL: u64 = 64;

/// The content of the journal after the marks.
#[derive(Default)]
pub struct Since {
    pub lines: Vec<Line>,
    pub marks: Vec<Mark>,
    /// The number of bytes that were read.
    pub unread: u64,
    /// A file was rewritten, so its lines include those that were read before.
    pub rewritten: bool,
}

pub fn since(folder: &Path, marks: &[Mark]) -> Result<Since, FsError> {
    let mut since = Since::default();
    for path in files(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let size = fs::metadata(&path)?.map_or(0, |meta| meta.len());
        let known = marks.iter().find(|mark| mark.name == name);
        let mark = known.filter(|mark| mark.read <= size);
        if mark.is_some_and(|mark| mark.read == size) {
            since.marks.extend(mark.cloned());
            continue;
        }
        let start = mark.map_or(0, |mark| mark.read);
        let mut from = start - start.min(TAIL);
        let mut bytes = fs::read_from(&path, from)?;
        let mut skip = ((start - from) as usize).min(bytes.len());
        // A file that a merge has rewritten is read from its beginning.
        if mark.is_some_and(|mark| crc32fast::hash(&bytes[..skip]) != mark.tail) || (known.is_some() && mark.is_none())
        {
            (bytes, from, skip) = (fs::read_from(&path, 0)?, 0, 0);
            since.rewritten = true;
        }
        // An incomplete last line is read once it is complete.
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1).max(skip);
        since.unread += (end - skip) as u64;
        since.lines.extend(parse(&bytes[skip..end]).0);
        let tail = crc32fast::hash(&bytes[end.saturating_sub(TAIL as usize)..end]);
        since.marks.push(Mark { name, read: from + end as u64, tail });
    }
    Ok(since)
}

/// Merges two versions of a month file: each line once, ordered by time. Lines that cannot be parsed are kept.
pub fn merge(ours: &str, theirs: &str) -> String {
    let at = |line: &str| serde_json::from_str::<Line>(line).ok().map(|line| line.at);
    let mut seen = std::collections::HashSet::new();
    let both = ours.lines().chain(theirs.lines()).filter(|line| !line.trim().is_empty());
    let mut lines: Vec<(Option<Timestamp>, &str)> =
        both.filter(|line| seen.insert(*line)).map(|line| (at(line), line)).collect();
    lines.sort();
    lines.into_iter().map(|(_, line)| format!("{line}\n")).collect()
}

/// The month files, oldest first.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>, FsError> {
    let names = fs::names(folder)?;
    Ok(names.into_iter().filter(|name| name.ends_with(".jsonl")).map(|name| folder.join(name)).collect())
}

/// All lines in the order in which they were written, as far as the files show it. Times are not used, because clocks may be wrong.
pub fn written(folder: &Path) -> Result<Vec<Line>, FsError> {
    let mut found = Vec::new();
    for path in files(folder)? {
        let changed = fs::metadata(&path)?.and_then(|meta| meta.modified().ok());
        found.push((changed, path));
    }
    found.sort();
    let mut lines = Vec::new();
    for (_, path) in found {
        lines.extend(lines_of(&fs::read(&path)?.unwrap_or_default()));
    }
    Ok(lines)
}

/// All lines, oldest first. They are sorted by time, because merges mix the lines of branches.
pub fn read(folder: &Path, show: impl Fn(&Path) -> String) -> Result<(Vec<Line>, Vec<Problem>), FsError> {
    let mut all = Vec::new();
    let mut problems = Vec::new();
    for path in files(folder)? {
        let bytes = fs::read(&path)?.unwrap_or_default();
        all.extend(lines_of(&bytes));
        problems.extend(problems_of(&show(&path), &bytes));
    }
    all.sort_by_key(|line: &Line| line.at);
    // A union merge may repeat lines, which need not be adjacent.
    let mut seen = std::collections::HashSet::new();
    all.retain(|line| seen.insert(line.id.clone()));
    Ok((all, problems))
}

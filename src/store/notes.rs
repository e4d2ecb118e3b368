//! Notes: one comment per file, so that two branches never conflict over them.

use std::path::Path;

use jiff::Timestamp;

use super::{Store, StoreError};
use crate::board::{Change, Place};
use crate::fs;
use crate::task::{TaskId, Value, Worker};

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Note {
    pub file: String,
    pub by: Option<String>,
    pub at: Option<Timestamp>,
    pub text: String,
    #[serde(flatten)]
    pub facts: NoteFacts,
}

/// The properties of a note besides its text; a plain note has none.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct NoteFacts {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<NoteKind>,
    /// The choices of a question.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommend: Option<String>,
    /// The state that the task was in when a question was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The file of the question that this answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<String>,
    /// The id of the review, which is the same for all of its comments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<String>,
    /// The file and line that a comment is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The subject of feedback: `thread:ID`, `review:ID`, `check:NAME` or `conflict`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub point: Option<String>,
    /// The last entry of the thread: a reply after it is an answer, until there is another entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Nothing needs to be done about it any more.
    #[serde(skip_serializing_if = "is_false")]
    pub resolved: bool,
    /// A reply that declines a change, with the reason.
    #[serde(skip_serializing_if = "is_false")]
    pub declined: bool,
    /// A reply that was posted to GitHub.
    #[serde(skip_serializing_if = "is_false")]
    pub posted: bool,
    /// The hash of the text that was last taken from GitHub.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agreed: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoteKind {
    Question,
    Answer,
    /// A comment on a line of code.
    Comment,
    /// The reason for rejecting work.
    Rejection,
    /// A review thread, a failed check or a conflict of the task's pull request, or a failed check of a merge here.
    Feedback,
    /// The reply to feedback or a comment.
    Reply,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_false(value: &bool) -> bool {
    !value
}

const FENCE: &str = "+++";

/// A new plain note, as a change.
pub fn new(task: &TaskId, by: &Worker, at: Timestamp, rng: &mut fastrand::Rng, text: &str) -> Change {
    with_facts(task, by, at, rng, text, &NoteFacts::default())
}

/// A new note with properties.
pub fn with_facts(
    task: &TaskId,
    by: &Worker,
    at: Timestamp,
    rng: &mut fastrand::Rng,
    text: &str,
    facts: &NoteFacts,
) -> Change {
    let rand: String = (0..4).map(|_| rng.lowercase()).collect();
    written(task, by, at, &rand, text, facts)
}

/// A new note whose name ends in `tag`, so that two clones which import the same text make the same file.
pub fn tagged(task: &TaskId, by: &Worker, at: Timestamp, tag: &str, text: &str) -> Change {
    written(task, by, at, tag, text, &NoteFacts::default())
}

/// The same with properties.
pub fn tagged_with_facts(
    task: &TaskId,
    by: &Worker,
    at: Timestamp,
    tag: &str,
    text: &str,
    facts: &NoteFacts,
) -> Change {
    written(task, by, at, tag, text, facts)
}

/// Updates the text and the progress of feedback and replies; all other front matter stays.
pub fn with_progress(raw: &str, text: &str, facts: &NoteFacts) -> String {
    const KEYS: [&str; 3] = ["last", "posted", "resolved"];
    let is_progress = |line: &&str| line.split_once('=').is_some_and(|(key, _)| KEYS.contains(&key.trim()));
    let front = front_of(raw).unwrap_or_default();
    let mut lines: Vec<String> = front.lines().filter(|line| !is_progress(line)).map(str::to_owned).collect();
    lines.extend(facts.last.iter().map(|last| format!("last = {}", super::codec::render_value(&Value::text(last)))));
    lines.extend(facts.posted.then(|| "posted = true".to_owned()));
    lines.extend(facts.resolved.then(|| "resolved = true".to_owned()));
    format!("{FENCE}\n{}\n{FENCE}\n\n{}\n", lines.join("\n"), text.trim_end())
}

fn written(task: &TaskId, by: &Worker, at: Timestamp, tag: &str, text: &str, facts: &NoteFacts) -> Change {
    let name = format!("{}-{tag}.md", at.strftime("%Y%m%dT%H%M%SZ"));
    let by = super::codec::render_value(&Value::text(by));
    let facts = toml::to_string(facts).expect("facts are plain values");
    let content = format!("{FENCE}\nby = {by}\nat = {at}\n{facts}{FENCE}\n\n{}\n", text.trim_end());
    Change::File { task: task.clone(), file: Place::Note(name), old: None, new: Some(content) }
}

/// The note's file with another text and the same front matter.
pub fn rewritten(raw: &str, text: &str) -> String {
    match front_of(raw) {
        Some(front) => format!("{FENCE}\n{front}\n{FENCE}\n\n{}\n", text.trim_end()),
        None => format!("{}\n", text.trim_end()),
    }
}

/// The same with the hash of a text that GitHub has.
pub fn agreed(raw: &str, text: &str, hash: &str) -> String {
    let front = front_of(raw).unwrap_or_default();
    let kept = front.lines().filter(|line| !line.starts_with("agreed = ")).map(|line| format!("{line}\n"));
    let front: String = kept.chain([format!("agreed = \"{hash}\"")]).collect();
    format!("{FENCE}\n{front}\n{FENCE}\n\n{}\n", text.trim_end())
}

/// The front matter of a note, if it has one.
pub(super) fn front_of(raw: &str) -> Option<String> {
    let raw = raw.replace("\r\n", "\n");
    let (front, _) = raw.strip_prefix("+++\n").and_then(|rest| rest.split_once("\n+++"))?;
    front.parse::<toml::Table>().is_ok().then(|| front.to_owned())
}

impl Store {
    /// The notes of a task, oldest first.
    pub fn notes(&self, task: &TaskId) -> Result<Vec<Note>, StoreError> {
        let folder = self.board_dir().join(format!("notes/{task}"));
        let mut notes = Vec::new();
        for name in fs::names(&folder)?.into_iter().filter(|name| name.ends_with(".md") && !name.starts_with('.')) {
            let Ok(path) = self.inside(folder.join(&name)) else { continue };
            let Some(bytes) = fs::read(&path)? else { continue };
            notes.push(parse(name, &String::from_utf8_lossy(&bytes), &path));
        }
        notes.sort_by(|a, b| (a.at, &a.file).cmp(&(b.at, &b.file)));
        Ok(notes)
    }
}

/// Parses a note. A note without front matter gets its time from the file.
fn parse(file: String, text: &str, path: &Path) -> Note {
    let note = parse_text(file, text);
    let saved = || fs::metadata(path).ok().flatten().and_then(|meta| Timestamp::try_from(meta.modified().ok()?).ok());
    Note { at: note.at.or_else(saved), ..note }
}

pub fn parse_text(file: String, text: &str) -> Note {
    let text = text.replace("\r\n", "\n");
    let front = text.strip_prefix("+++\n").and_then(|rest| rest.split_once("\n+++"));
    let table: Option<toml::Table> = front.and_then(|(front, _)| front.parse().ok());
    let (Some(table), Some((_, body))) = (table, front) else {
        return Note { file, by: None, at: None, text: text.trim().to_owned(), facts: NoteFacts::default() };
    };
    let field = |key: &str| table.get(key).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    let (by, at) = (field("by"), field("at").and_then(|at| at.parse().ok()));
    // Invalid properties are ignored, so that the note is a plain one.
    let facts = table.try_into().unwrap_or_default();
    Note { file, by, at, text: body.trim().to_owned(), facts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_comes_back_as_it_was_written() {
        let by = Worker::new("anna \"a\" b").unwrap();
        let at: Timestamp = "2026-11-16T10:00:00Z".parse().unwrap();
        let Change::File { new: Some(text), file: Place::Note(name), .. } =
            new(&TaskId::new("t-x").unwrap(), &by, at, &mut fastrand::Rng::with_seed(1), "One.\n\n+++ two\n")
        else {
            panic!()
        };
        let note = parse(name, &text, Path::new("nowhere"));
        assert_eq!(
            (note.by.as_deref(), note.at, note.text.as_str()),
            (Some("anna \"a\" b"), Some(at), "One.\n\n+++ two")
        );
    }

    #[test]
    fn a_new_text_leaves_the_front_matter() {
        let raw = "+++\nby = \"anna\"\nmood = 3\n+++\n\nOld.\n";
        assert_eq!(rewritten(raw, "New.\n+++ x"), "+++\nby = \"anna\"\nmood = 3\n+++\n\nNew.\n+++ x\n");
        assert_eq!(rewritten("just text\n", "other"), "other\n");
    }

    #[test]
    fn a_hand_made_note_needs_no_front_matter() {
        assert_eq!(parse("x.md".into(), "just text\r\n", Path::new("nowhere")).text, "just text");
    }
}

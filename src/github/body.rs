//! Texts as both sides have them: the marker at the end of a body, who wrote a comment, and what counts as the same.

use sha2::{Digest as _, Sha256};

use crate::task::TaskId;

/// Names the task in the body of its issue, so that an issue whose link was lost is found again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    pub task: TaskId,
    pub uid: String,
}

impl Marker {
    /// The same on every clone, and another one for a task of another board that happens to have the same id.
    pub fn of(task: &TaskId, created: Option<jiff::Timestamp>) -> Self {
        let born = created.map(|at| at.as_second()).unwrap_or_default();
        let uid = hash(&format!("{task} {born}"));
        Self { task: task.clone(), uid }
    }
}

const MARK: &str = "<!-- ralph task=";
const NOTE_MARK: &str = "<!-- ralph note=";

/// GitHub's limits, in characters.
pub const LONGEST_BODY: usize = 65_536;
pub const LONGEST_TITLE: usize = 256;

/// A text without what may differ and mean nothing.
pub fn canonical(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n").trim_end().to_owned()
}

/// A title is one line.
pub fn title_of(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Enough of a text to tell it from another.
pub fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

pub fn issue_body(description: &str, marker: &Marker) -> String {
    let text = canonical(description);
    let gap = if text.is_empty() { "" } else { "\n\n" };
    format!("{text}{gap}{MARK}{} uid={} -->", marker.task, marker.uid)
}

/// The description in a body, and whom its marker names. Only a marker at the very end is one: above it, it is a person's text.
pub fn read_issue_body(body: &str) -> (String, Option<Marker>) {
    let text = canonical(body);
    let Some(at) = text.rfind(MARK) else { return (text, None) };
    let marker = text[at + MARK.len()..].strip_suffix("-->").and_then(|inner| {
        let (task, uid) = inner.trim().split_once(" uid=")?;
        Some(Marker { task: TaskId::new(task).ok()?, uid: uid.trim().to_owned() })
    });
    match marker {
        Some(marker) => (text[..at].trim_end().to_owned(), Some(marker)),
        None => (text, None),
    }
}

/// The same for an issue whose task is known: its own marker is taken out wherever somebody's text has come to stand behind it.
pub fn read_body_of(body: &str, task: Option<&TaskId>) -> String {
    let (text, marker) = read_issue_body(body);
    match task {
        Some(task) if marker.is_none() => without_line(&text, &format!("{MARK}{task} uid=")).0,
        _ => text,
    }
}

/// A text without the last line that begins so and ends a comment, and that line.
fn without_line<'a>(text: &'a str, start: &str) -> (String, Option<&'a str>) {
    let is_it = |line: &&str| line.starts_with(start) && line.trim_end().ends_with("-->");
    let Some(line) = text.lines().rfind(is_it) else { return (text.to_owned(), None) };
    let at = line.as_ptr() as usize - text.as_ptr() as usize;
    let (before, after) = (text[..at].trim_end(), text[at + line.len()..].trim());
    let gap = if before.is_empty() || after.is_empty() { "" } else { "\n\n" };
    (format!("{before}{gap}{after}"), Some(line.trim_end()))
}

/// A note as a comment: whoever posts it, its writer is named.
pub fn comment_body(text: &str, by: Option<&str>, note: &str) -> String {
    let text = canonical(text);
    match by {
        Some(by) => format!("**{by}**:\n\n{text}\n\n{NOTE_MARK}{note} signed -->"),
        None => format!("{text}\n\n{NOTE_MARK}{note} -->"),
    }
}

/// A comment's text, its writer if ralph named one, and the note that it is.
pub fn read_comment(body: &str) -> (String, Option<String>, Option<String>) {
    let text = canonical(body);
    let (rest, line) = without_line(&text, NOTE_MARK);
    let name = line.and_then(|line| line.strip_prefix(NOTE_MARK)?.strip_suffix("-->"));
    let Some(note) = name.map(|name| name.trim().to_owned()) else { return (text, None, None) };
    let Some(note) = note.strip_suffix(" signed").map(str::to_owned) else {
        return (rest, None, Some(note));
    };
    // A note without a text has nothing after the name.
    let named = rest.strip_prefix("**").and_then(|rest| rest.split_once("**:"));
    match named.filter(|(by, _)| !by.contains('\n')) {
        Some((by, text)) => (text.strip_prefix("\n\n").unwrap_or(text).to_owned(), Some(by.to_owned()), Some(note)),
        None => (rest, None, Some(note)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn marker() -> Marker {
        Marker::of(&TaskId::new("t-x7kq").unwrap(), None)
    }

    proptest! {
        #[test]
        fn a_text_comes_back_from_a_body_as_it_went(text in "(?s).{0,200}") {
            let body = issue_body(&text, &marker());
            prop_assert_eq!(read_issue_body(&body), (canonical(&text), Some(marker())));
            // As GitHub's own editor saves it.
            let crlf = body.replace('\n', "\r\n");
            prop_assert_eq!(read_issue_body(&crlf).0, canonical(&text));
            let note = comment_body(&text, Some("builder-2"), "20261116T100000Z-abcd");
            let (read, by, id) = read_comment(&note);
            prop_assert_eq!((read, by.as_deref(), id.as_deref()), (canonical(&text), Some("builder-2"), Some("20261116T100000Z-abcd")));
        }
    }

    #[test]
    fn a_marker_that_a_person_quotes_stays_text() {
        let quoted = format!("see:\n{}\nand more", issue_body("x", &marker()));
        assert_eq!(read_issue_body(&quoted), (quoted.clone(), None));
        let (text, found) = read_issue_body(&issue_body(&quoted, &marker()));
        assert_eq!((text, found), (quoted, Some(marker())));
    }

    #[test]
    fn what_is_typed_behind_a_marker_is_text_and_the_marker_is_not() {
        let body = format!("{}\n\nPS: one more.", issue_body("First.", &marker()));
        assert_eq!(read_body_of(&body, Some(&marker().task)), "First.\n\nPS: one more.");
        let note = format!("{}\nPS", comment_body("Hm.", Some("ada"), "n1"));
        assert_eq!(read_comment(&note), ("Hm.\n\nPS".into(), Some("ada".into()), Some("n1".into())));
    }

    #[test]
    fn boards_with_the_same_id_have_different_markers() {
        let id = TaskId::new("t-x7kq").unwrap();
        let at = |text: &str| Marker::of(&id, text.parse().ok());
        assert_ne!(at("2026-11-16T10:00:00Z"), at("2026-11-16T10:00:01Z"));
    }
}

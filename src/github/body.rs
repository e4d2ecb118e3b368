//! The texts of issues and comments: markers, authors, and comparison.

use super::{canonical, hash};
use crate::task::TaskId;

/// A comment in the body of an issue that names its task, so that the issue is found even if its link is lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    pub task: TaskId,
    pub uid: String,
    /// The task was deleted: its issue was closed because of that, not because it was canceled.
    pub deleted: bool,
}

impl Marker {
    /// Whether both name the same task of the same board, deleted or not.
    pub fn is_same_task(&self, other: &Self) -> bool {
        self.task == other.task && self.uid == other.uid
    }

    /// The marker of a task. It is the same on every clone, but differs for a task of another board with the same id.
    pub fn of(task: &TaskId, created: Option<jiff::Timestamp>) -> Self {
        let born = created.map(|at| at.as_second()).unwrap_or_default();
        let uid = hash(&format!("{task} {born}"));
        Self { task: task.clone(), uid, deleted: false }
    }

    fn parse(comment: &str) -> Option<Self> {
        let inner = comment.strip_prefix(MARK)?.strip_suffix("-->")?;
        let (task, rest) = inner.trim().split_once(" uid=")?;
        let mut words = rest.split_whitespace();
        let uid = words.next()?.to_owned();
        Some(Self { task: TaskId::new(task).ok()?, uid, deleted: words.next() == Some("deleted") })
    }
}

impl std::fmt::Display for Marker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let deleted = if self.deleted { " deleted" } else { "" };
        write!(f, "{MARK}{} uid={}{deleted} -->", self.task, self.uid)
    }
}

const MARK: &str = "<!-- ralph task=";
const NOTE_MARK: &str = "<!-- ralph note=";

/// GitHub's limits, in characters.
pub const LONGEST_BODY: usize = 65_536;
pub const LONGEST_TITLE: usize = 256;

pub fn issue_body(description: &str, marker: &Marker) -> String {
    let text = canonical(description);
    let gap = if text.is_empty() { "" } else { "\n\n" };
    format!("{text}{gap}{marker}")
}

/// The description in a body, and the marker that names its task: the last one, at any place in the text. Other markers before
/// it count as a person's text.
pub fn read_issue_body(body: &str) -> (String, Option<Marker>) {
    let text = canonical(body);
    let (rest, comment) = without_comment(&text, MARK);
    match comment.and_then(Marker::parse) {
        Some(marker) => (rest, Some(marker)),
        None => (text, None),
    }
}

/// A text without the last single-line HTML comment that begins with `start`, and that comment.
fn without_comment<'a>(text: &'a str, start: &str) -> (String, Option<&'a str>) {
    let ends = |at: usize| text[at..].find("-->").map(|end| at + end + "-->".len());
    let spans = text.rmatch_indices(start).filter_map(|(at, _)| Some((at, ends(at)?)));
    let Some((at, end)) = spans.into_iter().find(|(at, end)| !text[*at..*end].contains('\n')) else {
        return (text.to_owned(), None);
    };
    let (before, after) = (text[..at].trim_end(), text[end..].trim_start());
    let cut = &text[before.len()..text.len() - after.len()];
    let gap = match before.is_empty() || after.is_empty() {
        true => "",
        false if cut.contains('\n') => "\n\n",
        false => " ",
    };
    (format!("{before}{gap}{after}"), Some(&text[at..end]))
}

/// The body of a comment for a note, with the note's author.
pub fn comment_body(text: &str, by: Option<&str>, note: &str) -> String {
    let text = canonical(text);
    match by {
        Some(by) => format!("**{by}**:\n\n{text}\n\n{NOTE_MARK}{note} signed -->"),
        None => format!("{text}\n\n{NOTE_MARK}{note} -->"),
    }
}

/// A comment's text, its author if ralph named one, and the name of its note.
pub fn read_comment(body: &str) -> (String, Option<String>, Option<String>) {
    let text = canonical(body);
    let (rest, comment) = without_comment(&text, NOTE_MARK);
    let name = comment.and_then(|comment| comment.strip_prefix(NOTE_MARK)?.strip_suffix("-->"));
    let Some(note) = name.map(|name| name.trim().to_owned()) else { return (text, None, None) };
    let Some(note) = note.strip_suffix(" signed").map(str::to_owned) else {
        return (rest, None, Some(note));
    };
    // A note without text has nothing after the author.
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
            // GitHub's own editor saves these line ends.
            let crlf = body.replace('\n', "\r\n");
            prop_assert_eq!(read_issue_body(&crlf).0, canonical(&text));
            let note = comment_body(&text, Some("builder-2"), "20261116T100000Z-abcd");
            let (read, by, id) = read_comment(&note);
            prop_assert_eq!((read, by.as_deref(), id.as_deref()), (canonical(&text), Some("builder-2"), Some("20261116T100000Z-abcd")));
        }
    }

    #[test]
    fn a_marker_that_a_person_quotes_above_the_own_one_stays_text() {
        let quoted = format!("see:\n{}\nand more", issue_body("x", &marker()));
        let (text, found) = read_issue_body(&issue_body(&quoted, &marker()));
        assert_eq!((text, found), (quoted, Some(marker())));
    }

    #[test]
    fn what_is_typed_behind_a_marker_is_text_and_the_marker_is_not() {
        let body = format!("{}\n\nPS: one more.", issue_body("First.", &marker()));
        assert_eq!(read_issue_body(&body), ("First.\n\nPS: one more.".into(), Some(marker())));
        let same_line = format!("{} PS: one more.", issue_body("First.", &marker()));
        assert_eq!(read_issue_body(&same_line), ("First.\n\nPS: one more.".into(), Some(marker())));
        let within = format!("- [ ] First {} and second", marker());
        assert_eq!(read_issue_body(&within), ("- [ ] First and second".into(), Some(marker())));
        let gone = Marker { deleted: true, ..marker() };
        assert_eq!(read_issue_body(&issue_body("First.", &gone)), ("First.".into(), Some(gone)));
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

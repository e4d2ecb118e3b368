//! Second issues of a task: text that the task lacks is kept as notes, so that nothing is lost when they are closed.

use jiff::Timestamp;

use super::edits::commit;
use super::local::Local;
use super::memory::texts_of;
use crate::app::{Failure, Workspace};
use crate::board::{Change, Place};
use crate::github::{Marker, Node, RemoteIssue, canonical, hash, read_comment, read_issue_body, title_of};
use crate::store::tagged_note;
use crate::task::Worker;

/// A text that only a second issue has.
pub struct Unsaid {
    /// The issue or comment with the text.
    node: Node,
    by: Option<String>,
    at: String,
    text: String,
}

/// Texts that neither the task nor its first issue has or ever had. `None` for an issue that merely names the same id,
/// and for one with a title that the task never had: a person copied it for another purpose.
pub fn unsaid(ws: &Workspace, second: &RemoteIssue, first: &RemoteIssue, local: &Local) -> Option<Vec<Unsaid>> {
    let (text, named) = read_issue_body(&second.body);
    named.filter(|named| named.is_same_task(&Marker::of(&local.id, local.created)))?;
    let title = title_of(&second.title);
    let noted = |text: &str| local.notes.iter().any(|note| canonical(&note.text).contains(text));
    let is_text = || {
        let known = [read_issue_body(&first.body).0, canonical(&local.description), String::new()];
        known.contains(&text) || texts_of(ws, &local.id, "description").iter().any(|old| canonical(old) == text)
    };
    let is_title = || {
        let known = [title_of(&first.title), title_of(&local.title)];
        known.contains(&title) || texts_of(ws, &local.id, "title").iter().any(|old| title_of(old) == title)
    };
    if !is_title() {
        return None;
    }
    let mut found = Vec::new();
    if !is_text() && !noted(&text) {
        let text = format!("Copied from #{}, a second issue of this task:\n\n{text}", second.number);
        let (by, at) = (second.author.clone(), second.created.clone());
        found.push(Unsaid { node: second.node.clone(), by, at, text });
    }
    for comment in &second.comments {
        let (text, _, note) = read_comment(&comment.body);
        if note.is_none() && !noted(&text) {
            let (by, at) = (comment.author.clone(), comment.created.clone());
            found.push(Unsaid { node: comment.id.clone(), by, at, text });
        }
    }
    Some(found)
}

/// Adds the texts as notes. The file name depends on the text's source, so that two clones create the same file.
pub fn keep(ws: &Workspace, local: &Local, found: Vec<Unsaid>) -> Result<(), Failure> {
    let mut changes = Vec::new();
    for Unsaid { node, by, at, text } in found {
        let by = Worker::new(by.as_deref().unwrap_or("ghost"))?;
        let at: Timestamp = at.parse().unwrap_or_else(|_| ws.now());
        let change = tagged_note(&local.id, &by, at, &hash(node.as_str())[..6], &text);
        let Change::File { file: Place::Note(name), .. } = &change else { unreachable!("a note is a file") };
        if !ws.store.path(&local.id, &Place::Note(name.clone())).exists() {
            changes.push(change);
        }
    }
    commit(ws, &ws.lock()?, changes)
}

//! Feedback on a task's work: review threads, failed checks, conflicts and a person's comments, kept as notes, and the replies to them.

use jiff::Timestamp;
use serde::Serialize;

use crate::app::repo::worktree::place;
use crate::app::{Code, Failure, Hint, Workspace};
use crate::board::{Change, Op, Place};
use crate::store::{Note, NoteFacts, NoteKind, note_with_facts, note_with_progress, tagged_note_with_facts};
use crate::task::mirrored::hash;
use crate::task::{TaskId, Worker};

/// The prefixes that name the kind of a point.
pub(in crate::app) const THREAD: &str = "thread:";
pub(in crate::app) const REVIEW: &str = "review:";
pub(in crate::app) const CHECK: &str = "check:";
pub(in crate::app) const LOCAL_CHECK: &str = "local-check:";
pub(in crate::app) const CONFLICT: &str = "conflict";

/// One point of the feedback.
#[derive(Debug, Clone, Serialize)]
pub struct Point {
    /// The number to use in a reply.
    pub number: usize,
    pub kind: &'static str,
    pub path: Option<String>,
    pub line: Option<u32>,
    pub by: Option<String>,
    pub at: Option<Timestamp>,
    pub text: String,
    pub url: Option<String>,
    pub reply: Option<PointReply>,
    /// The last message of the point has no reply yet.
    pub waiting: bool,
    #[serde(skip)]
    pub(in crate::app) file: String,
    /// A check of `merge.checks` on this machine.
    #[serde(skip)]
    pub local: bool,
    #[serde(skip)]
    pub(in crate::app) facts: NoteFacts,
}

#[derive(Debug, Clone, Serialize)]
pub struct PointReply {
    pub by: Option<String>,
    pub text: String,
    /// Nothing was changed; the text says why.
    pub declined: bool,
    /// Whether the reply was posted to GitHub.
    pub posted: bool,
    #[serde(skip)]
    pub(in crate::app) file: String,
}

#[derive(Debug, Serialize)]
pub struct Feedback {
    pub task: TaskId,
    pub points: Vec<Point>,
}

#[derive(Debug, Serialize)]
pub struct Replied {
    pub task: TaskId,
    pub point: usize,
    /// How many points are still without a reply.
    pub left: usize,
}

/// The open points, oldest first. Feedback on a group is kept with its primary.
pub fn feedback(ws: &Workspace, id: &TaskId) -> Result<Feedback, Failure> {
    let task = place(ws, &ws.family(id)?, id)?.task;
    let points = points(&ws.notes(&task)?);
    Ok(Feedback { task, points })
}

/// Replies to a point: what was changed, or why nothing was changed.
pub fn reply(ws: &Workspace, id: &TaskId, number: usize, text: &str, declined: bool) -> Result<Replied, Failure> {
    if text.trim().is_empty() {
        return Err(Failure::usage(
            Code::EmptyNote,
            "a reply cannot be empty: say what you did, or why you changed nothing",
        ));
    }
    let lock = ws.lock()?;
    let Feedback { task, points } = feedback(ws, id)?;
    let Some(point) = points.iter().find(|point| point.number == number) else {
        let open: Vec<String> = points.iter().map(|point| point.number.to_string()).collect();
        let message = match points.is_empty() {
            true => format!("{task} has no open feedback"),
            false => format!("{task} has no open point {number}: open are {}", open.join(", ")),
        };
        let hint = match points.is_empty() {
            true => Hint::run(&format!("feedback {task} --fetch"), "to fetch it from GitHub"),
            false => Hint::run(&format!("feedback {task}"), "to list them"),
        };
        return Err(Failure::usage(Code::NoNote, message).hint(hint));
    };
    let facts = NoteFacts {
        kind: Some(NoteKind::Reply),
        answers: Some(point.file.clone()),
        last: point.facts.last.clone(),
        declined,
        ..NoteFacts::default()
    };
    let note = note_with_facts(&task, &ws.me()?, ws.now(), &mut ws.rng(), text.trim(), &facts);
    ws.commit(&lock, Op::new("reply", vec![note]))?;
    let left = points.iter().filter(|other| other.waiting && other.number != number).count();
    Ok(Replied { task, point: number, left })
}

/// Open feedback, and the comments of the last review, each with the reply to its last message. A point keeps its
/// number when others are resolved, so that a worker can reply by number while reviewers continue.
pub(in crate::app) fn points(notes: &[Note]) -> Vec<Point> {
    let last_review = notes.iter().rev().find_map(|note| note.facts.review.as_ref());
    let is_point =
        |note: &&Note| matches!(note.facts.kind, Some(NoteKind::Feedback | NoteKind::Comment | NoteKind::Rejection));
    let is_open = |note: &Note| match note.facts.kind {
        Some(NoteKind::Feedback) => !note.facts.resolved,
        _ => note.facts.review.as_ref() == last_review,
    };
    let numbered = notes.iter().filter(is_point).enumerate().filter(|(_, note)| is_open(note));
    numbered.map(|(at, note)| point(at + 1, note, notes)).collect()
}

fn point(number: usize, note: &Note, notes: &[Note]) -> Point {
    let answers =
        |other: &&Note| other.facts.kind == Some(NoteKind::Reply) && other.facts.answers.as_ref() == Some(&note.file);
    let reply = notes.iter().rev().filter(answers).find(|other| other.facts.last == note.facts.last);
    let about = note.facts.point.as_deref().unwrap_or_default();
    let kind = match about {
        _ if note.facts.kind != Some(NoteKind::Feedback) => "comment",
        _ if about.starts_with(THREAD) => "thread",
        _ if about.starts_with(REVIEW) => "review",
        CONFLICT => "conflict",
        _ => "check",
    };
    Point {
        number,
        kind,
        path: note.facts.path.clone(),
        line: note.facts.line,
        by: note.by.clone(),
        at: note.at,
        text: note.text.clone(),
        url: note.facts.url.clone(),
        // A reply does not resolve a failed check or a conflict.
        waiting: reply.is_none() || matches!(kind, "check" | "conflict"),
        reply: reply.map(|other| PointReply {
            by: other.by.clone(),
            text: other.text.clone(),
            declined: other.facts.declined,
            posted: other.facts.posted,
            file: other.file.clone(),
        }),
        file: note.file.clone(),
        local: about.starts_with(LOCAL_CHECK),
        facts: note.facts.clone(),
    }
}

/// The current text of a point, from any source.
#[derive(Debug)]
pub(in crate::app) struct Said {
    pub point: String,
    pub by: String,
    pub at: Timestamp,
    pub text: String,
    pub path: Option<String>,
    pub line: Option<u32>,
    pub url: Option<String>,
    /// Identifies the last message of the point.
    pub last: String,
}

/// Updates the notes of a task to the current feedback. Points that `ours` selects and that are gone are marked as
/// resolved.
pub(in crate::app) fn take_in(
    ws: &Workspace,
    task: &TaskId,
    said: &[Said],
    ours: &dyn Fn(&str) -> bool,
) -> Result<Vec<Point>, Failure> {
    let lock = ws.lock()?;
    let notes = ws.store.notes(task)?;
    let known: Vec<&Note> = notes.iter().filter(|note| note.facts.kind == Some(NoteKind::Feedback)).collect();
    let mut changes = Vec::new();
    for now in said {
        let before = known.iter().find(|note| note.facts.point.as_ref() == Some(&now.point));
        match before {
            None => changes.push(new_point(task, now)),
            Some(note)
                if note.text.trim() == now.text.trim()
                    && !note.facts.resolved
                    && note.facts.last.as_ref() == Some(&now.last) => {}
            Some(note) => {
                let facts = NoteFacts { last: Some(now.last.clone()), resolved: false, ..note.facts.clone() };
                changes.push(rewrite(ws, task, &note.file, &now.text, &facts)?);
            }
        }
    }
    let gone = |note: &&&Note| {
        let point = note.facts.point.as_deref().unwrap_or_default();
        !note.facts.resolved && ours(point) && !said.iter().any(|now| now.point == point)
    };
    for note in known.iter().filter(gone) {
        let facts = NoteFacts { resolved: true, ..note.facts.clone() };
        changes.push(rewrite(ws, task, &note.file, &note.text, &facts)?);
    }
    if !changes.is_empty() {
        ws.commit(&lock, Op::new("feedback", changes))?;
    }
    Ok(points(&ws.store.notes(task)?))
}

/// Marks replies as posted to GitHub.
pub(in crate::app) fn mark_posted(ws: &Workspace, task: &TaskId, files: &[String]) -> Result<(), Failure> {
    if files.is_empty() {
        return Ok(());
    }
    let lock = ws.lock()?;
    let notes = ws.store.notes(task)?;
    let posted = notes.iter().filter(|note| files.contains(&note.file) && !note.facts.posted);
    let change = |note: &Note| {
        let facts = NoteFacts { posted: true, ..note.facts.clone() };
        rewrite(ws, task, &note.file, &note.text, &facts)
    };
    let changes = posted.map(change).collect::<Result<Vec<_>, _>>()?;
    if !changes.is_empty() {
        ws.commit(&lock, Op::new("feedback", changes))?;
    }
    Ok(())
}

/// The file name depends only on the point, so that two clones that fetch it write the same file.
fn new_point(task: &TaskId, now: &Said) -> Change {
    let facts = NoteFacts {
        kind: Some(NoteKind::Feedback),
        point: Some(now.point.clone()),
        path: now.path.clone(),
        line: now.line,
        url: now.url.clone(),
        last: Some(now.last.clone()),
        ..NoteFacts::default()
    };
    let tag: String = hash(&now.point).chars().filter(char::is_ascii_alphanumeric).take(8).collect();
    let by = Worker::new(&now.by).unwrap_or_else(|_| Worker::new("github").expect("a name"));
    tagged_note_with_facts(task, &by, now.at, &tag, &now.text, &facts)
}

fn rewrite(ws: &Workspace, task: &TaskId, file: &str, text: &str, facts: &NoteFacts) -> Result<Change, Failure> {
    let place = Place::Note(file.to_owned());
    let old = ws.store.text_of(&ws.store.path(task, &place))?.unwrap_or_default();
    let new = note_with_progress(&old, text, facts);
    Ok(Change::File { task: task.clone(), file: place, old: Some(old), new: Some(new) })
}

/// Whether the rounds of feedback make no progress: twice in a row, at least as many points remained open as in the
/// round before.
pub(in crate::app) fn is_stuck(open: &[usize]) -> bool {
    matches!(open, [.., first, second, third] if second >= first && third >= second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_rounds_that_do_not_shrink_the_list_are_enough() {
        assert!(is_stuck(&[1, 1, 1]) && is_stuck(&[4, 3, 3, 4]) && is_stuck(&[2, 5, 5]));
        for going_on in [&[][..], &[9], &[9, 9], &[4, 4, 3], &[4, 3, 3], &[5, 5, 4, 4]] {
            assert!(!is_stuck(going_on), "{going_on:?}");
        }
    }

    fn note(file: &str, facts: NoteFacts) -> Note {
        Note { file: file.into(), by: None, at: None, text: String::new(), facts }
    }

    #[test]
    fn a_reply_holds_until_something_else_is_said_and_no_words_make_a_check_pass() {
        let said = |point: &str, last: &str| NoteFacts {
            kind: Some(NoteKind::Feedback),
            point: Some(point.into()),
            last: Some(last.into()),
            ..NoteFacts::default()
        };
        let reply = |to: &str, last: &str| NoteFacts {
            kind: Some(NoteKind::Reply),
            answers: Some(to.into()),
            last: Some(last.into()),
            ..NoteFacts::default()
        };
        let mut notes = vec![
            note("a", said("thread:1", "c1")),
            note("b", said("check:build", "c2")),
            note("c", NoteFacts { resolved: true, ..said("thread:2", "c1") }),
            note("d", reply("a", "c1")),
            note("e", reply("b", "c2")),
        ];
        let waiting =
            |notes: &[Note]| points(notes).iter().map(|point| (point.number, point.waiting)).collect::<Vec<_>>();
        assert_eq!(waiting(&notes), [(1, false), (2, true)]);
        notes[0].facts.last = Some("c3".into());
        assert_eq!(waiting(&notes), [(1, true), (2, true)]);
        notes[0].facts.resolved = true;
        assert_eq!(waiting(&notes), [(2, true)], "a point keeps its number");
    }
}

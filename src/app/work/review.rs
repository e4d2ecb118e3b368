//! `approve` and `reject`: a person's decision on a plan or finished work, with comments on lines.

use std::path::{Component, Path};

use jiff::SignedDuration;

use crate::app::repo::worktree::place;
use crate::app::work::admit::admit;
use crate::app::work::moves::{Moved, carry_out};
use crate::app::workspace::open::missing;
use crate::app::{Code, Failure, Hint, Workspace};
use crate::board::{Goal, Request};
use crate::fs;
use crate::store::{NoteFacts, NoteKind, note_with_facts};
use crate::task::{StateName, Task, TaskId};
use crate::workflow::{Command, Intent};

/// A comment on one line.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
pub struct LineComment {
    pub path: String,
    pub line: u32,
    pub text: String,
}

/// Approves a plan, so that the work can begin.
pub fn approve(ws: &Workspace, id: &TaskId) -> Result<Moved, Failure> {
    let lock = ws.lock()?;
    let board = ws.family(id)?;
    let task = board.get(id).ok_or_else(|| missing(ws, &board, id))?;
    let Some(command) = deciding(ws, task).filter(|command| command.iterate.is_some()) else {
        return Err(nothing_to_review(ws, task));
    };
    let request = Request { command: Some(&command.name), ..Request::new(id, Goal::Intent(Intent::Complete)) };
    let admission = admit(ws, &board, &ws.actor()?, &request)?;
    carry_out(ws, &lock, &board, id, "approve", admission)
}

/// Rejects a plan or finished work, with the reason and comments on lines; the builder's next prompt contains them.
pub fn reject(ws: &Workspace, id: &TaskId, why: &str, comments: &[LineComment]) -> Result<Moved, Failure> {
    if why.trim().is_empty() && comments.is_empty() {
        return Err(Failure::usage(Code::EmptyNote, "a rejection needs a reason")
            .hint(Hint::run(&format!("reject {id} \"what to change\""), "as an example")));
    }
    refuse_misplaced(ws, id, comments)?;
    let lock = ws.lock()?;
    let board = ws.family(id)?;
    let task = board.get(id).ok_or_else(|| missing(ws, &board, id))?;
    let decided = deciding(ws, task).and_then(|command| Some((command, sent_back_to(ws, task, command)?)));
    let Some((command, to)) = decided else { return Err(nothing_to_review(ws, task)) };
    let request = Request { command: Some(&command.name), ..Request::new(id, Goal::State(to)) };
    let mut admission = admit(ws, &board, &ws.actor()?, &request)?;
    let review = Some(ws.now().to_string());
    let mut at = ws.now();
    for comment in comments {
        let facts = NoteFacts {
            kind: Some(NoteKind::Comment),
            review: review.clone(),
            path: Some(comment.path.clone()),
            line: Some(comment.line),
            ..NoteFacts::default()
        };
        admission.changes.push(note_with_facts(id, &ws.me()?, at, &mut ws.rng(), &comment.text, &facts));
        // The times keep the comments in order.
        at += SignedDuration::from_millis(1);
    }
    if !why.trim().is_empty() {
        let facts = NoteFacts { kind: Some(NoteKind::Rejection), review, ..NoteFacts::default() };
        admission.changes.push(note_with_facts(id, &ws.me()?, at, &mut ws.rng(), why.trim(), &facts));
    }
    carry_out(ws, &lock, &board, id, "reject", admission)
}

/// Refuses a comment on a line that exists neither in the task's worktree nor in the main worktree.
fn refuse_misplaced(ws: &Workspace, id: &TaskId, comments: &[LineComment]) -> Result<(), Failure> {
    let own = place(ws, &ws.family(id)?, id)?.path;
    for comment in comments {
        // A comment may be on a line that the work removes, which only main has.
        let lines =
            [own.as_path(), ws.store.root()].into_iter().filter_map(|folder| lines_of(folder, &comment.path)).max();
        let why = match lines {
            None => format!("no such file: {:?}", comment.path),
            Some(lines) if !(1..=lines).contains(&(comment.line as usize)) => {
                format!("{} has {lines} lines, but the comment is on line {}", comment.path, comment.line)
            }
            Some(_) => continue,
        };
        return Err(
            Failure::usage(Code::BadValue, why).hint(Hint::run(&format!("diff {id}"), "to see files and lines"))
        );
    }
    Ok(())
}

fn lines_of(folder: &Path, path: &str) -> Option<usize> {
    let inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let bytes = fs::read(&folder.join(path)).ok().flatten().filter(|_| inside)?;
    let ends = bytes.iter().filter(|byte| **byte == b'\n').count();
    Some(ends + usize::from(bytes.last().is_some_and(|last| *last != b'\n')))
}

/// The decisions that a person can make on a task now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Decisions {
    pub approve: bool,
    pub reject: bool,
    pub merge: bool,
}

pub fn decisions(ws: &Workspace, id: &TaskId) -> Result<Decisions, Failure> {
    let board = ws.around(id)?;
    let task = board.get(id).ok_or_else(|| missing(ws, &board, id))?;
    let command = deciding(ws, task).filter(|command| sent_back_to(ws, task, command).is_some());
    let approve = command.is_some_and(|command| command.iterate.is_some());
    Ok(Decisions { approve, reject: command.is_some(), merge: command.is_some() && !approve })
}

/// The command that would decide on the task in its current state: the review of a plan, or the merge of the work.
fn deciding<'w>(ws: &'w Workspace, task: &Task) -> Option<&'w Command> {
    let starts = |command: &&Command| command.from.contains(&task.state);
    let reviews = ws.flow().commands().iter().filter(starts).find(|command| command.iterate.is_some());
    let merging = || ws.flow().merging().filter(|command| command.lock.as_ref() == Some(&task.state));
    reviews.or_else(|| ws.rules().pending_merge(task)).or_else(merging)
}

/// The state for rejected work, or else the state from which the command starts.
fn sent_back_to(ws: &Workspace, task: &Task, command: &Command) -> Option<StateName> {
    let released = || ws.flow().state(task.kind, &task.state)?.release.as_ref();
    command.iterate.as_ref().or(command.back.as_ref()).or_else(released).cloned()
}

fn nothing_to_review(ws: &Workspace, task: &Task) -> Failure {
    let refused = |why: &str| Failure::refused(Code::NothingToDo, format!("{} is in {}: {why}", task.id, task.state));
    match deciding(ws, task) {
        Some(_) => refused("it has no plan to approve; its work is ready to merge")
            .hint(Hint::run(&format!("merge {}", task.id), "to merge the work")),
        None => refused("nothing to review yet").hint(Hint::run("inbox", "to see what needs your decision")),
    }
}

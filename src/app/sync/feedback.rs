//! Feedback on pull requests: imports it as notes of tasks, and posts the replies.

use crate::app::repo::worktree::place;
use crate::app::sync::target::{Calm, Target};
use crate::app::work::feedback::{
    CHECK, CONFLICT, LOCAL_CHECK, Point, REVIEW, Said, THREAD, mark_posted, points, take_in,
};
use crate::app::{Failure, Workspace};
use crate::fs::last_lines;
use crate::github::{Client, FailedCheck, GithubError, PullFeedback, ReviewText, Thread, ThreadComment};
use crate::task::TaskId;

/// How many lines of a failed check's log to keep.
const LOG_LINES: usize = 60;
/// Marks a comment as a reply that ralph posted, under whichever account.
const MARKER: &str = "<!-- ralph reply=";

/// Imports the feedback on a task's pull request, and returns the open points; `None` if the task has no pull request.
pub fn fetch_feedback(ws: &Workspace, id: &TaskId) -> Result<Option<Vec<Point>>, Failure> {
    let board = ws.family(id)?;
    let place = place(ws, &board, id)?;
    let Some((target, number)) = Target::pull_of(ws, &board, &place)? else { return Ok(None) };
    let mut waits = |_: &crate::github::Wait| {};
    let calm = Calm::new(&mut waits);
    let client = target.client(ws, &calm)?;
    let found = client.feedback(&target.slug, number)?;
    bring_here(ws, &client, &target, &place.task, &found).map(Some)
}

/// Imports the feedback of every open task with a pull request. A failure is reported and does not stop the others.
pub(super) fn fetch_all(ws: &Workspace, client: &Client<'_>) -> Result<(), Failure> {
    let board = ws.board()?;
    let with_pull =
        |task: &&crate::task::Task| task.artifacts.contains_key("pr") && !ws.flow().is_terminal(task.kind, &task.state);
    for task in board.tasks().iter().filter(with_pull) {
        let fetched = || -> Result<(), Failure> {
            let place = place(ws, &board, &task.id)?;
            let Some((target, number)) = Target::pull_of(ws, &board, &place)? else { return Ok(()) };
            let found = client.feedback(&target.slug, number)?;
            bring_here(ws, client, &target, &place.task, &found).map(|_| ())
        };
        if let Err(failure) = fetched() {
            ws.notice(format!("the feedback on {} could not be fetched: {}", task.id, failure.message));
        }
    }
    Ok(())
}

/// Updates the notes of a task to the open feedback on its pull request.
fn bring_here(
    ws: &Workspace,
    client: &Client<'_>,
    target: &Target,
    task: &TaskId,
    found: &PullFeedback,
) -> Result<Vec<Point>, Failure> {
    let mut said = Vec::new();
    if found.is_open {
        said.extend(found.threads.iter().filter_map(thread));
        said.extend(found.reviews.iter().map(|text| review(ws, text)));
        if found.conflicts {
            said.push(conflict(ws, found));
        }
        for check in client.failed_checks(&found.pull)? {
            let log = check.job.and_then(|job| client.job_log(&target.slug, job));
            add_check(&mut said, failed(ws, &check, log.as_deref(), &found.head));
        }
    }
    take_in(ws, task, &said, &|point| !point.starts_with(LOCAL_CHECK))
}

/// Jobs of two workflows may have the same name. They form one point, because neither says anything about the other.
fn add_check(said: &mut Vec<Said>, check: Said) {
    match said.iter_mut().find(|other| other.point == check.point) {
        Some(other) => other.text.push_str(&format!("\n\n{}", check.text)),
        None => said.push(check),
    }
}

/// A comment that quotes a reply of ralph is not a reply: the marker must start a line.
fn is_ours(comment: &ThreadComment) -> bool {
    comment.body.lines().any(|line| line.starts_with(MARKER))
}

/// `None` if all comments are ralph's replies.
fn thread(thread: &Thread) -> Option<Said> {
    let first = thread.comments.first()?;
    let last = thread.comments.iter().rev().find(|comment| !is_ours(comment))?;
    let text = match thread.comments.as_slice() {
        [only] => only.body.clone(),
        many => many.iter().map(|comment| format!("{}: {}\n\n", comment.author(), body_of(comment))).collect(),
    };
    Some(Said {
        point: format!("{THREAD}{}", thread.id),
        by: first.author().to_owned(),
        at: first.created_at,
        text,
        path: Some(thread.path.clone()),
        line: thread.line,
        url: Some(last.url.clone()),
        last: last.id.to_string(),
    })
}

fn body_of(comment: &ThreadComment) -> &str {
    if is_ours(comment) { comment.body.split(MARKER).next().unwrap_or_default().trim() } else { &comment.body }
}

fn review(ws: &Workspace, review: &ReviewText) -> Said {
    Said {
        point: format!("{REVIEW}{}", review.id),
        by: review.author.clone(),
        at: review.at.unwrap_or_else(|| ws.now()),
        text: review.body.clone(),
        path: None,
        line: None,
        url: None,
        last: review.id.to_string(),
    }
}

fn conflict(ws: &Workspace, found: &PullFeedback) -> Said {
    let base = &found.base;
    Said {
        point: CONFLICT.into(),
        by: "github".into(),
        at: ws.now(),
        text: format!("The branch conflicts with {base}. Merge {base} into it, resolve the conflicts, and commit."),
        path: None,
        line: None,
        url: None,
        last: found.head.clone(),
    }
}

fn failed(ws: &Workspace, check: &FailedCheck, log: Option<&str>, head: &str) -> Said {
    let mut text = format!("The check {:?} failed.", check.name);
    if !check.text.is_empty() {
        text.push_str(&format!("\n\n{}", check.text));
    }
    if let Some(log) = log.filter(|log| !log.trim().is_empty()) {
        text.push_str(&format!("\n\nThe end of its log:\n\n{}", last_lines(log.as_bytes(), LOG_LINES)));
    }
    Said {
        point: format!("{CHECK}{}", check.name),
        by: "github".into(),
        at: ws.now(),
        text,
        path: None,
        line: None,
        url: check.url.clone(),
        last: head.to_owned(),
    }
}

/// Posts replies that are not on GitHub yet, and resolves the addressed threads. A reply is recognised by its marker,
/// so that none is posted twice after an interruption.
pub(in crate::app) fn post_replies(
    ws: &Workspace,
    client: &Client<'_>,
    target: &Target,
    number: u64,
    task: &TaskId,
) -> Result<usize, Failure> {
    let of_review = |point: &Point| matches!(point.kind, "thread" | "review");
    let unposted = |point: &Point| of_review(point) && point.reply.as_ref().is_some_and(|reply| !reply.posted);
    let open: Vec<Point> = points(&ws.store.notes(task)?).into_iter().filter(unposted).collect();
    if open.is_empty() {
        return Ok(0);
    }
    let found = client.feedback(&target.slug, number)?;
    let mut posted = 0;
    for point in &open {
        let Some(reply) = &point.reply else { continue };
        let about = point.facts.point.as_deref().unwrap_or_default();
        let marked = format!("{}\n\n{MARKER}{} -->", reply.text, reply.file);
        if let Some(id) = about.strip_prefix(THREAD) {
            let thread = found.threads.iter().find(|thread| thread.id.as_str() == id);
            let mark = format!("{MARKER}{} ", reply.file);
            let is_there =
                thread.is_some_and(|thread| thread.comments.iter().any(|comment| comment.body.contains(&mark)));
            if thread.is_some() && !is_there {
                client.reply_to_thread(id, &marked)?;
            }
            if thread.is_some() && !reply.declined {
                client.resolve_thread(id)?;
            }
        } else {
            let quoted: String = point.text.lines().take(3).map(|line| format!("> {line}\n")).collect();
            match client.comment_on_pull(&found.pull, &format!("{quoted}\n{marked}")) {
                // The reply may have been posted, and a duplicate would be worse than a missing one.
                Err(GithubError::Ambiguous(why)) => ws.notice(format!("a reply may not have been posted: {why}")),
                done => done?,
            }
        }
        mark_posted(ws, task, std::slice::from_ref(&reply.file))?;
        posted += 1;
    }
    Ok(posted)
}

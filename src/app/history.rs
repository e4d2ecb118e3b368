//! `log` and `undo`: the journal read, and its last verb turned round.

use std::collections::HashSet;

use jiff::Timestamp;
use serde::Serialize;

use super::{Failure, FieldChange, Workspace};
use crate::board::{Change, Op, Place};
use crate::store::Line;
use crate::task::{Key, TaskId, Worker};

#[derive(Debug, Clone, Default)]
pub struct LogQuery {
    pub task: Option<TaskId>,
    pub by: Option<Worker>,
    pub verb: Option<String>,
    pub since: Option<Timestamp>,
    pub limit: Option<usize>,
}

#[derive(Debug, Serialize)]
pub struct LogLine {
    #[serde(flatten)]
    pub line: Line,
    pub undone: bool,
    /// What changed, key by key, also where a whole file was replaced.
    #[serde(skip)]
    pub fields: Vec<FieldChange>,
}

/// Newest first.
pub fn log(ws: &Workspace, query: &LogQuery) -> Result<Vec<LogLine>, Failure> {
    let (lines, _) = ws.store.journal()?;
    let undone = undone(&lines);
    let wanted = |line: &Line| {
        query.task.as_ref().is_none_or(|task| line.touches(task))
            && query.by.as_ref().is_none_or(|by| line.by == *by)
            && query.verb.as_ref().is_none_or(|verb| line.verb == *verb)
            && query.since.is_none_or(|since| line.at >= since)
    };
    let chosen = lines.into_iter().rev().filter(wanted).take(query.limit.unwrap_or(usize::MAX));
    Ok(chosen.map(|line| LogLine { undone: undone.contains(&line.id), fields: fields(&line), line }).collect())
}

fn undone(lines: &[Line]) -> HashSet<String> {
    lines.iter().filter_map(|line| line.undoes.clone()).collect()
}

fn fields(line: &Line) -> Vec<FieldChange> {
    let of = |change: &Change| match change.clone() {
        Change::Set { task, key, old, new } => vec![FieldChange { task, key, old, new }],
        Change::File { task, file: Place::Task, old: Some(old), new: Some(new) } => {
            super::edit::differences(&task, &old, &new)
        }
        Change::File { task, file, old, new } => {
            let name = match file {
                Place::Task => "task",
                Place::Archive => "archive",
                Place::Note(_) => "note",
            };
            let text = |text: Option<String>| text.map(|text| crate::task::Value::text(gist(&text)));
            vec![FieldChange { task, key: Key::new(name), old: text(old), new: text(new) }]
        }
    };
    line.changes.iter().flat_map(of).collect()
}

/// The title of a task file, the first line of a note.
fn gist(text: &str) -> String {
    let title = text.lines().find_map(|line| line.strip_prefix("title = "));
    let body = text.rsplit("+++").next().unwrap_or(text).trim();
    title
        .map(|title| title.trim_matches(['"', '\'']).to_owned())
        .unwrap_or_else(|| body.lines().next().unwrap_or("").to_owned())
}

#[derive(Debug, Serialize)]
pub struct Undone {
    pub undone: LogLine,
}

/// The last verb that still stands, or the one named; somebody else's only with `force`.
pub fn undo(ws: &Workspace, id: Option<&str>, force: bool) -> Result<Undone, Failure> {
    let lock = ws.store.lock()?;
    let (lines, _) = ws.store.journal()?;
    let line = chosen(&lines, id)?;
    let me = ws.me()?;
    if line.by != me && !force {
        let message = format!("{} ({}) was done by {}, not by {me}", line.id, line.verb, line.by);
        return Err(Failure::refused("not-yours", message).advice("`--force` undoes what somebody else did"));
    }
    let gone = line.changes.iter().filter(|c| matches!(c, Change::File { file: Place::Task, old: None, .. }));
    let gone: Vec<TaskId> = gone.map(|change| change.task().clone()).collect();
    ws.board()?.unlink(&gone, false)?;
    let changes = line.changes.iter().rev().map(Change::inverse).collect();
    let op = Op { verb: "undo", changes, undoes: Some(line.id.clone()) };
    ws.commit(&lock, op).map_err(|failure| changed_since(&line, failure))?;
    Ok(Undone { undone: LogLine { fields: fields(&line), undone: true, line } })
}

fn chosen(lines: &[Line], id: Option<&str>) -> Result<Line, Failure> {
    let undone = undone(lines);
    let line = match id {
        Some(id) => lines.iter().rev().find(|line| line.id.starts_with(id)),
        None => lines.iter().rev().find(|line| line.undoes.is_none() && !undone.contains(&line.id)),
    };
    let Some(line) = line else {
        let message =
            id.map_or_else(|| "there is nothing to undo".to_owned(), |id| format!("the journal has no verb {id:?}"));
        return Err(Failure::refused("nothing-to-undo", message).advice("`ralph log` shows what was done"));
    };
    if undone.contains(&line.id) {
        return Err(Failure::refused("already-undone", format!("{} ({}) is undone already", line.id, line.verb)));
    }
    Ok(line.clone())
}

fn changed_since(line: &Line, failure: Failure) -> Failure {
    if failure.code != "raced" {
        return failure;
    }
    let message = format!("{} ({}) cannot be undone: {}", line.id, line.verb, failure.message);
    Failure::refused("changed-since", message).advice("undo what came after it first, or set the value yourself")
}

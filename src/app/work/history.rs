//! `log` and `undo`: show the journal, and undo a change.

use std::collections::HashSet;

use jiff::Timestamp;
use serde::Serialize;

use crate::app::{Code, Failure, FieldChange, Hint, Workspace};
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
    /// Include entries in which sync only recorded data of issues.
    pub bookkeeping: bool,
}

#[derive(Debug, Serialize)]
pub struct LogLine {
    #[serde(flatten)]
    pub line: Line,
    pub undone: bool,
    /// The changed keys, including those of a file that was replaced as a whole.
    #[serde(skip)]
    pub fields: Vec<FieldChange>,
}

/// Newest first.
pub fn log(ws: &Workspace, query: &LogQuery) -> Result<Vec<LogLine>, Failure> {
    let (lines, _) = ws.store.journal()?;
    let undone = undone(&lines);
    let wanted = |line: &Line| {
        (query.bookkeeping || !is_noted(line))
            && query.task.as_ref().is_none_or(|task| line.touches(task))
            && query.by.as_ref().is_none_or(|by| line.by == *by)
            && query.verb.as_ref().is_none_or(|verb| line.verb == *verb)
            && query.since.is_none_or(|since| line.at >= since)
    };
    let chosen = lines.into_iter().rev().filter(wanted).take(query.limit.unwrap_or(usize::MAX));
    Ok(chosen.map(|line| LogLine { undone: undone.contains(&line.id), fields: fields(&line), line }).collect())
}

/// The verb of changes that sync makes.
const SYNC: &str = "sync";

/// Whether the entry only records data of issues: nobody decided it, so nobody can undo it.
fn is_noted(line: &Line) -> bool {
    let only_notes = |change: &Change| match change {
        Change::File { task, file: Place::Archive, old: Some(old), new: Some(new) } => {
            let differ = crate::app::edit::fields::differences(task, old, new);
            differ.iter().all(|change| change.key.as_str().starts_with("github."))
        }
        other => other.is_bookkeeping(),
    };
    line.verb == SYNC && line.changes.iter().all(only_notes)
}

/// The ids of undone changes. An `undo` that was itself undone does not count.
fn undone(lines: &[Line]) -> HashSet<String> {
    let mut undone = HashSet::new();
    for line in lines.iter().rev().filter(|line| line.undoes.is_some()) {
        if !undone.contains(&line.id) {
            undone.extend(line.undoes.clone());
        }
    }
    undone
}

fn fields(line: &Line) -> Vec<FieldChange> {
    let of = |change: &Change| match change.clone() {
        Change::Set { task, key, old, new } => vec![FieldChange { task, key, old, new }],
        Change::File { task, file: Place::Task, old: Some(old), new: Some(new) } => {
            crate::app::edit::fields::differences(&task, &old, &new)
        }
        // Archiving is shown once, by its new file.
        Change::File { file: Place::Task, new: None, .. } if line.verb == "archive" => Vec::new(),
        Change::File { task, file, old, new } => {
            let name = match file {
                Place::Task => "task",
                Place::Archive => "archive",
                Place::Note(_) => "note",
            };
            let text = |text: Option<String>| text.map(|text| crate::task::Value::text(gist(&file, &text)));
            vec![FieldChange { task, key: Key::new(name), old: text(old), new: text(new) }]
        }
    };
    let told = |change: &FieldChange| line.verb != SYNC || !change.key.as_str().starts_with("github.");
    line.changes.iter().flat_map(of).filter(told).collect()
}

/// The title of a task file, the first line of a note.
fn gist(place: &Place, text: &str) -> String {
    let title = || text.parse::<toml::Table>().ok()?.get("title")?.as_str().map(str::to_owned);
    match place {
        Place::Note(_) => {
            text.rsplit("+++").next().unwrap_or(text).trim().lines().next().unwrap_or_default().to_owned()
        }
        Place::Task | Place::Archive => title().unwrap_or_default(),
    }
}

/// How far the clock of another machine may be ahead.
const FUTURE: jiff::SignedDuration = jiff::SignedDuration::from_secs(60);

#[derive(Debug, Serialize)]
pub struct Undone {
    pub undone: LogLine,
}

/// Undoes the last change that is not undone, or the given one; a change of another worker only with `force`.
pub fn undo(ws: &Workspace, id: Option<&str>, force: bool) -> Result<Undone, Failure> {
    let lock = ws.lock()?;
    let line = chosen(ws, id)?;
    let actor = ws.actor()?;
    let force = ws.rules().insists(&actor, force);
    if line.by != actor.worker && !force {
        let message = format!("{} ({}) was made by {}, not by {}", line.id, line.verb, line.by, actor.worker);
        let failure = Failure::refused(Code::NotYours, message);
        return Err(match ws.rules().insists(&actor, true) {
            true => failure.hint(Hint::option("--force", "to undo it anyway")),
            false => failure.hint(Hint::step("ask a person to undo it")),
        });
    }
    refuse_needed(ws, &line)?;
    let changes: Vec<Change> = line.changes.iter().rev().map(Change::inverse).collect();
    if !force {
        ws.board()?.refuse_undo(ws.rules(), &actor, &changes, &line.by)?;
    }
    let op = Op { verb: "undo".into(), changes, undoes: Some(line.id.clone()) };
    ws.commit(&lock, op).map_err(|failure| changed_since(&line, failure))?;
    // If a claim was undone, its claim file goes too.
    for (id, claim) in ws.claims()? {
        if line.touches(&id)
            && claim.is_of(&line.by)
            && (line.verb.starts_with("claim") || line.verb.starts_with("move"))
        {
            ws.drop_claim(&id, None)?;
        }
    }
    Ok(Undone { undone: LogLine { fields: fields(&line), undone: true, line } })
}

/// Refuses to remove an added task if other tasks link to it, or if it has newer notes.
fn refuse_needed(ws: &Workspace, line: &Line) -> Result<(), Failure> {
    let made = line.changes.iter().filter(|c| matches!(c, Change::File { file: Place::Task, old: None, .. }));
    let gone: Vec<TaskId> = made.map(|change| change.task().clone()).collect();
    if let Err(refusal) = ws.board()?.unlink(&gone, false) {
        return Err(Failure::refused(Code::Needed, refusal.to_string()).hint(Hint::step("remove these links first")));
    }
    for id in &gone {
        let notes = ws.store.notes(id)?.len();
        let own = line
            .changes
            .iter()
            .filter(|c| c.task() == id && matches!(c, Change::File { file: Place::Note(_), .. }))
            .count();
        if notes > own {
            return Err(Failure::refused(Code::Needed, format!("notes were added to {id} since"))
                .hint(Hint::run(&format!("task rm {id}"), "to delete it with its notes")));
        }
    }
    Ok(())
}

fn chosen(ws: &Workspace, id: Option<&str>) -> Result<Line, Failure> {
    let (lines, _) = ws.store.journal()?;
    let undone = undone(&lines);
    let stands = |line: &&Line| line.undoes.is_none() && !undone.contains(&line.id) && !is_noted(line);
    // The entry that was written last, which does not depend on clocks.
    let written = ws.store.written_journal()?;
    let line = match id {
        Some(id) => lines.iter().rev().find(|line| !id.is_empty() && line.id.starts_with(id)),
        None => written.iter().rev().find(stands),
    };
    if let Some(line) = line.filter(|line| id.is_none() && line.at > ws.now() + FUTURE) {
        // The written order is that of merged journals sorted by time, so this entry may not be the last one.
        let message =
            format!("the time of the last change, {} ({}), is in the future: {}", line.id, line.verb, line.at);
        return Err(Failure::refused(Code::FromTheFuture, message)
            .hint(Hint::run(&format!("undo {}", line.id), "to undo it anyway"))
            .hint(Hint::run("log", "to list the changes")));
    }
    let Some(line) = line else {
        let message = id.map_or_else(|| "nothing to undo".to_owned(), |id| format!("the journal has no change {id:?}"));
        return Err(Failure::refused(Code::NothingToUndo, message).hint(Hint::run("log", "to list the changes")));
    };
    if undone.contains(&line.id) {
        return Err(Failure::refused(Code::AlreadyUndone, format!("{} ({}) is already undone", line.id, line.verb)));
    }
    Ok(line.clone())
}

fn changed_since(line: &Line, failure: Failure) -> Failure {
    if failure.code != Code::Raced {
        return failure;
    }
    let message = format!("{} ({}) cannot be undone: {}", line.id, line.verb, failure.message);
    Failure::refused(Code::ChangedSince, message)
        .hint(Hint::step("undo the later changes first, or set the value yourself"))
}

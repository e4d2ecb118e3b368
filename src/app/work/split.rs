//! `split`: splits a large task into small ones and makes it their epic, in one commit and without duplicate children.

use serde::Serialize;

use crate::app::edit::add::{Minted, NewTask, file};
use crate::app::work::admit::admit;
use crate::app::work::moves::carry_out;
use crate::app::workspace::open::missing;
use crate::app::{Code, Failure, Hint, Workspace};
use crate::board::{Assignment, Board, Change, Goal, Links, Place, Request};
use crate::task::{Estimate, Key, Kind, StateName, Task, TaskId, Value};
use crate::workflow::Intent;

const COMMAND: &str = "split";

#[derive(Debug, Serialize)]
pub struct SplitDone {
    pub task: TaskId,
    pub from: StateName,
    pub to: StateName,
    pub atomic: bool,
    pub children: Vec<SplitChild>,
}

#[derive(Debug, Serialize)]
pub struct SplitChild {
    pub task: TaskId,
    pub title: String,
    /// `false` if the child existed before.
    pub created: bool,
}

pub fn split(ws: &Workspace, id: &TaskId, rows: &[NewTask], atomic: bool) -> Result<SplitDone, Failure> {
    refuse_unfit_rows(rows)?;
    let lock = ws.lock()?;
    let board = ws.board()?;
    let parent = board.get(id).ok_or_else(|| missing(ws, &board, id))?;
    let request = Request { command: Some(COMMAND), ..Request::new(id, Goal::Intent(Intent::Complete)) };
    let mut admission = admit(ws, &board, &ws.actor()?, &request)?;
    let family = Family::of(ws, &board, parent);
    family.refuse_too_many(ws, rows)?;
    let (children, changes) = family.children(rows)?;
    admission.changes.extend(as_epic(ws, id, atomic)?);
    admission.changes.extend(changes);
    let moved = carry_out(ws, &lock, &board, id, COMMAND, admission)?;
    Ok(SplitDone { task: id.clone(), from: moved.from, to: moved.to, atomic: atomic || parent.atomic, children })
}

/// Checks the rows without the board: each must be a small task, with allowed fields only.
fn refuse_unfit_rows(rows: &[NewTask]) -> Result<(), Failure> {
    if rows.is_empty() {
        return Err(Failure::usage(Code::NoChildren, "no tasks to split it into").hint(Hint::step(
            "write [[task]] tables with a title and an estimate, or one JSON object with both per line",
        )));
    }
    for (at, row) in rows.iter().enumerate() {
        let which = format!("task {} ({:?})", at + 1, row.title);
        if row.estimate.is_none_or(Estimate::is_oversized) {
            let size = row.estimate.map_or_else(|| "has no estimate".to_owned(), |size| format!("is of size {size}"));
            return Err(Failure::usage(Code::NotSmall, format!("{which} {size}: a part must be XS or S"))
                .hint(Hint::step("split it further, or hand the task to a person")));
        }
        let set = [
            (row.kind.is_some_and(|kind| kind != Kind::Issue), "kind"),
            (row.state.is_some(), "state"),
            (row.owner.is_some(), "owner"),
            (row.parent.is_some(), "parent"),
            (row.atomic, "atomic"),
        ];
        if let Some((_, key)) = set.iter().find(|(set, _)| *set) {
            return Err(Failure::usage(Code::FixedKey, format!("{which} has a {key}, which split sets itself")));
        }
        if rows[..at].iter().any(|other| folded(&other.title) == folded(&row.title)) {
            return Err(Failure::usage(Code::SameTitle, format!("{which} is given twice")));
        }
    }
    Ok(())
}

/// Normalises a title, so that case and spacing do not matter.
fn folded(title: &str) -> String {
    title.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The task to split, and its earlier children.
struct Family<'a> {
    ws: &'a Workspace,
    board: &'a Board,
    parent: &'a Task,
    /// All children except canceled ones.
    children: Vec<&'a Task>,
}

impl<'a> Family<'a> {
    fn of(ws: &'a Workspace, board: &'a Board, parent: &'a Task) -> Self {
        let counts =
            |task: &&Task| task.parent.as_ref() == Some(&parent.id) && Some(&task.state) != ws.flow().canceling();
        Self { ws, board, parent, children: board.tasks().iter().filter(counts).collect() }
    }

    /// The existing child that a row stands for, by id or else by title.
    fn existing(&self, row: &NewTask) -> Option<&'a Task> {
        let named = |task: &&&Task| row.id.as_deref() == Some(task.id.as_str());
        let titled = |task: &&&Task| row.id.is_none() && folded(&task.title) == folded(&row.title);
        self.children.iter().find(named).or_else(|| self.children.iter().find(titled)).copied()
    }

    fn refuse_too_many(&self, ws: &Workspace, rows: &[NewTask]) -> Result<(), Failure> {
        let new = rows.iter().filter(|row| self.existing(row).is_none()).count();
        let (all, limit) = (self.children.len() + new, ws.settings.number("split.limit").unwrap_or(5) as usize);
        if all <= limit {
            return Ok(());
        }
        let id = &self.parent.id;
        let message = format!("{id} would have {all} children; the limit is {limit}");
        Err(Failure::refused(Code::TooManyChildren, message)
            .hint(Hint::run(&format!("escalate {id}"), "to hand it to a person")))
    }

    /// Every child of the rows, and the changes that create or update them.
    fn children(&self, rows: &[NewTask]) -> Result<(Vec<SplitChild>, Vec<Change>), Failure> {
        let mut minted = Minted::new(self.ws);
        for row in rows {
            match self.existing(row) {
                Some(task) => minted.reuse(row, &task.id)?,
                None => minted.mint(row)?,
            }
        }
        let (mut told, mut changes, mut new) = (Vec::new(), Vec::new(), Vec::new());
        for (at, row) in rows.iter().enumerate() {
            let which = |failure: Failure| Failure {
                message: format!("task {} ({:?}): {}", at + 1, row.title, failure.message),
                ..failure
            };
            let id = &minted.ids[at];
            let existing = self.existing(row);
            let title = existing.map_or_else(|| row.title.clone(), |task| task.title.clone());
            match existing {
                Some(task) => changes.extend(self.updated(&minted, row, task).map_err(which)?),
                None => {
                    let mut task = minted.task(row, id).map_err(which)?;
                    task.parent = Some(self.parent.id.clone());
                    let text = file(&task, &row.description);
                    changes.push(Change::File { task: id.clone(), file: Place::Task, old: None, new: Some(text) });
                    new.push(task);
                }
            }
            told.push(SplitChild { task: id.clone(), title, created: existing.is_none() });
        }
        self.refuse_cycles(&changes, new)?;
        Ok((told, changes))
    }

    /// The changes to an existing child; a finished child stays unchanged.
    fn updated(&self, minted: &Minted<'_>, row: &NewTask, task: &Task) -> Result<Vec<Change>, Failure> {
        if self.ws.flow().is_terminal(task.kind, &task.state) {
            return Ok(Vec::new());
        }
        let put = |key: &str, value: Option<Value>| value.map(|value| Assignment::Put(Key::new(key), Some(value)));
        let text = Some(&row.description).filter(|text| !text.trim().is_empty());
        let blockers = row.blocked_by.iter().map(|typed| minted.find(typed)).collect::<Result<Vec<_>, _>>()?;
        let wanted: Vec<Assignment> = [
            put("estimate", row.estimate.map(Value::text)),
            put("priority", row.priority.map(Value::text)),
            put("description", text.map(|text| Value::text(crate::app::edit::fields::as_body(text)))),
            Some(Assignment::Add(Key::new("labels"), row.labels.clone())),
            Some(Assignment::Add(Key::new("blocked_by"), blockers.iter().map(ToString::to_string).collect())),
        ]
        .into_iter()
        .flatten()
        .collect();
        crate::app::edit::set::changes(self.ws, &task.id, &wanted)
    }

    fn refuse_cycles(&self, changes: &[Change], new: Vec<Task>) -> Result<(), Failure> {
        let mut ids: Vec<TaskId> = changes.iter().map(|change| change.task().clone()).collect();
        ids.dedup();
        let mut tasks = self.board.after(changes).into_tasks();
        tasks.extend(new);
        let board = Board::new(tasks, Vec::new(), Vec::new());
        Ok(Links::new(&board).refuse_cycles(&ids)?)
    }
}

fn as_epic(ws: &Workspace, parent: &TaskId, atomic: bool) -> Result<Vec<Change>, Failure> {
    let mut wanted = vec![Assignment::Put(Key::new("kind"), Some(Value::text(Kind::Epic)))];
    if atomic {
        wanted.push(Assignment::Put(Key::new("atomic"), Some(Value::Bool(true))));
    }
    crate::app::edit::set::changes(ws, parent, &wanted)
}

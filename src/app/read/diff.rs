//! `task diff`: compares the boards of two revisions, or of one and the files on disk, field by field.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::app::workspace::past::Past;
use crate::app::{Failure, FieldChange, Workspace};
use crate::board::Place;
use crate::task::TaskId;

#[derive(Debug, Serialize)]
pub struct TaskDiff {
    pub task: TaskId,
    pub title: String,
    /// `added`, `removed` or `changed`.
    pub what: &'static str,
    pub changes: Vec<FieldChange>,
}

type Texts = BTreeMap<TaskId, String>;

/// Without `to`, compares with the files on disk.
pub fn diff(ws: &Workspace, from: &str, to: Option<&str>) -> Result<Vec<TaskDiff>, Failure> {
    let at = |revision: &str| Past::read(&ws.repository, &ws.store, revision).map(|past| past.texts());
    let (old, new) = (at(from)?, to.map_or_else(|| now(ws), at)?);
    let ids: BTreeSet<&TaskId> = old.keys().chain(new.keys()).collect();
    Ok(ids.into_iter().filter_map(|id| compare(id, old.get(id), new.get(id))).collect())
}

fn now(ws: &Workspace) -> Result<Texts, Failure> {
    let mut texts = Texts::new();
    let board = ws.board()?;
    for id in board.tasks().iter().map(|task| &task.id).chain(board.broken().iter().map(|broken| &broken.id)) {
        let path = ws.store.path(id, &Place::Task);
        texts.extend(ws.store.text_of(&path).ok().flatten().map(|text| (id.clone(), text)));
    }
    Ok(texts)
}

fn compare(id: &TaskId, old: Option<&String>, new: Option<&String>) -> Option<TaskDiff> {
    if old == new {
        return None;
    }
    let what = match (old, new) {
        (None, _) => "added",
        (_, None) => "removed",
        _ => "changed",
    };
    let text = |side: Option<&String>| side.cloned().unwrap_or_default();
    let titled = text(new.or(old)).parse::<toml::Table>().ok();
    let title = titled.and_then(|table| table.get("title")?.as_str().map(str::to_owned)).unwrap_or_default();
    Some(TaskDiff {
        task: id.clone(),
        title,
        what,
        changes: crate::app::edit::fields::differences(id, &text(old), &text(new)),
    })
}

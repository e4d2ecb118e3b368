//! `task diff`: compares the boards of two revisions, or of one revision and the files on disk, field by field.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::app::workspace::past::Past;
use crate::app::{Failure, FieldChange, Workspace};
use crate::board::Place;
use crate::store::codec::Doc;
use crate::task::TaskId;

#[derive(Debug, Serialize)]
pub struct TaskDiff {
    pub task: TaskId,
    pub title: String,
    /// `added`, `removed` or `changed`.
    pub what: &'static str,
    /// Empty if one of the two files cannot be read.
    pub changes: Vec<FieldChange>,
    /// Which of the two files cannot be read.
    pub unreadable: Option<DiffSide>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DiffSide {
    Old,
    New,
}

type Texts = BTreeMap<TaskId, String>;

/// Compares with the files on disk if there is no `to`.
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
    let table = |side: Option<&String>| side.and_then(|text| text.parse::<toml::Table>().ok());
    let title = [new, old].into_iter().find_map(|side| Some(table(side)?.get("title")?.as_str()?.to_owned()));
    let is_broken = |side: Option<&String>| side.is_some_and(|text| Doc::new(text.as_str()).is_err());
    let unreadable = if is_broken(new) { Some(DiffSide::New) } else { is_broken(old).then_some(DiffSide::Old) };
    let changes = match unreadable {
        None => crate::app::edit::fields::differences(id, &text(old), &text(new)),
        Some(_) => Vec::new(),
    };
    Some(TaskDiff { task: id.clone(), title: title.unwrap_or_default(), what, changes, unreadable })
}

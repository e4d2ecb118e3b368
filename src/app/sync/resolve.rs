//! `sync resolve`: a person chooses between two values; the next sync applies the choice.

use serde::Serialize;

use super::bring::{Effects, bring};
use super::edits::FileEdit;
use super::local::{Local, stem};
use super::pull::base_value;
use crate::app::{Code, Failure, Hint, Workspace};
use crate::board::{Change, Op, Place};
use crate::github::{Field, Link, NoteLink, canonical, hash};
use crate::store::rewritten_note;
use crate::task::mirrored::unknown;
use crate::task::{Key, TaskId, Value};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TakeSide {
    Local,
    Remote,
}

#[derive(Debug, Serialize)]
pub struct Resolved {
    pub task: TaskId,
    pub fields: Vec<String>,
    pub take: TakeSide,
}

/// Resolves one field, or all conflicts of a task.
pub fn sync_resolve(ws: &Workspace, id: &TaskId, field: Option<&str>, side: TakeSide) -> Result<Resolved, Failure> {
    let lock = ws.lock()?;
    let place = if ws.store.exists(id) { Place::Task } else { Place::Archive };
    let local = Local::load(ws, id, place.clone())?.ok_or_else(|| ws.store.absent(id))?;
    let named = |name: &str| {
        field.is_none_or(|field| field == name || Field::parse(field).is_some_and(|field| field.name() == name))
    };
    let names: Vec<String> = local.link.conflicts.keys().filter(|name| named(name)).cloned().collect();
    if names.is_empty() {
        let what = field.map(|field| format!(" in {field}")).unwrap_or_default();
        let there: Vec<&str> = local.link.conflicts.keys().map(String::as_str).collect();
        let failure = Failure::refused(Code::NoConflict, format!("{id} has no sync conflict{what}"));
        return Err(if there.is_empty() {
            failure
        } else {
            failure.hint(Hint::step(format!("choose one of its conflicts: {}", there.join(", "))))
        });
    }
    let mut edit = FileEdit::open(ws, id, &place)?;
    let mut effects = Effects::by(ws.me()?);
    for name in &names {
        let remote = local.link.conflicts.get(name).cloned().flatten();
        edit.set(Key::new(format!("github.conflict.{name}")), None)?;
        if name == "link" {
            let gone = remote.as_ref().is_none_or(|loss| loss.to_string() != "removed");
            if gone && side == TakeSide::Local && place == Place::Archive {
                return Err(gone_and_archived(id));
            }
            relink(&mut edit, &local, remote.as_ref(), side)?;
        } else if let Some(note) = name.strip_prefix("note ") {
            effects.changes.extend(settle_note(ws, &mut edit, &local, note, remote.as_ref(), side)?);
        } else if let Some(field) = Field::parse(name) {
            if side == TakeSide::Remote && field == Field::Archived {
                return Err(open_task(id, &local));
            }
            if side == TakeSide::Remote {
                bring(ws, &mut edit, &local, field, remote.clone(), &mut effects)?;
            }
            if field == Field::State {
                edit.set(Link::shown_key(), local.link.conflict_shown.as_ref().map(Value::text))?;
                edit.set(Link::conflict_shown_key(), None)?;
            }
            // With the remote value as base, only the chosen side differs from it.
            edit.set(field.base_key(), base_value(ws, field, remote.as_ref())?)?;
        }
    }
    let mut changes = edit.changes();
    changes.extend(effects.changes);
    if !changes.is_empty() {
        ws.commit(&lock, Op::new("sync resolve", changes))?;
    }
    if effects.dropped.is_some() {
        ws.drop_claim(id, None)?;
    }
    Ok(Resolved { task: id.clone(), fields: names, take: side })
}

/// The failure for an archived task, because only tasks on the board get new issues.
fn gone_and_archived(id: &TaskId) -> Failure {
    Failure::refused(Code::Archived, format!("the issue of {id} was deleted, and archived tasks get no new issue"))
        .hint(Hint::run("undo", "to restore the task, if it was archived by mistake"))
        .hint(Hint::option("--take remote", "to stop mirroring it"))
}

/// The failure for an open task, because only finished tasks are archived.
fn open_task(id: &TaskId, local: &Local) -> Failure {
    let state = local.value(Field::State).map(ToString::to_string).unwrap_or_default();
    Failure::refused(Code::NotFinished, format!("{id} is in {state}; only finished tasks can be archived"))
        .hint(Hint::run(&format!("done {id}"), "or `cancel`, to finish it; the next sync archives it"))
        .hint(Hint::option("--take local", "to restore its item on GitHub"))
}

/// Local: adds the issue to the project again, or creates a new one. Remote: stops mirroring the task.
fn relink(edit: &mut FileEdit, local: &Local, loss: Option<&Value>, side: TakeSide) -> Result<(), Failure> {
    if side == TakeSide::Remote {
        return edit.set(Key::new("github.mirror"), Some(Value::Bool(false)));
    }
    edit.set(Key::new("github.item"), None)?;
    edit.set(Link::shown_key(), None)?;
    edit.set(Link::conflict_shown_key(), None)?;
    let removed = loss.is_some_and(|loss| loss.to_string() == "removed");
    for field in if removed { &Field::OF_ROW[..] } else { &Field::ALL[..] } {
        edit.set(field.base_key(), unknown(*field).filter(|_| removed))?;
    }
    if removed {
        return Ok(());
    }
    for note in local.link.notes.keys() {
        edit.set(Link::note_key(note), None)?;
    }
    ["number", "url", "node"].into_iter().try_for_each(|key| edit.set(Key::new(format!("github.{key}")), None))
}

fn settle_note(
    ws: &Workspace,
    edit: &mut FileEdit,
    local: &Local,
    name: &str,
    remote: Option<&Value>,
    side: TakeSide,
) -> Result<Option<Change>, Failure> {
    let Some(link) = local.link.notes.get(name) else { return Ok(None) };
    let text = remote.map(ToString::to_string).unwrap_or_default();
    let agreed = NoteLink { comment: link.comment.clone(), hash: hash(&canonical(&text)) };
    edit.set(Link::note_key(name), Some(agreed.value()))?;
    let note = local.notes.iter().find(|note| stem(&note.file) == name).filter(|_| side == TakeSide::Remote);
    let Some(note) = note else { return Ok(None) };
    let place = Place::Note(note.file.clone());
    let raw = ws.store.text_of(&ws.store.path(&local.id, &place))?.unwrap_or_default();
    let new = Some(rewritten_note(&raw, &text));
    Ok(Some(Change::File { task: local.id.clone(), file: place, old: Some(raw), new }))
}

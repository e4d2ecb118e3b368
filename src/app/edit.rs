//! `task edit`: a person changes the whole file; it is checked before it becomes the task.

use serde::Serialize;

use super::{Code, Failure, FieldChange, Hint, Workspace};
use crate::board::{Board, Change, Move, Op, Place, Target, Verdict};
use crate::store::codec::{self, Doc};
use crate::store::merge::merge;
use crate::task::{Key, Problem, TaskId, Value};

/// A file as it was handed to the editor.
pub struct Editing {
    pub id: TaskId,
    pub text: String,
}

#[derive(Debug, Serialize)]
pub struct Edited {
    pub task: TaskId,
    pub changed: bool,
    pub changes: Vec<FieldChange>,
    /// Values that are wrong, though the file can be read.
    pub problems: Vec<Problem>,
}

/// What becomes of a text whose values are wrong, though it can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubts {
    Refuse,
    /// A person has seen them, and said yes.
    Accept,
}

/// Also for files that cannot be read as a task: here is where they are mended.
pub fn begin_edit(ws: &Workspace, id: &TaskId) -> Result<Editing, Failure> {
    let text = ws.store.text_of(&ws.store.path(id, &Place::Task))?.ok_or_else(|| ws.store.absent(id))?;
    Ok(Editing { id: id.clone(), text })
}

/// Somebody has changed the file meanwhile: both changes in one text. What both have set stands between marks, for the
/// person to choose.
pub fn resume_edit(ws: &Workspace, editing: &Editing, text: &str) -> Result<(Editing, String), Failure> {
    let now = begin_edit(ws, &editing.id)?;
    let merged = match merge(&editing.text, text, &now.text) {
        Some(merged) => merged.text,
        // One of them is no TOML yet: lines are all there is to merge.
        None => diffy::merge(&editing.text, text, &now.text).unwrap_or_else(|marked| marked),
    };
    Ok((now, merged))
}

/// Problems that the text would have as a task file; an error is one that cannot be saved at all.
fn check(ws: &Workspace, id: &TaskId, text: &str) -> Result<Vec<Problem>, Failure> {
    let shown = ws.store.shown(&ws.store.path(id, &Place::Task));
    Ok(codec::read(id, &shown, text, ws.flow())?.task.problems)
}

pub fn finish_edit(ws: &Workspace, editing: &Editing, text: &str, doubts: Doubts) -> Result<Edited, Failure> {
    let id = &editing.id;
    let problems = check(ws, id, text)?;
    if text == editing.text {
        return Ok(Edited { task: id.clone(), changed: false, changes: Vec::new(), problems });
    }
    if doubts == Doubts::Refuse && !problems.is_empty() {
        return Err(wrong_values(&problems));
    }
    let lock = ws.lock()?;
    refuse_cycles(ws, id, text)?;
    let moved = judged_move(ws, id, text)?;
    let mut changes = vec![Change::File {
        task: id.clone(),
        file: Place::Task,
        old: Some(editing.text.clone()),
        new: Some(text.to_owned()),
    }];
    changes.extend(
        moved.iter().flat_map(|verdict| verdict.changes.iter()).filter(|change| !change.is_state_of(id)).cloned(),
    );
    ws.commit(&lock, Op::new("edit", changes))?;
    if moved.is_some_and(|verdict| verdict.hands_off) {
        ws.drop_claim(id)?;
    }
    Ok(Edited { task: id.clone(), changed: true, changes: differences(id, &editing.text, text), problems })
}

fn wrong_values(problems: &[Problem]) -> Failure {
    let causes = problems.iter().map(ToString::to_string).collect();
    Failure { causes, ..Failure::refused(Code::BadValues, "the edited file has wrong values") }
}

fn refuse_cycles(ws: &Workspace, id: &TaskId, text: &str) -> Result<(), Failure> {
    let read = codec::read(id, "", text, ws.flow())?.task;
    let board = ws.board()?;
    let before = board.get(id);
    if before.is_some_and(|task| task.parent == read.parent && task.blocked_by == read.blocked_by) {
        return Ok(());
    }
    let key = |name: &str| Key::new(name);
    let changes = [
        Change::Set { task: id.clone(), key: key("parent"), old: None, new: read.value(&key("parent")) },
        Change::Set { task: id.clone(), key: key("blocked_by"), old: None, new: read.value(&key("blocked_by")) },
    ];
    let mut tasks: Vec<_> = board.tasks().iter().filter(|task| task.id != *id).cloned().collect();
    tasks.push(read);
    Ok(Board::new(tasks, Vec::new(), Vec::new()).refuse_cycles(&changes)?)
}

/// A state that is changed in the editor is a move like any other, with all that comes along; a lock is taken by claiming.
fn judged_move(ws: &Workspace, id: &TaskId, text: &str) -> Result<Option<Verdict>, Failure> {
    let read = codec::read(id, "", text, ws.flow())?.task;
    let board = ws.family(id)?;
    if board.get(id).is_none_or(|task| task.state == read.state) {
        return Ok(None);
    }
    if ws.flow().state(read.kind, &read.state).is_some_and(|state| state.lock) {
        let message = format!("{} is a lock, and is taken by claiming", read.state);
        return Err(Failure::refused(Code::NotClaimed, message).hint(Hint::Claim { task: id.clone(), command: None }));
    }
    let asked = Move { task: id, to: Target::State(read.state), command: None, force: false };
    let (actor, rules) = (ws.actor()?, ws.rules());
    let verdict = board.judge(rules, &actor, &asked)?;
    super::proof::refuse_unproven(ws, &board, &actor, id, &verdict)?;
    Ok(Some(verdict))
}

/// What differs between two versions of a file, key by key.
pub(super) fn differences(id: &TaskId, old: &str, new: &str) -> Vec<FieldChange> {
    let leaves = |text: &str| -> std::collections::BTreeMap<Key, Value> {
        Doc::new(text).map(|doc| doc.leaves().into_iter().collect()).unwrap_or_default()
    };
    let (before, after) = (leaves(old), leaves(new));
    let mut keys: Vec<&Key> = before.keys().chain(after.keys()).collect();
    keys.sort();
    keys.dedup();
    let differ = keys.into_iter().filter(|key| before.get(*key) != after.get(*key));
    differ
        .map(|key| FieldChange {
            task: id.clone(),
            key: key.clone(),
            old: before.get(key).cloned(),
            new: after.get(key).cloned(),
        })
        .collect()
}

/// A description ends with exactly one newline, so that its last line has one in the file.
pub(super) fn as_body(text: &str) -> String {
    format!("{}\n", text.trim_end())
}

//! Applies changes from GitHub to the board: fields, comments, new and archived issues.

use super::bring::{Effects, bring};
use super::compare::{NoteMove, Pair};
use std::collections::BTreeMap;

use super::edits::{FileEdit, commit, github};
use super::local::{Local, stem};
use super::memory::keep_text;
use crate::app::{Failure, FailureKind, Workspace};
use crate::board::{Change, Place};
use crate::github::{Decision, Field, Link, Node, NoteLink, canonical, fingerprint, hash, read_comment};
use crate::store::{BoardLock, agreed_note, tagged_note};
use crate::task::mirrored::unknown;
use crate::task::{Key, StateName, Value, Worker};

/// Whether changes from GitHub are applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intake {
    Open,
    /// `--push`: record only agreed values and conflicts.
    Closed,
}

/// The applied changes of one task.
#[derive(Debug, Default)]
pub struct Taken {
    pub fields: Vec<Field>,
    pub notes: usize,
    /// Messages for the person: values that cannot be applied, claims that a move ended, moves outside the workflow.
    pub told: Vec<String>,
}

/// Applies GitHub's changes of one task.
pub fn take(ws: &Workspace, pair: &Pair<'_>, intake: Intake) -> Result<Taken, Failure> {
    let mut taken = Taken::default();
    if !is_news(pair, intake) {
        return Ok(taken);
    }
    let lock = ws.lock()?;
    // The file may have changed since the comparison, so the decisions only count if its link is the same.
    let Some(now) = Local::load(ws, &pair.local.id, pair.local.place.clone())? else { return Ok(taken) };
    if now.link != pair.local.link {
        return Ok(taken);
    }
    let mut step = PullStep {
        ws,
        pair,
        now,
        taken,
        edit: FileEdit::open(ws, &pair.local.id, &pair.local.place)?,
        effects: Effects::by(mover(pair)),
    };
    step.link()?;
    for (field, decision) in &pair.decisions {
        step.field(*field, decision, intake)?;
    }
    step.notes(intake)?;
    let archived =
        pair.decisions.iter().any(|(field, decision)| *field == Field::Archived && *decision == Decision::Pull);
    taken = step.finish(&lock)?;
    if archived && intake == Intake::Open {
        put_away(ws, &lock, pair, &mut taken)?;
    }
    Ok(taken)
}

/// The worker that moved the card: the user who set the field, if GitHub says so.
fn mover(pair: &Pair<'_>) -> Worker {
    let chosen = pair.item.chosen_by.as_ref().and_then(|login| Worker::new(login).ok());
    chosen.unwrap_or_else(|| github().worker)
}

/// Whether there is anything to write.
fn is_news(pair: &Pair<'_>, intake: Intake) -> bool {
    let link = &pair.local.link;
    let conflicts = pair.decisions.iter().filter(|(_, decision)| *decision == Decision::Conflict).count();
    let fields = pair.decisions.iter().any(|(_, decision)| match decision {
        Decision::Settled | Decision::Push => false,
        Decision::Pull | Decision::Both(_) => intake == Intake::Open,
        Decision::Agreed | Decision::Conflict => true,
    });
    let notes = pair.notes.iter().any(|note| match note {
        NoteMove::Tie { .. } | NoteMove::Conflict { .. } => true,
        NoteMove::Take { .. } | NoteMove::Rewrite { .. } => intake == Intake::Open,
        NoteMove::Post { .. } | NoteMove::Edit { .. } | NoteMove::Double { .. } => false,
    });
    // The issue shows its state again, but the file still records the difference.
    let shown = pair.shown.is_none() && link.shown.is_some();
    let pull = intake == Intake::Open && pair.local.pull.is_none() && pair.issue.pull.is_some();
    fields || notes || pull || shown || link.conflicts.len() != conflicts || is_moved(pair)
}

/// Whether the issue or its item differs from the link, because it was transferred or found again.
fn is_moved(pair: &Pair<'_>) -> bool {
    let link = &pair.local.link;
    link.node.as_ref() != Some(&pair.issue.node)
        || link.item.as_ref() != Some(&pair.item.id)
        || link.number != Some(pair.issue.number)
}

struct PullStep<'a> {
    ws: &'a Workspace,
    pair: &'a Pair<'a>,
    now: Local,
    taken: Taken,
    edit: FileEdit,
    effects: Effects,
}

impl PullStep<'_> {
    fn link(&mut self) -> Result<(), Failure> {
        let issue = self.pair.issue;
        for (key, value) in link_keys(issue.number, &issue.url, &issue.node, Some(&self.pair.item.id)) {
            self.edit.set(key, value)?;
        }
        let row = self.now.link.item.as_ref();
        if row.is_some_and(|row| *row != self.pair.item.id) {
            // A new item has no agreed values.
            Field::OF_ROW.into_iter().try_for_each(|field| self.edit.set(field.base_key(), unknown(field)))?;
        }
        if self.pair.shown.is_none() || row.is_none() {
            self.edit.set(Link::shown_key(), None)?;
        }
        if self.now.pull.is_none()
            && let Some(pull) = &issue.pull
        {
            self.edit.set(Key::new("artifacts.pr"), Some(Value::text(pull)))?;
        }
        self.edit.set(Key::new("github.conflict.link"), None)
    }

    fn field(&mut self, field: Field, decision: &Decision, intake: Intake) -> Result<(), Failure> {
        let remote = self.pair.remote.get(&field).cloned();
        let still = self.now.value(field) == self.pair.local.value(field);
        let take = match decision {
            Decision::Settled | Decision::Push => return self.no_conflict(field),
            Decision::Conflict => return self.conflict(field, remote.as_ref()),
            Decision::Agreed => None,
            Decision::Pull | Decision::Both(_) if intake == Intake::Closed || !still => return Ok(()),
            // Archived as a whole later.
            Decision::Pull if field == Field::Archived => return Ok(()),
            Decision::Pull => Some(remote.clone()),
            Decision::Both(value) => Some(value.clone()),
        };
        if let Some(value) = take {
            if !self.bring(field, value)? {
                return self.conflict(field, remote.as_ref());
            }
            self.taken.fields.push(field);
        }
        self.no_conflict(field)?;
        if field == Field::State {
            self.edit.set(Link::shown_key(), self.pair.shown.as_ref().map(Value::text))?;
        }
        self.edit.set(field.base_key(), base_value(self.ws, field, remote.as_ref())?)
    }

    /// Applies a value; `false` if the board cannot accept it, with a message.
    fn bring(&mut self, field: Field, value: Option<Value>) -> Result<bool, Failure> {
        match bring(self.ws, &mut self.edit, &self.now, field, value, &mut self.effects) {
            Ok(()) => Ok(true),
            Err(failure) if failure.kind == FailureKind::Broken => Err(failure),
            Err(failure) => {
                self.taken.told.push(failure.message);
                Ok(false)
            }
        }
    }

    fn no_conflict(&mut self, field: Field) -> Result<(), Failure> {
        if field == Field::State {
            self.edit.set(Link::conflict_shown_key(), None)?;
        }
        self.edit.set(field.conflict_key(), None)
    }

    fn conflict(&mut self, field: Field, remote: Option<&Value>) -> Result<(), Failure> {
        if field == Field::State {
            self.edit.set(Link::conflict_shown_key(), self.pair.shown.as_ref().map(Value::text))?;
        }
        let nothing = Value::Table(BTreeMap::new());
        self.edit.set(field.conflict_key(), Some(remote.cloned().unwrap_or(nothing)))
    }

    fn notes(&mut self, intake: Intake) -> Result<(), Failure> {
        let mut stale: Vec<String> =
            self.now.link.conflicts.keys().filter(|name| name.starts_with("note ")).cloned().collect();
        for note in &self.pair.notes {
            match note {
                NoteMove::Tie { file, link } => self.edit.set(Link::note_key(&stem(file)), Some(link.value()))?,
                NoteMove::Take { comment } if intake == Intake::Open => self.take_comment(comment)?,
                NoteMove::Rewrite { file, comment } if intake == Intake::Open => self.rewrite(file, comment)?,
                NoteMove::Conflict { file, comment } => {
                    let name = note_conflict(file);
                    stale.retain(|other| *other != name);
                    let text = read_comment(&comment.body).0;
                    // The comment was found by its marker alone, so the agreed text is unknown; the link tells `sync
                    // resolve` which comment it is.
                    if !self.now.link.notes.contains_key(&stem(file)) {
                        let link = NoteLink { comment: comment.id.clone(), hash: String::new() };
                        self.edit.set(Link::note_key(&stem(file)), Some(link.value()))?;
                    }
                    self.edit.set(Key::new(format!("github.conflict.{name}")), Some(Value::Text(text)))?;
                }
                _ => {}
            }
        }
        stale.into_iter().try_for_each(|name| self.edit.set(Key::new(format!("github.conflict.{name}")), None))
    }

    fn take_comment(&mut self, comment: &crate::github::RemoteComment) -> Result<(), Failure> {
        let by = Worker::new(comment.author.as_deref().unwrap_or("ghost"))?;
        let at = comment.created.parse().unwrap_or_else(|_| self.ws.now());
        let text = read_comment(&comment.body).0;
        let tag = &hash(comment.id.as_str())[..6];
        let change = tagged_note(&self.now.id, &by, at, tag, &text);
        let Change::File { file: Place::Note(name), .. } = &change else { unreachable!("a note is a file") };
        let link = NoteLink { comment: comment.id.clone(), hash: hash(&canonical(&text)) };
        self.edit.set(Link::note_key(&stem(name)), Some(link.value()))?;
        // Another clone may already have imported the comment.
        if !self.ws.store.path(&self.now.id, &Place::Note(name.clone())).exists() {
            self.effects.changes.push(change);
        }
        self.taken.notes += 1;
        Ok(())
    }

    fn rewrite(&mut self, file: &str, comment: &crate::github::RemoteComment) -> Result<(), Failure> {
        let place = Place::Note(file.to_owned());
        let Some(raw) = self.ws.store.text_of(&self.ws.store.path(&self.now.id, &place))? else { return Ok(()) };
        let planned = self.pair.local.notes.iter().find(|note| note.file == file).map(|note| &note.text);
        // The note has changed since the comparison.
        if Some(&crate::store::parse_note(file.to_owned(), &raw).text) != planned {
            return Ok(());
        }
        let text = read_comment(&comment.body).0;
        let new = agreed_note(&raw, &text, &hash(&text));
        self.effects.changes.push(Change::File {
            task: self.now.id.clone(),
            file: place,
            old: Some(raw),
            new: Some(new),
        });
        let link = NoteLink { comment: comment.id.clone(), hash: hash(&text) };
        self.taken.notes += 1;
        self.edit.set(Link::note_key(&stem(file)), Some(link.value()))
    }

    fn finish(mut self, lock: &BoardLock) -> Result<Taken, Failure> {
        // Changes by a move to its own task come after the applied values, because both may set the same key.
        let (own, others): (Vec<Change>, Vec<Change>) =
            self.effects.changes.drain(..).partition(|change| change.is_key_of(&self.now.id));
        let mover = Value::text(&self.effects.mover);
        for change in own {
            // For a merge with a clone in which another worker has claimed the task, see `store::merge`.
            if matches!(&change, Change::Set { key, new: Some(new), .. } if key.as_str() == "owner" && *new == mover) {
                self.edit.set(Key::new("github.mover"), Some(mover.clone()))?;
            }
            self.edit.add(change)?;
        }
        let mut changes = self.edit.changes();
        changes.extend(others);
        commit(self.ws, lock, changes)?;
        let Self { ws, now, mut taken, effects, .. } = self;
        if let Some(holder) = effects.dropped {
            ws.drop_claim(&now.id, None)?;
            taken.told.push(format!("{} moved {} on GitHub: the claim of {holder} ended", effects.mover, now.id));
        }
        if let Some(flag) = effects.flag {
            taken.told.push(format!("{} moved {} on GitHub, outside the workflow: {flag}", effects.mover, now.id));
        }
        Ok(taken)
    }
}

/// Archives a task whose item was archived on GitHub, or restores it. Only finished tasks are archived.
fn put_away(ws: &Workspace, lock: &BoardLock, pair: &Pair<'_>, taken: &mut Taken) -> Result<(), Failure> {
    let Local { id, place, .. } = pair.local;
    let Some(now) = Local::load(ws, id, place.clone())? else { return Ok(()) };
    let state =
        now.value(Field::State).map(|state| StateName::new(state.to_string())).unwrap_or_else(|| StateName::new(""));
    let to = if *place == Place::Task { Place::Archive } else { Place::Task };
    if to == Place::Archive && !ws.flow().is_terminal(now.kind, &state) {
        taken.told.push(format!(
            "#{} is archived on GitHub, but {id} is in {state} here: close the task, or restore the item",
            pair.issue.number
        ));
        return Ok(());
    }
    let mut edit = FileEdit::open(ws, id, place)?;
    edit.set(Field::Archived.base_key(), (to == Place::Archive).then_some(Value::Bool(true)))?;
    commit(ws, lock, edit.changes())?;
    let text = ws.store.text_of(&ws.store.path(id, place))?;
    let moved = vec![
        Change::File { task: id.clone(), file: to, old: None, new: text.clone() },
        Change::File { task: id.clone(), file: place.clone(), old: text, new: None },
    ];
    taken.fields.push(Field::Archived);
    commit(ws, lock, moved)
}

pub fn note_conflict(file: &str) -> String {
    format!("note {}", stem(file))
}

/// The base for an agreed value; the text of a description is kept for a later merge.
pub fn base_value(ws: &Workspace, field: Field, value: Option<&Value>) -> Result<Option<Value>, Failure> {
    if let (Field::Description, Some(Value::Text(text))) = (field, value) {
        keep_text(ws, text)?;
    }
    Ok(value.map(|value| fingerprint(field, value)))
}

pub fn link_keys(number: u64, url: &str, node: &Node, item: Option<&Node>) -> Vec<(Key, Option<Value>)> {
    let mut keys = vec![
        (Key::new("github.number"), Some(Value::Integer(number as i64))),
        (Key::new("github.url"), Some(Value::text(url))),
        (Key::new("github.node"), Some(Value::text(node))),
    ];
    keys.extend(item.map(|item| (Key::new("github.item"), Some(Value::text(item)))));
    keys
}

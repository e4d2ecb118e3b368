//! What a sync leaves on this machine for the next one: intents of creates with an unknown outcome, and the texts
//! behind the hashes of bases.

use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::local::Local;
use crate::app::{Failure, Workspace};
use crate::fs;
use crate::github::{Field, Node, canonical, fingerprint, hash};
use crate::store::codec::Doc;
use crate::task::{Key, TaskId, Value};

/// The intent to create something on GitHub; removed once the outcome is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreateIntent {
    pub task: TaskId,
    /// The file of a note, or `None` for an issue.
    pub note: Option<String>,
    /// The time on GitHub's clock just before the request.
    pub at: Timestamp,
    /// The values of a new issue, which serve as base: later changes on either side are compared with them.
    pub sent: Option<Sent>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    title: String,
    description: String,
    labels: Vec<String>,
}

impl Sent {
    pub fn of(local: &Local, title: &str, labels: &[String]) -> Self {
        Self { title: title.to_owned(), description: canonical(&local.description), labels: labels.to_vec() }
    }

    /// The values as keys of a base.
    pub fn keys(&self) -> Vec<(Key, Option<Value>)> {
        let text = |text: &str| (!text.is_empty()).then(|| Value::text(text));
        let labels = (!self.labels.is_empty()).then(|| Value::texts(&self.labels));
        let sent =
            [(Field::Title, text(&self.title)), (Field::Description, text(&self.description)), (Field::Labels, labels)];
        sent.into_iter()
            .map(|(field, value)| (field.base_key(), value.map(|value| fingerprint(field, &value))))
            .collect()
    }
}

/// How long GitHub may take to finish an interrupted request and to list what it created. If it takes longer, a task
/// may get a second issue, which a later sync merges.
const LAG: SignedDuration = SignedDuration::from_mins(1);

impl CreateIntent {
    /// Whether the create certainly failed, because its result would be listed by now.
    pub fn is_over(&self, server_now: Timestamp) -> bool {
        server_now.duration_since(self.at) >= LAG
    }

    /// How long to wait before the create counts as failed.
    pub fn seconds_left(&self, server_now: Option<Timestamp>) -> u64 {
        let waited = server_now.map_or(SignedDuration::ZERO, |now| now.duration_since(self.at));
        u64::try_from((LAG - waited).as_secs()).unwrap_or(0)
    }

    fn file(&self) -> String {
        match &self.note {
            Some(note) => format!("{}.{note}.json", self.task),
            None => format!("{}.json", self.task),
        }
    }
}

fn intents_dir(ws: &Workspace) -> PathBuf {
    ws.store.sync_dir().join("intents")
}

pub fn knowledge_path(ws: &Workspace) -> PathBuf {
    ws.store.sync_dir().join("seen.json")
}

pub fn write_intent(ws: &Workspace, intent: &CreateIntent) -> Result<(), Failure> {
    fs::make_dir(&intents_dir(ws))?;
    let text = serde_json::to_string(intent).expect("an intent is text");
    Ok(fs::replace(&intents_dir(ws).join(intent.file()), text.as_bytes(), true)?)
}

pub fn drop_intent(ws: &Workspace, intent: &CreateIntent) -> Result<(), Failure> {
    Ok(fs::remove(&intents_dir(ws).join(intent.file()))?)
}

pub fn intents(ws: &Workspace) -> Result<Vec<CreateIntent>, Failure> {
    let mut found = Vec::new();
    for name in
        fs::names(&intents_dir(ws))?.into_iter().filter(|name| name.ends_with(".json") && !name.starts_with('.'))
    {
        let text = fs::read_text(&intents_dir(ws).join(name))?.unwrap_or_default();
        found.extend(serde_json::from_str::<CreateIntent>(&text).ok());
    }
    Ok(found)
}

fn retired_dir(ws: &Workspace) -> PathBuf {
    ws.store.sync_dir().join("retired")
}

/// Issues that were closed on GitHub because their tasks were deleted here.
pub fn retired(ws: &Workspace) -> Vec<Node> {
    fs::names(&retired_dir(ws)).unwrap_or_default().into_iter().map(Node::new).collect()
}

pub fn note_retired(ws: &Workspace, issue: &Node) -> Result<(), Failure> {
    fs::make_dir(&retired_dir(ws))?;
    Ok(fs::replace(&retired_dir(ws).join(issue.as_str()), b"", false)?)
}

pub fn drop_retired(ws: &Workspace, issue: &Node) -> Result<(), Failure> {
    Ok(fs::remove(&retired_dir(ws).join(issue.as_str()))?)
}

/// Keeps a text under its hash, as the ancestor of a later merge.
pub fn keep_text(ws: &Workspace, text: &str) -> Result<(), Failure> {
    let text = canonical(text);
    let folder = ws.store.sync_dir().join("texts");
    let path = folder.join(hash(&text));
    if text.is_empty() || path.exists() {
        return Ok(());
    }
    fs::make_dir(&folder)?;
    Ok(fs::replace(&path, text.as_bytes(), false)?)
}

/// The last agreed description, from the kept texts, from git or from the journal.
pub fn ancestor(ws: &Workspace, local: &Local) -> Option<String> {
    let base = local.link.agreed(Field::Description)?.map(ToString::to_string);
    // Without an agreed text, the ancestor is empty.
    let Some(wanted) = base else { return Some(String::new()) };
    if hash(&canonical(&local.description)) == wanted {
        return Some(canonical(&local.description));
    }
    let kept = ws.store.sync_dir().join("texts").join(&wanted);
    let kept = fs::read_text(&kept).ok().flatten().filter(|text| hash(text) == wanted);
    kept.or_else(|| committed(ws, &local.id, &wanted)).or_else(|| journaled(ws, &local.id, &wanted))
}

fn committed(ws: &Workspace, id: &TaskId, wanted: &str) -> Option<String> {
    let bytes = ws.repository.file_at("HEAD", &format!(".ralph/tasks/{id}.toml")).ok()??;
    let text = canonical(&ws.store.file_of(id, &bytes).ok()?.description);
    (hash(&text) == wanted).then_some(text)
}

fn journaled(ws: &Workspace, id: &TaskId, wanted: &str) -> Option<String> {
    texts_of(ws, id, "description").into_iter().map(|text| canonical(&text)).find(|text| hash(text) == wanted)
}

/// All values of a key that the journal has for a task, newest first.
pub fn texts_of(ws: &Workspace, id: &TaskId, name: &str) -> Vec<String> {
    use crate::board::{Change, Place};
    let lines = ws.store.journal().map(|(lines, _)| lines).unwrap_or_default();
    let within = |text: &str| Doc::new(text).ok().and_then(|doc| doc.get(&Key::new(name)));
    let changes = lines.iter().rev().flat_map(|line| &line.changes).filter(|change| change.task() == id);
    let texts = changes.flat_map(|change| match change {
        Change::Set { key, old, new, .. } if key.as_str() == name => [new.clone(), old.clone()],
        Change::File { file: Place::Task, old, new, .. } => [new, old].map(|text| text.as_deref().and_then(within)),
        _ => [None, None],
    });
    texts.flatten().filter_map(|value| if let Value::Text(text) = value { Some(text) } else { None }).collect()
}

//! The mirrored fields of a task, and the link to its issue.

use std::collections::BTreeMap;

use super::{Field, Node, Shown};
use crate::task::mirrored::{agreed, unknown};
use crate::task::{Key, Value};

/// The mirrored values of one side; what is absent is not set. A base has fingerprints in their place.
pub type Values = BTreeMap<Field, Value>;

/// `[github]` of a task's file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Link {
    pub number: Option<u64>,
    pub node: Option<Node>,
    pub item: Option<Node>,
    /// `mirror = false`: a person wants this task to stay here.
    pub off: bool,
    /// What both sides last agreed on, as it is written; `None` where nothing is known. Ask `agreed`.
    pub base: Option<Values>,
    /// How the issue looked then, where it did not look like its state.
    pub shown: Option<Shown>,
    pub notes: BTreeMap<String, NoteLink>,
    /// As `shown`, for a conflict over the state.
    pub conflict_shown: Option<Shown>,
    /// The remote's values that could not be brought together with ours.
    pub conflicts: BTreeMap<String, Option<Value>>,
}

/// The comment that mirrors a note.
#[derive(Debug, Clone, PartialEq)]
pub struct NoteLink {
    pub comment: Node,
    /// Of the text that both last agreed on.
    pub hash: String,
}

impl Link {
    /// From the table as the file has it.
    pub fn read(table: Option<&Value>) -> Self {
        let Some(Value::Table(table)) = table else { return Self::default() };
        let text = |key: &str| match table.get(key) {
            Some(Value::Text(text)) => Some(text.clone()),
            _ => None,
        };
        let inner = |key: &str| match table.get(key) {
            Some(Value::Table(inner)) => Some(inner),
            _ => None,
        };
        let base = inner("base").map(|base| {
            let known = Field::ALL.into_iter().filter_map(|field| Some((field, base.get(field.name())?.clone())));
            known.collect()
        });
        let conflicts = inner("conflict").into_iter().flatten().map(|(name, value)| (name.clone(), conflicting(value)));
        let notes = inner("notes").into_iter().flatten().filter_map(|(name, value)| Some((name.clone(), note(value)?)));
        Self {
            number: match table.get("number") {
                Some(Value::Integer(number)) => u64::try_from(*number).ok(),
                _ => None,
            },
            node: text("node").map(Node::new),
            item: text("item").map(Node::new),
            conflict_shown: text("conflict_shown").map(|text| Shown::parse(&text)),
            // Whatever somebody wrote there but yes, they did not mean yes.
            off: table.get("mirror").is_some_and(|mirror| *mirror != Value::Bool(true)),
            shown: inner("base").and_then(|base| base.get("shown")).map(|shown| Shown::parse(&shown.to_string())),
            base,
            notes: notes.collect(),
            conflicts: conflicts.collect(),
        }
    }

    /// The same for another row of the project, of which nothing is agreed yet.
    #[must_use]
    pub fn without_row(mut self) -> Self {
        for field in Field::OF_ROW {
            let unknown = unknown(field).map(|unknown| (field, unknown));
            self.base.iter_mut().for_each(|base| {
                base.remove(&field);
                base.extend(unknown.clone());
            });
        }
        Self { shown: None, ..self }
    }

    /// The fingerprint of what was agreed on about a field; `None` where that is not known.
    pub fn agreed(&self, field: Field) -> Option<Option<&Value>> {
        agreed(field, self.base.as_ref()?.get(&field))
    }

    pub fn shown_key() -> Key {
        Key::new("github.base.shown")
    }

    /// How the issue looked when the conflict over its state was found.
    pub fn conflict_shown_key() -> Key {
        Key::new("github.conflict_shown")
    }

    pub fn note_key(stem: &str) -> Key {
        Key::new(format!("github.notes.{stem}"))
    }
}

/// A value that is not there has no spelling of its own in TOML.
fn conflicting(value: &Value) -> Option<Value> {
    match value {
        Value::Table(table) if table.is_empty() => None,
        other => Some(other.clone()),
    }
}

fn note(value: &Value) -> Option<NoteLink> {
    let Value::Table(table) = value else { return None };
    match (table.get("comment"), table.get("hash")) {
        (Some(Value::Text(comment)), Some(Value::Text(hash))) => {
            Some(NoteLink { comment: Node::new(comment.clone()), hash: hash.clone() })
        }
        _ => None,
    }
}

impl NoteLink {
    pub fn value(&self) -> Value {
        let pairs = [("comment", self.comment.as_str()), ("hash", &self.hash)];
        Value::Table(pairs.into_iter().map(|(key, text)| (key.to_owned(), Value::text(text))).collect())
    }
}

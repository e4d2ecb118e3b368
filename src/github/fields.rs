//! The mirrored fields of a task, and the link to its issue.

use std::collections::BTreeMap;

use super::{Field, Node, Shown};
use crate::task::mirrored::{agreed, unknown};
use crate::task::{Key, Value};

/// The mirrored values of one side; an absent field is not set. A base has fingerprints instead of values.
pub type Values = BTreeMap<Field, Value>;

/// The table `[github]` of a task's file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Link {
    pub number: Option<u64>,
    pub node: Option<Node>,
    pub item: Option<Node>,
    /// `mirror = false`: a person has excluded this task from GitHub.
    pub off: bool,
    /// The base as it is written in the file; `None` if there is none. Use `agreed` to read a field.
    pub base: Option<Values>,
    /// The representation of the issue at that time, if it did not match its state.
    pub shown: Option<Shown>,
    pub notes: BTreeMap<String, NoteLink>,
    /// The same as `shown`, for a conflict over the state.
    pub conflict_shown: Option<Shown>,
    /// The remote's values of fields with a sync conflict.
    pub conflicts: BTreeMap<String, Option<Value>>,
}

/// The comment that mirrors a note.
#[derive(Debug, Clone, PartialEq)]
pub struct NoteLink {
    pub comment: Node,
    /// The hash of the text that both sides last agreed on.
    pub hash: String,
}

impl Link {
    /// Parses the table as it is in the file.
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
            // Any value other than `true` means no.
            off: table.get("mirror").is_some_and(|mirror| *mirror != Value::Bool(true)),
            shown: inner("base").and_then(|base| base.get("shown")).map(|shown| Shown::parse(&shown.to_string())),
            base,
            notes: notes.collect(),
            conflicts: conflicts.collect(),
        }
    }

    /// The same link with another row of the project, for which there is no base yet.
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

    /// The fingerprint of a field in the base; `None` if it is unknown.
    pub fn agreed(&self, field: Field) -> Option<Option<&Value>> {
        agreed(field, self.base.as_ref()?.get(&field))
    }

    pub fn shown_key() -> Key {
        Key::new("github.base.shown")
    }

    /// The key for the representation of the issue at the time of a conflict over its state.
    pub fn conflict_shown_key() -> Key {
        Key::new("github.conflict_shown")
    }

    pub fn note_key(stem: &str) -> Key {
        Key::new(format!("github.notes.{stem}"))
    }
}

/// The remote's value in a conflict. A missing value is written as an empty table, because TOML has no null.
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

//! The fields of a task that are mirrored, and the format in which its file stores their bases.

use std::collections::BTreeSet;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::{Key, Value};

/// Each field is merged separately; its name is the key in the task's file and in `[github.base]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    Title,
    Description,
    State,
    Priority,
    Estimate,
    Labels,
    Parent,
    BlockedBy,
    Archived,
}

impl Field {
    pub const ALL: [Self; 9] = [
        Self::Title,
        Self::Description,
        Self::State,
        Self::Priority,
        Self::Estimate,
        Self::Labels,
        Self::Parent,
        Self::BlockedBy,
        Self::Archived,
    ];

    /// The fields that are in the item of the project, not in the issue.
    pub const OF_ROW: [Self; 4] = [Self::State, Self::Priority, Self::Estimate, Self::Archived];

    pub fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Description => "description",
            Self::State => "state",
            Self::Priority => "priority",
            Self::Estimate => "estimate",
            Self::Labels => "labels",
            Self::Parent => "parent",
            Self::BlockedBy => "blocked_by",
            Self::Archived => "archived",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().replace('-', "_");
        Self::ALL.into_iter().find(|field| field.name() == text || (text == "body" && *field == Self::Description))
    }

    pub fn key(self) -> Key {
        Key::new(self.name())
    }

    pub fn base_key(self) -> Key {
        Key::new(format!("github.base.{}", self.name()))
    }

    pub fn conflict_key(self) -> Key {
        Key::new(format!("github.conflict.{}", self.name()))
    }

    /// Whether every task and every issue has a value, so that the base can never be "none".
    pub fn is_always_there(self) -> bool {
        matches!(self, Self::Title | Self::State)
    }

    pub fn is_set(self) -> bool {
        matches!(self, Self::Labels | Self::BlockedBy)
    }
}

/// The value in `[github.base]` of a field whose base is unknown, because a missing field means that the base has no value.
/// No fingerprint is equal to it.
pub const UNKNOWN: &str = "unknown";

/// The value in `[github.base]` for a field whose base is unknown.
pub fn unknown(field: Field) -> Option<Value> {
    (!field.is_always_there()).then(|| Value::text(UNKNOWN))
}

/// The base, as `[github.base]` stores it; `None` if it is unknown.
pub fn agreed(field: Field, written: Option<&Value>) -> Option<Option<&Value>> {
    match written {
        Some(Value::Text(text)) if text == UNKNOWN => None,
        None if field.is_always_there() => None,
        written => Some(written),
    }
}

/// A text in a form without insignificant differences.
pub fn canonical(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n").trim_end().to_owned()
}

/// The title on one line.
pub fn title_of(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A short hash that distinguishes texts.
pub fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The significant part of a value as a hash. The base is in the task's file, and as a hash it is not changed when somebody
/// replaces the value in that file with `sed`.
pub fn fingerprint(field: Field, value: &Value) -> Value {
    match (field, value) {
        (_, Value::List(_)) => Value::texts(items(value).map(|item| mark(field, &item)).collect::<BTreeSet<_>>()),
        (_, Value::Text(text)) => Value::Text(mark(field, text)),
        _ => value.clone(),
    }
}

pub fn mark(field: Field, text: &str) -> String {
    match field {
        // On GitHub, labels that differ only in case are the same.
        Field::Labels => hash(&text.to_lowercase()),
        Field::Title => hash(&title_of(text)),
        _ => hash(&canonical(text)),
    }
}

fn items(value: &Value) -> impl Iterator<Item = String> {
    let list = if let Value::List(list) = value { list.as_slice() } else { &[] };
    list.iter().map(ToString::to_string)
}

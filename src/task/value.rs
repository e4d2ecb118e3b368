//! A key of a task file and its value, as in the journal.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A dotted path into a task file: `priority`, `artifacts.research`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Key(String);

impl Key {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.0.split('.')
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A TOML value, in a form that survives a round trip through JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    Time {
        /// The spelling in TOML, so that a date without a time zone is kept as such.
        #[serde(rename = "$time")]
        time: String,
    },
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Value>),
    Table(BTreeMap<String, Value>),
}

impl Value {
    pub fn text(text: impl fmt::Display) -> Self {
        Self::Text(text.to_string())
    }

    pub fn texts(list: impl IntoIterator<Item = impl fmt::Display>) -> Self {
        Self::List(list.into_iter().map(Self::text).collect())
    }

    pub fn time(at: Timestamp) -> Self {
        Self::Time { time: at.to_string() }
    }
}

/// The value on one line, for people.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time { time } => f.write_str(time),
            Self::Bool(b) => write!(f, "{b}"),
            Self::Integer(n) => write!(f, "{n}"),
            Self::Float(n) => write!(f, "{n}"),
            Self::Text(text) => f.write_str(text),
            Self::List(list) => {
                list.iter().enumerate().try_for_each(|(i, v)| write!(f, "{}{v}", if i > 0 { ", " } else { "" }))
            }
            Self::Table(map) => map
                .iter()
                .enumerate()
                .try_for_each(|(i, (k, v))| write!(f, "{}{k} = {v}", if i > 0 { ", " } else { "" })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_comes_back_from_json_as_it_went() {
        let table = BTreeMap::from([("a".to_owned(), Value::Integer(1)), ("b".to_owned(), Value::texts(["x"]))]);
        for value in [
            Value::text("P1"),
            Value::Float(1.5),
            Value::Bool(false),
            Value::Time { time: "2026-11-16".into() },
            Value::Table(table),
        ] {
            let json = serde_json::to_string(&value).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), value, "{json}");
        }
    }

    #[test]
    fn a_value_is_said_in_one_line() {
        let table = BTreeMap::from([("a".to_owned(), Value::Integer(1)), ("b".to_owned(), Value::texts(["x", "y"]))]);
        for (value, text) in [
            (Value::text("P1"), "P1"),
            (Value::Bool(true), "true"),
            (Value::Float(1.5), "1.5"),
            (Value::time(Timestamp::UNIX_EPOCH), "1970-01-01T00:00:00Z"),
            (Value::texts(["x", "y", "z"]), "x, y, z"),
            (Value::Table(table), "a = 1, b = x, y"),
        ] {
            assert_eq!(value.to_string(), text);
        }
    }

    #[test]
    fn dots_split_a_key_into_parts() {
        let key = Key::new("artifacts.plan");
        assert_eq!(
            (key.parts().collect::<Vec<_>>(), key.to_string()),
            (vec!["artifacts", "plan"], "artifacts.plan".into())
        );
    }
}

//! Arguments that models write in several ways.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A field that is set, cleared, or left as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Field {
    #[default]
    Left,
    Cleared,
    Set(String),
}

impl Field {
    /// `KEY=VALUE`, if the field is set or cleared.
    pub fn assign(&self, key: &str) -> Option<String> {
        match self {
            Self::Left => None,
            Self::Cleared => Some(format!("{key}=")),
            Self::Set(value) => Some(format!("{key}={value}")),
        }
    }
}

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Null => Ok(Self::Cleared),
            Value::String(text) if text.trim().is_empty() => Ok(Self::Cleared),
            Value::String(text) => Ok(Self::Set(text)),
            Value::Number(number) => Ok(Self::Set(format!("#{number}"))),
            other => Err(serde::de::Error::custom(format!("{other} is not a string"))),
        }
    }
}

impl JsonSchema for Field {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Field".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

/// One or several texts, given as a list or separated by commas.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Many(pub Vec<String>);

impl<'de> Deserialize<'de> for Many {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = |value: Value| match value {
            Value::String(text) => Ok(text),
            Value::Number(number) => Ok(format!("#{number}")),
            other => Err(serde::de::Error::custom(format!("{other} is not a string"))),
        };
        let all = match Value::deserialize(deserializer)? {
            Value::Null => Vec::new(),
            Value::Array(list) => list.into_iter().map(text).collect::<Result<_, _>>()?,
            one => text(one)?.split(',').map(str::to_owned).collect(),
        };
        Ok(Self(all.iter().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).collect()))
    }
}

impl JsonSchema for Many {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Many".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "array", "items": { "type": "string" } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_not_cleared() {
        #[derive(Deserialize)]
        struct Two {
            #[serde(default)]
            a: Field,
            #[serde(default)]
            b: Field,
        }
        let two: Two = serde_json::from_str("{\"a\":null}").unwrap();
        assert_eq!((two.a.assign("a").as_deref(), two.b.assign("b")), (Some("a="), None));
    }

    #[test]
    fn one_or_many() {
        let many = |text: &str| serde_json::from_str::<Many>(text).unwrap().0;
        assert_eq!(many("\"a, b\""), ["a", "b"]);
        assert_eq!(many("[\"a\", 44]"), ["a", "#44"]);
        assert_eq!(many("null"), Vec::<String>::new());
        assert!(serde_json::from_str::<Many>("{}").is_err());
    }
}

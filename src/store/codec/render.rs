//! Values and new files in the layout that git merges best: a blank line between keys, sorted sets, one element per line.

use toml_writer::{ToTomlValue, TomlStringBuilder};

use crate::task::{Key, Value};

/// The keys of a task, in the order of a new file.
pub(super) const ORDER: [&str; 19] = [
    "id",
    "title",
    "kind",
    "state",
    "priority",
    "estimate",
    "labels",
    "owner",
    "parent",
    "blocked_by",
    "team",
    "command",
    "of",
    "active_form",
    "round",
    "result",
    "atomic",
    "created",
    "description",
];

pub fn value(value: &Value) -> String {
    match value {
        Value::Time { time } => time.clone(),
        Value::Bool(b) => b.to_string(),
        Value::Integer(n) => n.to_string(),
        Value::Float(n) => n.to_toml_value(),
        Value::Text(text) => string(text),
        Value::List(items) => list(items),
        Value::Table(map) => {
            let pairs: Vec<String> = map.iter().map(|(k, v)| format!("{} = {}", key(k), self::value(v))).collect();
            if pairs.is_empty() { "{}".into() } else { format!("{{ {} }}", pairs.join(", ")) }
        }
    }
}

pub(super) fn key(text: &str) -> String {
    use toml_writer::{ToTomlKey, TomlKeyBuilder};
    TomlKeyBuilder::new(text).as_default().to_toml_key()
}

fn string(text: &str) -> String {
    let builder = TomlStringBuilder::new(text);
    let chosen = if text.contains('\n') {
        builder.as_ml_basic_pretty().or_else(|| builder.as_ml_literal()).unwrap_or_else(|| builder.as_ml_basic())
    } else {
        builder.as_basic_pretty().or_else(|| builder.as_literal()).unwrap_or_else(|| builder.as_basic())
    };
    chosen.to_toml_value()
}

fn list(items: &[Value]) -> String {
    match items {
        [] => "[]".into(),
        [one] => format!("[{}]", value(one)),
        many => {
            let lines: String = many.iter().map(|item| format!("    {},\n", value(item))).collect();
            format!("[\n{lines}]")
        }
    }
}

/// A new task file from its fields.
pub fn new_file(fields: &[(Key, Value)]) -> String {
    let rank = |k: &Key| ORDER.iter().position(|name| *name == k.as_str()).unwrap_or(ORDER.len());
    let mut plain: Vec<&(Key, Value)> = fields.iter().filter(|(k, _)| !k.as_str().contains('.')).collect();
    plain.sort_by_key(|(k, _)| rank(k));
    let mut text = String::new();
    for (k, v) in plain {
        if !text.is_empty() && k.as_str() != "title" {
            text.push('\n');
        }
        text.push_str(&format!("{} = {}\n", key(k.as_str()), value(v)));
    }
    for (k, v) in fields.iter().filter(|(k, _)| k.as_str().contains('.')) {
        // Tables come after the plain keys; the document editor adds them.
        if let Ok(edited) = super::Doc::new(text.clone()).and_then(|doc| doc.with(k, Some(v))) {
            text = edited;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_is_laid_out_for_git_to_merge() {
        let fields = [
            (Key::new("description"), Value::text("One.\n\nTwo \"quoted\".\n")),
            (Key::new("labels"), Value::texts(["a", "b"])),
            (Key::new("title"), Value::text("Say \"hi\"")),
            (Key::new("artifacts.plan"), Value::text("p.md")),
            (Key::new("id"), Value::text("t-x")),
            (Key::new("created"), Value::Time { time: "2026-11-15T09:30:00Z".into() }),
        ];
        let wanted = "id = \"t-x\"\ntitle = 'Say \"hi\"'\n\nlabels = [\n    \"a\",\n    \"b\",\n]\n\ncreated = 2026-11-15T09:30:00Z\n\n\
                      description = \"\"\"\nOne.\n\nTwo \"quoted\".\n\"\"\"\n\n[artifacts]\nplan = \"p.md\"\n";
        assert_eq!(new_file(&fields), wanted);
    }
}

//! Hooks and servers in a user's JSON file.

use std::path::Path;

use serde_json::{Value, json};

use super::{Done, PlannedFile, SetUpHow};
use crate::agent::claude::{self, Dialect};
use crate::agent::json::{Step, add_member, push, read, remove, render};
use crate::app::Failure;
use crate::fs;
use crate::task::Problem;

/// The entries to add to the file, or to remove.
pub(super) enum SetupEdit {
    Hooks(Dialect),
    Server { key: &'static str, entry: Value },
}

impl SetupEdit {
    /// The new text of a file, with a reason if an entry was left alone.
    fn apply(&self, text: &str, value: &Value, how: SetUpHow) -> Result<(String, Option<String>), String> {
        match self {
            Self::Hooks(dialect) => settings(text, value, how, *dialect),
            Self::Server { key, entry } => servers(text, value, how, key, entry),
        }
    }
}

/// Edits a JSON file that also has entries of others.
pub(super) fn merged(
    root: &Path,
    path: &str,
    how: SetUpHow,
    edits: &[SetupEdit],
) -> Result<Option<PlannedFile>, Failure> {
    let there = fs::read_text(&root.join(path))?;
    if there.is_none() && how == SetUpHow::Remove {
        return Ok(None);
    }
    let empty = render(&json!({}));
    let text = there.clone().filter(|text| !text.trim().is_empty()).unwrap_or(empty);
    let (mut new, mut why) = (text, None);
    for edit in edits {
        let value = read(&new).map_err(|(at, what)| {
            Problem::at(path, &new, at, what).hint("correct the file first; nothing was written")
        })?;
        let (edited, kept) = edit.apply(&new, &value, how).map_err(|what| Failure::from(Problem::whole(path, what)))?;
        (new, why) = (edited, why.or(kept));
    }
    let done = match (&there, how) {
        (Some(there), _) if *there == new && why.is_some() => Done::Kept,
        (Some(there), _) if *there == new => Done::Unchanged,
        (None, _) => Done::Created,
        (Some(_), SetUpHow::Write) => Done::Updated,
        (Some(_), SetUpHow::Remove) => Done::Removed,
    };
    let gone = how == SetUpHow::Remove && done == Done::Removed && new.split_whitespace().eq(["{}"]);
    Ok(Some(PlannedFile { path: path.to_owned(), done, why, text: (!gone).then_some(new) }))
}

const HOOKS: Step<'static> = Step::Key("hooks");

fn settings(text: &str, value: &Value, how: SetUpHow, dialect: Dialect) -> Result<(String, Option<String>), String> {
    let hooks = object(value.as_object().ok_or("it is not an object")?.get("hooks"), "hooks")?;
    for (event, groups) in hooks.iter().flat_map(|hooks| hooks.iter()) {
        if claude::hooks(dialect).iter().any(|(ours, ..)| ours == event) && !groups.is_array() {
            return Err(format!("hooks.{event} is not a list"));
        }
    }
    let new = match how {
        SetUpHow::Write => with_hooks(text, dialect),
        SetUpHow::Remove => without_hooks(text),
    };
    Ok((new, None))
}

fn object<'v>(value: Option<&'v Value>, name: &str) -> Result<Option<&'v serde_json::Map<String, Value>>, String> {
    match value {
        None => Ok(None),
        Some(value) => value.as_object().map(Some).ok_or_else(|| format!("{name} is not an object")),
    }
}

fn parsed(text: &str) -> Value {
    read(text).unwrap_or_default()
}

fn with_hooks(text: &str, dialect: Dialect) -> String {
    let mut text = text.to_owned();
    for (event, matcher, gates) in claude::hooks(dialect) {
        let value = parsed(&text);
        let there: Vec<&str> = ours(&value, event).into_iter().map(|(_, _, gate)| gate).collect();
        let missing: Vec<Value> = gates
            .iter()
            .filter(|gate| !there.contains(&gate.name))
            .map(|gate| claude::handler(gate, dialect))
            .collect();
        if missing.is_empty() {
            continue;
        }
        if value.get("hooks").is_none() {
            text = add_member(&text, &[], "hooks", &json!({}));
        }
        if value["hooks"].get(event).is_none() {
            text = add_member(&text, &[HOOKS], event, &json!([]));
        }
        let group = match matcher {
            Some(matcher) => json!({ "matcher": matcher, "hooks": missing }),
            None => json!({ "hooks": missing }),
        };
        text = push(&text, &[HOOKS, Step::Key(event)], &group);
    }
    text
}

/// Our hooks for an event: the index of the group, the index in it, and the policy check.
fn ours<'v>(value: &'v Value, event: &str) -> Vec<(usize, usize, &'v str)> {
    let mut found = Vec::new();
    for (group, of) in value["hooks"][event].as_array().into_iter().flatten().enumerate() {
        for (at, hook) in of["hooks"].as_array().into_iter().flatten().enumerate() {
            found.extend(hook["command"].as_str().and_then(claude::gate_of).map(|gate| (group, at, gate)));
        }
    }
    found
}

/// Removes our hooks, and containers that become empty. Goes backwards, so that indexes stay valid.
fn without_hooks(text: &str) -> String {
    let mut text = text.to_owned();
    let events: Vec<String> =
        parsed(&text)["hooks"].as_object().map(|hooks| hooks.keys().cloned().collect()).unwrap_or_default();
    let is_empty = |text: &str, pointer: &str| match parsed(text).pointer(pointer) {
        Some(Value::Array(list)) => list.is_empty(),
        Some(Value::Object(map)) => map.is_empty(),
        _ => false,
    };
    for event in events.iter().rev() {
        let name = Step::Key(event);
        for (group, at, _) in ours(&parsed(&text), event).into_iter().rev() {
            text = remove(&text, &[HOOKS, name, Step::At(group), Step::Key("hooks"), Step::At(at)]);
            if is_empty(&text, &format!("/hooks/{event}/{group}/hooks")) {
                text = remove(&text, &[HOOKS, name, Step::At(group)]);
            }
            if is_empty(&text, &format!("/hooks/{event}")) {
                text = remove(&text, &[HOOKS, name]);
            }
            if is_empty(&text, "/hooks") {
                text = remove(&text, &[HOOKS]);
            }
        }
    }
    text
}

fn servers(
    text: &str,
    value: &Value,
    how: SetUpHow,
    key: &str,
    wanted: &Value,
) -> Result<(String, Option<String>), String> {
    let all = object(value.as_object().ok_or("it is not an object")?.get(key), key)?;
    let there = all.and_then(|all| all.get(claude::SERVER));
    let kept = || Some(format!("its server {:?} was not added by ralph", claude::SERVER));
    Ok(match (there, how) {
        (Some(there), _) if there != wanted => (text.to_owned(), kept()),
        (Some(_), SetUpHow::Write) | (None, SetUpHow::Remove) => (text.to_owned(), None),
        (None, SetUpHow::Write) => {
            let text = if all.is_none() { add_member(text, &[], key, &json!({})) } else { text.to_owned() };
            (add_member(&text, &[Step::Key(key)], claude::SERVER, wanted), None)
        }
        (Some(_), SetUpHow::Remove) => {
            let path = [Step::Key(key), Step::Key(claude::SERVER)];
            let alone = all.is_some_and(|all| all.len() == 1);
            (remove(text, if alone { &path[..1] } else { &path }), None)
        }
    })
}

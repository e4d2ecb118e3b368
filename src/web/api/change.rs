//! The write endpoints: each parses its body strictly, runs one verb, and notifies all pages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::Response;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::run_change;
use crate::app::{self, Code, Expected, Failure, NewTask, Reach, SaveAsk, Workspace};
use crate::task::TaskId;
use crate::web::Site;

type Shared = State<Arc<Site>>;

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct NewTaskBody {
    title: String,
    description: String,
    kind: Option<String>,
    state: Option<String>,
    priority: Option<String>,
    estimate: Option<String>,
    labels: Vec<String>,
    owner: Option<String>,
    parent: Option<String>,
    blocked_by: Vec<String>,
}

pub async fn add(State(site): Shared, body: Bytes) -> Response {
    run_change(&site, move |ws, site| {
        let new: NewTaskBody = read(&body)?;
        let wanted = NewTask {
            title: new.title,
            description: new.description,
            kind: new.kind.map(|text| text.parse()).transpose()?,
            state: new.state,
            priority: new.priority.map(|text| text.parse()).transpose()?,
            estimate: new.estimate.map(|text| text.parse()).transpose()?,
            labels: new.labels,
            owner: new.owner,
            parent: new.parent,
            blocked_by: new.blocked_by,
            ..NewTask::default()
        };
        let added = app::add(ws, &[wanted])?;
        site.feed.tell(added.tasks.iter().map(|task| task.id.clone()).collect(), false);
        Ok(added)
    })
    .await
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SaveBody {
    /// The fields to set; null clears a field.
    fields: BTreeMap<String, Value>,
    /// The values that the page showed for these fields, so that a change by somebody else is not overwritten unnoticed.
    seen: BTreeMap<String, Value>,
    state: Option<String>,
    command: Option<String>,
    note: Option<String>,
    force: bool,
}

pub async fn save(State(site): Shared, Path(typed): Path<String>, body: Bytes) -> Response {
    change(&site, typed, body, |ws, id, save: SaveBody| {
        let seen = save.seen.iter().map(|(key, value)| Ok((key.clone(), as_text(key, value)?)));
        let seen = Expected::new(seen.collect::<Result<_, Failure>>()?);
        let asked = SaveAsk {
            fields: save.fields.iter().map(|(key, value)| assignment(key, value)).collect::<Result<_, _>>()?,
            custom: false,
            to: save.state,
            command: save.command,
            note: save.note,
            force: save.force,
            ..SaveAsk::default()
        };
        app::save_over(ws, id, &asked, &seen)
    })
    .await
}

fn as_text(key: &str, value: &Value) -> Result<String, Failure> {
    let bad = || Failure::usage(Code::BadValue, format!("{key} is {value}: use a string or a list of strings"));
    Ok(match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(items) => {
            let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            serde_json::json!(texts.ok_or_else(bad)?).to_string()
        }
        Value::Object(_) => return Err(bad()),
    })
}

fn assignment(key: &str, value: &Value) -> Result<String, Failure> {
    let text = as_text(key, value)?;
    // A `+` or `-` at the end of a key would add to or remove from a list.
    if key.is_empty() || !key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.') {
        return Err(Failure::usage(Code::UnknownKey, format!("{key:?} is not a field of a task")));
    }
    Ok(format!("{key}={text}"))
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Take {
    command: Option<String>,
    force: bool,
}

pub async fn claim(State(site): Shared, Path(typed): Path<String>, body: Bytes) -> Response {
    change(&site, typed, body, |ws, id, take: Take| {
        app::claim(ws, id, take.command.as_deref(), take.force, Reach::Remote)
    })
    .await
}

pub async fn release(State(site): Shared, Path(typed): Path<String>, body: Bytes) -> Response {
    change(&site, typed, body, |ws, id, take: Take| app::release(ws, id, take.force)).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Text {
    pub text: String,
}

pub async fn note(State(site): Shared, Path(typed): Path<String>, body: Bytes) -> Response {
    change(&site, typed, body, |ws, id, note: Text| app::note(ws, id, &note.text)).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Blockers {
    tasks: Vec<String>,
}

pub async fn block(State(site): Shared, Path(typed): Path<String>, body: Bytes) -> Response {
    change(&site, typed, body, |ws, id, on: Blockers| app::block(ws, id, &ws.find_all(&on.tasks)?)).await
}

pub async fn unblock(State(site): Shared, Path(typed): Path<String>, body: Bytes) -> Response {
    change(&site, typed, body, |ws, id, from: Blockers| {
        // An empty list would mean all blockers.
        if from.tasks.is_empty() {
            return Err(Failure::usage(Code::NoBlocker, "no blocker to remove was given"));
        }
        let from: Vec<TaskId> = from.tasks.iter().map(|typed| ws.find_or_literal(typed)).collect::<Result<_, _>>()?;
        app::unblock(ws, id, &from)
    })
    .await
}

/// Runs one verb and notifies all pages at once. The watcher does this too, but the page reads the board again before that.
pub(super) async fn change<B: DeserializeOwned + Send + 'static, T: Serialize>(
    site: &Arc<Site>,
    typed: String,
    body: Bytes,
    verb: impl FnOnce(&Workspace, &TaskId, B) -> Result<T, Failure> + Send + 'static,
) -> Response {
    run_change(site, move |ws, site| {
        let wanted: B = read(&body)?;
        let id = ws.find(&typed)?;
        let done = verb(ws, &id, wanted)?;
        site.feed.tell(BTreeSet::from([id]), false);
        Ok(done)
    })
    .await
}

fn read<B: DeserializeOwned>(body: &Bytes) -> Result<B, Failure> {
    let mut reader = serde_json::Deserializer::from_slice(if body.is_empty() { b"{}" } else { body });
    serde_path_to_error::deserialize(&mut reader)
        .map_err(|error| Failure::usage(Code::BadJson, format!("{}: {}", error.path(), error.inner())))
}

//! JSON Schemas: of the files that people edit, for editors that complete and check TOML, and of the events that
//! programs read.

mod event;
mod workflow;

use serde_json::{Map, Value, json};

use crate::app::{Code, Failure};
use crate::board::EventKind;
use crate::config::{SPECS, Spec, ValueShape};
use crate::task::{Estimate, Kind, Priority};
use crate::workflow::Workflow;

/// The names of all schemas.
pub const SCHEMAS: [&str; 4] = ["task", "config", "workflow", "event"];

/// The schemas of files, which editors check.
pub const FILE_SCHEMAS: [&str; 3] = ["task", "config", "workflow"];

const DRAFT: &str = "http://json-schema.org/draft-07/schema#";

pub fn schema(name: &str, flow: &Workflow) -> Result<Value, Failure> {
    match name {
        "task" => Ok(task(flow)),
        "config" => Ok(config()),
        "workflow" => Ok(workflow::workflow()),
        "event" => Ok(event::event()),
        other => {
            let message = format!("{other:?} has no schema: use {}", SCHEMAS.join(", "));
            Err(Failure::usage(Code::BadValue, message))
        }
    }
}

fn names<T: ToString>(all: &[T]) -> Vec<String> {
    all.iter().map(ToString::to_string).collect()
}

fn task(flow: &Workflow) -> Value {
    let mut states: Vec<&str> = Vec::new();
    for state in [Kind::Issue, Kind::Step].into_iter().flat_map(|kind| flow.states_of(kind)) {
        if !states.contains(&state.name.as_str()) {
            states.push(state.name.as_str());
        }
    }
    let texts = |about: &str| json!({ "type": "array", "items": { "type": "string" }, "uniqueItems": true, "description": about });
    json!({
        "$schema": DRAFT,
        "title": "A task of a ralph board",
        "type": "object",
        "required": ["title"],
        "properties": {
            "id": { "type": "string", "description": "The name of the file without `.toml`" },
            "title": { "type": "string", "minLength": 1, "description": "One line" },
            "state": { "enum": states, "description": "A state of the workflow; its first state if missing" },
            "kind": { "enum": names(Kind::ALL), "default": "issue",
                      "description": "issue: a piece of work; epic: a parent that was split; step: made by a team for itself" },
            "priority": { "enum": names(Priority::ALL), "description": "P0 is the most urgent" },
            "estimate": { "enum": names(Estimate::ALL), "description": "The size; M and larger is split before research" },
            "labels": texts("Labels"),
            "owner": { "type": "string", "description": "The worker that owns the task" },
            "parent": { "type": "string", "description": "The id of the task that it is part of" },
            "blocked_by": texts("Ids of tasks that must be finished first"),
            "atomic": { "type": "boolean", "default": false,
                        "description": "Its children are a group: planned, built and merged together" },
            "created": { "description": "When it was created: a TOML date with a time" },
            "description": { "type": "string", "description": "Markdown" },
            "artifacts": { "type": "object", "additionalProperties": { "type": "string" },
                           "description": "Paths of its documents, by kind" },
            "attention": { "type": "string", "description": "Why a person should look at it" },
            "review": { "type": "object", "properties": { "rejections": { "type": "integer", "minimum": 0 } },
                        "description": "`rejections` counts how often its plan was rejected" },
            "github": { "type": "object", "description": "Its issue on GitHub; `ralph sync` writes this" },
        },
    })
}

fn config() -> Value {
    let mut tables: Map<String, Value> = Map::new();
    for spec in SPECS {
        let mut parts = spec.key.split('.');
        let (Some(table), rest) = (parts.next(), parts.collect::<Vec<_>>()) else { continue };
        put(tables.entry(table).or_insert_with(empty_table), &rest, spec);
    }
    tables.insert("format".into(), json!({ "const": 1 }));
    if let Some(github) = tables.get_mut("github").and_then(|table| table.get_mut("properties")) {
        let about = "Columns of the project whose name differs from the state";
        let column = json!({ "type": "string" });
        github["states"] = json!({ "type": "object", "additionalProperties": column, "description": about });
    }
    let text = json!({ "type": "string" });
    let rule = json!({
        "type": "object",
        "required": ["event", "run"],
        "additionalProperties": false,
        "properties": {
            "event": { "enum": EventKind::ALL.map(EventKind::name) }, "timeout": text, "when": { "type": "object", "additionalProperties": text },
            "run": { "type": "array", "items": text, "minItems": 1 },
        },
    });
    tables.insert(
        "on".into(),
        json!({ "type": "array", "items": rule, "description": "Rules: programs that run on events" }),
    );
    json!({
        "$schema": DRAFT, "title": "Settings of ralph", "type": "object", "properties": tables, "additionalProperties": false,
    })
}

/// A table in which unknown keys are errors.
fn empty_table() -> Value {
    json!({ "type": "object", "properties": {}, "additionalProperties": false })
}

fn put(table: &mut Value, path: &[&str], spec: &Spec) {
    let Some((name, rest)) = path.split_first() else { return };
    let Some(properties) = table.get_mut("properties").and_then(Value::as_object_mut) else { return };
    if rest.is_empty() {
        properties.insert((*name).to_owned(), setting(spec));
    } else {
        put(properties.entry(*name).or_insert_with(empty_table), rest, spec);
    }
}

fn setting(spec: &Spec) -> Value {
    let words = json!({ "type": "array", "items": { "type": "string" } });
    let mut schema = match spec.shape {
        ValueShape::Choice(choices) => json!({ "enum": choices }),
        ValueShape::Count | ValueShape::Number | ValueShape::Limit => json!({ "type": ["integer", "string"] }),
        ValueShape::Program | ValueShape::Words => words,
        ValueShape::Programs => json!({ "type": "array", "items": words }),
        ValueShape::Text
        | ValueShape::Prefix
        | ValueShape::Branch
        | ValueShape::Duration
        | ValueShape::Lasting
        | ValueShape::Budget => {
            json!({ "type": "string" })
        }
    };
    schema["description"] = json!(spec.about);
    if let Some(example) = example(spec.shape) {
        schema["examples"] = example;
    }
    if !spec.default.is_empty() {
        schema["default"] = json!(spec.default);
    }
    schema
}

/// Examples for values whose format the type does not show.
fn example(shape: ValueShape) -> Option<Value> {
    match shape {
        ValueShape::Duration | ValueShape::Lasting => Some(json!(["90s", "30m", "12h"])),
        ValueShape::Budget => Some(json!(["$5", "300k tokens", "20 runs"])),
        ValueShape::Program => Some(json!([["my-agent", "{prompt_file}"]])),
        ValueShape::Programs => Some(json!([[["npm", "ci"]]])),
        ValueShape::Words => Some(json!([["one", "two"]])),
        ValueShape::Text
        | ValueShape::Prefix
        | ValueShape::Branch
        | ValueShape::Choice(_)
        | ValueShape::Count
        | ValueShape::Number
        | ValueShape::Limit => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_schema_of_a_task_has_the_keys_that_are_read() {
        let schema = task(&Workflow::builtin());
        let told: BTreeSet<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        let read: BTreeSet<&str> = crate::store::codec::KEYS.into_iter().chain(["id"]).collect();
        assert_eq!(told, read);
    }
}

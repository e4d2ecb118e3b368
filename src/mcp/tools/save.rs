//! `save` and `note`: changes the fields and the state of a task, and adds notes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::value::{Field, Many};
use crate::app::{self, Code, Failure, Hint, Noted, QuestionAsk, SaveAsk, Saved};
use crate::mcp::caller::{Call, TaskRef};
use crate::mcp::tool::{Nature, Tool};
use crate::task::TaskId;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    task: TaskRef,
    /// A state, or __LOCK__, __COMPLETE__, __ESCALATE__, __CLOSE__, __CANCEL__
    state: Option<String>,
    /// The command to act for, with state: triage, research, plan …
    command: Option<String>,
    #[serde(default)]
    title: Field,
    #[serde(default)]
    description: Field,
    /// P0 to P3
    #[serde(default)]
    priority: Field,
    /// XS, S, M, L or XL
    #[serde(default)]
    estimate: Field,
    /// The complete new list
    labels: Option<Many>,
    #[serde(default)]
    add_labels: Many,
    #[serde(default)]
    remove_labels: Many,
    #[serde(default)]
    owner: Field,
    /// The result of a step
    #[serde(default)]
    result: Field,
    /// Fields of your own
    #[serde(default)]
    #[schemars(with = "serde_json::Map<String, Value>")]
    other: BTreeMap<String, Value>,
    /// The reason
    note: Option<String>,
}

#[derive(Serialize)]
struct SaveReply {
    task: TaskId,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changed: Vec<String>,
    state: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    /// Parents and members of its group that moved with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    along: Vec<String>,
}

pub fn save() -> Tool {
    Tool::new(
        "save",
        Nature::Writes,
        "Change any fields of a task and move it, all or nothing. \"\" clears a field. Moves must follow the workflow; a refusal says what is missing.",
        &[("task", "string"), ("changed", "array"), ("state", "string"), ("from", "string")],
        run,
    )
}

fn run(call: &Call<'_>, args: Args) -> Result<SaveReply, Failure> {
    let id = call.find(&args.task)?;
    let asked = SaveAsk {
        fields: fields(&args)?,
        custom: !args.other.is_empty(),
        to: args.state,
        command: args.command,
        note: args.note,
        force: false,
        ..SaveAsk::default()
    };
    if asked.fields.is_empty() && asked.to.is_none() && asked.note.is_none() {
        return Err(
            Failure::usage(Code::NothingToSave, "nothing to save").hint(Hint::step("pass a field, state or note"))
        );
    }
    let Saved { task, changes, moved } = app::save(call.ws, &id, &asked)?;
    let state = match &moved {
        Some(moved) => moved.to.to_string(),
        None => app::show(call.ws, &id)?.task.state.into_string(),
    };
    let along = moved.iter().flat_map(|moved| &moved.along).map(|other| format!("{} → {}", other.task, other.to));
    Ok(SaveReply {
        task,
        changed: changes.iter().map(|change| change.key.to_string()).collect(),
        along: along.collect(),
        from: moved.map(|moved| moved.from.to_string()),
        state,
    })
}

fn fields(args: &Args) -> Result<Vec<String>, Failure> {
    let single = [
        ("title", &args.title),
        ("description", &args.description),
        ("priority", &args.priority),
        ("estimate", &args.estimate),
        ("owner", &args.owner),
        ("result", &args.result),
    ];
    let mut fields: Vec<String> = single.iter().filter_map(|(key, field)| field.assign(key)).collect();
    fields.extend(args.labels.as_ref().map(|labels| format!("labels={}", json!(labels.0))));
    let edits = [("labels+", &args.add_labels), ("labels-", &args.remove_labels)];
    fields
        .extend(edits.iter().filter(|(_, set)| !set.0.is_empty()).map(|(key, set)| format!("{key}={}", json!(set.0))));
    for (key, value) in &args.other {
        let text = match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            _ => {
                return Err(Failure::usage(
                    Code::BadValue,
                    format!("{key} is {value}: pass a string, a number, true or false"),
                ));
            }
        };
        fields.push(format!("{key}={text}"));
    }
    Ok(fields)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoteCall {
    task: TaskRef,
    /// Markdown
    text: String,
    /// Ask a person this, and hand the task to them
    #[serde(default)]
    ask: bool,
    /// Choices
    #[serde(default)]
    options: Many,
    #[serde(default)]
    recommend: Option<String>,
}

pub fn note() -> Tool {
    Tool::new(
        "note",
        Nature::Writes,
        "Add a note to a task, or ask a person.",
        &[("task", "string"), ("file", "string"), ("state", "string")],
        |call: &Call<'_>, args: NoteCall| -> Result<Value, Failure> {
            if args.ask || !args.options.0.is_empty() {
                let asked = QuestionAsk {
                    question: args.text,
                    options: args.options.0,
                    recommend: args.recommend,
                    command: None,
                };
                let moved = app::ask(call.ws, &call.find(&args.task)?, &asked)?;
                return Ok(json!({ "task": moved.task, "state": moved.to }));
            }
            let Noted { task, file } = app::note(call.ws, &call.find(&args.task)?, &args.text)?;
            Ok(json!({ "task": task, "file": file }))
        },
    )
}

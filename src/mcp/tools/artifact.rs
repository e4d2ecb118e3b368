//! `artifact`: the documents that commands yield.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::app::{self, Artifact, Code, Failure};
use crate::mcp::caller::{Call, TaskRef};
use crate::mcp::reply::{BUDGET, cut};
use crate::mcp::tool::{Nature, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    New,
    Read,
    Write,
    Check,
    Link,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    task: TaskRef,
    /// research, plan, review or report
    kind: String,
    action: Action,
    /// For write: the whole document
    text: Option<String>,
    /// For write over an existing text: the version that you read
    version: Option<String>,
    /// For link: the file, if it is not the usual one
    path: Option<PathBuf>,
    max_bytes: Option<usize>,
}

pub fn artifact() -> Tool {
    Tool::new(
        "artifact",
        Nature::Either,
        "Create, check and link the document of a command. new returns the path of a template to fill in; write saves your text \
         there if you cannot write files; check lists what is missing; link links it to the task, which save requires for \
         __COMPLETE__.",
        &[("path", "string"), ("linked", "boolean"), ("findings", "array"), ("text", "string"), ("version", "string")],
        run,
    )
}

fn run(call: &Call<'_>, args: Args) -> Result<Value, Failure> {
    let id = call.find(&args.task)?;
    if !matches!(args.action, Action::Read | Action::Check) {
        call.refuse_reader("artifact")?;
    }
    let (ws, kind) = (call.ws, args.kind.as_str());
    let artifact = match args.action {
        Action::New => app::new_artifact(ws, kind, &id, None)?,
        Action::Check | Action::Read => app::check_artifact(ws, kind, &id)?,
        Action::Link => app::link_artifact(ws, kind, &id, args.path.as_deref(), ws.store.root())?,
        Action::Write => {
            let text = args.text.as_deref().filter(|text| !text.trim().is_empty());
            let text = text.ok_or_else(|| Failure::usage(Code::BadArguments, "write needs `text`"))?;
            app::write_artifact(ws, kind, &id, text, args.version.as_deref())?
        }
    };
    let mut reply = described(&artifact);
    let document = app::read_artifact(ws, &artifact.path)?;
    reply["version"] = json!(document.version);
    // A skeleton is short, and the agent that created it must fill it in.
    if artifact.created || matches!(args.action, Action::Read) {
        let kept = cut(&document.text, args.max_bytes.unwrap_or(BUDGET * 4));
        reply["text"] = json!(kept);
        if kept.len() < document.text.len() {
            reply["cut_at"] = json!(kept.len());
            reply["bytes"] = json!(document.text.len());
        }
    }
    Ok(reply)
}

fn described(artifact: &Artifact) -> Value {
    json!({
        "task": artifact.task,
        "kind": artifact.kind,
        "path": artifact.path,
        "file": artifact.file,
        "created": artifact.created,
        "linked": artifact.linked,
        "findings": gathered(artifact),
    })
}

/// The findings, with equal messages combined into one.
fn gathered(artifact: &Artifact) -> Vec<String> {
    let mut places: Vec<(&str, Vec<String>)> = Vec::new();
    for finding in &artifact.findings {
        let line = finding.line.to_string();
        match places.iter_mut().find(|(message, _)| *message == finding.message) {
            Some((_, lines)) => lines.push(line),
            None => places.push((&finding.message, vec![line])),
        }
    }
    places.into_iter().map(|(message, lines)| format!("line {}: {message}", lines.join(", "))).collect()
}

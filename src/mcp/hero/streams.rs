//! `detect_work_streams`: which issues of a group touch the same files.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::shape::Around;
use super::tool;
use crate::app::{self, Failure, StreamAsk};
use crate::mcp::caller::{Call, TaskRef};
use crate::mcp::tool::{Nature, Tool};

#[derive(Deserialize, JsonSchema)]
struct Args {
    /// Numbers, or {number, files, blockedBy}; what is omitted is read from the research and the board
    issues: Vec<IssueCall>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum IssueCall {
    Described {
        number: TaskRef,
        files: Option<Vec<String>>,
        #[serde(rename = "blockedBy")]
        blocked_by: Option<Vec<TaskRef>>,
    },
    Number(TaskRef),
}

impl IssueCall {
    fn ask(&self, call: &Call<'_>) -> Result<StreamAsk, Failure> {
        match self {
            Self::Number(number) => Ok(StreamAsk { task: call.find_exact(number)?, files: None, blocked_by: None }),
            Self::Described { number, files, blocked_by } => {
                let ids = |all: &Vec<TaskRef>| all.iter().map(|one| call.ws.find_exact_or_literal(&one.0)).collect();
                Ok(StreamAsk {
                    task: call.find_exact(number)?,
                    files: files.clone(),
                    blocked_by: blocked_by.as_ref().map(ids).transpose()?,
                })
            }
        }
    }
}

pub fn detect_work_streams() -> Tool {
    tool(
        "ralph_hero__detect_work_streams",
        Nature::Reads,
        "Group issues by the files that they change and by blockers; separate streams can run in parallel.",
        &[("streams", "array"), ("totalStreams", "integer"), ("totalIssues", "integer"), ("rationale", "string")],
        |call: &Call<'_>, args: Args| {
            let asked: Vec<StreamAsk> = args.issues.iter().map(|one| one.ask(call)).collect::<Result<_, _>>()?;
            let found = app::streams(call.ws, &asked)?;
            let mut streams = Vec::new();
            for stream in &found {
                let mut numbers = Vec::new();
                for id in &stream.tasks {
                    numbers.push(Around::of(call.ws, id)?.number(id));
                }
                let names: Vec<&str> = numbers.iter().filter_map(Value::as_str).collect();
                streams.push(json!({
                    "id": format!("stream-{}", names.join("-")),
                    "issues": numbers,
                    "sharedFiles": stream.shared_files,
                    "primaryIssue": numbers.first(),
                }));
            }
            let rationale = format!("{} issues in {} streams, by shared files and blockers", asked.len(), found.len());
            Ok(json!({
                "totalStreams": streams.len(),
                "totalIssues": asked.len(),
                "streams": streams,
                "rationale": rationale,
            }))
        },
    )
}

//! `detect_work_streams` and `detect_stream_positions`: issues that change the same files, and their positions.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::shape::Around;
use super::{pipeline, tool};
use crate::app::{self, Code, Failure, Stream, StreamAsk};
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
            let streams = clusters(call, &args)?.iter().map(|stream| shown(call, stream)).collect::<Result<_, _>>()?;
            Ok(told(&args, streams))
        },
    )
}

pub fn detect_stream_positions() -> Tool {
    tool(
        "ralph_hero__detect_stream_positions",
        Nature::Reads,
        "detect_work_streams, with the pipeline position of each stream.",
        &[],
        |call: &Call<'_>, args: Args| {
            let mut streams = Vec::new();
            for stream in clusters(call, &args)? {
                let mut row = shown(call, &stream)?;
                let first = stream.tasks.first().ok_or_else(|| Failure::broken(Code::Bug, "a stream without tasks"))?;
                row["streamId"] = row["id"].clone();
                row["position"] = pipeline::position(call, first, &Around::of(call.ws, first)?)?;
                streams.push(row);
            }
            Ok(told(&args, streams))
        },
    )
}

fn clusters(call: &Call<'_>, args: &Args) -> Result<Vec<Stream>, Failure> {
    let asked: Vec<StreamAsk> = args.issues.iter().map(|one| one.ask(call)).collect::<Result<_, _>>()?;
    app::streams(call.ws, &asked)
}

fn shown(call: &Call<'_>, stream: &Stream) -> Result<Value, Failure> {
    let mut numbers = Vec::new();
    for id in &stream.tasks {
        numbers.push(Around::of(call.ws, id)?.number(id));
    }
    let names: Vec<&str> = numbers.iter().filter_map(Value::as_str).collect();
    Ok(json!({
        "id": format!("stream-{}", names.join("-")),
        "issues": numbers,
        "sharedFiles": stream.shared_files,
        "primaryIssue": numbers.first(),
    }))
}

fn told(args: &Args, streams: Vec<Value>) -> Value {
    let (issues, found) = (args.issues.len(), streams.len());
    json!({
        "totalStreams": found,
        "totalIssues": issues,
        "streams": streams,
        "rationale": format!("{issues} issues in {found} streams, by shared files and blockers"),
    })
}

//! `detect_work_streams` and `detect_stream_positions`: issues that change the same files, and their positions.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::shape::Around;
use super::{pipeline, tool};
use crate::app::{self, Failure, Stream, StreamAsk};
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
            let around = Around::all(call.ws)?;
            let streams = clusters(call, &args, &around)?;
            Ok(told(&args, streams.iter().map(|stream| shown(stream, &around)).collect()))
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
            let around = Around::all(call.ws)?;
            let mut streams = Vec::new();
            for stream in clusters(call, &args, &around)? {
                let mut row = shown(&stream, &around);
                row["streamId"] = row["id"].clone();
                row["position"] = pipeline::position_of(call, &stream.tasks)?;
                streams.push(row);
            }
            Ok(told(&args, streams))
        },
    )
}

/// The streams, sorted by number, and then by id for issues without one: the ids of streams name branches and plans, so they must
/// not depend on the order of the call.
fn clusters(call: &Call<'_>, args: &Args, around: &Around<'_>) -> Result<Vec<Stream>, Failure> {
    let mut asked: Vec<StreamAsk> = args.issues.iter().map(|one| one.ask(call)).collect::<Result<_, _>>()?;
    asked.sort_by_cached_key(|one| {
        let number = around.issue(&one.task);
        (number.is_none(), number, one.task.clone())
    });
    app::streams(call.ws, &asked)
}

fn shown(stream: &Stream, around: &Around<'_>) -> Value {
    let numbers: Vec<Value> = stream.tasks.iter().map(|id| around.number(id)).collect();
    let names: Vec<&str> = numbers.iter().filter_map(Value::as_str).collect();
    json!({
        "id": format!("stream-{}", names.join("-")),
        "issues": numbers,
        "sharedFiles": stream.shared_files,
        "primaryIssue": numbers.first(),
    })
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn told(args: &Args, streams: Vec<Value>) -> Value {
    let (issues, found) = (args.issues.len(), streams.len());
    json!({
        "totalStreams": found,
        "totalIssues": issues,
        "streams": streams,
        "rationale": format!("{} in {}, by shared files and blockers", counted(issues, "issue"), counted(found, "stream")),
    })
}

//! Claude Code in print mode: permissions as rules, output as `stream-json`.

use serde_json::Value;

use super::event::{about, number, text_of, word};
use super::{AgentEvent, Grant, Host, Invocation, LOOKING, Usage, shown};

pub static HOST: Host = Host {
    name: "claude",
    title: "Claude Code",
    package: "@anthropic-ai/claude-code",
    variables: &["CLAUDECODE"],
    help: &["--help"],
    flags: &[
        "--print",
        "--output-format",
        "--verbose",
        "--permission-mode",
        "--allowedTools",
        "--add-dir",
        "--model",
        "--resume",
    ],
    invoke,
    read,
    state: &[
        ".claude",
        ".claude.json",
        ".claude.json.backup",
        ".cache/claude",
        ".cache/claude-cli-nodejs",
        ".local/share/claude",
    ],
};

fn invoke(grant: &Grant<'_>) -> Invocation {
    let mut started = Invocation::new(&["claude", "--print", "--output-format", "stream-json", "--verbose"]);
    // No person is there to answer: whatever no rule allows is denied.
    started.add(&["--permission-mode", "dontAsk"]);
    started.add(&["--allowedTools", "Read", "Glob", "Grep", "Skill", "Task", "mcp__ralph", "mcp__plugin_ralph_ralph"]);
    match grant.code || grant.confined {
        true => started.add(&["Bash"]),
        false => started.words.extend(LOOKING.iter().map(|program| format!("Bash({program}:*)"))),
    }
    let own = grant.code.then_some(grant.dir);
    // Two slashes: the path starts at the root of the file system, not at the project.
    let rule = |path: &std::path::Path| format!("Edit(/{}/**)", shown(path));
    started.words.extend(own.into_iter().chain(grant.writes.iter().map(AsRef::as_ref)).map(rule));
    for folder in grant.writes {
        started.add(&["--add-dir", &shown(folder)]);
    }
    if let Some(model) = grant.model {
        started.add(&["--model", model]);
    }
    if let Some(session) = grant.resume {
        started.add(&["--resume", session]);
    }
    started.words.extend(grant.args.iter().cloned());
    started.env.push(("DISABLE_AUTOUPDATER", "1".into()));
    started
}

fn read(line: &Value) -> Vec<AgentEvent> {
    match (word(line, "type").as_str(), word(line, "subtype").as_str()) {
        ("system", "init") => {
            vec![AgentEvent::Session { id: word(line, "session_id"), model: Some(word(line, "model")) }]
        }
        ("system", "permission_denied") => vec![AgentEvent::Refused {
            id: word(line, "tool_use_id"),
            tool: word(line, "tool_name"),
            why: word(line, "message"),
        }],
        ("assistant" | "user", _) => parts(line).iter().filter_map(part).collect(),
        ("rate_limit_event", _) => limit(line.get("rate_limit_info")).into_iter().collect(),
        ("result", _) => vec![ended(line)],
        _ => Vec::new(),
    }
}

fn parts(line: &Value) -> &[Value] {
    line.pointer("/message/content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn part(part: &Value) -> Option<AgentEvent> {
    match word(part, "type").as_str() {
        "text" => Some(AgentEvent::Said { text: word(part, "text") }),
        "tool_use" => {
            Some(AgentEvent::Tool { id: word(part, "id"), tool: word(part, "name"), about: about(&part["input"]) })
        }
        "tool_result" => Some(AgentEvent::Answer {
            id: word(part, "tool_use_id"),
            ok: !part.get("is_error").and_then(Value::as_bool).unwrap_or(false),
            text: text_of(part.get("content")),
        }),
        _ => None,
    }
}

/// A reached limit; a mere warning is ignored.
fn limit(info: Option<&Value>) -> Option<AgentEvent> {
    let info = info.filter(|info| word(info, "status") == "rejected")?;
    Some(AgentEvent::Limit { until: info.get("resetsAt").and_then(Value::as_i64) })
}

fn ended(line: &Value) -> AgentEvent {
    let reported = |usage: &Value| Usage {
        input_tokens: number(usage, "input_tokens") + number(usage, "cache_creation_input_tokens"),
        output_tokens: number(usage, "output_tokens"),
        cached_tokens: number(usage, "cache_read_input_tokens"),
        cost_usd: line.get("total_cost_usd").and_then(Value::as_f64),
        turns: line.get("num_turns").and_then(Value::as_u64),
    };
    AgentEvent::Ended {
        ok: !line.get("is_error").and_then(Value::as_bool).unwrap_or(true),
        text: word(line, "result"),
        usage: line.get("usage").map(reported),
    }
}

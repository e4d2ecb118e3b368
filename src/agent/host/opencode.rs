//! opencode in `run` mode: permissions in its environment, output as JSON events.

use serde_json::{Value, json};

use super::event::{about, number, word};
use super::{AgentEvent, Grant, Host, Invocation, LOOKING, Usage, shown};

pub static HOST: Host = Host {
    name: "opencode",
    title: "opencode",
    package: "opencode-ai",
    variables: &["OPENCODE"],
    help: &["run", "--help"],
    flags: &["--format", "--model", "--session"],
    invoke,
    read,
    state: &[".local/share/opencode", ".local/state/opencode", ".cache/opencode", ".config/opencode", ".bun"],
};

fn invoke(grant: &Grant<'_>) -> Invocation {
    let mut started = Invocation::new(&["opencode", "run", "--format", "json"]);
    if let Some(model) = grant.model {
        started.add(&["--model", model]);
    }
    if let Some(session) = grant.resume {
        started.add(&["--session", session]);
    }
    started.words.extend(grant.args.iter().cloned());
    started.env.push(("OPENCODE_PERMISSION", permissions(grant).to_string()));
    started.env.push(("OPENCODE_DISABLE_AUTOUPDATE", "1".into()));
    started
}

/// The permissions. The last rule that matches decides, so denials come first.
fn permissions(grant: &Grant<'_>) -> Value {
    let mut bash = serde_json::Map::new();
    let whole = grant.code || grant.confined;
    bash.insert("*".into(), json!(if whole { "allow" } else { "deny" }));
    for program in LOOKING.iter().filter(|_| !whole) {
        bash.insert(format!("{program} *"), json!("allow"));
        bash.insert((*program).into(), json!("allow"));
    }
    let (mut outside, mut edit) = (serde_json::Map::new(), serde_json::Map::new());
    // Under Landlock, nothing else needs to be denied: the kernel limits writes, and reading is not restricted.
    outside.insert("*".into(), json!(if grant.confined { "allow" } else { "deny" }));
    edit.insert("*".into(), json!(if whole { "allow" } else { "deny" }));
    for folder in grant.writes {
        let below = format!("{}/**", shown(folder));
        outside.insert(below.clone(), json!("allow"));
        edit.insert(below, json!("allow"));
        // An edit is matched by the path from the project, which may begin with any number of `..`.
        let names: Vec<_> = folder.iter().rev().take(2).map(|name| name.to_string_lossy()).collect();
        edit.insert(format!("*{}/*", names.into_iter().rev().collect::<Vec<_>>().join("/")), json!("allow"));
    }
    json!({ "bash": bash, "edit": edit, "external_directory": outside, "webfetch": "deny", "doom_loop": "deny", "question": "deny" })
}

fn read(line: &Value) -> Vec<AgentEvent> {
    let part = &line["part"];
    match word(line, "type").as_str() {
        "step_start" => vec![AgentEvent::Session { id: word(line, "sessionID"), model: None }],
        "text" => vec![AgentEvent::Said { text: word(part, "text") }],
        "tool_use" => tool(part),
        "step_finish" => vec![finished(part)],
        "error" => {
            let error = &line["error"];
            let said = word(&error["data"], "message");
            let message = if said.is_empty() { word(error, "name") } else { said };
            vec![AgentEvent::Ended { ok: false, text: message, usage: None }]
        }
        _ => Vec::new(),
    }
}

/// One line contains a call and its answer.
fn tool(part: &Value) -> Vec<AgentEvent> {
    let (id, tool, state) = (word(part, "callID"), word(part, "tool"), &part["state"]);
    let used = AgentEvent::Tool { id: id.clone(), tool, about: about(&state["input"]) };
    let ok = word(state, "status") == "completed";
    let text = word(state, if ok { "output" } else { "error" });
    vec![used, AgentEvent::Answer { id, ok, text }]
}

fn finished(part: &Value) -> AgentEvent {
    let reported = |tokens: &Value| Usage {
        input_tokens: number(tokens, "input") + number(&tokens["cache"], "write"),
        output_tokens: number(tokens, "output") + number(tokens, "reasoning"),
        cached_tokens: number(&tokens["cache"], "read"),
        // opencode reports 0 for a model whose price it does not know.
        cost_usd: part.get("cost").and_then(Value::as_f64).filter(|cost| *cost > 0.0),
        turns: Some(1),
    };
    AgentEvent::Ended { ok: true, text: String::new(), usage: part.get("tokens").map(reported) }
}

//! Codex in `exec` mode: its own sandbox where Landlock does not already confine it, output as JSON lines.

use serde_json::Value;

use super::event::{about, number, word};
use super::{AgentEvent, Grant, Host, Invocation, Usage, shown};

pub static HOST: Host = Host {
    name: "codex",
    title: "Codex",
    package: "@openai/codex",
    variables: &["CODEX_THREAD_ID", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED"],
    help: &["exec", "--help"],
    flags: &["--json", "--model", "--config", "--skip-git-repo-check"],
    invoke,
    read,
    state: &[".codex"],
};

fn invoke(grant: &Grant<'_>) -> Invocation {
    let mut started = Invocation::new(&["codex", "exec"]);
    if grant.confined {
        // Its own sandbox needs mounts, which a process under Landlock cannot make; Landlock takes its place.
        started.add(&["--config", "sandbox_mode=\"danger-full-access\""]);
    } else {
        started.add(&["--config", "sandbox_mode=\"workspace-write\""]);
        // Its shells change the board, and its sandbox would make git's own directory read-only.
        let roots = grant.git_dirs.iter().chain(grant.writes).map(|path| format!("{:?}", shown(path)));
        let roots: Vec<String> = roots.collect();
        started.add(&["--config", &format!("sandbox_workspace_write.writable_roots=[{}]", roots.join(","))]);
    }
    started.add(&["--config", "approval_policy=\"never\""]);
    // A login shell would reset the PATH.
    started.add(&["--config", "allow_login_shell=false"]);
    started.add(&["--config", "shell_environment_policy.inherit=\"all\""]);
    started.add(&["--config", "shell_environment_policy.ignore_default_excludes=true"]);
    if let Some(model) = grant.model {
        started.add(&["--model", model]);
    }
    started.add(&["--json", "--skip-git-repo-check"]);
    started.words.extend(grant.args.iter().cloned());
    match grant.resume {
        Some(session) => started.add(&["resume", session, "-"]),
        None => started.add(&["-"]),
    }
    started
}

fn read(line: &Value) -> Vec<AgentEvent> {
    let item = &line["item"];
    match word(line, "type").as_str() {
        "thread.started" => vec![AgentEvent::Session { id: word(line, "thread_id"), model: None }],
        "item.started" => used(item).into_iter().collect(),
        "item.completed" => completed(item),
        "error" => vec![AgentEvent::Failed { message: word(line, "message") }],
        "turn.failed" => {
            vec![AgentEvent::Ended { ok: false, text: word(&line["error"], "message"), usage: None }]
        }
        "turn.completed" => {
            vec![AgentEvent::Ended { ok: true, text: String::new(), usage: line.get("usage").map(usage) }]
        }
        _ => Vec::new(),
    }
}

fn used(item: &Value) -> Option<AgentEvent> {
    let id = word(item, "id");
    match word(item, "type").as_str() {
        "command_execution" => Some(AgentEvent::Tool { id, tool: "shell".into(), about: about(item) }),
        "mcp_tool_call" => {
            let tool = format!("{}.{}", word(item, "server"), word(item, "tool"));
            Some(AgentEvent::Tool { id, tool, about: about(&item["arguments"]) })
        }
        "web_search" => Some(AgentEvent::Tool { id, tool: "web_search".into(), about: about(item) }),
        _ => None,
    }
}

fn completed(item: &Value) -> Vec<AgentEvent> {
    let id = word(item, "id");
    let ok = word(item, "status") != "failed" && item.get("exit_code").and_then(Value::as_i64).unwrap_or(0) == 0;
    match word(item, "type").as_str() {
        "agent_message" => vec![AgentEvent::Said { text: word(item, "text") }],
        "command_execution" => vec![AgentEvent::Answer { id, ok, text: word(item, "aggregated_output") }],
        "mcp_tool_call" => {
            let text = super::event::text_of(item.pointer("/result/content"));
            let text = if text.is_empty() { word(&item["error"], "message") } else { text };
            vec![AgentEvent::Answer { id, ok, text }]
        }
        "file_change" => {
            let paths = item["changes"].as_array().into_iter().flatten().map(|change| word(change, "path"));
            let about = paths.collect::<Vec<_>>().join(" ");
            let tool = AgentEvent::Tool { id: id.clone(), tool: "apply_patch".into(), about };
            vec![tool, AgentEvent::Answer { id, ok, text: String::new() }]
        }
        _ => Vec::new(),
    }
}

fn usage(usage: &Value) -> Usage {
    let cached = number(usage, "cached_input_tokens");
    Usage {
        input_tokens: number(usage, "input_tokens").saturating_sub(cached),
        output_tokens: number(usage, "output_tokens"),
        cached_tokens: cached,
        cost_usd: None,
        turns: None,
    }
}

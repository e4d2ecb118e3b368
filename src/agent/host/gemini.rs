//! Gemini CLI in headless mode: permissions as a policy file, output as `stream-json`.

use serde_json::Value;

use super::event::{about, number, word};
use super::{AgentEvent, Grant, Host, Invocation, LOOKING, Usage, shown};

pub static HOST: Host = Host {
    name: "gemini",
    title: "Gemini CLI",
    package: "@google/gemini-cli",
    variables: &["GEMINI_CLI"],
    help: &["--help"],
    flags: &["--skip-trust", "--output-format", "--policy", "--include-directories", "--model", "--resume"],
    invoke,
    read,
    state: &[".gemini", ".cache/gemini"],
};

fn invoke(grant: &Grant<'_>) -> Invocation {
    let mut started = Invocation::new(&["gemini", "--skip-trust", "--output-format", "stream-json"]);
    started.add(&["--policy", &shown(grant.policy)]);
    for folder in grant.writes {
        started.add(&["--include-directories", &shown(folder)]);
    }
    if let Some(model) = grant.model {
        started.add(&["--model", model]);
    }
    if let Some(session) = grant.resume {
        started.add(&["--resume", session]);
    }
    started.words.extend(grant.args.iter().cloned());
    started.policy = Some(policy(grant));
    started
}

/// The policy file. In headless mode, Gemini CLI denies the shell and every edit that no rule allows.
fn policy(grant: &Grant<'_>) -> String {
    let mut rules = vec![rule("mcpName = \"ralph\"\ntoolName = \"*\""), rule("toolName = \"activate_skill\"")];
    rules.push(match grant.code || grant.confined {
        // Otherwise a command that writes to a file would need confirmation.
        true => rule("toolName = \"run_shell_command\"\nallowRedirection = true"),
        false => rule(&format!("toolName = \"run_shell_command\"\ncommandPrefix = {LOOKING:?}")),
    });
    let own = grant.code.then_some(grant.dir);
    for folder in own.into_iter().chain(grant.writes.iter().map(AsRef::as_ref)) {
        // The arguments are matched as JSON, which quotes a path in the same way as TOML.
        let path = escaped(&shown(folder));
        rules.push(rule(&format!("toolName = [\"write_file\", \"replace\"]\nargsPattern = '\"file_path\":\"{path}/'")));
    }
    rules.join("\n")
}

fn rule(conditions: &str) -> String {
    format!("[[rule]]\n{conditions}\ndecision = \"allow\"\npriority = 500\n")
}

/// A regular expression that matches exactly this text.
fn escaped(text: &str) -> String {
    let special = |c: char| !c.is_alphanumeric() && !"/-_ ".contains(c);
    text.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
}

fn read(line: &Value) -> Vec<AgentEvent> {
    let id = word(line, "tool_id");
    match word(line, "type").as_str() {
        "init" => vec![AgentEvent::Session { id: word(line, "session_id"), model: Some(word(line, "model")) }],
        "message" if word(line, "role") == "assistant" => vec![AgentEvent::Said { text: word(line, "content") }],
        "tool_use" => vec![AgentEvent::Tool { id, tool: word(line, "tool_name"), about: about(&line["parameters"]) }],
        "tool_result" if word(&line["error"], "type") == "policy_violation" => {
            vec![AgentEvent::Refused { id, tool: String::new(), why: word(line, "output") }]
        }
        "tool_result" => {
            vec![AgentEvent::Answer { id, ok: word(line, "status") == "success", text: word(line, "output") }]
        }
        "error" => vec![AgentEvent::Failed { message: word(line, "message") }],
        "result" => vec![ended(line)],
        _ => Vec::new(),
    }
}

fn ended(line: &Value) -> AgentEvent {
    let reported = |stats: &Value| {
        let cached = number(stats, "cached");
        Usage {
            input_tokens: number(stats, "input_tokens").saturating_sub(cached),
            output_tokens: number(stats, "output_tokens"),
            cached_tokens: cached,
            cost_usd: None,
            turns: None,
        }
    };
    AgentEvent::Ended {
        ok: word(line, "status") == "success",
        text: word(&line["error"], "message"),
        usage: line.get("stats").map(reported),
    }
}

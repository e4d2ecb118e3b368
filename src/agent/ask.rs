//! The claims and moves that a tool call makes, through the shell or an MCP server.

use std::path::Path;

use super::hook::HookInput;
use super::shell::{Call, Unreadable, calls};
use crate::workflow::plain_command;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    Claim,
    /// A state in any spelling, or an intent.
    Move(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    pub wish: Wish,
    /// The task, as it was typed.
    pub task: String,
    pub command: Option<String>,
    pub worker: Option<String>,
    pub force: bool,
    /// The call goes to another program, which would not check the rules.
    pub foreign: bool,
}

pub fn asks(input: &HookInput, cwd: &Path) -> Result<Vec<Ask>, Unreadable> {
    Ok(match input.command() {
        Some(line) => calls(&line, cwd)?.iter().filter_map(typed).collect(),
        None => through_tool(input).into_iter().collect(),
    })
}

/// Options of `ralph` that take a value.
const VALUED: &[&str] = &["--for", "--as", "--board", "--config", "--color"];

/// Reads `ralph move TASK STATE`, `ralph claim TASK` and similar commands.
fn typed(call: &Call) -> Option<Ask> {
    if call.program() != "ralph" {
        return None;
    }
    let (mut plain, mut command, mut worker, mut force) = (Vec::new(), None, None, false);
    let mut words = call.words[1..].iter().take_while(|word| *word != "--");
    while let Some(word) = words.next() {
        let (name, joined) = word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
        if VALUED.contains(&name) {
            let value = joined.map(str::to_owned).or_else(|| words.next().cloned());
            match name {
                "--for" => command = value,
                "--as" => worker = value,
                _ => {}
            }
        } else if !word.starts_with('-') {
            plain.push(word.as_str());
        } else if word == "--force" {
            force = true;
        }
    }
    let wish = match *plain.first()? {
        "move" | "mv" => Wish::Move((*plain.get(2)?).to_owned()),
        "done" => Wish::Move("__CLOSE__".into()),
        "cancel" => Wish::Move("__CANCEL__".into()),
        "escalate" => Wish::Move("__ESCALATE__".into()),
        "claim" | "run" => Wish::Claim,
        _ => return None,
    };
    let task = (*plain.get(1)?).to_owned();
    Some(Ask { wish, task, command: command.map(|name| plain_command(&name)), worker, force, foreign: false })
}

/// Reads a call of an MCP tool that moves tasks: ours, or the one that ralph-hero's skills call.
fn through_tool(input: &HookInput) -> Option<Ask> {
    if !input.tool.starts_with("mcp__") || !input.tool.contains("ralph") {
        return None;
    }
    let command = input.argument(&["command", "for"]).map(|name| plain_command(&name));
    let state = input.argument(&["state", "workflowState", "to"]);
    let verb = input.tool.rsplit("__").next().unwrap_or_default();
    let wish = match state {
        Some(state) => Wish::Move(state),
        None if verb == "claim" || verb.starts_with("claim_") => Wish::Claim,
        None => return None,
    };
    Some(Ask {
        wish,
        task: input.argument(&["task", "id", "number", "issueNumber", "issue_number"])?,
        command,
        worker: input.argument(&["worker", "as"]),
        force: input.tool_input.get("force").and_then(serde_json::Value::as_bool).unwrap_or_default(),
        foreign: !input.tool.starts_with("mcp__ralph__"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(json: &str) -> Vec<Ask> {
        asks(&HookInput::parse(json).unwrap(), Path::new("/r")).unwrap()
    }

    #[test]
    fn a_move_is_found_wherever_it_stands() {
        let line = r#"{"tool_name":"Bash","tool_input":{"command":"cd x && A=1 ralph --as builder mv t-1 'Plan in Review' --for=plan && ralph claim t-2"}}"#;
        let found = asked(line);
        assert_eq!(found[0].wish, Wish::Move("Plan in Review".into()));
        assert_eq!((found[0].task.as_str(), found[0].command.as_deref()), ("t-1", Some("plan")));
        assert_eq!((found[0].worker.as_deref(), &found[1].wish), (Some("builder"), &Wish::Claim));
        assert_eq!(asked(r#"{"tool_name":"Bash","tool_input":{"command":"ralph task show t-1"}}"#), []);
    }

    #[test]
    fn a_line_that_cannot_be_read_is_not_a_line_that_asks_nothing() {
        let line = r#"{"tool_name":"Bash","tool_input":{"command":"ralph move t-1 done 'x"}}"#;
        assert_eq!(asks(&HookInput::parse(line).unwrap(), Path::new("/r")), Err(Unreadable::OpenQuote));
    }

    #[test]
    fn the_tools_of_hero_and_ours_ask_the_same() {
        let hero = asked(
            r#"{"tool_name":"mcp__plugin_ralph-hero_ralph-github__ralph_hero__update_workflow_state",
                "tool_input":{"number":14,"state":"__COMPLETE__","command":"ralph_impl"}}"#,
        );
        assert_eq!(
            (hero[0].task.as_str(), hero[0].command.as_deref(), hero[0].foreign),
            ("14", Some("implement"), true)
        );
        let save = asked(r#"{"tool_name":"mcp__ralph__save","tool_input":{"task":"t-1","state":"done"}}"#);
        assert_eq!((&save[0].wish, save[0].foreign), (&Wish::Move("done".into()), false));
        assert_eq!(asked(r#"{"tool_name":"mcp__other__save","tool_input":{"task":"t-1","state":"done"}}"#), []);
    }
}

//! The JSON that an agent host writes to a hook, as far as policy checks need it.

use std::path::PathBuf;

use serde_json::{Map, Value};

/// Fields that are missing, null or of an unexpected type are treated as absent, because hosts and their versions differ.
#[derive(Debug, Clone, Default)]
pub struct HookInput {
    pub event: String,
    pub cwd: Option<PathBuf>,
    pub tool: String,
    pub tool_input: Map<String, Value>,
    pub response: Value,
    /// Why a tool failed, if the host reports a failure as an event of its own.
    pub error: Option<String>,
    /// The agent already continued because of a stop hook, which must not stop it from ending a second time.
    pub stop_hook_active: bool,
    /// The host's session; a sub-agent has the session of its main agent.
    pub session: Option<String>,
    /// The sub-agent that acts; none for the main agent.
    pub agent: Option<String>,
    pub agent_type: Option<String>,
    pub teammate: Option<String>,
    pub team: Option<String>,
    pub task_id: Option<String>,
    pub task_subject: Option<String>,
    pub task_description: Option<String>,
}

#[derive(Debug, thiserror::Error)]
#[error("standard input is not the JSON of an agent hook: {0}")]
pub struct NotAHook(String);

impl HookInput {
    pub fn parse(text: &str) -> Result<Self, NotAHook> {
        let value: Value = serde_json::from_str(text).map_err(|error| NotAHook(error.to_string()))?;
        let Value::Object(fields) = value else { return Err(NotAHook("not an object".into())) };
        let text = |names: &[&str]| names.iter().find_map(|name| word(fields.get(*name)?));
        Ok(Self {
            event: text(&["hook_event_name"]).unwrap_or_default(),
            cwd: text(&["cwd"]).map(PathBuf::from).filter(|path| path.is_absolute()),
            tool: text(&["tool_name"]).map(one_name).unwrap_or_default(),
            tool_input: fields.get("tool_input").and_then(Value::as_object).cloned().unwrap_or_default(),
            response: fields.get("tool_response").or_else(|| fields.get("tool_output")).cloned().unwrap_or_default(),
            error: text(&["error"]),
            stop_hook_active: fields.get("stop_hook_active").is_some_and(is_true),
            session: text(&["session_id"]),
            agent: text(&["agent_id"]),
            agent_type: text(&["agent_type", "subagent_type"]),
            teammate: text(&["teammate_name", "agent_name"]),
            team: text(&["team_name"]),
            task_id: text(&["task_id"]),
            task_subject: text(&["task_subject"]),
            task_description: text(&["task_description"]),
        })
    }

    /// One of the tool's arguments, under the first of these names that it has.
    pub fn argument(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| word(self.tool_input.get(*name)?))
    }

    /// The file that a tool is about to write, as it was typed.
    pub fn file(&self) -> Option<PathBuf> {
        self.argument(&["file_path", "notebook_path", "filePath", "path"]).map(PathBuf::from)
    }

    /// The command line of a shell tool.
    pub fn command(&self) -> Option<String> {
        self.argument(&["command"]).filter(|_| self.tool == "Bash")
    }

    /// All text in the tool's answer.
    pub fn answer(&self) -> String {
        let mut said = String::new();
        collect(&self.response, &mut said);
        said.push_str(self.error.as_deref().unwrap_or_default());
        said
    }
}

/// Claude Code's name for a tool that other hosts name differently.
fn one_name(tool: String) -> String {
    match tool.as_str() {
        "run_shell_command" | "shell" | "exec_command" | "bash" => "Bash".into(),
        "write_file" | "write" => "Write".into(),
        "replace" | "edit" => "Edit".into(),
        _ => tool,
    }
}

fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn is_true(value: &Value) -> bool {
    value.as_bool().unwrap_or_else(|| value.as_str() == Some("true"))
}

fn collect(value: &Value, said: &mut String) {
    match value {
        Value::String(text) => {
            said.push_str(text);
            said.push('\n');
        }
        Value::Array(list) => list.iter().for_each(|item| collect(item, said)),
        Value::Object(map) => map.values().for_each(|item| collect(item, said)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_null_or_new_is_no_error() {
        let input = HookInput::parse(
            r#"{"hook_event_name":"Stop","cwd":null,"stop_hook_active":true,"agent_type":7,"effort":{"level":"high"}}"#,
        )
        .unwrap();
        assert!(input.stop_hook_active && input.cwd.is_none() && input.command().is_none());
        assert!(HookInput::parse("").is_err() && HookInput::parse("[]").is_err() && HookInput::parse("{").is_err());
    }

    #[test]
    fn the_answer_of_a_tool_is_all_its_text() {
        let input = HookInput::parse(
            r#"{"tool_response":{"stdout":"a","stderr":"! [rejected]","interrupted":false},"error":"code 1"}"#,
        );
        assert_eq!(input.unwrap().answer(), "a\n! [rejected]\ncode 1");
    }
}

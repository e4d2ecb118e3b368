//! Answers: compact tasks, refusals with hints, and no more bytes than requested.

use jiff::Timestamp;
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::{Value, json};

use super::words;
use crate::app::{Code, Failure, TaskView};
use crate::task::TaskId;

/// The default maximum size of an answer, in bytes.
pub const BUDGET: usize = 8_000;

/// A task in a list.
#[derive(Debug, Serialize)]
pub struct Brief {
    id: TaskId,
    title: String,
    state: String,
    #[serde(skip_serializing_if = "is_issue")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    labels: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<TaskId>,
    /// Only the open ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    blocked_by: Vec<TaskId>,
    #[serde(skip_serializing_if = "is_false")]
    ready: bool,
    #[serde(skip_serializing_if = "is_false")]
    blocked: bool,
    /// The holder of its claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    claimed_by: Option<String>,
    /// The number of its issue.
    #[serde(skip_serializing_if = "Option::is_none")]
    github: Option<u64>,
    #[serde(skip_serializing_if = "is_zero")]
    problems: usize,
}

fn is_issue(kind: &str) -> bool {
    kind == "issue"
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_zero(value: &usize) -> bool {
    *value == 0
}

impl From<&TaskView> for Brief {
    fn from(task: &TaskView) -> Self {
        Self {
            id: task.id.clone(),
            title: task.title.clone(),
            state: task.state.to_string(),
            kind: task.kind,
            priority: task.priority,
            estimate: task.estimate,
            labels: task.labels.clone(),
            owner: task.owner.clone(),
            parent: task.parent.clone(),
            blocked_by: task.open_blockers.clone(),
            ready: task.ready,
            blocked: task.blocked,
            claimed_by: task.claim.as_ref().map(|claim| claim.by.to_string()),
            github: task.github.as_ref().map(|issue| issue.number),
            problems: task.problems.len(),
        }
    }
}

/// The first items that fit into the budget, but at least one.
pub fn fitting<T: Serialize>(items: impl IntoIterator<Item = T>, budget: usize) -> Vec<Value> {
    let mut used = 0;
    let mut taken = Vec::new();
    for item in items {
        let value = json!(item);
        used += value.to_string().len() + 1;
        if used > budget && !taken.is_empty() {
            break;
        }
        taken.push(value);
    }
    taken
}

/// A time in whole seconds.
pub fn stamp(at: Timestamp) -> String {
    at.strftime("%FT%TZ").to_string()
}

/// The beginning of a text that takes at most `most` bytes in an answer, cut between two characters.
pub fn cut(text: &str, most: usize) -> &str {
    let mut used = 0;
    let end = text.char_indices().find(|(_, c)| {
        used += written(*c);
        used > most
    });
    end.map_or(text, |(at, _)| &text[..at])
}

/// The number of bytes of a character in JSON.
fn written(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        c if c.is_ascii_control() => 6,
        c => c.len_utf8(),
    }
}

/// An answer, as text and as structured content.
pub fn answer(value: Value) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(value.to_string())]);
    result.structured_content = Some(value);
    result
}

/// A failure as a tool result instead of a protocol error, so that the model reads it.
pub fn refusal(failure: &Failure) -> CallToolResult {
    refusal_of(json!({ "error": Refused::new(failure) }))
}

/// A tool result with an error.
pub fn refusal_of(value: Value) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(value.to_string())]);
    result.structured_content = Some(value);
    result
}

/// A failure with its hints worded for MCP.
#[derive(Debug, Serialize)]
pub struct Refused {
    kind: Value,
    code: Code,
    message: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    causes: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hints: Vec<String>,
}

impl Refused {
    pub fn new(failure: &Failure) -> Self {
        let hints = failure.hints.iter().flat_map(words::hint);
        Self {
            kind: json!(failure.kind),
            code: failure.code,
            message: failure.message.clone(),
            causes: failure.causes.clone(),
            hints: hints.collect(),
        }
    }

    pub fn line(&self) -> String {
        let hints = self.hints.iter().map(|hint| format!("; {hint}"));
        format!("{} ({}){}", self.message, self.code, hints.collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Hint;

    #[test]
    fn a_budget_cuts_a_list_but_never_to_nothing() {
        let items = ["aaaa", "bbbb", "cccc"];
        assert_eq!(fitting(items, 14).len(), 2);
        assert_eq!(fitting(items, 1).len(), 1);
        assert_eq!(fitting(items, 100).len(), 3);
        assert_eq!(cut("wörter", 2), "w");
        for text in ["say \"\\\" \n\t", "\u{1}größe"] {
            let whole = json!(text).to_string().len() - 2;
            assert_eq!((cut(text, whole), cut(text, whole - 1).len() < text.len()), (text, true));
        }
    }

    #[test]
    fn nobody_is_told_to_force_it() {
        let failure = Failure::refused(Code::NotAllowed, "no").hint(Hint::Force).hint(Hint::Workflow);
        let told = Refused::new(&failure);
        assert_eq!(told.hints, ["read ralph://workflow for the allowed moves"]);
        assert_eq!(told.line(), "no (not-allowed); read ralph://workflow for the allowed moves");
    }
}

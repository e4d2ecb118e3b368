//! Refusals in ralph-hero's format, with hints that name its tools.

use serde_json::{Value, json};

use crate::app::{Code, Failure, Hint};
use crate::mcp::reply::Refused;

/// A refusal for a client: `error` is the whole text, and the other fields are for programs.
pub fn told(failure: &Failure) -> Value {
    let refused = Refused::new(failure);
    let mut value = json!(refused);
    value["error"] = json!(refused.line());
    value
}

/// The same failure with hints that name ralph-hero's tools.
pub fn here(mut failure: Failure) -> Failure {
    failure.hints = failure.hints.into_iter().map(worded).collect();
    match failure.code {
        Code::Unmerged => failure.hint(Hint::step(
            "if its pull request is merged, pull the main branch or delete the local branch, then call again",
        )),
        _ => failure,
    }
}

fn worded(hint: Hint) -> Hint {
    Hint::step(match &hint {
        Hint::List => "call ralph_hero__list_issues to see the issues".to_owned(),
        Hint::Ready => "call ralph_hero__pick_actionable_issue for another state".to_owned(),
        Hint::Wait { task } => {
            format!("call ralph_hero__pick_actionable_issue for other work, or check {task} again later")
        }
        Hint::Why { task } => format!("call ralph_hero__list_dependencies with number {task}"),
        Hint::Claim { task, command: Some(command) } => {
            format!("call ralph_hero__update_workflow_state with number {task}, state __LOCK__ and command {command}")
        }
        Hint::Claim { task, command: None } => {
            format!("call ralph_hero__update_workflow_state with number {task} and state __LOCK__")
        }
        Hint::Artifact { .. } | Hint::CheckArtifact { .. } => {
            "write it under thoughts/shared and name its path with ralph_hero__create_comment, below a heading such as \
             ## Research Document, ## Implementation Plan or ## Plan Review"
                .to_owned()
        }
        Hint::Move => "call ralph_hero__update_workflow_state to change the state".to_owned(),
        Hint::Unblock => "call ralph_hero__remove_dependency to remove one of these links".to_owned(),
        _ => return hint,
    })
}

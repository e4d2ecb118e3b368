//! The next step after a refusal, as calls of these tools.

use crate::app::{Code, Failure, Hint};

/// The same refusal with hints that can be followed here.
pub fn here(mut failure: Failure) -> Failure {
    let code = failure.code;
    failure.hints = failure.hints.into_iter().map(|hint| worded(code, hint)).collect();
    failure
}

fn worded(code: Code, hint: Hint) -> Hint {
    let text = match &hint {
        Hint::List => "call ralph_hero__list_issues to see what there is".to_owned(),
        Hint::Ready => "call ralph_hero__pick_actionable_issue for another state".to_owned(),
        Hint::Wait { task } => {
            format!("take other work with ralph_hero__pick_actionable_issue, or look at {task} again later")
        }
        Hint::Why { task } => format!("call ralph_hero__list_dependencies with number {task}"),
        Hint::Claim { task, command } => {
            format!("call ralph_hero__update_workflow_state with number {task}, state __LOCK__ and command {command}")
        }
        Hint::Advice { .. } if matches!(code, Code::NoArtifact | Code::NoDocument) => {
            "write it under thoughts/shared and name its path with ralph_hero__create_comment, below a heading such as \
             `## Research Document`, `## Implementation Plan` or `## Plan Review`"
                .to_owned()
        }
        _ => return hint,
    };
    Hint::Advice { text }
}

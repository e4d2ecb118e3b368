//! Refusals for the page: a status, and the next step in its words.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use crate::app::{Failure, FailureKind, Hint};

pub fn failed(failure: &Failure) -> Response {
    let status = match (failure.kind, failure.code) {
        (_, "unknown-task" | "no-document") => StatusCode::NOT_FOUND,
        (_, "bad-json") => StatusCode::BAD_REQUEST,
        (FailureKind::Refused | FailureKind::Usage | FailureKind::Nothing, _) => StatusCode::UNPROCESSABLE_ENTITY,
        (FailureKind::Raced, _) => StatusCode::CONFLICT,
        (FailureKind::Offline, _) => StatusCode::BAD_GATEWAY,
        (FailureKind::Broken, _) => StatusCode::INTERNAL_SERVER_ERROR,
    };
    refusal(status, failure)
}

pub fn refusal(status: StatusCode, failure: &Failure) -> Response {
    let body = json!({ "error": worded(failure) }).to_string();
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

pub fn worded(failure: &Failure) -> Value {
    json!({
        "kind": failure.kind, "code": failure.code, "message": failure.message, "causes": failure.causes,
        "hints": failure.hints.iter().flat_map(words).collect::<Vec<_>>(),
        "insist": failure.insist,
    })
}

fn words(hint: &Hint) -> Vec<String> {
    match hint {
        Hint::Init | Hint::GitInit => vec!["`ralph init` makes a board".into()],
        Hint::DidYouMean { candidates } => {
            candidates.iter().map(|found| format!("did you mean {} ({})?", found.id, found.title)).collect()
        }
        Hint::Edit { file, line } if *line > 0 => vec![format!("put {file} right, at line {line}")],
        Hint::Edit { file, .. } => vec![format!("put {file} right")],
        Hint::Retry => vec!["try again".into()],
        Hint::List => vec!["look on the board for what there is".into()],
        Hint::Workflow => vec!["while you drag a card, the columns that take it are lit".into()],
        Hint::Ready => vec!["the dashboard shows what is in the way".into()],
        Hint::Wait { task } => vec![format!("wait until {task} is free, or ask its holder")],
        Hint::Why { task } => vec![format!("open {task}: its graph shows what it waits for")],
        Hint::Claim { task, command } => vec![format!("claim {task} for {command} first")],
        // Options of the command line have no place on a page.
        Hint::Advice { text } if text.contains("--") => Vec::new(),
        Hint::Advice { text } => vec![text.clone()],
    }
}

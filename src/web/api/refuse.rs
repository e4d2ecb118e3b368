//! Refusals for the page: a status, and the next step in its words.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use crate::app::{Code, Failure, FailureKind, Hint};

pub fn failed(failure: &Failure) -> Response {
    let status = match (failure.kind, failure.code) {
        (_, Code::UnknownTask | Code::NoDocument) => StatusCode::NOT_FOUND,
        (_, Code::BadJson) => StatusCode::BAD_REQUEST,
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
        Hint::Advice { text } => without_options(text).into_iter().collect(),
    }
}

/// An option of a command that nobody typed has no place on a page; what is said beside it does, as does a whole command.
fn without_options(text: &str) -> Option<String> {
    let clauses = text.split("; ").filter_map(|clause| {
        let kept: Vec<&str> = clause.split(", ").filter(|part| !part.contains("`--")).collect();
        let said = kept.join(", ");
        let said = said.strip_prefix("or ").or(said.strip_prefix("and ")).unwrap_or(&said);
        (!said.is_empty()).then(|| said.to_owned())
    });
    Some(clauses.collect::<Vec<_>>().join("; ")).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_advice_loses_its_options_and_keeps_its_other_half() {
        for (said, kept) in [
            (
                "`ralph artifact link plan t-1` hands it in; a person may insist with `--force`",
                "`ralph artifact link plan t-1` hands it in",
            ),
            ("say `--as NAME`, set RALPH_WORKER, or set git's user.name", "set RALPH_WORKER, or set git's user.name"),
            (
                "`git refs migrate --ref-format=files` turns it into what ralph reads",
                "`git refs migrate --ref-format=files` turns it into what ralph reads",
            ),
            ("finish the children first", "finish the children first"),
            ("`--force` takes these links out along with the task", ""),
        ] {
            assert_eq!(without_options(said).unwrap_or_default(), kept);
        }
    }
}

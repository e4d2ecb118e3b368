//! Failures as HTTP responses: a status, and hints in the words of the page.

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
        "insist": failure.can_be_forced(),
    })
}

/// The hints in the words of the page. Command line options are left out, but whole commands are kept.
fn words(hint: &Hint) -> Vec<String> {
    match hint {
        Hint::Init | Hint::GitInit => vec!["run `ralph init` to create a board".into()],
        Hint::List => vec!["the board shows all tasks".into()],
        Hint::Workflow => vec!["while you drag a card, the columns that accept it are highlighted".into()],
        Hint::Move => vec!["drag the card to move it".into()],
        Hint::Ready => vec!["see the dashboard for what is blocked".into()],
        Hint::Wait { task } => vec![format!("wait until {task} is released, or ask its holder")],
        Hint::Why { task } => vec![format!("open {task} to see what blocks it")],
        Hint::Claim { task, command: Some(command) } => vec![format!("claim {task} for {command} first")],
        Hint::Claim { task, command: None } => vec![format!("claim {task} first")],
        Hint::Unblock => vec!["remove one of these links first".into()],
        Hint::SayWho => vec!["set RALPH_WORKER, or git's user.name, and restart the server".into()],
        Hint::CustomKey
        | Hint::SayCommand { .. }
        | Hint::SayRole { .. }
        | Hint::Option { .. }
        | Hint::Omit { .. }
        | Hint::Force => Vec::new(),
        Hint::DidYouMean { .. }
        | Hint::Edit { .. }
        | Hint::Retry
        | Hint::Artifact { .. }
        | Hint::CheckArtifact { .. }
        | Hint::Result { .. }
        | Hint::Worktree { .. }
        | Hint::Trust
        | Hint::Run { .. }
        | Hint::Shell { .. }
        | Hint::Set { .. }
        | Hint::Variable { .. }
        | Hint::Open { .. }
        | Hint::Do { .. } => hint.for_shell(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_shows_commands_and_steps_but_no_options() {
        let failure = Failure::refused(Code::NoArtifact, "t-1 has no plan")
            .hint(Hint::run("push", "to create it"))
            .hint(Hint::option("--local", "to claim it here"))
            .hint(Hint::step("finish the children first"))
            .hint(Hint::Force);
        let worded = worded(&failure);
        assert_eq!(worded["hints"], json!(["`ralph push` to create it", "finish the children first"]));
        assert_eq!(worded["insist"], true);
    }
}

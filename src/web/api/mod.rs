//! The board over HTTP: one verb for each path, with its result as the response.

mod asked;
mod change;
mod read;
mod refuse;
mod review;

pub use asked::Asked;
pub use change::{add, block, claim, note, release, save, unblock};
pub use read::{
    board, counts, document, events, facets, graph, search, session, status, targets, task, trends, workers, workflow,
};
pub use refuse::refusal;
pub use review::{answer, approve, inbox, merge, reject, retry, review, run_log, start_team, stop_run};

use std::sync::Arc;

use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use jiff::Timestamp;
use serde::Serialize;
use tokio::task::JoinError;

use super::Site;
use crate::app::{Code, Failure, Workspace};

/// Runs a verb on the current board, on a thread that may block.
async fn run<T: Serialize>(
    site: &Arc<Site>,
    verb: impl FnOnce(&Workspace, &Site) -> Result<T, Failure> + Send + 'static,
) -> Response {
    let site = Arc::clone(site);
    let done = tokio::task::spawn_blocking(move || with(&site, verb)).await;
    answered(done.map(|text| text.map(Arc::new)))
}

/// The same for a change. The response includes notices for the person.
async fn run_change<T: Serialize>(
    site: &Arc<Site>,
    verb: impl FnOnce(&Workspace, &Site) -> Result<T, Failure> + Send + 'static,
) -> Response {
    let site = Arc::clone(site);
    let done = tokio::task::spawn_blocking(move || {
        let (ws, done) = done(&site, verb)?;
        written(&Told { done, notices: ws.notices() })
    });
    answered(done.await.map(|text| text.map(Arc::new)))
}

#[derive(Serialize)]
struct Told<T> {
    #[serde(flatten)]
    done: T,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notices: Vec<String>,
}

/// A cache key that changes every minute, for answers with durations or with data that is not watched.
fn this_minute(name: &str) -> String {
    format!("{name} {}", Timestamp::now().as_second() / 60)
}

/// Like `run`, for an answer that all pages share until the board changes, so that it is computed only once.
async fn kept<T: Serialize>(
    site: &Arc<Site>,
    key: String,
    verb: impl FnOnce(&Workspace, &Site) -> Result<T, Failure> + Send + 'static,
) -> Response {
    // Read before the board, so that a change in the meantime makes the answer outdated.
    let version = site.feed.version();
    if let Some(text) = site.answers.peek(version, &key) {
        return sent(&text);
    }
    let site = Arc::clone(site);
    answered(tokio::task::spawn_blocking(move || site.answers.get(version, &key, || with(&site, verb))).await)
}

fn with<T: Serialize>(
    site: &Site,
    verb: impl FnOnce(&Workspace, &Site) -> Result<T, Failure>,
) -> Result<String, Failure> {
    written(&done(site, verb)?.1)
}

fn done<T>(site: &Site, verb: impl FnOnce(&Workspace, &Site) -> Result<T, Failure>) -> Result<(Workspace, T), Failure> {
    let ws = Workspace::open(&site.options)?;
    let result = ws.finish(verb(&ws, site));
    Ok((ws, result?))
}

fn written(answer: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string(answer);
    text.map_err(|error| Failure::broken(Code::Json, format!("cannot write the response: {error}")))
}

fn answered(done: Result<Result<Arc<String>, Failure>, JoinError>) -> Response {
    match done {
        Ok(Ok(text)) => sent(&text),
        Ok(Err(failure)) => refuse::failed(&failure),
        Err(_) => refuse::failed(&Failure::broken(Code::Panic, "internal server error")),
    }
}

fn sent(text: &str) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text.to_owned()).into_response()
}

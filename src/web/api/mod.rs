//! The board over HTTP: one verb for each path, its struct as the answer.

mod asked;
mod change;
mod read;
mod refuse;

pub use asked::Asked;
pub use change::{add, block, claim, note, release, save, unblock};
pub use read::{
    board, document, events, facets, graph, search, session, status, targets, task, trends, workers, workflow,
};
pub use refuse::refusal;

use std::sync::Arc;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;

use super::Site;
use crate::app::{Failure, Workspace};

/// Runs a verb on the board as it is now, where it keeps nobody waiting.
async fn run<T: Serialize>(
    site: &Arc<Site>,
    verb: impl FnOnce(&Workspace, &Site) -> Result<T, Failure> + Send + 'static,
) -> Response {
    let site = Arc::clone(site);
    let done = tokio::task::spawn_blocking(move || {
        let ws = Workspace::open(&site.options)?;
        let result = verb(&ws, &site);
        ws.finish();
        let text = serde_json::to_string(&result?);
        text.map_err(|error| Failure::broken("json", format!("the answer cannot be written: {error}")))
    });
    match done.await {
        Ok(Ok(text)) => (StatusCode::OK, [(header::CONTENT_TYPE, "application/json")], text).into_response(),
        Ok(Err(failure)) => refuse::failed(&failure),
        Err(_) => refuse::failed(&Failure::broken("panic", "the server could not finish this")),
    }
}

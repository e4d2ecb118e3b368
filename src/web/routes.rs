//! The routes of the server.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{get, post};

use super::{Site, access, api, assets};
use crate::app::{Code, Failure, Hint};

/// The maximum size of a request.
const LONGEST: usize = 1024 * 1024;

pub fn routes(site: Arc<Site>) -> Router {
    let reading = Router::new()
        .route("/api/session", get(api::session))
        .route("/api/board", get(api::board))
        .route("/api/facets", get(api::facets))
        .route("/api/status", get(api::status))
        .route("/api/counts", get(api::counts))
        .route("/api/workers", get(api::workers))
        .route("/api/trends", get(api::trends))
        .route("/api/workflow", get(api::workflow))
        .route("/api/inbox", get(api::inbox))
        .route("/api/run/{id}", get(api::run_log))
        .route("/api/search", get(api::search))
        .route("/api/document", get(api::document))
        .route("/api/graph", get(api::graph))
        .route("/api/graph/{id}", get(api::graph))
        .route("/api/events", get(api::events));
    let changing = Router::new()
        .route("/api/task", post(api::add))
        .route("/api/task/{id}", get(api::task))
        .route("/api/task/{id}/targets", get(api::targets))
        .route("/api/task/{id}/review", get(api::review))
        .route("/api/task/{id}/answer", post(api::answer))
        .route("/api/task/{id}/approve", post(api::approve))
        .route("/api/task/{id}/reject", post(api::reject))
        .route("/api/task/{id}/retry", post(api::retry))
        .route("/api/task/{id}/merge", post(api::merge))
        .route("/api/task/{id}/team", post(api::start_team))
        .route("/api/run/{id}/stop", post(api::stop_run))
        .route("/api/task/{id}/save", post(api::save))
        .route("/api/task/{id}/claim", post(api::claim))
        .route("/api/task/{id}/release", post(api::release))
        .route("/api/task/{id}/note", post(api::note))
        .route("/api/task/{id}/block", post(api::block))
        .route("/api/task/{id}/unblock", post(api::unblock));
    let pages = ["/", "/inbox", "/graph", "/workers", "/dashboard", "/task/{id}", "/review/{id}"];
    let page = pages.into_iter().fold(Router::new(), |page, path| page.route(path, get(assets::page)));
    let files = Router::new().route("/assets/{name}", get(assets::file)).route("/favicon.ico", get(assets::icon));
    reading
        .merge(changing)
        .merge(page)
        .merge(files)
        .fallback(nothing)
        .layer(DefaultBodyLimit::max(LONGEST))
        .layer(from_fn_with_state(Arc::clone(&site), access::let_in))
        .with_state(site)
}

async fn nothing() -> Response {
    let failure = Failure::refused(Code::NoPage, "page not found").hint(Hint::step("the board is at /"));
    api::refusal(StatusCode::NOT_FOUND, &failure)
}

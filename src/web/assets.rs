//! The static files of the page, which are compiled into the binary.

use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

const PAGE: &str = include_str!("assets/index.html");
const ICON: &str = include_str!("assets/icon.svg");

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        [$(($name, include_str!(concat!("assets/", $name)))),+]
    };
}

pub const FILES: &[(&str, &str)] = &files![
    "api.js",
    "board.js",
    "card.js",
    "changes.js",
    "colour.js",
    "dashboard.js",
    "dialog.js",
    "diff.js",
    "dom.js",
    "drag.js",
    "drag-keys.js",
    "filter.js",
    "graph.js",
    "hand.js",
    "help.js",
    "inbox.js",
    "keys.js",
    "line.js",
    "live.js",
    "live-worker.js",
    "main.js",
    "new.js",
    "picker.js",
    "review.js",
    "route.js",
    "search.js",
    "stream.js",
    "task.js",
    "task-edit.js",
    "task-side.js",
    "theme.js",
    "time.js",
    "toast.js",
    "workers.js",
    "base.css",
    "board.css",
    "dialog.css",
    "drawing.css",
    "print.css",
    "report.css",
    "review.css",
];

pub fn text_of(name: &str) -> Option<&'static str> {
    FILES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

pub async fn page(headers: HeaderMap) -> Response {
    answer(&headers, "text/html; charset=utf-8", PAGE)
}

pub async fn icon(headers: HeaderMap) -> Response {
    answer(&headers, "image/svg+xml", ICON)
}

pub async fn file(Path(name): Path<String>, headers: HeaderMap) -> Response {
    let Some(text) = text_of(&name) else { return StatusCode::NOT_FOUND.into_response() };
    let kind = if name.ends_with(".css") { "text/css; charset=utf-8" } else { "text/javascript; charset=utf-8" };
    answer(&headers, kind, text)
}

/// A static file. The browser validates it with each request, so that the page always matches the server; it is sent if changed.
fn answer(headers: &HeaderMap, kind: &'static str, text: &'static str) -> Response {
    let tag = format!("\"{:08x}\"", crc32fast::hash(text.as_bytes()));
    let fixed = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CACHE_CONTROL, "no-cache".into()),
        (header::ETAG, tag.clone()),
    ];
    if headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes()) {
        return (StatusCode::NOT_MODIFIED, fixed).into_response();
    }
    (fixed, text).into_response()
}

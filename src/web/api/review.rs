//! The endpoints of the inbox and of the review of a task: its plan, changes and runs.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};

use super::change::{Text, change};
use super::{run, run_change, this_minute};
use crate::app::{self, Code, Failure, LineComment, Workspace};
use crate::task::TaskId;
use crate::web::{Site, markdown};

type Shared = State<Arc<Site>>;

pub async fn inbox(State(site): Shared) -> Response {
    super::kept(&site, this_minute("inbox"), |ws, _| {
        let inbox = app::inbox(ws)?;
        let item = |item: &app::InboxItem| {
            let review = item.task.as_ref().is_some_and(|id| app::decisions(ws, id).is_ok_and(|can| can.reject));
            json!({ "kind": item.kind, "name": item.kind.name(), "task": item.task, "title": item.title,
                    "state": item.state, "since": item.since, "blocks": item.blocks, "why": item.why,
                    "question": item.question, "review": review })
        };
        Ok(json!({ "items": inbox.items.iter().map(item).collect::<Vec<_>>() }))
    })
    .await
}

/// All data that a person needs to decide on a task.
pub async fn review(State(site): Shared, Path(typed): Path<String>) -> Response {
    run(&site, move |ws, _| whole(ws, &ws.find(&typed)?)).await
}

fn whole(ws: &Workspace, id: &TaskId) -> Result<Value, Failure> {
    let review = app::review(ws, id)?;
    let plan = review.plan.as_ref().map(|plan| {
        json!({ "path": plan.path, "html": markdown::document(&plan.facts, &plan.body),
                "lines": plan.text.lines().collect::<Vec<_>>() })
    });
    let mut page = serde_json::to_value(&review)
        .map_err(|error| Failure::broken(Code::Json, format!("cannot write the response: {error}")))?;
    page["plan"] = plan.into();
    Ok(page)
}

/// One run, with the end of its output.
pub async fn run_log(State(site): Shared, Path(typed): Path<String>) -> Response {
    run(&site, move |ws, _| {
        let run = app::find_run(ws, &typed)?;
        Ok(json!({ "tail": app::run_text(ws, &run)?, "run": run }))
    })
    .await
}

pub async fn answer(State(site): Shared, Path(typed): Path<String>, body: Bytes) -> Response {
    change(&site, typed, body, |ws, id, answer: Text| app::answer(ws, id, &answer.text)).await
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Nothing {}

pub async fn approve(State(site): Shared, Path(typed): Path<String>, body: Bytes) -> Response {
    change(&site, typed, body, |ws, id, _: Nothing| app::approve(ws, id)).await
}

pub async fn retry(State(site): Shared, Path(typed): Path<String>, body: Bytes) -> Response {
    change(&site, typed, body, |ws, id, _: Nothing| app::retry(ws, id)).await
}

pub async fn merge(State(site): Shared, Path(typed): Path<String>, body: Bytes) -> Response {
    change(&site, typed, body, |ws, id, _: Nothing| app::merge(ws, id, false, &mut |_| {})).await
}

pub async fn stop_run(State(site): Shared, Path(typed): Path<String>) -> Response {
    run_change(&site, move |ws, _| app::stop_run(ws, &app::find_run(ws, &typed)?)).await
}

pub async fn start_team(State(site): Shared, Path(typed): Path<String>) -> Response {
    run_change(&site, move |ws, site| {
        let id = ws.find(&typed)?;
        app::start_team(ws, &id, (site.start_team)(&id)?)
    })
    .await
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Rejection {
    why: String,
    comments: Vec<LineComment>,
}

pub async fn reject(State(site): Shared, Path(typed): Path<String>, body: Bytes) -> Response {
    change(&site, typed, body, |ws, id, back: Rejection| app::reject(ws, id, &back.why, &back.comments)).await
}

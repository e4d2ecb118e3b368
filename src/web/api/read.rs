//! The read endpoints.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use serde_json::{Value, json};

use super::refuse::worded;
use super::{Asked, kept, run, this_minute};
use crate::app::{self, Failure, Graphed, LogQuery, Workspace, describe_workflow};
use crate::task::TaskId;
use crate::web::board::Drawn;
use crate::web::graph::{self as drawing, Frame};
use crate::web::{Site, chains, charts, events as feed, markdown};

/// The path of a task's page, without the id.
const PAGE: &str = "/task/";

type Shared = State<Arc<Site>>;

/// The board and the worker of this session, and whether it can make changes.
pub async fn session(State(site): Shared, headers: HeaderMap) -> Response {
    let trusted = site.access.knows(&headers);
    run(&site, move |ws, site| {
        let me = ws.me().ok().map(|me| me.to_string());
        let may_write = trusted && !site.access.read_only && me.is_some();
        Ok(json!({
            "name": ws.board_name(), "me": me, "read_only": site.access.read_only, "trusted": trusted,
            "may_write": may_write, "version": site.feed.version(), "ralph": env!("CARGO_PKG_VERSION"),
        }))
    })
    .await
}

pub async fn board(State(site): Shared, uri: Uri) -> Response {
    let asked = Asked::of(&uri);
    let key = format!("board {}", uri.query().unwrap_or_default());
    kept(&site, key, move |ws, site| {
        let version = site.feed.version();
        let drawn = site.boards.get(version, &asked.key(), || Drawn::new(ws, &asked))?;
        Ok(drawn.answer(version, &asked))
    })
    .await
}

pub async fn facets(State(site): Shared) -> Response {
    kept(&site, "facets".into(), |ws, site| {
        let all = Asked::default();
        Ok(site.boards.get(site.feed.version(), &all.key(), || Drawn::new(ws, &all))?.facets())
    })
    .await
}

pub async fn status(State(site): Shared) -> Response {
    kept(&site, this_minute("status"), |ws, _| app::status(ws)).await
}

/// The counts beside the names of the views. Every page requests them often, so the journal is not read.
pub async fn counts(State(site): Shared) -> Response {
    kept(&site, "counts".into(), |ws, _| {
        let claims = app::list_claims(ws, false)?.claims;
        let board = ws.board()?;
        let problems = board.problems().len();
        let waiting = app::waiting_count(ws, &board);
        Ok(json!({ "waiting": waiting, "at_work": claims.iter().filter(|claim| claim.live).count(), "problems": problems }))
    })
    .await
}

pub async fn workers(State(site): Shared) -> Response {
    kept(&site, this_minute("workers"), |ws, _| {
        let runs = app::list_runs(ws, None, 20)?;
        Ok(json!({ "claims": app::list_claims(ws, false)?.claims, "runs": runs, "ready": app::status(ws)?.ready }))
    })
    .await
}

pub async fn trends(State(site): Shared, uri: Uri) -> Response {
    let days = Asked::of(&uri).one("days").and_then(|days| days.parse().ok()).unwrap_or(30);
    kept(&site, this_minute(&format!("trends {days}")), move |ws, _| {
        let trends = app::trends(ws, days)?;
        let costs = app::costs_of_days(ws, days)?;
        Ok(json!({ "charts": charts::all(&trends), "trends": trends, "costs": { "total": costs.total, "merged": costs.merged } }))
    })
    .await
}

pub async fn workflow(State(site): Shared) -> Response {
    kept(&site, "workflow".into(), |ws, _| Ok(describe_workflow(ws.flow()))).await
}

pub async fn search(State(site): Shared, uri: Uri) -> Response {
    let text = Asked::of(&uri).one("q").unwrap_or_default().to_owned();
    kept(&site, this_minute(&format!("search {text}")), move |ws, _| app::search(ws, &text, true, 30)).await
}

pub async fn document(State(site): Shared, uri: Uri) -> Response {
    let path = Asked::of(&uri).one("path").unwrap_or_default().to_owned();
    run(&site, move |ws, _| {
        let document = app::read_artifact(ws, &path)?;
        Ok(json!({ "path": document.path, "html": markdown::document(&document.facts, &document.body) }))
    })
    .await
}

/// The graph of all blockers, one part at a time, or the part around one task.
pub async fn graph(State(site): Shared, id: Option<Path<String>>, uri: Uri) -> Response {
    let asked = Asked::of(&uri);
    let all = asked.one("all").is_some();
    let part = asked.one("part").and_then(|part| part.parse().ok()).unwrap_or(1);
    let typed = id.map(|Path(typed)| typed);
    kept(&site, format!("graph {typed:?} {all} {part}"), move |ws, _| match typed {
        Some(typed) => {
            let id = ws.find(&typed)?;
            let graphed = app::graph(ws, std::slice::from_ref(&id), all)?;
            Ok(json!({ "svg": drawn_around(&graphed, &id), "nodes": graphed.nodes.len() }))
        }
        None => Ok(drawn_part(&app::graph(ws, &[], all)?, part)),
    })
    .await
}

fn drawn_around(graphed: &Graphed, id: &TaskId) -> String {
    let near = chains::around(graphed, id);
    let left_out = graphed.nodes.len() - near.len();
    // A reader can open a task at the edge to see the tasks beyond it.
    let foot = (left_out > 0).then(|| (format!("and {left_out} more that are further away"), None));
    drawing::draw(near, &Frame { root: Some(id), page: PAGE, foot })
}

/// Draws a part of the graph; for a number that is too high, the last part.
fn drawn_part(graphed: &Graphed, part: usize) -> Value {
    let mut parts = chains::parts(graphed);
    let (count, part) = (parts.len(), part.clamp(1, parts.len().max(1)));
    let next = part % count.max(1) + 1;
    let foot = || (format!("part {part} of {count}: continue with part {next}"), Some(format!("/graph?part={next}")));
    let nodes = if parts.is_empty() { Vec::new() } else { parts.swap_remove(part - 1) };
    let frame = Frame { root: None, page: PAGE, foot: (count > 1).then(foot) };
    json!({ "svg": drawing::draw(nodes, &frame), "nodes": graphed.nodes.len(), "part": part, "parts": count })
}

pub async fn task(State(site): Shared, Path(typed): Path<String>) -> Response {
    run(&site, move |ws, _| whole(ws, &ws.find(&typed)?)).await
}

/// The states that a task can be moved to, for a card that is being dragged.
pub async fn targets(State(site): Shared, Path(typed): Path<String>) -> Response {
    run(&site, move |ws, _| reachable(ws, &ws.find(&typed)?)).await
}

fn reachable(ws: &Workspace, id: &TaskId) -> Result<Value, Failure> {
    let target = |target: app::MoveView| {
        let refusal = target.refused.as_ref().map(worded);
        json!({ "state": target.state, "allowed": refusal.is_none(), "outside": target.outside, "refusal": refusal })
    };
    // Anonymous callers cannot move tasks.
    if ws.me().is_err() {
        return Ok(json!([]));
    }
    Ok(app::targets(ws, id)?.into_iter().filter(|target| !target.here).map(target).collect())
}

/// A task with all data of its page.
fn whole(ws: &Workspace, id: &TaskId) -> Result<Value, Failure> {
    let shown = app::show(ws, id)?;
    let html: Vec<String> = shown.notes.iter().map(|note| markdown::render(&note.text)).collect();
    let query = LogQuery { task: Some(id.clone()), limit: Some(100), ..LogQuery::default() };
    let history = app::log(ws, &query)?.into_iter().map(|line| {
        let own = line.fields.iter().filter(|field| field.task == *id);
        json!({ "at": line.line.at, "by": line.line.by, "verb": line.line.verb, "undone": line.undone,
                "fields": own.collect::<Vec<_>>() })
    });
    let graphed = if shown.archived { None } else { Some(app::graph(ws, std::slice::from_ref(id), true)?) };
    let linked = shown.linked.iter().map(|(id, title, state)| json!({ "id": id, "title": title, "state": state }));
    Ok(json!({
        "description_html": markdown::render(&shown.description),
        "notes_html": html,
        "history": history.collect::<Vec<_>>(),
        "timeline": app::timeline(ws, id)?,
        "targets": if shown.archived { json!([]) } else { reachable(ws, id)? },
        "why": if shown.archived { None } else { Some(app::why(ws, id)?.verdict) },
        "graph": graphed.filter(|graph| graph.nodes.len() > 1).map(|graph| drawn_around(&graph, id)),
        "linked": linked.collect::<Vec<_>>(),
        "task": shown,
    }))
}

pub async fn events(State(site): Shared, headers: HeaderMap) -> Response {
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    feed::stream_to(site, last)
}

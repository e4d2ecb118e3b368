//! Resources that can be read and subscribed to: the board, the workflow, each task, each document.

use rmcp::model::{ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::json;

use super::reply::Brief;
use crate::app::{self, Code, Failure, Hint, Query, Workspace};
use crate::task::TaskId;

pub const BOARD: &str = "ralph://board";
pub const WORKFLOW: &str = "ralph://workflow";
const TASK: &str = "ralph://task/";
const DOCUMENT: &str = "ralph://artifact/";

/// Resources on one page of the list.
const PAGE: usize = 100;

pub fn task_uri(id: &TaskId) -> String {
    format!("{TASK}{id}")
}

pub fn document_uri(path: &str) -> String {
    format!("{DOCUMENT}{}", escaped(path))
}

/// A path, escaped for a URI.
fn escaped(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    path.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
            }
            byte => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).ok()
}

pub fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{TASK}{{id}}"), "task")
            .with_description("One task with its description, notes and links")
            .with_mime_type("application/json"),
        ResourceTemplate::new(format!("{DOCUMENT}{{+path}}"), "artifact")
            .with_description("A research document, plan, review or report, by its path in the repository")
            .with_mime_type("text/markdown"),
    ]
}

/// The board and the workflow first, then the open tasks in the usual order, each followed by its documents.
pub fn list(ws: &Workspace, cursor: Option<&str>) -> Result<ListResourcesResult, Failure> {
    let skip: usize = match cursor {
        Some(cursor) => cursor.parse().map_err(|_| bad_cursor(cursor))?,
        None => 0,
    };
    let mut all = vec![
        Resource::new(BOARD, "board").with_description("The board at a glance").with_mime_type("application/json"),
        Resource::new(WORKFLOW, "workflow")
            .with_description("States, commands, intents and roles")
            .with_mime_type("application/json"),
    ];
    for task in app::list(ws, &Query::default())?.tasks {
        let described = format!("{} [{}]", task.title, task.state);
        all.push(
            Resource::new(task_uri(&task.id), task.id.to_string())
                .with_title(task.title.clone())
                .with_description(described)
                .with_mime_type("application/json"),
        );
        all.extend(task.artifacts.iter().map(|(kind, path)| {
            Resource::new(document_uri(path), path.clone())
                .with_title(format!("{kind} of {}", task.id))
                .with_mime_type("text/markdown")
        }));
    }
    let end = skip.saturating_add(PAGE);
    let more = all.len() > end;
    let page: Vec<Resource> = all.into_iter().skip(skip).take(PAGE).collect();
    let mut result = ListResourcesResult::with_all_items(page);
    result.next_cursor = more.then(|| end.to_string());
    Ok(result)
}

fn bad_cursor(cursor: &str) -> Failure {
    Failure::usage(Code::BadCursor, format!("{cursor:?} is not a cursor of this list"))
        .hint(Hint::step("start without a cursor"))
}

/// The resource that a URI names.
enum NamedResource {
    Board,
    Workflow,
    Task(TaskId),
    Document(String),
}

fn named(ws: &Workspace, uri: &str) -> Result<NamedResource, Failure> {
    let unknown = || {
        Failure::refused(Code::NoResource, format!("unknown resource {uri:?}"))
            .hint(Hint::step("use ralph://board, ralph://workflow, ralph://task/ID or ralph://artifact/PATH"))
    };
    match uri {
        BOARD => Ok(NamedResource::Board),
        WORKFLOW => Ok(NamedResource::Workflow),
        _ => match (uri.strip_prefix(TASK), uri.strip_prefix(DOCUMENT)) {
            (Some(id), _) => Ok(NamedResource::Task(ws.find(id)?)),
            (_, Some(path)) => Ok(NamedResource::Document(unescaped(path).ok_or_else(unknown)?)),
            _ => Err(unknown()),
        },
    }
}

/// Refuses a subscription to a resource that cannot be read.
pub fn check(ws: &Workspace, uri: &str) -> Result<(), Failure> {
    match named(ws, uri)? {
        NamedResource::Document(path) => app::read_artifact(ws, &path).map(drop),
        NamedResource::Task(id) if uri != task_uri(&id) => {
            Err(Failure::refused(Code::NoResource, format!("subscribe to {}", task_uri(&id))).hint(Hint::List))
        }
        _ => Ok(()),
    }
}

pub fn read(ws: &Workspace, uri: &str) -> Result<ReadResourceResult, Failure> {
    let (text, kind) = match named(ws, uri)? {
        NamedResource::Board => (board(ws)?, "application/json"),
        NamedResource::Workflow => (app::describe_workflow(ws.flow()).to_string(), "application/json"),
        NamedResource::Task(id) => (json!(app::show(ws, &id)?).to_string(), "application/json"),
        NamedResource::Document(path) => (app::read_artifact(ws, &path)?.text, "text/markdown"),
    };
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(kind)]))
}

/// The status, and the first open tasks; the tool `list` has all of them.
fn board(ws: &Workspace) -> Result<String, Failure> {
    let listed = app::list(ws, &Query { limit: Some(PAGE), ..Query::default() })?;
    let tasks: Vec<Brief> = listed.tasks.iter().map(Brief::from).collect();
    Ok(json!({ "status": app::status(ws)?, "open": listed.total, "tasks": tasks }).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_survives_its_uri() {
        for path in ["thoughts/shared/plans/2026 größe%.md", "a/b-c_d~.md"] {
            let uri = document_uri(path);
            assert!(!uri.contains(' ') && uri.is_ascii(), "{uri}");
            assert_eq!(unescaped(uri.strip_prefix(DOCUMENT).unwrap()).as_deref(), Some(path));
        }
        assert_eq!(unescaped("a%2"), None);
        assert_eq!(unescaped("%ff"), None);
    }
}

//! `commit`: commits the board and its documents, and nothing else.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::app::{Failure, Workspace};
use crate::fs;
use crate::git::ATTRIBUTES;
use crate::store::codec::has_conflict_markers;
use crate::store::{BoardLock, FOLDERS, is_board};
use crate::task::Problem;

/// The lines that `init` adds to `.gitignore`.
pub(in crate::app) const IGNORED: [&str; 1] = ["/worktrees/"];

/// Files of the person to which `init` adds lines.
const SHARED: [&str; 3] = [".gitattributes", ".gitignore", ".taplo.toml"];

/// The content of `.taplo.toml` that `init` writes.
pub(in crate::app) const TAPLO: &str = r#"# Lets editors complete and check the files of the ralph board.

[[rule]]
include = [".ralph/tasks/*.toml"]
[rule.schema]
path = ".ralph/schema/task.json"

[[rule]]
include = [".ralph/config.toml"]
[rule.schema]
path = ".ralph/schema/config.json"

[[rule]]
include = [".ralph/workflow.toml"]
[rule.schema]
path = ".ralph/schema/workflow.json"
"#;

#[derive(Debug, Serialize)]
pub struct BoardCommit {
    /// `None` if there was nothing to commit.
    pub commit: Option<String>,
    pub message: String,
    pub paths: Vec<String>,
}

pub fn commit(ws: &Workspace, message: Option<&str>) -> Result<BoardCommit, Failure> {
    ws.tell_if_ignored();
    // Under the lock, no other command is half done.
    let lock = ws.lock()?;
    commit_board(ws, &lock, message)
}

pub(in crate::app) fn commit_board(
    ws: &Workspace,
    _lock: &BoardLock,
    message: Option<&str>,
) -> Result<BoardCommit, Failure> {
    let paths = board_changes(ws)?;
    refuse_unmerged(ws, &paths)?;
    let message = message.map_or_else(|| subject(&paths), |text| format!("board: {text}"));
    let made = ws.repository.commit_paths(&paths, &message)?;
    Ok(match made {
        Some(made) => BoardCommit { commit: Some(made.id), message, paths: made.paths },
        None => BoardCommit { commit: None, message: String::new(), paths: Vec::new() },
    })
}

/// Refuses files with conflict markers; other broken files are only reported.
fn refuse_unmerged(ws: &Workspace, paths: &[String]) -> Result<(), Failure> {
    for path in paths.iter().filter(|path| path.ends_with(".toml")) {
        let Ok(Some(text)) = fs::read(&ws.store.root().join(path)) else { continue };
        let text = String::from_utf8_lossy(&text);
        if let Some(offset) = has_conflict_markers(&text) {
            let problem = Problem::at(path, &text, offset, "both sides of a conflict are still in the file");
            return Err(Failure::from(problem.hint("resolve each conflict first")));
        }
    }
    if !paths.is_empty() {
        // Reading the board reports every file that cannot be read.
        ws.board()?;
    }
    Ok(())
}

/// The files of the board that differ from HEAD, and shared files in which `init` added the only changes.
fn board_changes(ws: &Workspace) -> Result<Vec<String>, Failure> {
    let mut paths = ws.repository.changed_paths(&FOLDERS)?;
    paths.retain(|path| is_board(path));
    for name in ws.repository.changed_paths(&SHARED)? {
        let old = ws.repository.file_at("HEAD", &name)?.unwrap_or_default();
        let new = fs::read(&ws.store.root().join(&name))?.unwrap_or_default();
        if is_ours(&name, &old, &new) {
            paths.push(name);
        }
    }
    Ok(paths)
}

/// Whether a shared file differs only by lines that `init` adds.
pub(in crate::app) fn is_ours(path: &str, old: &[u8], new: &[u8]) -> bool {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match path {
        ".gitattributes" => only_adds(&text(old), &text(new), &ATTRIBUTES),
        ".gitignore" => only_adds(&text(old), &text(new), &IGNORED),
        ".taplo.toml" => old.is_empty() && new == TAPLO.as_bytes(),
        _ => false,
    }
}

/// The subject of a commit, such as `board: t-x7kq, t-9f2m and 3 more`.
pub(in crate::app) fn subject(paths: &[String]) -> String {
    let task = |path: &String| {
        let rest = path.strip_prefix(".ralph/")?;
        let (folder, name) = rest.split_once('/')?;
        let id = match folder {
            "tasks" | "archive" => name.strip_suffix(".toml")?,
            "notes" => name.split('/').next()?,
            _ => return None,
        };
        Some(id.to_owned())
    };
    let tasks: BTreeSet<String> = paths.iter().filter_map(task).collect();
    let first: Vec<&str> = tasks.iter().take(3).map(String::as_str).collect();
    match tasks.len() {
        0 if paths.iter().any(|path| path.starts_with("thoughts/")) => "board: documents".into(),
        0 if paths.iter().all(|path| path.starts_with(".ralph/journal/")) => "board: journal".into(),
        0 => "board: settings".into(),
        1..=3 => format!("board: {}", first.join(", ")),
        many => format!("board: {} and {} more", first.join(", "), many - 3),
    }
}

/// Whether `new` differs from `old` only by added lines out of `lines`.
pub(in crate::app) fn only_adds(old: &str, new: &str, lines: &[&str]) -> bool {
    let mut rest = old.lines().peekable();
    let added = new.lines().filter(|line| rest.next_if_eq(line).is_none()).collect::<Vec<_>>();
    rest.next().is_none() && added.iter().all(|line| lines.contains(line))
}

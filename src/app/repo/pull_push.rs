//! `pull` and `push`: the board between clones, and nothing but the board.

use std::time::Duration;

use serde::Serialize;

use crate::app::workspace::board_files::BoardFiles;
use crate::app::workspace::git_commit::{commit_board, is_ours};
use crate::app::{Code, Failure, FailureKind, Hint, Workspace};
use crate::git::{Landing, Prepared, Pushed, Style, Upstream};
use crate::store::is_board;
use crate::store::merge::Side;

/// How often a push is tried again when somebody else was quicker.
const TRIES: u32 = 10;

#[derive(Debug, Clone, Serialize)]
pub struct Shared {
    pub remote: String,
    pub branch: String,
    /// The branch's name there.
    pub upstream: String,
    /// What was not committed yet.
    pub committed: Option<String>,
    /// The commit that the board is at now, where it came from others.
    pub pulled: Option<String>,
    /// The board's files that others changed.
    pub changed: Vec<String>,
    /// Those of them that are gone.
    pub removed: Vec<String>,
    /// For `push`: whether the remote got something.
    pub pushed: bool,
}

/// Where both changed the same thing of a task, `take` says whose counts.
pub fn pull(ws: &Workspace, remote: Option<&str>, take: Option<Side>) -> Result<Shared, Failure> {
    let upstream = ws.repository.upstream(remote)?;
    if !ws.repository.fetch(&upstream)? {
        let message = format!("{} has no branch {} yet", upstream.remote, upstream.theirs);
        return Err(Failure::refused(Code::NoRemoteBranch, message).hint(Hint::run("push", "to create it")));
    }
    let shared = bring_in(ws, &upstream, take)?;
    crate::app::workspace::remote_claims::publish_missing(ws)?;
    Ok(shared)
}

pub fn push(ws: &Workspace, remote: Option<&str>, take: Option<Side>) -> Result<Shared, Failure> {
    let upstream = ws.repository.upstream(remote)?;
    let mut all: Option<Shared> = None;
    for attempt in 0..TRIES {
        let there = ws.repository.fetch(&upstream)?;
        let shared = if there { bring_in(ws, &upstream, take)? } else { committed(ws, &upstream)? };
        let mut shared = joined(all.take(), shared);
        if there && ws.repository.contains(&upstream.tracking(), &format!("refs/heads/{}", upstream.branch)) {
            crate::app::workspace::remote_claims::publish_missing(ws)?;
            return Ok(shared);
        }
        refuse_code(ws, &upstream, there)?;
        if ws.repository.push(&upstream)? != Pushed::Behind {
            shared.pushed = true;
            crate::app::workspace::remote_claims::publish_missing(ws)?;
            return Ok(shared);
        }
        all = Some(shared);
        let pause = ws.rng().u64(10..=50) << attempt.min(5);
        std::thread::sleep(Duration::from_millis(pause));
    }
    let message = format!("somebody else was quicker {TRIES} times in a row");
    Err(Failure::new(FailureKind::Raced, Code::Raced, message).hint(Hint::Retry))
}

impl Shared {
    fn nothing(upstream: &Upstream) -> Self {
        Self {
            remote: upstream.remote.clone(),
            branch: upstream.branch.clone(),
            upstream: upstream.theirs.clone(),
            committed: None,
            pulled: None,
            changed: Vec::new(),
            removed: Vec::new(),
            pushed: false,
        }
    }
}

/// A link among the board's files leads wherever its maker likes.
fn refuse_links(ws: &Workspace, landing: &Landing) -> Result<(), Failure> {
    let links: Vec<String> = ws.repository.landing_links(landing)?;
    if links.is_empty() {
        return Ok(());
    }
    let message = format!("what comes in has links among the board's files: {}", some(&links));
    Err(Failure::refused(Code::Links, message).hint(Hint::shell("git pull", "to merge them, if you trust them")))
}

fn joined(before: Option<Shared>, mut now: Shared) -> Shared {
    if let Some(before) = before {
        now.committed = now.committed.or(before.committed);
        now.pulled = now.pulled.or(before.pulled);
        now.changed.extend(before.changed);
        now.removed.extend(before.removed);
        now.changed.sort();
        now.changed.dedup();
    }
    now
}

/// The remote has nothing to bring in.
fn committed(ws: &Workspace, upstream: &Upstream) -> Result<Shared, Failure> {
    let lock = ws.lock()?;
    Ok(Shared { committed: commit_board(ws, &lock, None)?.commit, ..Shared::nothing(upstream) })
}

/// Commits what is here, then merges what was fetched.
fn bring_in(ws: &Workspace, upstream: &Upstream, take: Option<Side>) -> Result<Shared, Failure> {
    let lock = ws.lock()?;
    let mut shared = Shared { committed: commit_board(ws, &lock, None)?.commit, ..Shared::nothing(upstream) };
    let files = BoardFiles::taking(take);
    let (ours, theirs) = (format!("refs/heads/{}", upstream.branch), upstream.tracking());
    let style = if ws.repository.contains(&theirs, &ours) { Style::Forward } else { Style::Merge };
    let message = format!("board: merge {}/{}\n", upstream.remote, upstream.theirs);
    match ws.repository.prepare(&upstream.branch, &theirs, style, &message, &files)? {
        Prepared::Nothing => {}
        Prepared::Conflicts(paths) => return Err(conflict(&files, &paths, upstream)),
        Prepared::Ready(landing) => {
            refuse_others(ws, &landing, upstream)?;
            shared.changed = ws.repository.landing_paths(&landing)?;
            refuse_links(ws, &landing)?;
            ws.repository.land(&landing)?;
            let gone = |path: &&String| !ws.store.root().join(path).exists();
            shared.removed = shared.changed.iter().filter(gone).cloned().collect();
            shared.pulled = Some(landing.new);
        }
    }
    Ok(shared)
}

fn conflict(files: &BoardFiles, paths: &[String], upstream: &Upstream) -> Failure {
    let code: Vec<&String> = paths.iter().filter(|path| !is_board(path)).collect();
    let shown: Vec<String> = paths.iter().map(|path| files.describe(path)).collect();
    let message = format!("both this clone and {} changed {}", upstream.remote, shown.join(", "));
    let failure = Failure::refused(Code::Conflict, message);
    match code.is_empty() {
        true => failure
            .hint(Hint::step("your own changes are committed; nothing else was changed"))
            .hint(Hint::option("--take ours|theirs", "to resolve exactly these")),
        false => failure
            .hint(Hint::step("your own changes are committed; nothing else was changed"))
            .hint(Hint::shell("git pull", "to resolve it by hand")),
    }
}

/// Whether a change of a path is the board's own.
fn belongs(ws: &Workspace, path: &str, old: &str, new: &str) -> Result<bool, Failure> {
    let at = |revision: &str| ws.repository.file_at(revision, path).map(Option::unwrap_or_default);
    Ok(is_board(path) || is_ours(path, &at(old)?, &at(new)?))
}

fn strangers(ws: &Workspace, paths: &[String], old: &str, new: &str) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    for path in paths {
        if !belongs(ws, path, old, new)? {
            found.push(path.clone());
        }
    }
    Ok(found)
}

fn some(paths: &[String]) -> String {
    match paths {
        [a, b, c, rest @ ..] if !rest.is_empty() => format!("{a}, {b}, {c} and {} more", rest.len()),
        few => few.join(", "),
    }
}

/// What comes in is the board's alone: a person brings in code, when it suits them.
fn refuse_others(ws: &Workspace, landing: &Landing, upstream: &Upstream) -> Result<(), Failure> {
    let paths = ws.repository.landing_paths(landing)?;
    let others = strangers(ws, &paths, &landing.old, &landing.new)?;
    if others.is_empty() {
        return Ok(());
    }
    let message = format!("{}/{} brings more than the board: {}", upstream.remote, upstream.theirs, some(&others));
    Err(Failure::refused(Code::NotOnlyBoard, message)
        .hint(Hint::shell("git pull", "first; it merges the board as well")))
}

/// What goes out is the board's alone: a person publishes code, when it is ready.
fn refuse_code(ws: &Workspace, upstream: &Upstream, there: bool) -> Result<(), Failure> {
    let ours = format!("refs/heads/{}", upstream.branch);
    let others = if there {
        let paths = ws.repository.paths_between(&upstream.tracking(), &ours)?;
        strangers(ws, &paths, &upstream.tracking(), &ours)?
    } else {
        let paths = ws.repository.paths_of(&ours)?;
        // Before the first commit there was nothing.
        strangers(ws, &paths, "", &ours)?
    };
    if others.is_empty() {
        return Ok(());
    }
    let message =
        format!("{} has more than the board that {} has not: {}", upstream.branch, upstream.remote, some(&others));
    Err(Failure::refused(Code::NotOnlyBoard, message)
        .hint(Hint::shell("git push", "first; it pushes the board as well")))
}

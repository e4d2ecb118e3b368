//! Exchanges the board between clones: commits it, joins it with what was fetched, and publishes it.
//!
//! Unpublished commits of the board are squashed into one on top of the fetched branch, so that the history stays linear. If a task's
//! branch is based on them, or if they contain code, they are merged instead.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::app::workspace::board_files::BoardFiles;
use crate::app::workspace::git_commit::{commit_board, is_ours, subject};
use crate::app::{Code, Failure, Hint, Workspace};
use crate::git::{Landing, Prepared, RefUpdate, Style, Upstream};
use crate::store::merge::Side;
use crate::store::{codec, is_board};
use crate::task::{Kind, TaskId};

use super::view::task_of;

#[derive(Debug, Clone, Serialize)]
pub struct Shared {
    pub remote: String,
    pub branch: String,
    /// The branch's name there.
    pub upstream: String,
    /// The commit of changes that had not been committed.
    pub committed: Option<String>,
    /// The new commit of the board, if others had changes.
    pub pulled: Option<String>,
    /// The board's files that others changed.
    pub changed: Vec<String>,
    /// Those of them that are gone.
    pub removed: Vec<String>,
    /// For `push`: whether the remote got something.
    pub pushed: bool,
}

impl Shared {
    pub fn nothing(upstream: &Upstream) -> Self {
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

/// What may be merged besides the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum Incoming {
    /// Nothing: people merge code themselves.
    Board,
    /// Also code that other machines have merged.
    Everything,
}

/// The branch of the board on the remote through which machines agree.
pub(super) fn upstream(ws: &Workspace, remote: &str) -> Option<Upstream> {
    ws.repository.upstream(Some(remote)).ok()
}

fn branch_of(upstream: &Upstream) -> String {
    format!("refs/heads/{}", upstream.branch)
}

impl Workspace {
    /// Whether this command pulls and pushes the board automatically, together with its claims.
    pub(in crate::app) fn exchanges(&self) -> bool {
        self.claims_remote().is_some()
            && !self.board_kept_back.get()
            && match self.settings.text("claims.exchange") {
                "always" => true,
                "off" => false,
                _ => self.runs_programs.get(),
            }
    }

    /// Marks this process as one that runs programs on tasks, and therefore exchanges the board.
    pub(in crate::app) fn exchange_by_itself(&self) {
        self.runs_programs.set(true);
    }

    pub(super) fn keep_board_back(&self, why: &str) {
        self.board_kept_back.set(true);
        let text =
            format!("{why}; other machines know which tasks changed, but do not see the changes until the next push");
        if !self.notices().contains(&text) {
            self.notice(text);
        }
    }

    /// Pulls and pushes the board between two turns. A failure is only reported; the next exchange tries again.
    pub(in crate::app) fn exchange_now(&self) {
        if self.claims_remote().is_some()
            && let Err(failure) = self.look().and_then(|()| self.send_all())
        {
            self.notice(format!("cannot pull and push the board: {}", failure.message));
        }
    }
}

/// Commits the board, joins it with what was last fetched, and returns the update to push; `None` if the remote has everything, or if
/// the board cannot be pushed.
pub(super) fn outgoing(ws: &Workspace, remote: &str) -> Result<Option<RefUpdate>, Failure> {
    let Some(upstream) = upstream(ws, remote) else { return Ok(None) };
    let there = ws.repository.commit_named(&upstream.tracking());
    let joined = match there {
        Some(_) => bring_in(ws, &upstream, None, Incoming::Everything).map(|_| ()),
        None => committed(ws, &upstream).map(|_| ()),
    };
    if let Err(failure) = joined {
        ws.keep_board_back(&format!("the board cannot be pushed: {}", failure.message));
        return Ok(None);
    }
    let Some(tip) = ws.repository.commit_named(&branch_of(&upstream)) else { return Ok(None) };
    if there.as_ref() == Some(&tip) {
        return Ok(None);
    }
    if !is_ours_to_publish(ws, &upstream)? {
        ws.keep_board_back(&format!(
            "{} has unpushed commits with changes outside the board; push them first",
            upstream.branch
        ));
        return Ok(None);
    }
    Ok(Some(RefUpdate::branch(&upstream, there, tip)))
}

/// The condition that the board's branch has not changed since the last fetch, so that a claim based on an older board is refused.
pub(super) fn guard(ws: &Workspace, remote: &str) -> Option<RefUpdate> {
    let upstream = upstream(ws, remote)?;
    let there = ws.repository.commit_named(&upstream.tracking())?;
    Some(RefUpdate::branch(&upstream, Some(there.clone()), there))
}

/// Whether all of the board that is committed here is on the remote.
pub(super) fn is_published(ws: &Workspace, remote: &str) -> bool {
    upstream(ws, remote).is_some_and(|upstream| ws.repository.contains(&upstream.tracking(), &branch_of(&upstream)))
}

/// Whether the board on the remote has a line of the journal.
pub(super) fn upstream_has(ws: &Workspace, remote: &str, line: &str) -> Result<bool, Failure> {
    // Every command asks this until the answer is yes, so the journal is read only if the answer can be yes.
    if !is_published(ws, remote) {
        return Ok(false);
    }
    Ok(has_line(ws, remote, line)?.unwrap_or(false))
}

/// Whether the journal on the remote has a line, as of the last fetch; `None` if the remote has no board.
pub(super) fn has_line(ws: &Workspace, remote: &str, line: &str) -> Result<Option<bool>, Failure> {
    let there = upstream(ws, remote).and_then(|upstream| ws.repository.commit_named(&upstream.tracking()));
    there.map(|_| journal_there(ws, remote).map(|journal| journal.contains(line))).transpose()
}

/// The text of the journal on the remote, as of the last fetch.
pub(super) fn journal_there(ws: &Workspace, remote: &str) -> Result<String, Failure> {
    let there = upstream(ws, remote).map(|upstream| upstream.tracking());
    let Some(there) = there.filter(|there| ws.repository.commit_named(there).is_some()) else {
        return Ok(String::new());
    };
    let files = ws.repository.files_at(&there, ".ralph/journal")?;
    Ok(files.iter().map(|file| String::from_utf8_lossy(&file.content)).collect())
}

/// The file of a task on the remote, as of the last fetch.
pub(super) fn task_there(ws: &Workspace, remote: &str, id: &TaskId) -> Result<Option<String>, Failure> {
    let Some(upstream) = upstream(ws, remote) else { return Ok(None) };
    let bytes = ws.repository.file_at(&upstream.tracking(), &format!(".ralph/tasks/{id}.toml"))?;
    Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()))
}

/// A task whose file the remote has changed since this clone's last pull.
struct ChangedThere {
    task: TaskId,
    path: String,
    before: Option<Vec<u8>>,
    there: Option<Vec<u8>>,
}

/// Tasks that were changed on the remote but not in this clone, each with the place of the change.
pub(super) fn changed_upstream(ws: &Workspace, remote: &str) -> Result<BTreeMap<TaskId, String>, Failure> {
    let Some(upstream) = upstream(ws, remote) else { return Ok(BTreeMap::new()) };
    let place = format!("{}/{}", upstream.remote, upstream.theirs);
    let mut found = BTreeMap::new();
    for changed in changed_there(ws, &upstream)? {
        if crate::fs::read(&ws.store.root().join(&changed.path))? != changed.there {
            found.insert(changed.task, place.clone());
        }
    }
    Ok(found)
}

/// Tasks that were moved on the remote since this clone's last pull.
pub(super) fn moved_upstream(ws: &Workspace, remote: &str) -> Result<Vec<TaskId>, Failure> {
    let Some(upstream) = upstream(ws, remote) else { return Ok(Vec::new()) };
    let state = |task: &TaskId, file: Option<Vec<u8>>| {
        let text = String::from_utf8(file?).ok()?;
        codec::read(task, "", &text, ws.flow()).ok().map(|read| read.task.state)
    };
    let moved = |changed: ChangedThere| {
        let ChangedThere { task, before, there, .. } = changed;
        (state(&task, before) != state(&task, there)).then_some(task)
    };
    Ok(changed_there(ws, &upstream)?.into_iter().filter_map(moved).collect())
}

fn changed_there(ws: &Workspace, upstream: &Upstream) -> Result<Vec<ChangedThere>, Failure> {
    let (ours, theirs) = (branch_of(upstream), upstream.tracking());
    let tips = (ws.repository.commit_named(&ours), ws.repository.commit_named(&theirs));
    let (Some(our_tip), Some(their_tip)) = tips else { return Ok(Vec::new()) };
    if our_tip == their_tip || ws.repository.contains(&ours, &theirs) {
        return Ok(Vec::new());
    }
    let Some(base) = ws.repository.common_commit(&our_tip, &their_tip)? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for path in ws.repository.paths_between(&base, &their_tip)? {
        let Some(task) = task_of(&path) else { continue };
        let (before, there) = (ws.repository.file_at(&base, &path)?, ws.repository.file_at(&their_tip, &path)?);
        found.push(ChangedThere { task, path, before, there });
    }
    Ok(found)
}

/// Commits the board; the remote has nothing to merge.
pub(in crate::app) fn committed(ws: &Workspace, upstream: &Upstream) -> Result<Shared, Failure> {
    let lock = ws.lock()?;
    ws.withdraw_lost(&lock)?;
    Ok(Shared { committed: commit_board(ws, &lock, None)?.commit, ..Shared::nothing(upstream) })
}

/// Commits what is here, then joins it with what was fetched.
pub(in crate::app) fn bring_in(
    ws: &Workspace,
    upstream: &Upstream,
    take: Option<Side>,
    incoming: Incoming,
) -> Result<Shared, Failure> {
    let lock = ws.lock()?;
    ws.withdraw_lost(&lock)?;
    let mut shared = Shared { committed: commit_board(ws, &lock, None)?.commit, ..Shared::nothing(upstream) };
    let files = BoardFiles::taking(take).starting_in(ws.flow().initial(Kind::Issue));
    let theirs = upstream.tracking();
    let (style, message) = joining(ws, upstream)?;
    match ws.repository.prepare(&upstream.branch, &theirs, style, &message, &files)? {
        Prepared::Nothing => {}
        Prepared::Conflicts(paths) => return Err(conflict(&files, &paths, upstream)),
        Prepared::Ready(landing) => {
            if incoming == Incoming::Board {
                refuse_others(ws, &landing, upstream)?;
            }
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

/// How to join the board with what was fetched, and the message of the commit if one is made.
fn joining(ws: &Workspace, upstream: &Upstream) -> Result<(Style, String), Failure> {
    let (ours, theirs) = (branch_of(upstream), upstream.tracking());
    let merge = format!("board: merge {}/{}\n", upstream.remote, upstream.theirs);
    if ws.repository.contains(&theirs, &ours) {
        return Ok((Style::Forward, merge));
    }
    let tips = (ws.repository.commit_named(&ours), ws.repository.commit_named(&theirs));
    let (Some(our_tip), Some(their_tip)) = tips else { return Ok((Style::Merge, merge)) };
    let Some(base) = ws.repository.common_commit(&our_tip, &their_tip)? else { return Ok((Style::Merge, merge)) };
    let paths = ws.repository.paths_between(&base, &our_tip)?;
    let board_only = strangers(ws, &paths, &base, &our_tip)?.is_empty();
    match board_only && !ws.repository.has_branch_on(&upstream.branch, &their_tip)? {
        true => Ok((Style::Onto, format!("{}\n", subject(&paths)))),
        false => Ok((Style::Merge, merge)),
    }
}

/// Whether every commit that the remote lacks belongs to the board or was merged by ralph.
fn is_ours_to_publish(ws: &Workspace, upstream: &Upstream) -> Result<bool, Failure> {
    let (ours, theirs) = (branch_of(upstream), upstream.tracking());
    let there = ws.repository.commit_named(&theirs).is_some();
    let paths = if there { ws.repository.paths_between(&theirs, &ours)? } else { ws.repository.paths_of(&ours)? };
    if strangers(ws, &paths, if there { &theirs } else { "" }, &ours)?.is_empty() {
        return Ok(true);
    }
    if !there {
        return Ok(false);
    }
    for step in ws.repository.moves_since(&upstream.branch, "")?.iter().rev() {
        if ws.repository.contains(&theirs, &step.new) {
            break;
        }
        if !step.is_landing() && !is_board_only(ws, &step.old, &step.new)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_board_only(ws: &Workspace, old: &str, new: &str) -> Result<bool, Failure> {
    if ws.repository.commit_named(old).is_none() {
        return Ok(false);
    }
    Ok(strangers(ws, &ws.repository.paths_between(old, new)?, old, new)?.is_empty())
}

/// Refuses symbolic links among the board's files, because they could lead anywhere.
fn refuse_links(ws: &Workspace, landing: &Landing) -> Result<(), Failure> {
    let links: Vec<String> = ws.repository.landing_links(landing)?;
    if links.is_empty() {
        return Ok(());
    }
    let message = format!("the incoming commits contain symbolic links among the board's files: {}", some(&links));
    Err(Failure::refused(Code::Links, message).hint(Hint::shell("git pull", "to merge them, if you trust them")))
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

/// Whether a change of a path belongs to the board.
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

/// Refuses code in what was fetched: people merge code themselves.
fn refuse_others(ws: &Workspace, landing: &Landing, upstream: &Upstream) -> Result<(), Failure> {
    // Between the two tips there may be code that this clone already has.
    let base = ws.repository.common_commit(&landing.old, &landing.tip)?.unwrap_or_else(|| landing.old.clone());
    let paths = ws.repository.paths_between(&base, &landing.tip)?;
    let others = strangers(ws, &paths, &base, &landing.tip)?;
    if others.is_empty() {
        return Ok(());
    }
    let message =
        format!("{}/{} contains changes outside the board: {}", upstream.remote, upstream.theirs, some(&others));
    Err(Failure::refused(Code::NotOnlyBoard, message)
        .hint(Hint::shell("git pull", "first; it merges the board as well")))
}

/// Refuses to publish code: people push code themselves.
pub(in crate::app) fn refuse_code(ws: &Workspace, upstream: &Upstream, there: bool) -> Result<(), Failure> {
    let ours = branch_of(upstream);
    let others = if there {
        let paths = ws.repository.paths_between(&upstream.tracking(), &ours)?;
        strangers(ws, &paths, &upstream.tracking(), &ours)?
    } else {
        let paths = ws.repository.paths_of(&ours)?;
        // The remote has no commit yet.
        strangers(ws, &paths, "", &ours)?
    };
    if others.is_empty() {
        return Ok(());
    }
    let message = format!(
        "{} has changes outside the board that {} does not have: {}",
        upstream.branch,
        upstream.remote,
        some(&others)
    );
    Err(Failure::refused(Code::NotOnlyBoard, message)
        .hint(Hint::shell("git push", "first; it pushes the board as well")))
}

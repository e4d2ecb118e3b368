//! `worktree`: creates, lists and removes the worktrees of tasks.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::Serialize;

use crate::app::repo::bootstrap::{
    Bootstrapped, Included, Setup, WorktreeStep, before_remove, bootstrap, forget, port_of, refuse_untrusted_setup,
};
use crate::app::repo::rescue::{is_ours, rescue};
use crate::app::{Code, Failure, Hint, Workspace};
use crate::board::{Board, Links};
use crate::config::Source;
use crate::git::{Distance, Worktree};
use crate::store::FileLock;
use crate::task::{StateName, Task, TaskId};

/// The old commit that git passes to `post-checkout` for a new worktree.
const NO_COMMIT: &str = "0000000000000000000000000000000000000000";

/// The commit from which a new branch starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    Main,
    Revision(String),
    /// The branch of the task's blocker.
    Predecessor,
}

#[derive(Debug, Serialize)]
pub struct WorktreeAdded {
    pub task: TaskId,
    pub path: PathBuf,
    pub branch: String,
    pub from: String,
    pub reused: bool,
    pub included: Included,
    /// The first of its own ports.
    pub port: Option<u16>,
}

#[derive(Debug, Serialize)]
pub struct WorktreeView {
    pub path: PathBuf,
    pub branch: Option<String>,
    pub task: Option<TaskId>,
    pub state: Option<StateName>,
    pub dirty: Option<bool>,
    pub distance: Option<Distance>,
    pub locked: Option<String>,
    pub missing: bool,
    pub made: Option<Timestamp>,
    pub port: Option<u16>,
}

#[derive(Debug, Serialize)]
pub struct WorktreeRemoved {
    pub path: PathBuf,
    pub branch: Option<String>,
    pub branch_deleted: bool,
    /// Why it was removed, or would be.
    pub reason: String,
}

/// The path and branch of a task's worktree: those of the primary of its group.
pub(in crate::app) struct Place {
    pub task: TaskId,
    pub path: PathBuf,
    pub branch: String,
}

/// The name comes from the issue, unless a branch with the task's id exists: work that began before the task was
/// mirrored keeps its branch.
fn name(ws: &Workspace, task: &Task) -> String {
    let (own, mirrored) = (task.id.to_string(), task.github.as_ref().map(|link| format!("GH-{}", link.number)));
    let has = |name: &str| ws.repository.has_branch(&format!("feature/{name}"));
    mirrored.filter(|name| has(name) || !has(&own)).unwrap_or(own)
}

pub(in crate::app) fn place(ws: &Workspace, board: &Board, id: &TaskId) -> Result<Place, Failure> {
    let at = board.index_of(id).ok_or_else(|| crate::app::workspace::open::missing(ws, board, id))?;
    let group = board.group_of(at, &Links::new(board), ws.rules())?;
    let task = &board.tasks()[group.primary()];
    let folder = ws.store.root().join("worktrees");
    if folder.is_symlink() {
        let message = format!("{} is a symbolic link; worktrees must be inside the repository", folder.display());
        return Err(Failure::refused(Code::Escapes, message).hint(Hint::step("replace it with a folder")));
    }
    let name = name(ws, task);
    let path = folder.join(&name);
    if path.is_symlink() {
        return Err(Failure::refused(Code::Escapes, format!("{} is a symbolic link", path.display()))
            .hint(Hint::step("remove the link")));
    }
    Ok(Place { task: task.id.clone(), path, branch: format!("feature/{name}") })
}

/// The setting `git.main`; if it is not set and there is no `main`, `master`.
pub(in crate::app) fn main_branch(ws: &Workspace) -> String {
    let named = ws.settings.text("git.main").to_owned();
    let set = ws.settings.get("git.main").is_ok_and(|setting| setting.source != Source::Default);
    let old = "master".to_owned();
    if !set && !ws.repository.has_branch(&named) && ws.repository.has_branch(&old) { old } else { named }
}

/// Creates the worktree of a task and sets it up, unless either was done before.
pub fn add_worktree(
    ws: &Workspace,
    id: &TaskId,
    start: &Start,
    setup: &Setup,
    tell: &mut dyn FnMut(WorktreeStep<'_>),
) -> Result<WorktreeAdded, Failure> {
    refuse_untrusted_setup(ws, setup)?;
    let (place, from, is_new) = checked_out(ws, id, start, tell)?;
    // The lock is released here, because the setup may take minutes.
    let Bootstrapped { included, port } =
        bootstrap(ws, &place, setup, is_new, tell).map_err(|failure| match failure.code {
            Code::SetupFailed => failure
                .hint(Hint::run(&format!("worktree add {id}"), "to run the setup again"))
                .hint(Hint::run(&format!("worktree add {id} --no-setup"), "to work without it")),
            _ => failure,
        })?;
    let Place { task, path, branch } = place;
    Ok(WorktreeAdded { task, path, branch, from, reused: !is_new, included, port })
}

/// Returns the worktree, the start of its branch, and whether the worktree is new.
fn checked_out(
    ws: &Workspace,
    id: &TaskId,
    start: &Start,
    tell: &mut dyn FnMut(WorktreeStep<'_>),
) -> Result<(Place, String, bool), Failure> {
    let _lock = lock(ws)?;
    let board = ws.family(id)?;
    let place = place(ws, &board, id)?;
    let from = revision(ws, &board, &place.task, start)?;
    ws.repository.clear_half_made(&place.path)?;
    if let Some(there) = ws.repository.worktree_at(&place.path)?.filter(|there| !there.missing) {
        return match there.branch.as_deref() == Some(&place.branch) {
            true => Ok((place, from, false)),
            false => Err(wrong_branch(&place, &there)),
        };
    }
    if place.path.exists() && std::fs::read_dir(&place.path).is_ok_and(|mut entries| entries.next().is_some()) {
        let message = format!("{} exists, is not a worktree and is not empty", ws.store.shown(&place.path));
        return Err(Failure::refused(Code::InTheWay, message).hint(Hint::step("move or remove it")));
    }
    let begin = if let Start::Revision(typed) = start { ws.repository.typed(typed)? } else { from.clone() };
    ws.repository.refuse_unsupported(if ws.repository.has_branch(&place.branch) { &place.branch } else { &begin })?;
    ws.repository.forget_missing(&place.path)?;
    forget(ws, &place.path)?;
    let mut progress = |done, of| tell(WorktreeStep::CheckingOut { done, of });
    ws.repository.add_worktree(&place.path, &place.branch, &begin, &mut progress)?;
    // git runs this hook after `worktree add`; gix does not.
    ws.repository.run_hook(&place.path, "post-checkout", &[NO_COMMIT, "HEAD", "1"]);
    Ok((place, from, true))
}

fn wrong_branch(place: &Place, there: &Worktree) -> Failure {
    let on = there.branch.as_ref().map_or_else(|| "a detached HEAD".to_owned(), |branch| format!("branch {branch}"));
    let message = format!("{} exists, but is on {on} instead of {}", place.path.display(), place.branch);
    Failure::refused(Code::WrongBranch, message).hint(Hint::step("switch it to that branch, or remove the worktree"))
}

fn revision(ws: &Workspace, board: &Board, id: &TaskId, start: &Start) -> Result<String, Failure> {
    match start {
        Start::Revision(revision) => Ok(revision.clone()),
        Start::Main => {
            let main = main_branch(ws);
            if ws.repository.has_branch(&main) {
                return Ok(main);
            }
            let message = format!("branch {main:?} does not exist or has no commits");
            Err(Failure::refused(Code::NoMain, message)
                .hint(Hint::run("commit", "to commit the board as the first commit"))
                .hint(Hint::set("git.main", "BRANCH", "to use another branch"))
                .hint(Hint::option("--from REVISION", "to start from another revision")))
        }
        Start::Predecessor => predecessor(ws, board, id),
    }
}

/// The branch of the only blocker that has one.
fn predecessor(ws: &Workspace, board: &Board, id: &TaskId) -> Result<String, Failure> {
    let task = board.get(id).ok_or_else(|| crate::app::workspace::open::missing(ws, board, id))?;
    let branches =
        task.blocked_by.iter().filter_map(|id| board.get(id)).map(|task| format!("feature/{}", name(ws, task)));
    let found: Vec<String> = branches.filter(|branch| ws.repository.has_branch(branch)).collect();
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(Failure::refused(Code::NoPredecessor, format!("{id} has no blocker with a branch"))
            .hint(Hint::omit("--stack", "to start from the main branch"))),
        many => Err(Failure::refused(
            Code::ManyPredecessors,
            format!("{id} has several blockers with a branch: {}", many.join(" or ")),
        )
        .hint(Hint::option("--from BRANCH", "to choose one"))),
    }
}

/// Locks all worktrees of the repository.
fn lock(ws: &Workspace) -> Result<FileLock, Failure> {
    Ok(ws.store.worktree_lock()?)
}

/// The path of a task's worktree, which must exist.
pub fn worktree_path(ws: &Workspace, id: &TaskId) -> Result<PathBuf, Failure> {
    let place = place(ws, &ws.family(id)?, id)?;
    let there = ws.repository.worktree_at(&place.path)?.is_some_and(|there| !there.missing);
    if there {
        return Ok(place.path);
    }
    Err(Failure::refused(Code::NoWorktree, format!("{id} has no worktree")).hint(Hint::Worktree { task: id.clone() }))
}

/// Every linked worktree, with the task that it belongs to.
pub fn list_worktrees(ws: &Workspace) -> Result<Vec<WorktreeView>, Failure> {
    let board = ws.board()?;
    let main = main_branch(ws);
    let mut views = Vec::new();
    for worktree in ws.repository.worktrees()? {
        let task = task_of(&board, &worktree);
        let distance = worktree.branch.as_ref().and_then(|branch| ws.repository.distance(branch, &main).ok());
        views.push(WorktreeView {
            task: task.map(|task| task.id.clone()),
            state: task.map(|task| task.state.clone()),
            dirty: if worktree.missing { None } else { ws.repository.is_dirty(&worktree) },
            distance,
            port: port_of(ws, &worktree.path),
            path: worktree.path,
            branch: worktree.branch,
            locked: worktree.locked,
            missing: worktree.missing,
            made: worktree.made,
        });
    }
    Ok(views)
}

pub(in crate::app) fn task_of<'b>(board: &'b Board, worktree: &Worktree) -> Option<&'b Task> {
    let branch = worktree.branch.as_deref()?.strip_prefix("feature/")?;
    let mirrored = |task: &&Task| task.github.as_ref().is_some_and(|link| branch == format!("GH-{}", link.number));
    board.tasks().iter().find(|task| task.id.as_str() == branch || mirrored(task))
}

/// Refuses if anything would be lost, and names each such thing, unless forced. Deletes the branch only if it is
/// merged.
pub fn remove_worktree(ws: &Workspace, id: &TaskId, force: bool) -> Result<WorktreeRemoved, Failure> {
    let worktree = removable(ws, id, force)?;
    before_remove(ws, Some(id), &worktree.path);
    let _lock = lock(ws)?;
    // The programs may have taken long or left changes, so check again.
    let worktree = removable(ws, id, force)?;
    let reason = if force { "forced" } else { "all of its commits are merged" };
    take_away(ws, &worktree, force, reason.into())
}

fn removable(ws: &Workspace, id: &TaskId, force: bool) -> Result<Worktree, Failure> {
    let place = place(ws, &ws.family(id)?, id)?;
    let none = || Failure::refused(Code::NoWorktree, format!("{id} has no worktree"));
    let worktree = ws.repository.worktree_at(&place.path)?.ok_or_else(none)?;
    let keeps = ws.repository.keeps(&worktree, &main_branch(ws))?;
    if !keeps.is_empty() && !force {
        let reasons: Vec<String> = keeps.iter().map(ToString::to_string).collect();
        let message = format!("cannot remove {}: {}", ws.store.shown(&place.path), reasons.join("; "));
        return Err(Failure::refused(Code::WouldLose, message)
            .hint(Hint::step("commit, merge or push its changes"))
            .hint(Hint::option("--force", "to discard it")));
    }
    Ok(worktree)
}

fn take_away(ws: &Workspace, worktree: &Worktree, force: bool, reason: String) -> Result<WorktreeRemoved, Failure> {
    if !ws.repository.forget_missing(&worktree.path)? {
        rescue(ws, worktree)?;
        ws.repository.remove_worktree(&worktree.path, force)?;
    }
    if is_ours(ws, worktree) {
        forget(ws, &worktree.path)?;
    }
    let main = main_branch(ws);
    let deleted = worktree
        .branch
        .as_ref()
        .is_some_and(|branch| ws.repository.delete_merged_branch(branch, &main).unwrap_or(false));
    Ok(WorktreeRemoved {
        path: worktree.path.clone(),
        branch: worktree.branch.clone(),
        branch_deleted: deleted,
        reason,
    })
}

/// Removes worktrees of finished tasks whose work is merged, and those whose folder is missing. Without `act`, only
/// lists them.
pub fn prune_worktrees(ws: &Workspace, act: bool) -> Result<Vec<WorktreeRemoved>, Failure> {
    let (board, main) = (ws.board()?, main_branch(ws));
    if act {
        for worktree in ws.repository.worktrees()? {
            if prunable(ws, &board, &worktree, &main)?.is_some() {
                before_remove(ws, task_of(&board, &worktree).map(|task| &task.id), &worktree.path);
            }
        }
    }
    let _lock = lock(ws)?;
    let mut done = Vec::new();
    for worktree in ws.repository.worktrees()? {
        let Some(reason) = prunable(ws, &board, &worktree, &main)? else { continue };
        done.push(match act {
            true => take_away(ws, &worktree, false, reason)?,
            false => WorktreeRemoved { path: worktree.path, branch: worktree.branch, branch_deleted: false, reason },
        });
    }
    Ok(done)
}

fn prunable(ws: &Workspace, board: &Board, worktree: &Worktree, main: &str) -> Result<Option<String>, Failure> {
    if worktree.locked.is_some() {
        return Ok(None);
    }
    if worktree.missing {
        return Ok(Some("its folder is missing".into()));
    }
    if !is_ours(ws, worktree) {
        return Ok(None);
    }
    let finished = task_of(board, worktree).is_some_and(|task| ws.flow().is_terminal(task.kind, &task.state));
    let ours = worktree.branch.as_ref().is_some_and(|branch| branch.starts_with("feature/"));
    let orphan = ours && task_of(board, worktree).is_none();
    if !(finished || orphan) || !ws.repository.keeps(worktree, main)?.is_empty() {
        return Ok(None);
    }
    Ok(Some(if finished {
        "its task is finished and merged".into()
    } else {
        "it belongs to no task and is merged".into()
    }))
}

/// Files of the board that were edited in a linked worktree, which has only a copy of the board.
pub(in crate::app) fn edited_copies(ws: &Workspace) -> Result<Vec<String>, Failure> {
    let main = main_branch(ws);
    let mut found = Vec::new();
    for worktree in ws.repository.worktrees()? {
        let place = ws.store.shown(&worktree.path);
        let edited = ws.repository.edited_in(&worktree, ".ralph", &main)?;
        found.extend(
            edited.iter().map(|path| format!("{path} was edited in {place}, which has only a copy of the board")),
        );
    }
    Ok(found)
}

/// Locks the worktree with a reason, or unlocks it without one.
pub fn lock_worktree(ws: &Workspace, id: &TaskId, reason: Option<&str>) -> Result<PathBuf, Failure> {
    let _lock = lock(ws)?;
    let path = worktree_path(ws, id)?;
    ws.repository.lock_worktree(&path, reason)?;
    Ok(path)
}

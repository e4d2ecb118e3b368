//! `merge`: merges a task's branch into main, removes its worktree and branch, and closes the task; completes an
//! interrupted merge.

mod checks;
mod github;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::app::records::failed_merges::{forget_failed_merge, note_failed_merge};
use crate::app::repo::bootstrap::{before_remove, forget};
use crate::app::repo::branch::refuse_unmergeable;
use crate::app::repo::rescue::{is_ours, rescue};
use crate::app::repo::worktree::{Place, main_branch, place};
use crate::app::sync::feedback::fetch_feedback;
use crate::app::sync::target::Target;
use crate::app::work::admit::decide;
use crate::app::work::moves::{Along, carry_out, move_with_note};
use crate::app::workspace::board_files::BoardFiles;
use crate::app::workspace::layers::merges_by_person;
use crate::app::workspace::open::missing;
use crate::app::{Code, Failure, FailureKind, Hint, Workspace};
use crate::board::{Admission, Board, Evidence, Goal, Request};
use crate::fs;
use crate::git::{Landing, Prepared, Style, Worktree};
use crate::store::BoardLock;
use crate::task::{Kind, StateName, Task, TaskId};
use crate::workflow::Intent;
use checks::{checked, keep_failed_check, resolve_checks};

#[derive(Debug, Serialize)]
pub struct Merged {
    pub task: TaskId,
    pub branch: String,
    pub into: String,
    pub style: String,
    pub commit: String,
    pub checks: usize,
    pub worktree_removed: bool,
    pub branch_deleted: bool,
    /// Why the worktree or branch was kept.
    pub kept: Option<String>,
    pub to: StateName,
    pub along: Vec<Along>,
    /// The states of the workflow that a person's move skipped.
    pub outside: Option<String>,
    /// Tasks that have no open blocker any more.
    pub unblocked: Vec<TaskId>,
    /// The user's hooks that `git merge` would have run.
    pub hooks_not_run: Vec<String>,
    /// An earlier run was killed, and this one continued it.
    pub resumed: bool,
}

/// Progress, for display.
#[derive(Debug)]
pub enum MergeStep<'a> {
    /// Main is merged into the branch, so that the checks run on the result.
    Updating(&'a str),
    Check(&'a [String]),
    Landing(&'a str),
    Waiting(&'a crate::github::Wait),
}

/// A merge that has begun; its record stays on disk until the task is closed.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct BegunMerge {
    branch: String,
    style: String,
    checks: usize,
    landing: Landing,
    /// The worktree is being removed; it was checked that nothing would be lost.
    #[serde(default)]
    removing: bool,
}

pub fn merge(ws: &Workspace, id: &TaskId, force: bool, tell: &mut dyn FnMut(MergeStep<'_>)) -> Result<Merged, Failure> {
    let result = merge_now(ws, id, force, tell);
    match &result {
        Ok(_) => {
            forget_failed_merge(ws, id)?;
            resolve_checks(ws, &place(ws, &ws.family(id)?, id)?.task)?;
        }
        Err(failure) if matches!(failure.code, Code::Conflict | Code::CheckFailed) => {
            note_failed_merge(ws, id, &place(ws, &ws.family(id)?, id)?.branch, &failure.message)?;
            if failure.code == Code::CheckFailed {
                keep_failed_check(ws, id, failure)?;
            }
        }
        // The feedback from GitHub tells the next worker what to change.
        Err(failure) if failure.is_about_feedback() => {
            if let Err(unseen) = fetch_feedback(ws, id) {
                ws.notice(format!("the feedback on {id} could not be fetched: {}", unseen.message));
            }
        }
        Err(_) => {}
    }
    result
}

fn merge_now(ws: &Workspace, id: &TaskId, force: bool, tell: &mut dyn FnMut(MergeStep<'_>)) -> Result<Merged, Failure> {
    ws.refuse_broken_setup()?;
    if merges_by_person(&ws.settings) {
        ws.refuse_programs("merge")?;
    }
    let _one_at_a_time = ws.store.merge_lock()?;
    if let Some(begun) = begun(ws, id)? {
        if begun.landing.is_elsewhere() || ws.repository.contains(&begun.landing.into, &begun.landing.new) {
            return finish(ws, id, begun, force, true);
        }
        fs::remove(&begun_path(ws, id))?;
    }
    ws.look_for_claims(id)?;
    let board = ws.family(id)?;
    refuse_finished(ws, &board, id)?;
    closing(ws, &board, id, force)?;
    let place = place(ws, &board, id)?;
    let into = main_branch(ws);
    refuse_unready(ws, &board, &place)?;
    if let Some(pull) = Target::pull_of(ws, &board, &place)? {
        let begun = github::land(ws, &board, id, &place, pull, force, tell)?.begun(&place.branch);
        write_begun(ws, id, &begun)?;
        return finish(ws, id, begun, force, false).map(github::without_hooks);
    }
    refuse_unmergeable(ws, &place, &into)?;
    let checks = checked(ws, id, &place, &into, tell)?;
    tell(MergeStep::Landing(&place.branch));
    let worktrees = ws.store.worktree_lock()?;
    let lock = ws.lock()?;
    // The checks took time, so everything is checked again; the locks prevent further changes.
    let board = ws.family(id)?;
    closing(ws, &board, id, force)?;
    if checks.programs > 0 && !checks.still_hold(ws, &place, &into)? {
        let message = format!("{} or {into} changed while the checks ran", place.branch);
        return Err(Failure::new(FailureKind::Raced, Code::Moved, message).hint(Hint::Retry));
    }
    let style = ws.settings.text("merge.style").to_owned();
    let landing = prepare(ws, &lock, &board, id, &place, &into, &style)?;
    let begun = BegunMerge { branch: place.branch.clone(), style, checks: checks.programs, landing, removing: false };
    write_begun(ws, id, &begun)?;
    if let Err(error) = ws.repository.land(&begun.landing) {
        // If git has begun the update, the record stays: the next command completes the update, and `merge` closes the
        // task.
        if !ws.repository.has_begun() {
            fs::remove(&begun_path(ws, id))?;
        }
        return Err(error.into());
    }
    drop((lock, worktrees));
    finish(ws, id, begun, force, false)
}

/// Runs git's `post-merge` hook without a lock, because it may be slow and call ralph.
fn after_merge(ws: &Workspace, merged: &Merged) {
    let squash = if merged.style == "squash" { "1" } else { "0" };
    ws.repository.run_hook(ws.store.root(), "post-merge", &[squash]);
}

fn refuse_finished(ws: &Workspace, board: &Board, id: &TaskId) -> Result<(), Failure> {
    let task = board.get(id).ok_or_else(|| missing(ws, board, id))?;
    match ws.flow().is_terminal(task.kind, &task.state) {
        true => Err(Failure::refused(Code::Finished, format!("{id} is already {}", task.state))),
        false => Ok(()),
    }
}

fn write_begun(ws: &Workspace, id: &TaskId, begun: &BegunMerge) -> Result<(), Failure> {
    fs::make_dir(&ws.store.local().join("merge"))?;
    Ok(fs::replace(&begun_path(ws, id), toml::to_string(begun).expect("a record is text").as_bytes(), true)?)
}

fn begun_path(ws: &Workspace, id: &TaskId) -> PathBuf {
    ws.store.local().join(format!("merge/{id}.toml"))
}

fn begun(ws: &Workspace, id: &TaskId) -> Result<Option<BegunMerge>, Failure> {
    let text = fs::read_text(&begun_path(ws, id))?;
    Ok(text.and_then(|text| toml::from_str(&text).ok()))
}

/// The move that closes the task. It is checked before anything is done, so that nothing is merged in vain.
fn closing(ws: &Workspace, board: &Board, id: &TaskId, force: bool) -> Result<Admission, Failure> {
    let task = board.get(id).ok_or_else(|| missing(ws, board, id))?;
    // If the workflow has no merge command, anyone who may close the task may merge it.
    let (goal, command) = match ws.flow().merging() {
        Some(command) => (Goal::Intent(Intent::Complete), Some(command.name.as_str())),
        None => (Goal::Intent(Intent::Close), None),
    };
    // The merge itself checks that there is something to merge.
    let request = Request { command, force, evidence: Evidence::Assumed, ..Request::new(&task.id, goal) };
    decide(ws, board, &ws.actor()?, &request)
}

/// Refuses a worker's merge if a required document is missing. People need no documents.
fn refuse_unready(ws: &Workspace, board: &Board, place: &Place) -> Result<(), Failure> {
    if !ws.actor()?.is_held(ws.rules()) {
        return Ok(());
    }
    let task = board.get(&place.task).ok_or_else(|| missing(ws, board, &place.task))?;
    if let Some(command) = ws.flow().merging() {
        ws.rules().refuse_lacking(task, command)?;
    }
    let there = |path: &str| -> Result<bool, Failure> {
        let here = ws.store.root().join(path).is_file() || place.path.join(path).is_file();
        Ok(here || ws.repository.file_at(&place.branch, path)?.is_some())
    };
    for (kind, path) in task.artifacts.iter().filter(|(_, path)| !path.contains("://")) {
        if !there(path)? {
            return Err(Failure::refused(
                Code::MissingArtifact,
                format!("the {kind} of {}, {path}, does not exist", task.id),
            )
            .hint(Hint::step("restore the file, or correct the link")));
        }
    }
    Ok(())
}

/// Creates the commit to land. A conflict is escalated if a worker merges, and changes no file.
fn prepare(
    ws: &Workspace,
    lock: &BoardLock,
    board: &Board,
    id: &TaskId,
    place: &Place,
    into: &str,
    style: &str,
) -> Result<Landing, Failure> {
    let task = board.get(id).ok_or_else(|| missing(ws, board, id))?;
    let (style, message) = match style {
        "squash" => (Style::Squash, squash_message(ws, task, place, into)?),
        "ff" => (Style::Forward, String::new()),
        _ => (Style::Merge, format!("Merge {}: {} ({})\n", place.branch, task.title, task.id)),
    };
    merged(ws, lock, board, id, [into, &place.branch], style, &message)
}

/// Merges one branch into another. A conflict is escalated if a worker merges, and changes no file.
fn merged(
    ws: &Workspace,
    lock: &BoardLock,
    board: &Board,
    id: &TaskId,
    [into, theirs]: [&str; 2],
    style: Style,
    message: &str,
) -> Result<Landing, Failure> {
    let files = BoardFiles::default().starting_in(ws.flow().initial(Kind::Issue));
    match ws.repository.prepare(into, theirs, style, message, &files)? {
        Prepared::Ready(landing) => Ok(landing),
        Prepared::Nothing => {
            Err(Failure::refused(Code::NothingToMerge, format!("{theirs} has no commits that {into} lacks")))
        }
        Prepared::Conflicts(paths) => {
            let paths: Vec<String> = paths.iter().map(|path| files.describe(path)).collect();
            let message = format!("merge conflict between {theirs} and {into}: {}", paths.join(", "));
            let failure = Failure::refused(Code::Conflict, &message);
            if !ws.actor()?.is_held(ws.rules()) {
                return Err(failure
                    .hint(Hint::shell(
                        &format!("git merge {}", main_branch(ws)),
                        "in the worktree of the task, and resolve the conflict",
                    ))
                    .hint(Hint::run(&format!("merge {id}"), "again after that; no file was changed")));
            }
            Err(match call_a_person(ws, lock, board, id, &message) {
                Ok(to) => failure.hint(Hint::step(format!(
                    "no file was changed; {id} is now in {to}: resolve the conflict in the worktree of the task, then move the task back"
                ))),
                Err(refused) => failure.hint(Hint::step(format!("no file was changed; {id} was not moved: {}", refused.message))),
            })
        }
    }
}

fn squash_message(ws: &Workspace, task: &Task, place: &Place, into: &str) -> Result<String, Failure> {
    let subjects = ws.repository.subjects(&place.branch, into)?;
    let body: String = subjects.iter().map(|subject| format!("- {subject}\n")).collect();
    Ok(format!("{} ({})\n\n{body}", task.title, task.id))
}

/// Escalates the task, with the reason as a note.
fn call_a_person(
    ws: &Workspace,
    lock: &BoardLock,
    board: &Board,
    id: &TaskId,
    why: &str,
) -> Result<StateName, Failure> {
    let command = ws.flow().merging().map(|command| command.name.as_str());
    let request = Request { command, ..Request::new(id, Goal::Intent(Intent::Escalate)) };
    Ok(move_with_note(ws, lock, board, &request, "merge", why)?.to)
}

/// Completes a merge after main was updated.
fn finish(ws: &Workspace, id: &TaskId, begun: BegunMerge, force: bool, resumed: bool) -> Result<Merged, Failure> {
    // Runs without the locks, because these programs may be slow and call ralph.
    if let Some(worktree) = landed_worktree(ws, &begun)?.filter(|worktree| keeps(ws, worktree, &begun).is_none()) {
        before_remove(ws, Some(id), &worktree.path);
    }
    let worktrees = ws.store.worktree_lock()?;
    let lock = ws.lock()?;
    let merged = settle(ws, &lock, id, begun, force, resumed)?;
    drop((lock, worktrees));
    after_merge(ws, &merged);
    Ok(merged)
}

fn settle(
    ws: &Workspace,
    lock: &BoardLock,
    id: &TaskId,
    begun: BegunMerge,
    force: bool,
    resumed: bool,
) -> Result<Merged, Failure> {
    let (worktree_removed, mut kept) = remove(ws, id, &begun)?;
    let BegunMerge { branch, style, checks, landing, .. } = begun;
    let deleted = if kept.is_none() { ws.repository.delete_branch_at(&branch, &landing.tip) } else { Ok(false) };
    // Main contains the work: a branch that cannot be deleted does not keep the task open.
    let branch_deleted = deleted.unwrap_or_else(|error| {
        kept = Some(format!("{branch} was not deleted: {error}"));
        false
    });
    let board = ws.family(id)?;
    let task = board.get(id).ok_or_else(|| missing(ws, &board, id))?;
    let admission = match ws.flow().is_terminal(task.kind, &task.state) {
        // The task is already closed: GitHub closes the issue with the merge, and a sync may have applied that here.
        true => Ok(Admission::staying(task.state.clone())),
        false => closing(ws, &board, id, force),
    };
    let admission = admission.map_err(|failure| {
        failure.hint(Hint::run(
            &format!("merge {id}"),
            &format!("to close the task: {branch} is already in {}", landing.into),
        ))
    })?;
    let moved = carry_out(ws, lock, &board, id, "merge", admission)?;
    fs::remove(&begun_path(ws, id))?;
    let hooks: &[&str] =
        if style == "ff" { &[] } else { &["pre-merge-commit", "prepare-commit-msg", "commit-msg", "pre-commit"] };
    Ok(Merged {
        task: id.clone(),
        branch,
        into: landing.into,
        style,
        commit: landing.new,
        checks,
        worktree_removed,
        branch_deleted,
        kept,
        to: moved.to,
        along: moved.along,
        outside: moved.outside,
        unblocked: moved.unblocked,
        hooks_not_run: ws.repository.hooks(hooks),
        resumed,
    })
}

fn landed_worktree(ws: &Workspace, begun: &BegunMerge) -> Result<Option<Worktree>, Failure> {
    let all = ws.repository.worktrees()?;
    Ok(all.into_iter().find(|there| there.branch.as_deref() == Some(&begun.branch)))
}

/// Why the worktree of a merged branch is kept, if it is.
fn keeps(ws: &Workspace, worktree: &Worktree, begun: &BegunMerge) -> Option<String> {
    if let Some(reason) = &worktree.locked {
        return Some(format!("it is locked {reason}").trim_end().to_owned());
    }
    if worktree.missing {
        return None;
    }
    if ws.repository.tip_of(&begun.branch).ok().as_ref() != Some(&begun.landing.tip) {
        return Some("its branch has new commits".into());
    }
    if ws.repository.is_dirty(worktree) != Some(false) {
        return Some("it has uncommitted changes".into());
    }
    (!is_ours(ws, worktree)).then(|| "ralph did not create it".into())
}

/// Removes the worktree of a merged branch, unless that would lose work.
fn remove(ws: &Workspace, id: &TaskId, begun: &BegunMerge) -> Result<(bool, Option<String>), Failure> {
    let Some(worktree) = landed_worktree(ws, begun)? else { return Ok((false, None)) };
    let kept = |why: &str| Ok((false, Some(format!("{} was kept: {why}", ws.store.shown(&worktree.path)))));
    if let Some(why) = keeps(ws, &worktree, begun) {
        return kept(&why);
    }
    if worktree.missing {
        // A removal that was killed left this folder; its content was checked before the removal began.
        let leftover = worktree.path.starts_with(ws.store.root().join("worktrees")) && begun.removing;
        if leftover && worktree.path.is_dir() {
            fs::remove_tree(&worktree.path)?;
        }
        return Ok((ws.repository.forget_missing(&worktree.path)?, None));
    }
    if let Err(failure) = rescue(ws, &worktree) {
        return kept(&failure.message);
    }
    write_begun(ws, id, &BegunMerge { removing: true, ..begun.clone() })?;
    if std::env::current_dir().is_ok_and(|here| here.starts_with(&worktree.path)) {
        ws.notice(format!("{} was removed; change to {}", worktree.path.display(), ws.store.root().display()));
    }
    match ws.repository.remove_worktree(&worktree.path, false) {
        Ok(()) => forget(ws, &worktree.path).map(|()| (true, None)),
        Err(error) => kept(&error.to_string()),
    }
}

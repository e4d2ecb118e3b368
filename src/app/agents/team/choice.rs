//! The tasks of a team: those that were named or are ready, except those of other teams.

use crate::app::repo::worktree::main_branch;
use crate::app::workspace::layers::merges_by_person;
use crate::app::{Code, Failure, FailureKind, Hint, Workspace};
use crate::board::{Board, Links, Query, Standings};
use crate::fs;
use crate::store::FileLock;
use crate::task::{Kind, TaskId};

/// Refuses a repository without a main branch, and a workflow that cannot have people merge, before anything is written.
pub fn preflight(ws: &Workspace) -> Result<(), Failure> {
    if merges_by_person(&ws.settings) && ws.flow().merging().is_some_and(|command| !command.people) {
        let message = "review.merge is `person`, but in this board's workflow workers merge as they implement";
        return Err(Failure::refused(Code::NoPipeline, message)
            .hint(Hint::run("workflow use lite", "to use a workflow with a state for review"))
            .hint(Hint::set("review.merge", "auto", "to let workers merge")));
    }
    let main = main_branch(ws);
    if ws.repository.has_branch(&main) {
        return Ok(());
    }
    Err(Failure::refused(Code::NoMain, format!("branch {main:?} does not exist or has no commits"))
        .hint(Hint::run("commit", "to commit the board as the first commit"))
        .hint(Hint::set("git.main", "BRANCH", "to use another branch")))
}

/// The tasks that the person named; steps are refused.
pub(super) fn named(ws: &Workspace, board: &Board, typed: &[String]) -> Result<Vec<TaskId>, Failure> {
    let ids = ws.find_all(typed)?;
    for id in &ids {
        let task = board.get(id).ok_or_else(|| crate::app::workspace::open::missing(ws, board, id))?;
        if task.kind == Kind::Step {
            return Err(Failure::usage(Code::IsStep, format!("{id} is a step of a team, not a task to work on"))
                .hint(Hint::step("name the task that the step belongs to")));
        }
    }
    Ok(ids)
}

/// All ready tasks, each as its own team; a group counts as one.
pub(super) fn ready(ws: &Workspace, board: &Board) -> Result<Vec<TaskId>, Failure> {
    let query = Query { ready: true, kinds: vec![Kind::Issue], ..Query::default() };
    let (standings, links) = (Standings::new(board, ws.rules()), Links::new(board));
    let (places, _) = query.run(board, ws.rules(), &standings);
    let mut ids: Vec<TaskId> = Vec::new();
    for at in places {
        let group = board.group_of(at, &links, ws.rules())?;
        let id = &board.tasks()[group.parent.unwrap_or(at)].id;
        if !ids.contains(id) {
            ids.push(id.clone());
        }
    }
    if ids.is_empty() {
        return Err(nothing_ready());
    }
    Ok(ids)
}

fn nothing_ready() -> Failure {
    Failure::new(FailureKind::Nothing, Code::NothingReady, "no tasks are ready").hint(Hint::Ready)
}

/// Locks the tasks while the team runs, because two teams on one task would interfere. With `leaves_out`, tasks of
/// other teams are skipped instead of refused.
pub(super) fn locks(ws: &Workspace, teams: &mut Vec<TaskId>, leaves_out: bool) -> Result<Vec<FileLock>, Failure> {
    let folder = ws.store.local().join("teams");
    fs::make_dir(&folder)?;
    let mut locks = Vec::new();
    for id in std::mem::take(teams) {
        match FileLock::try_take(&folder.join(format!("{id}.lock")))? {
            Some(lock) => {
                locks.push(lock);
                teams.push(id);
            }
            None if leaves_out => {}
            None => {
                return Err(Failure::new(FailureKind::Raced, Code::TeamThere, format!("another team works on {id}"))
                    .hint(Hint::run("runs ls", "to follow it")));
            }
        }
    }
    if teams.is_empty() { Err(nothing_ready()) } else { Ok(locks) }
}

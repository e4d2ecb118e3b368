//! The commits of a task that the main branch lacks, on any branch that may hold work of the task.

use crate::app::repo::worktree::{main_branch, place};
use crate::app::{Failure, Workspace};
use crate::board::Board;
use crate::task::{Task, TaskId};

const BRANCHES: &str = "feature/";

/// A task that is to be closed.
pub(in crate::app) struct Closing<'a> {
    pub task: &'a TaskId,
    /// Members of its group that are closed with it.
    pub along: &'a [TaskId],
    /// Its work counts as merged, so it may also be on a branch of its parent.
    pub merges: bool,
}

/// The first branch of the task with commits that the main branch lacks, as a sentence.
pub(in crate::app) fn unmerged(
    ws: &Workspace,
    board: &Board,
    closing: &Closing<'_>,
) -> Result<Option<String>, Failure> {
    let main = main_branch(ws);
    if !ws.repository.has_branch(&main) {
        return Ok(None);
    }
    for branch in branches_of(ws, board, closing)? {
        let ahead = ws.repository.distance(&branch, &main)?.ahead;
        if ahead > 0 {
            let commits = if ahead == 1 { "1 commit".to_owned() } else { format!("{ahead} commits") };
            return Ok(Some(format!("{branch} has {commits} that {main} lacks")));
        }
    }
    Ok(None)
}

/// The local branches of the task: those with its name, and those in which ralph-hero's skills build the children of an issue, which
/// have the name of the issue or of a stream under it (`feature/GH-40-stream-42-44`).
fn branches_of(ws: &Workspace, board: &Board, closing: &Closing<'_>) -> Result<Vec<String>, Failure> {
    let Closing { task, along, merges } = *closing;
    let closed = std::iter::once(task).chain(along).filter_map(|id| board.get(id));
    let own: Vec<String> = closed.flat_map(names).collect();
    let parent = board.get(task).and_then(|task| task.parent.as_ref()).filter(|_| merges);
    let above = parent.and_then(|parent| board.get(parent)).map(names).unwrap_or_default();
    let primary = place(ws, board, task)?.branch;
    let holds = |branch: &String| {
        let name = branch.strip_prefix(BRANCHES).unwrap_or(branch);
        let named = |names: &[String]| names.iter().any(|one| one == name);
        *branch == primary || named(&own) || named(&above) || is_stream_of(name, &above, &own)
    };
    Ok(ws.repository.branches_below(BRANCHES)?.into_iter().filter(holds).collect())
}

/// The names for branches of a task: the id, and `GH-` with the number of its issue, or with the id on a board without a mirror.
fn names(task: &Task) -> Vec<String> {
    let issue = task.github.as_ref().map(|link| format!("GH-{}", link.number));
    [task.id.to_string(), format!("GH-{}", task.id)].into_iter().chain(issue).collect()
}

/// Whether a name such as `GH-40-stream-42-44` is of a stream under one of these parents, with one of these tasks.
fn is_stream_of(name: &str, parents: &[String], tasks: &[String]) -> bool {
    let members = parents.iter().find_map(|parent| name.strip_prefix(parent.as_str())?.strip_prefix("-stream-"));
    members.is_some_and(|members| {
        let members = format!("-{members}-");
        tasks.iter().any(|task| members.contains(&format!("-{}-", task.trim_start_matches("GH-"))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_of_the_tasks_that_its_name_lists_and_of_their_parent() {
        let parents = ["t-epic", "GH-t-epic", "GH-40"].map(str::to_owned);
        let tasks = ["t-b", "GH-t-b", "GH-42"].map(str::to_owned);
        for (name, expected) in [
            ("GH-40-stream-42-44", true),
            ("GH-40-stream-41-42", true),
            ("GH-t-epic-stream-t-a-t-b", true),
            ("GH-40-stream-44", false),
            ("GH-40-stream-421-142", false),
            ("GH-4-stream-42", false),
            ("GH-401-stream-42", false),
            ("GH-40", false),
            ("GH-40-stream-", false),
        ] {
            assert_eq!(is_stream_of(name, &parents, &tasks), expected, "{name}");
        }
    }
}

//! `pr`: pushes a task's branch to GitHub, and creates a pull request that closes the issues of its group.

use serde::Serialize;
use serde_json::json;

use crate::app::repo::branch::{refuse_missing_branch, refuse_unmergeable};
use crate::app::repo::worktree::{Place, main_branch, place};
use crate::app::sync::feedback::post_replies;
use crate::app::sync::target::{Calm, Target};
use crate::app::work::admit::admit;
use crate::app::work::moves::carry_out;
use crate::app::workspace::open::missing;
use crate::app::{Code, Failure, FailureKind, Hint, Workspace};
use crate::board::{Admission, Board, Change, Goal, Links, Request};
use crate::git::{Pushed, Upstream};
use crate::github::{Client, GithubError, Head, Host, PullRequest, Wait};
use crate::task::{Key, StateName, Task, TaskId, Value};
use crate::workflow::Intent;

const COMMAND: &str = "pr";

#[derive(Debug, Serialize)]
pub struct PullRequested {
    pub task: TaskId,
    /// `None` if the board has no GitHub repository: then `merge` merges locally.
    pub url: Option<String>,
    pub number: Option<u64>,
    pub branch: String,
    pub base: String,
    pub created: bool,
    pub pushed: bool,
    /// How many replies to its review were posted.
    pub replies: usize,
    /// Issues that GitHub closes when the pull request is merged.
    pub closes: Vec<u64>,
    pub state: StateName,
}

/// Progress, for display.
#[derive(Debug)]
pub enum PrStep<'a> {
    Pushing(&'a str),
    Creating(&'a str),
    Waiting(&'a Wait),
}

pub fn pull_request(
    ws: &Workspace,
    id: &TaskId,
    draft: bool,
    force: bool,
    tell: &mut dyn FnMut(PrStep<'_>),
) -> Result<PullRequested, Failure> {
    ws.look_for_claims(id)?;
    let board = ws.family(id)?;
    let verdict = completing(ws, &board, id, force)?;
    let place = place(ws, &board, id)?;
    let base = main_branch(ws);
    let mut done = PullRequested {
        task: id.clone(),
        url: None,
        number: None,
        branch: place.branch.clone(),
        base: base.clone(),
        created: false,
        pushed: false,
        replies: 0,
        closes: Vec::new(),
        state: verdict.as_ref().map_or_else(|| state_of(&board, id), |verdict| verdict.to.clone()),
    };
    refuse_missing_branch(ws, &place)?;
    let Some(target) = Target::of(ws)? else { return Ok(done) };
    refuse_unmergeable(ws, &place, &base)?;
    let remote = remote_of(ws, &target)?;
    let tell = std::cell::RefCell::new(tell);
    let mut waits = |wait: &Wait| (tell.borrow_mut())(PrStep::Waiting(wait));
    let calm = Calm::new(&mut waits);
    // Checked before the push: without a working token, the branch would be pushed but have no pull request.
    let client = target.client(ws, &calm)?;
    let head = client.pulls_of(&target.slug, &place.branch)?;
    if head.archived {
        return Err(Failure::refused(Code::Unwritable, format!("{} is archived", target.slug)));
    }
    (tell.borrow_mut())(PrStep::Pushing(&place.branch));
    let known = open_one(&head, &base).map(|pull| pull.head_ref_oid);
    done.pushed = push(ws, &remote, &place.branch, known.as_deref())?;
    done.closes = closes(ws, &board, id)?;
    if head.default_branch.as_ref().is_some_and(|branch| *branch != base) {
        ws.notice(format!("GitHub closes issues only on merges into its default branch; after a merge into {base}, they stay open until the next sync"));
    }
    let pull = match open_one(&head, &base) {
        Some(pull) => pull,
        None => {
            (tell.borrow_mut())(PrStep::Creating(&place.branch));
            done.created = true;
            create(ws, &client, &target, &head, &board, &place, &base, &done.closes, draft)?
        }
    };
    link(ws, &place.task, id, &pull.url, force)?;
    // Replies are posted after the push, so that a reader finds the commits that they mention.
    done.replies = post_replies(ws, &client, &target, pull.number, &place.task)?;
    Ok(PullRequested { url: Some(pull.url), number: Some(pull.number), ..done })
}

fn state_of(board: &Board, id: &TaskId) -> StateName {
    board.get(id).map_or_else(|| StateName::new(""), |task| task.state.clone())
}

/// The move that ends the command, if the workflow has it.
fn completing(ws: &Workspace, board: &Board, id: &TaskId, force: bool) -> Result<Option<Admission>, Failure> {
    let task = board.get(id).ok_or_else(|| missing(ws, board, id))?;
    if ws.flow().is_terminal(task.kind, &task.state) {
        return Err(Failure::refused(Code::Finished, format!("{id} is already {}", task.state)));
    }
    let Ok(command) = ws.flow().command(COMMAND) else { return Ok(None) };
    let goal = Goal::Intent(Intent::Complete);
    let request = Request { command: Some(&command.name), force, ..Request::new(id, goal) };
    admit(ws, board, &ws.actor()?, &request).map(Some)
}

pub(in crate::app) fn remote_of(ws: &Workspace, target: &Target) -> Result<String, Failure> {
    let is_it = |url: &str| Host::of_remote(url).is_some_and(|(host, slug)| host == target.host && slug == target.slug);
    let found = ws.repository.remote_where(is_it);
    found.map_or_else(|| Ok(ws.repository.upstream(None)?.remote), Ok)
}

/// Returns whether there was something to push. A rewritten branch replaces the remote head only if the local branch
/// was once at that head.
fn push(ws: &Workspace, remote: &str, branch: &str, head: Option<&str>) -> Result<bool, Failure> {
    let upstream = Upstream { remote: remote.to_owned(), branch: branch.to_owned(), theirs: branch.to_owned() };
    let mut pushed = ws.repository.push(&upstream)?;
    if let (Pushed::Behind, Some(head)) = (&pushed, head.filter(|head| ws.repository.was_at(branch, head))) {
        pushed = ws.repository.push_over(&upstream, head)?;
    }
    match pushed {
        Pushed::Done => Ok(true),
        Pushed::Same => Ok(false),
        Pushed::Behind => Err(Failure::new(
            FailureKind::Raced,
            Code::Behind,
            format!("{remote} has commits on {branch} that this clone lacks"),
        )
        .hint(Hint::shell("git pull", "in the worktree of the task, to merge them first"))),
    }
}

/// The open pull request into `base`.
fn open_one(head: &Head, base: &str) -> Option<PullRequest> {
    head.pulls.iter().find(|pull| pull.state == "OPEN" && pull.base_ref_name == base).cloned()
}

/// The issues of all members of the group, in its order.
fn closes(ws: &Workspace, board: &Board, id: &TaskId) -> Result<Vec<u64>, Failure> {
    Ok(members(ws, board, id)?.iter().filter_map(|task| task.github.as_ref()).map(|link| link.number).collect())
}

fn members<'a>(ws: &Workspace, board: &'a Board, id: &TaskId) -> Result<Vec<&'a Task>, Failure> {
    let at = board.index_of(id).ok_or_else(|| missing(ws, board, id))?;
    let group = board.group_of(at, &Links::new(board), ws.rules())?;
    Ok(group.members.iter().map(|at| &board.tasks()[*at]).collect())
}

#[allow(clippy::too_many_arguments)]
fn create(
    ws: &Workspace,
    client: &Client<'_>,
    target: &Target,
    head: &Head,
    board: &Board,
    place: &Place,
    base: &str,
    closes: &[u64],
    draft: bool,
) -> Result<PullRequest, Failure> {
    let task = board.get(&place.task).ok_or_else(|| missing(ws, board, &place.task))?;
    let input = json!({
        "repositoryId": head.repository, "baseRefName": base, "headRefName": place.branch,
        "title": task.title, "body": body(ws, board, &place.task, closes)?, "draft": draft,
    });
    match client.create_pull(input) {
        Ok(pull) => Ok(pull),
        // The pull request may exist despite the error; a branch has only one open pull request per base.
        Err(error @ (GithubError::Ambiguous(_) | GithubError::Refused(_))) => {
            client.pause(1)?;
            let found = open_one(&client.pulls_of(&target.slug, &place.branch)?, base);
            let lost = matches!(error, GithubError::Ambiguous(_));
            let failure = Failure::from(error);
            found.ok_or_else(|| if lost { failure.hint(Hint::Retry) } else { failure })
        }
        Err(error) => Err(error.into()),
    }
}

/// The body of a pull request: tasks, documents, and issues that it closes.
fn body(ws: &Workspace, board: &Board, id: &TaskId, closes: &[u64]) -> Result<String, Failure> {
    let description = ws.store.load(id)?.description;
    let members = members(ws, board, id)?;
    let mut text = format!("{}\n", description.trim_end()).trim_start().to_owned();
    if members.len() > 1 {
        text.push_str("\nTasks:\n");
        members.iter().for_each(|task| text.push_str(&format!("- {} ({})\n", task.title, task.id)));
    }
    let documents: Vec<(&String, &String)> =
        members.iter().flat_map(|task| &task.artifacts).filter(|(kind, _)| *kind != "pr").collect();
    if !documents.is_empty() {
        text.push_str("\nDocuments:\n");
        documents.iter().for_each(|(kind, path)| text.push_str(&format!("- {kind}: {path}\n")));
    }
    if !closes.is_empty() {
        text.push('\n');
        closes.iter().for_each(|number| text.push_str(&format!("Closes #{number}\n")));
    }
    Ok(text.trim_start().to_owned())
}

/// Links the pull request in the file of the group's primary, and moves the task.
fn link(ws: &Workspace, primary: &TaskId, id: &TaskId, url: &str, force: bool) -> Result<(), Failure> {
    let lock = ws.lock()?;
    let board = ws.family(id)?;
    let admission = completing(ws, &board, id, force)?;
    let old = board.get(primary).and_then(|task| task.artifacts.get("pr")).map(Value::text);
    let new = Some(Value::text(url));
    let mut changes = Vec::new();
    if old != new {
        changes.push(Change::Set { task: primary.clone(), key: Key::new("artifacts.pr"), old, new });
    }
    let mut admission = admission.unwrap_or_else(|| Admission::staying(state_of(&board, id)));
    changes.append(&mut admission.changes);
    admission.changes = changes;
    carry_out(ws, &lock, &board, id, COMMAND, admission).map(|_| ())
}

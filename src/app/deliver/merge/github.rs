//! Merges a pull request on GitHub, if it is ready and unchanged since it was checked, and cleans up as after a local merge.

use super::{BegunMerge, MergeStep, Merged, call_a_person};
use crate::app::deliver::pr::remote_of;
use crate::app::repo::worktree::{Place, main_branch};
use crate::app::sync::target::{Calm, Target};
use crate::app::{Code, Failure, FailureKind, Hint, Workspace};
use crate::board::Board;
use crate::git::Landing;
use crate::github::{CheckResult, Checks, Client, GithubError, PullState, Wait};
use crate::task::TaskId;

/// How often to ask GitHub whether the pull request can be merged.
const POLLS: u64 = 6;
const RETRIES: usize = 3;
/// How often to poll the merge queue: a quarter of an hour at the usual pace.
const QUEUE_POLLS: usize = 90;

/// The completed merge, and the style that GitHub used.
pub struct Landed {
    pub landing: Landing,
    pub style: String,
    pub checks: usize,
}

pub fn land(
    ws: &Workspace,
    board: &Board,
    id: &TaskId,
    place: &Place,
    (target, number): (Target, u64),
    force: bool,
    tell: &mut dyn FnMut(MergeStep<'_>),
) -> Result<Landed, Failure> {
    let tell = std::cell::RefCell::new(tell);
    let mut waits = |wait: &Wait| (tell.borrow_mut())(MergeStep::Waiting(wait));
    let calm = Calm::new(&mut waits);
    let client = target.client(ws, &calm)?;
    let style = ws.settings.text("merge.style").to_owned();
    let mut pull = decided(&client, &target, number)?;
    let mut checks = 0;
    for attempt in 0..RETRIES {
        refuse_other_work(ws, &pull, place)?;
        if pull.merged {
            break;
        }
        checks = refuse_unready(ws, &client, board, id, &pull, force)?;
        let method = method(&pull, &style)?;
        (tell.borrow_mut())(MergeStep::Landing(&place.branch));
        let asked = if pull.is_merge_queue_enabled {
            queued(&client, &target, &pull)
        } else {
            client.merge_pull(&pull, method).map(|_| ())
        };
        pull = match asked {
            Ok(()) => client.pull_state(&target.slug, number)?,
            // Ask GitHub whether the pull request is merged, whatever the response was; main may have moved in the
            // meantime.
            Err(error @ (GithubError::Ambiguous(_) | GithubError::BaseMoved(_) | GithubError::Refused(_))) => {
                client.pause(attempt as u64 + 1)?;
                let again = decided(&client, &target, number)?;
                if !again.merged && (attempt + 1 == RETRIES || !is_passing(&error)) {
                    return Err(Failure::from(error).hint(Hint::open(&again.url, "to see why; nothing was merged")));
                }
                again
            }
            Err(error) => return Err(error.into()),
        };
    }
    if !pull.merged {
        return Err(
            Failure::new(FailureKind::Raced, Code::Undecided, format!("#{number} is not merged yet")).hint(Hint::Retry)
        );
    }
    let into = pull.base_ref_name.clone();
    let commit = pull.merge_commit().unwrap_or(&pull.head_ref_oid).to_owned();
    tidy(ws, &target, &pull);
    let landing = Landing::elsewhere(&into, &commit, &pull.head_ref_oid);
    Ok(Landed { landing, style, checks })
}

/// Whether to try again: main has moved, or the response was lost.
fn is_passing(error: &GithubError) -> bool {
    matches!(error, GithubError::Ambiguous(_) | GithubError::BaseMoved(_))
}

/// Polls until GitHub has decided whether the pull request can be merged; it computes that only when asked.
fn decided(client: &Client<'_>, target: &Target, number: u64) -> Result<PullState, Failure> {
    let mut pull = client.pull_state(&target.slug, number)?;
    for turn in 1..=POLLS {
        if pull.merged || pull.state != "OPEN" || pull.mergeable != "UNKNOWN" {
            break;
        }
        client.pause(turn)?;
        pull = client.pull_state(&target.slug, number)?;
    }
    Ok(pull)
}

/// Refuses a pull request whose branch differs from the local one.
fn refuse_other_work(ws: &Workspace, pull: &PullState, place: &Place) -> Result<(), Failure> {
    let main = main_branch(ws);
    if pull.base_ref_name != main {
        return Err(Failure::refused(
            Code::OtherBase,
            format!("the base of #{} is {}, not {main}", pull.number, pull.base_ref_name),
        )
        .hint(Hint::open(&pull.url, "to change its base")));
    }
    // The branch may already be deleted if an earlier run was killed after the merge; its commits are merged.
    if pull.merged && !ws.repository.has_branch(&place.branch) {
        return Ok(());
    }
    let here = ws.repository.tip_of(&place.branch)?;
    let same = pull.head_ref_oid == here || (pull.merged && ws.repository.contains(&pull.head_ref_oid, &here));
    if pull.head_ref_name == place.branch && same {
        return Ok(());
    }
    Err(Failure::refused(Code::OtherWork, format!("{} differs from the branch of #{}", place.branch, pull.number))
        .hint(Hint::run(&format!("pr {}", place.task), "to push the local commits"))
        .hint(Hint::shell("git pull", "in the worktree of the task, to get the remote commits")))
}

/// Returns how many checks passed. A person can force a merge despite checks or reviews, but not despite a conflict.
fn refuse_unready(
    ws: &Workspace,
    client: &Client<'_>,
    board: &Board,
    id: &TaskId,
    pull: &PullState,
    force: bool,
) -> Result<usize, Failure> {
    let at = format!("#{}", pull.number);
    let refused =
        |code, message: String| Err(Failure::refused(code, message).hint(Hint::open(&pull.url, "to see why")));
    if pull.state != "OPEN" {
        return refused(Code::ClosedPullRequest, format!("{at} is closed and was not merged"));
    }
    if pull.is_draft {
        return refused(Code::Draft, format!("{at} is a draft"));
    }
    match pull.mergeable.as_str() {
        "MERGEABLE" => {}
        // For a worker, this failure sends the task back to resolve the conflict; a person gets hints instead.
        "CONFLICTING" if ws.actor()?.is_held(ws.rules()) => {
            return refused(Code::PullConflict, format!("{at} conflicts with {}", pull.base_ref_name));
        }
        "CONFLICTING" => return Err(conflicting(ws, board, id, pull)),
        _ => {
            return Err(Failure::new(
                FailureKind::Raced,
                Code::Undecided,
                format!("GitHub is still computing whether {at} can be merged"),
            )
            .hint(Hint::Retry));
        }
    }
    if ws.rules().insists(&ws.actor()?, force) {
        return Ok(0);
    }
    refuse_unapproved(id, pull)?;
    let passed = checked(client, pull)?;
    refuse_open_threads(ws, pull)?;
    match pull.merge_state_status.as_str() {
        "BEHIND" => Err(Failure::refused(Code::Behind, format!("{at} is behind {}", pull.base_ref_name))
            .hint(Hint::shell(&format!("git merge {}", pull.base_ref_name), "in the worktree of the task"))
            .hint(Hint::run(&format!("pr {id}"), "to push the branch again"))),
        "BLOCKED" if !pull.is_merge_queue_enabled => {
            refused(Code::Blocked, format!("a rule of the repository forbids the merge of {at}"))
        }
        _ => Ok(passed),
    }
}

fn refuse_unapproved(id: &TaskId, pull: &PullState) -> Result<(), Failure> {
    let at = format!("#{}", pull.number);
    match pull.review_decision.as_deref() {
        None | Some("APPROVED") => Ok(()),
        Some("CHANGES_REQUESTED") => {
            let who = pull.objectors().join(", ");
            let by = if who.is_empty() { String::new() } else { format!(" by {who}") };
            Err(Failure::refused(Code::ChangesRequested, format!("{at} has changes requested{by}"))
                .hint(Hint::run(&format!("feedback {id}"), "to list them"))
                .hint(Hint::run(&format!("move {id} STATE --for merge"), "to send it back")))
        }
        Some(_) => Err(Failure::refused(Code::ReviewRequired, format!("{at} is waiting for a review"))
            .hint(Hint::open(&pull.url, "to see why"))),
    }
}

/// Agents cannot merge with open review threads; people get a notice.
fn refuse_open_threads(ws: &Workspace, pull: &PullState) -> Result<(), Failure> {
    let threads = match pull.open_threads() {
        0 => return Ok(()),
        1 => "1 open review thread".to_owned(),
        many => format!("{many} open review threads"),
    };
    let message = format!("#{} has {threads}", pull.number);
    if ws.actor()?.is_held(ws.rules()) {
        return Err(Failure::refused(Code::OpenThreads, message).hint(Hint::open(&pull.url, "to read them")));
    }
    ws.notice(message);
    Ok(())
}

fn checked(client: &Client<'_>, pull: &PullState) -> Result<usize, Failure> {
    let checks = match client.checks(&pull.id)? {
        Checks::None => return Ok(0),
        Checks::Unknown(why) => {
            return Err(Failure::refused(
                Code::ChecksUnknown,
                format!("cannot tell whether the checks of #{} passed: {why}", pull.number),
            )
            .hint(Hint::step("use a classic token with the scope repo"))
            .hint(Hint::Force));
        }
        Checks::Known(checks) => checks,
    };
    let named = |result: CheckResult| {
        let found = checks.iter().filter(|check| {
            check.result == result && (check.required || result == CheckResult::Running || !has_required(&checks))
        });
        found.map(|check| check.name.as_str()).collect::<Vec<_>>()
    };
    let (failed, running) = (named(CheckResult::Failed), named(CheckResult::Running));
    if !failed.is_empty() {
        return Err(Failure::refused(
            Code::ChecksFailed,
            format!("checks of #{} failed: {}", pull.number, failed.join(", ")),
        )
        .hint(Hint::open(&pull.url, "to see why")));
    }
    if !running.is_empty() {
        return Err(Failure::new(
            FailureKind::Raced,
            Code::ChecksRunning,
            format!("checks of #{} are still running: {}", pull.number, running.join(", ")),
        )
        .hint(Hint::Retry));
    }
    Ok(checks.iter().filter(|check| check.result == CheckResult::Passed).count())
}

/// If no check is required, all of them count.
fn has_required(checks: &[crate::github::Check]) -> bool {
    checks.iter().any(|check| check.required)
}

fn conflicting(ws: &Workspace, board: &Board, id: &TaskId, pull: &PullState) -> Failure {
    let message = format!("#{} conflicts with {}", pull.number, pull.base_ref_name);
    let failure = Failure::refused(Code::Conflict, &message);
    let called = ws.lock().and_then(|lock| call_a_person(ws, &lock, board, id, &message));
    match called {
        Ok(to) => failure.hint(Hint::step(format!(
            "{id} is now in {to}: resolve the conflict in the worktree of the task, then move the task back"
        ))),
        Err(refused) => failure.hint(Hint::step(format!("{id} was not moved: {}", refused.message))),
    }
}

fn method(pull: &PullState, style: &str) -> Result<&'static str, Failure> {
    let wanted = match style {
        "squash" => "SQUASH",
        "ff" => "REBASE",
        _ => "MERGE",
    };
    pull.methods.iter().copied().find(|method| *method == wanted).ok_or_else(|| {
        let allowed: Vec<String> = pull.methods.iter().map(|method| method.to_lowercase()).collect();
        Failure::refused(
            Code::MergeStyle,
            format!("the repository does not allow the merge method {}", wanted.to_lowercase()),
        )
        .hint(Hint::set("merge.style", &allowed.join("|"), "to one that it allows"))
    })
}

/// Enqueues the pull request and waits until it is merged or removed from the queue.
fn queued(client: &Client<'_>, target: &Target, pull: &PullState) -> Result<(), GithubError> {
    if !pull.is_in_merge_queue {
        client.enqueue_pull(pull)?;
    }
    for _ in 0..QUEUE_POLLS {
        client.pause(5)?;
        let now = client.pull_state(&target.slug, pull.number)?;
        if now.merged {
            return Ok(());
        }
        if !now.is_in_merge_queue {
            return Err(GithubError::Refused(format!(
                "#{} was removed from the merge queue without being merged",
                pull.number
            )));
        }
    }
    Err(GithubError::Refused(format!("#{} is still in the merge queue; try again later", pull.number)))
}

/// Deletes the remote branch and fetches main; failures of these are only reported.
fn tidy(ws: &Workspace, target: &Target, pull: &PullState) {
    let Ok(remote) = remote_of(ws, target) else { return };
    if let Err(error) = ws.repository.delete_remote_branch(&remote, &pull.head_ref_name, &pull.head_ref_oid) {
        ws.notice(format!("{} was not deleted on {remote}: {error}", pull.head_ref_name));
    }
    let base = crate::git::Upstream {
        remote: remote.clone(),
        branch: pull.base_ref_name.clone(),
        theirs: pull.base_ref_name.clone(),
    };
    let behind = ws.repository.fetch(&base).is_ok_and(|there| there)
        && !ws.repository.contains(&format!("refs/heads/{}", base.branch), &base.tracking());
    if behind {
        ws.notice(format!("the local {} is behind {remote}: run `git pull` to get the merge", base.branch));
    }
}

impl Landed {
    pub(super) fn begun(self, branch: &str) -> BegunMerge {
        BegunMerge {
            branch: branch.to_owned(),
            style: self.style,
            checks: self.checks,
            landing: self.landing,
            removing: false,
        }
    }
}

/// GitHub made this merge, so none of the user's hooks were skipped.
pub(super) fn without_hooks(merged: Merged) -> Merged {
    Merged { hooks_not_run: Vec::new(), ..merged }
}

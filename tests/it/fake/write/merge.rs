//! Mutations that merge a pull request, now or later.

use serde_json::Value;

use super::super::answer::{Fail, Out};
use super::super::read;
use super::super::world::{AutoMerge, Pull, World};
use super::pull::{answer, open_pull};
use super::{Payload, text};

fn check_method(world: &World, pull: &Pull, method: &str) -> Result<(), Fail> {
    let repo = &world.repositories[&pull.repo];
    let (allowed, what) = match method {
        "SQUASH" => (repo.squash, "Squash merges are not allowed on this repository."),
        "REBASE" => (repo.rebase, "Rebase merges are not allowed on this repository."),
        _ => (repo.merge_commit, "Merge commits are not allowed on this repository."),
    };
    if allowed { Ok(()) } else { Err(Fail::unprocessable(what)) }
}

fn still_open(pull: &Pull) -> Result<(), Fail> {
    match pull.state.as_str() {
        "MERGED" => Err(Fail::unprocessable("Pull request is already merged")),
        "CLOSED" => Err(Fail::unprocessable("Pull request is closed")),
        _ => Ok(()),
    }
}

fn check_mergeable(pull: &Pull) -> Result<(), Fail> {
    if pull.draft {
        return Err(Fail::unprocessable("Pull Request is still a draft"));
    }
    if pull.mergeable != "MERGEABLE" || pull.merge_state == "DIRTY" {
        return Err(Fail::unprocessable("Pull Request is not mergeable"));
    }
    match pull.merge_state.as_str() {
        "BLOCKED" => Err(Fail::unprocessable(
            "Repository rule violations found: at least 1 approving review or required check is missing.",
        )),
        "BEHIND" => Err(Fail::unprocessable("Head branch is out of date. Review and try the merge again.")),
        _ => Ok(()),
    }
}

pub(super) fn merge(world: &mut World, input: &Value) -> Payload {
    let pull = open_pull(world, input, "MergePullRequest")?;
    still_open(&pull)?;
    check_mergeable(&pull)?;
    check_method(world, &pull, text(input, "mergeMethod"))?;
    if world.repositories[&pull.repo].merge_queue {
        return Err(Fail::unprocessable("Changes must be made through the merge queue"));
    }
    world.merge(&pull.id);
    Ok(answer(&pull.id))
}

/// Refused if the pull request could be merged right away (§6).
pub(super) fn enable_auto(world: &mut World, input: &Value) -> Payload {
    let pull = open_pull(world, input, "EnablePullRequestAutoMerge")?;
    still_open(&pull)?;
    if !world.repositories[&pull.repo].auto_merge {
        return Err(Fail::unprocessable("Auto merge is not allowed for this repository"));
    }
    if pull.draft {
        return Err(Fail::unprocessable("Pull request is in draft state"));
    }
    if pull.merge_state == "CLEAN" {
        return Err(Fail::unprocessable("Pull request is in clean status"));
    }
    check_method(world, &pull, text(input, "mergeMethod"))?;
    let (now, method) = (world.now, text(input, "mergeMethod").to_owned());
    if let Some(found) = world.pulls.get_mut(&pull.id) {
        (found.auto_merge, found.updated) = (Some(AutoMerge { enabled: now, method }), now);
    }
    Ok(answer(&pull.id))
}

pub(super) fn enqueue(world: &mut World, input: &Value) -> Payload {
    let pull = open_pull(world, input, "EnqueuePullRequest")?;
    still_open(&pull)?;
    if !world.repositories[&pull.repo].merge_queue {
        return Err(Fail::unprocessable(
            "Pull request can't be enqueued: merge queue is not enabled on the base branch",
        ));
    }
    if pull.queue.is_some() {
        return Err(Fail::unprocessable("Pull request is already in the queue"));
    }
    if pull.draft || pull.mergeable == "CONFLICTING" {
        return Err(Fail::unprocessable("Pull request can't be enqueued: it is not mergeable"));
    }
    let entry = world.enqueue(&pull.id);
    Ok(vec![("mergeQueueEntry", Out::Obj(read::queue_entry(&entry)))])
}

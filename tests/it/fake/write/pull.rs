//! Mutations of pull requests before the merge, and of refs.

use serde_json::Value;

use super::super::answer::{Ent, Fail, Out};
use super::super::read;
use super::super::world::{Pull, World};
use super::{Fields, Payload, can_push, check_body, check_title, count_creation, not_permitted, repo_open, text};

/// The all-zero object id: "must not exist" before, "delete" after.
const ZERO: &str = "0000000000000000000000000000000000000000";

pub(super) fn answer(id: &str) -> Fields {
    vec![("pullRequest", Out::Obj(Ent::Pull(id.into())))]
}

/// An open pull request that the viewer may change, with the expected head.
pub(super) fn open_pull(world: &World, input: &Value, mutation: &str) -> Result<Pull, Fail> {
    let id = text(input, "pullRequestId");
    if !matches!(read::node(world, id)?, Ent::Pull(_)) {
        return Err(Fail::no_node(id));
    }
    let pull = world.pulls[id].clone();
    repo_open(world, &pull.repo)?;
    if !can_push(world, &pull.repo) {
        return Err(not_permitted(world, mutation));
    }
    if let Some(expected) = input["expectedHeadOid"].as_str()
        && expected != pull.head_oid
    {
        return Err(Fail::unprocessable("Head branch was modified. Review and try the merge again."));
    }
    Ok(pull)
}

/// A thread's pull request and index, if the viewer may comment there.
fn open_thread(world: &World, id: &str, mutation: &str) -> Result<(String, usize), Fail> {
    let found = world.pulls.values().find_map(|pull| Some((pull, pull.threads.iter().position(|t| t.id == id)?)));
    let (pull, at) = found.ok_or_else(|| Fail::no_node(id))?;
    repo_open(world, &pull.repo)?;
    if !can_push(world, &pull.repo) {
        return Err(not_permitted(world, mutation));
    }
    Ok((pull.id.clone(), at))
}

pub(super) fn reply(world: &mut World, input: &Value) -> Payload {
    let (pull, at) = open_thread(world, text(input, "pullRequestReviewThreadId"), "AddPullRequestReviewThreadReply")?;
    check_body(text(input, "body"))?;
    count_creation(world, true)?;
    let comment = world.thread_comment(&world.viewer.clone(), text(input, "body"));
    let shown = read::pull::thread_comment(world, &comment);
    if let Some(pull) = world.pulls.get_mut(&pull) {
        pull.threads[at].comments.push(comment);
    }
    Ok(vec![("comment", Out::Obj(shown))])
}

pub(super) fn resolve(world: &mut World, input: &Value) -> Payload {
    let (pull, at) = open_thread(world, text(input, "threadId"), "ResolveReviewThread")?;
    if let Some(pull) = world.pulls.get_mut(&pull) {
        pull.threads[at].resolved = true;
    }
    let thread = world.pulls[&pull].threads[at].clone();
    Ok(vec![("thread", Out::Obj(read::pull::thread(world, &thread)?))])
}

pub(super) fn create(world: &mut World, input: &Value) -> Payload {
    let (repo, title, body) = (text(input, "repositoryId"), text(input, "title"), text(input, "body"));
    let (head, base) = (text(input, "headRefName"), text(input, "baseRefName"));
    if !world.repositories.contains_key(repo) {
        return Err(Fail::no_node(repo));
    }
    repo_open(world, repo)?;
    if !input["headRepositoryId"].is_null() {
        return Err(Fail::unmodelled("CreatePullRequestInput.headRepositoryId"));
    }
    check_title(title)?;
    check_body(body)?;
    let owner = world.repositories[repo].owner.clone();
    let head = match head.split_once(':') {
        Some((of, branch)) if of == owner => branch,
        Some(_) => return Err(Fail::unmodelled("a pull request from a fork")),
        None => head,
    };
    check_refs(world, repo, head, base)?;
    let open = |p: &&Pull| p.repo == repo && p.head == head && p.base == base && p.state == "OPEN";
    if world.pulls.values().any(|p| open(&p)) {
        return Err(Fail::unprocessable(format!("A pull request already exists for {owner}:{head}.")));
    }
    count_creation(world, true)?;
    let id = world.open_pull(repo, (head, base), (title, body), &world.viewer.clone());
    if let Some(pull) = world.pulls.get_mut(&id) {
        pull.draft = input["draft"] == true;
    }
    Ok(answer(&id))
}

/// Commits have no history in the fake: "no commits between" means two branches at the same commit.
fn check_refs(world: &World, repo: &str, head: &str, base: &str) -> Result<(), Fail> {
    let found = |branch: &str| world.ref_of(repo, branch).map(|r| r.oid.clone());
    let Some(from) = found(head) else {
        return Err(Fail::unprocessable("Head sha can't be blank, Base sha can't be blank, Head ref must be a branch"));
    };
    let Some(onto) = found(base) else {
        return Err(Fail::unprocessable("Base sha can't be blank, Base ref must be a branch"));
    };
    if from == onto {
        return Err(Fail::unprocessable(format!("No commits between {base} and {head}")));
    }
    Ok(())
}

pub(super) fn ready(world: &mut World, input: &Value) -> Payload {
    let pull = open_pull(world, input, "MarkPullRequestReadyForReview")?;
    if pull.state != "OPEN" {
        return Err(Fail::unprocessable("Pull request is not open"));
    }
    let now = world.now;
    if let Some(found) = world.pulls.get_mut(&pull.id) {
        found.draft = false;
        found.updated = now;
        if found.merge_state == "DRAFT" {
            found.merge_state = "CLEAN".into();
        }
    }
    Ok(answer(&pull.id))
}

pub(super) fn update_branch(world: &mut World, input: &Value) -> Payload {
    let pull = open_pull(world, input, "UpdatePullRequestBranch")?;
    if pull.state != "OPEN" || pull.merge_state != "BEHIND" {
        return Err(Fail::unprocessable("There are no new commits on the base branch."));
    }
    if pull.mergeable == "CONFLICTING" {
        return Err(Fail::unprocessable("merge conflict between base and head"));
    }
    let oid = world.new_oid();
    world.write_ref(&pull.repo, &format!("refs/heads/{}", pull.head), &oid);
    if let Some(found) = world.pulls.get_mut(&pull.id) {
        found.merge_state = "CLEAN".into();
    }
    Ok(answer(&pull.id))
}

pub(super) fn delete_ref(world: &mut World, input: &Value) -> Payload {
    let id = text(input, "refId");
    if !matches!(read::node(world, id)?, Ent::Ref(_)) {
        return Err(Fail::no_node(id));
    }
    let entry = world.refs[id].clone();
    repo_open(world, &entry.repo)?;
    if !can_push(world, &entry.repo) {
        return Err(not_permitted(world, "DeleteRef"));
    }
    if entry.short() == world.repositories[&entry.repo].default_branch {
        return Err(Fail::unprocessable("Cannot delete the default branch"));
    }
    world.refs.remove(id);
    for pull in world.pulls.values_mut() {
        // Deleting the head of an open pull request closes it.
        if pull.repo == entry.repo && pull.head == entry.short() && pull.state == "OPEN" {
            pull.state = "CLOSED".into();
        }
    }
    Ok(vec![])
}

/// All or nothing; `beforeOid` is a compare-and-set (§4.2 two machines).
pub(super) fn update_refs(world: &mut World, input: &Value) -> Payload {
    let repo = text(input, "repositoryId");
    if !world.repositories.contains_key(repo) {
        return Err(Fail::no_node(repo));
    }
    repo_open(world, repo)?;
    if !can_push(world, repo) {
        return Err(not_permitted(world, "UpdateRefs"));
    }
    let updates = input["refUpdates"].as_array().cloned().unwrap_or_default();
    for update in &updates {
        let name = text(update, "name");
        if !name.starts_with("refs/") {
            return Err(Fail::unprocessable(format!("{name} is not a fully qualified ref name")));
        }
        let now = world.ref_of(repo, name).map_or(ZERO, |r| r.oid.as_str());
        if update["beforeOid"].as_str().is_some_and(|before| before != now) {
            return Err(Fail::unprocessable(format!(
                "Reference {name} was updated: expected {}, found {now}",
                text(update, "beforeOid")
            )));
        }
    }
    for update in &updates {
        let (name, oid) = (text(update, "name"), text(update, "afterOid"));
        if oid == ZERO {
            world.refs.retain(|_, r| r.repo != repo || r.name != name);
        } else {
            world.write_ref(repo, name, oid);
        }
    }
    Ok(vec![])
}

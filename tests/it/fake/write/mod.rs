//! Mutations: each one checks its input before it changes the world; one without code is reported as an error.

mod comment;
mod field;
mod issue;
mod item;
mod label;
mod merge;
mod pull;
mod relation;

use serde_json::Value;

use super::answer::{Ent, Fail, Out};
use super::read;
use super::world::{Id, Issue, Project, World};

type Fields = Vec<(&'static str, Out)>;

/// The fields of a payload, or the reason why nothing was changed.
pub(super) type Payload = Result<Fields, Fail>;

/// Runs one mutation, which makes all of its changes or fails before the first one.
pub(super) fn run(world: &mut World, name: &str, input: &Value) -> Payload {
    match name {
        "createIssue" => issue::create(world, input),
        "updateIssue" => issue::update(world, input),
        "closeIssue" => issue::close(world, input),
        "reopenIssue" => issue::reopen(world, input),
        "addComment" => comment::add(world, input),
        "updateIssueComment" => comment::update(world, input),
        "deleteIssueComment" => comment::delete(world, input),
        "createLabel" => label::create(world, input),
        "addLabelsToLabelable" => label::add(world, input),
        "removeLabelsFromLabelable" => label::remove(world, input),
        "addSubIssue" => relation::add_sub_issue(world, input),
        "removeSubIssue" => relation::remove_sub_issue(world, input),
        "reprioritizeSubIssue" => relation::reprioritize(world, input),
        "addBlockedBy" => relation::add_blocked_by(world, input),
        "removeBlockedBy" => relation::remove_blocked_by(world, input),
        "createProjectV2" => field::create_project(world, input),
        "linkProjectV2ToRepository" => field::link(world, input),
        "createProjectV2Field" => field::create(world, input),
        "updateProjectV2Field" => field::update(world, input),
        "addProjectV2ItemById" => item::add(world, input),
        "addProjectV2DraftIssue" => item::add_draft(world, input),
        "convertProjectV2DraftIssueItemToIssue" => item::convert(world, input),
        "updateProjectV2ItemFieldValue" => item::set_value(world, input),
        "clearProjectV2ItemFieldValue" => item::clear_value(world, input),
        "deleteProjectV2Item" => item::delete(world, input),
        "archiveProjectV2Item" => item::archive(world, input, true),
        "unarchiveProjectV2Item" => item::archive(world, input, false),
        "createPullRequest" => pull::create(world, input),
        "markPullRequestReadyForReview" => pull::ready(world, input),
        "updatePullRequestBranch" => pull::update_branch(world, input),
        "deleteRef" => pull::delete_ref(world, input),
        "updateRefs" => pull::update_refs(world, input),
        "mergePullRequest" => merge::merge(world, input),
        "enablePullRequestAutoMerge" => merge::enable_auto(world, input),
        "addPullRequestReviewThreadReply" => pull::reply(world, input),
        "resolveReviewThread" => pull::resolve(world, input),
        "enqueuePullRequest" => merge::enqueue(world, input),
        _ => Err(Fail::unmodelled(&format!("Mutation.{name}"))),
    }
}

fn text<'a>(input: &'a Value, name: &str) -> &'a str {
    input[name].as_str().unwrap_or_default()
}

fn ids(input: &Value, name: &str) -> Vec<Id> {
    let list = input[name].as_array().cloned().unwrap_or_default();
    list.iter().filter_map(Value::as_str).map(Into::into).collect()
}

/// GitHub names the mutation in the message, as in `CloseIssue`.
fn not_permitted(world: &World, mutation: &str) -> Fail {
    Fail::new("FORBIDDEN", format!("{} does not have the correct permissions to execute `{mutation}`", world.viewer))
}

fn issue_of(world: &World, id: &str) -> Result<Issue, Fail> {
    match read::node(world, id)? {
        Ent::Issue(_) => Ok(world.issues[id].clone()),
        _ => Err(Fail::no_node(id)),
    }
}

fn repo_open(world: &World, id: &str) -> Result<(), Fail> {
    if world.is_hidden(id) {
        return Err(Fail::no_node(id));
    }
    if world.repositories[id].archived {
        return Err(Fail::new("FORBIDDEN", "Repository was archived so is read-only."));
    }
    Ok(())
}

fn can_triage(world: &World, repo: &str) -> bool {
    world.repositories[repo].permission != "READ"
}

fn can_push(world: &World, repo: &str) -> bool {
    matches!(world.repositories[repo].permission.as_str(), "WRITE" | "MAINTAIN" | "ADMIN")
}

/// The author and those with triage rights may change an issue.
fn may_change(world: &World, issue: &Issue, mutation: &str) -> Result<(), Fail> {
    repo_open(world, &issue.repo)?;
    if issue.author != world.viewer && !can_triage(world, &issue.repo) {
        return Err(not_permitted(world, mutation));
    }
    Ok(())
}

/// A project that the viewer may change; a closed one cannot be changed.
fn open_project<'a>(world: &'a World, id: &str, mutation: &str) -> Result<&'a Project, Fail> {
    let project = world.projects.get(id).ok_or_else(|| Fail::no_node(id))?;
    read::can_see_project(world, project)?;
    if !project.viewer_can_update {
        return Err(not_permitted(world, mutation));
    }
    if project.closed {
        return Err(Fail::unprocessable("The project is closed and cannot be changed."));
    }
    Ok(project)
}

/// The longest body of an issue, a comment or a pull request (§1.2 limits).
fn check_body(body: &str) -> Result<(), Fail> {
    if body.chars().count() > 65_536 {
        return Err(Fail::unprocessable("Body is too long (maximum is 65536 characters)"));
    }
    Ok(())
}

fn check_title(title: &str) -> Result<(), Fail> {
    if title.trim().is_empty() {
        return Err(Fail::unprocessable("Title can't be blank"));
    }
    if title.trim().chars().count() > 256 {
        return Err(Fail::unprocessable("Title is too long (maximum is 256 characters)"));
    }
    Ok(())
}

/// Counts created content against the secondary limits, if enabled (§1.3).
fn count_creation(world: &mut World, issue: bool) -> Result<(), Fail> {
    if world.count_creation(issue) { Ok(()) } else { Err(Fail::unprocessable("was submitted too quickly")) }
}

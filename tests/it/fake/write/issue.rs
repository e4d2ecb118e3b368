//! Mutations of issues.

use serde_json::Value;

use super::super::answer::{Ent, Fail, Out};
use super::super::world::{Content, Id, World};
use super::{
    Fields, Payload, can_triage, check_body, check_title, count_creation, ids, issue_of, may_change, open_project,
    repo_open, text,
};

fn answer(id: &str) -> Fields {
    vec![("issue", Out::Obj(Ent::Issue(id.into())))]
}

fn refuse_unmodelled(input: &Value, names: &[&str], of: &str) -> Result<(), Fail> {
    match names.iter().find(|n| !input[**n].is_null()) {
        Some(name) => Err(Fail::unmodelled(&format!("{of}.{name}"))),
        None => Ok(()),
    }
}

fn check_labels(world: &World, repo: &str, labels: &[Id]) -> Result<(), Fail> {
    let missing = labels.iter().find(|l| world.labels.get(*l).is_none_or(|l| l.repo != repo));
    missing.map_or(Ok(()), |l| Err(Fail::no_node(l)))
}

fn check_users(world: &World, users: &[Id]) -> Result<(), Fail> {
    let missing = users.iter().find(|u| world.owners.get(*u).is_none_or(|o| o.is_organization));
    missing.map_or(Ok(()), |u| Err(Fail::no_node(u)))
}

pub(super) fn create(world: &mut World, input: &Value) -> Payload {
    refuse_unmodelled(input, &["issueTemplate", "milestoneId", "projectIds"], "CreateIssueInput")?;
    let (repo, title, body) = (text(input, "repositoryId"), text(input, "title"), text(input, "body"));
    if !world.repositories.contains_key(repo) {
        return Err(Fail::no_node(repo));
    }
    repo_open(world, repo)?;
    if !world.repositories[repo].has_issues {
        return Err(Fail::unprocessable("Issues has been disabled in this repository."));
    }
    check_title(title)?;
    check_body(body)?;
    let (labels, assignees, projects) = (ids(input, "labelIds"), ids(input, "assigneeIds"), ids(input, "projectV2Ids"));
    check_labels(world, repo, &labels)?;
    check_users(world, &assignees)?;
    for project in &projects {
        open_project(world, project, "CreateIssue")?;
    }
    let parent = input["parentIssueId"].as_str();
    if let Some(parent) = parent {
        super::relation::check_room(world, &issue_of(world, parent)?, 1)?;
    }
    count_creation(world, true)?;
    let id = world.open_issue(repo, title, body, &world.viewer.clone());
    let triage = can_triage(world, repo);
    let not_yet = world.not_yet_addable;
    world.touch(&id, |issue| {
        issue.not_yet_addable = not_yet;
        // Without triage rights GitHub drops labels and assignees silently.
        if triage {
            (issue.labels, issue.assignees) = (labels, assignees);
        }
    });
    if let Some(parent) = parent {
        world.put_under(&id, Some(parent));
    }
    add_to_projects(world, &id, &projects);
    Ok(answer(&id))
}

/// It is not verified whether `projectItems` shows the item at once (§7), so the lag is a setting.
fn add_to_projects(world: &mut World, issue: &str, projects: &[Id]) {
    let lag = world.item_listing_lag;
    for project in projects {
        let item = world.put_item(project, Content::Issue(issue.into()));
        if let Some(item) = world.items.get_mut(&item) {
            item.unlisted = lag;
        }
    }
}

pub(super) fn update(world: &mut World, input: &Value) -> Payload {
    refuse_unmodelled(input, &["milestoneId", "projectIds"], "UpdateIssueInput")?;
    let id = text(input, "id");
    let issue = issue_of(world, id)?;
    may_change(world, &issue, "UpdateIssue")?;
    let (title, body) = (input["title"].as_str(), input["body"].as_str());
    title.map_or(Ok(()), check_title)?;
    body.map_or(Ok(()), check_body)?;
    let (labels, assignees) = (ids(input, "labelIds"), ids(input, "assigneeIds"));
    check_labels(world, &issue.repo, &labels)?;
    check_users(world, &assignees)?;
    let viewer = world.viewer.clone();
    world.edit(id, title, body, &viewer);
    if input["labelIds"].is_array() && issue.labels != labels {
        world.touch(id, |i| i.labels = labels);
    }
    if input["assigneeIds"].is_array() && issue.assignees != assignees {
        world.touch(id, |i| i.assignees = assignees);
    }
    match input["state"].as_str() {
        Some("CLOSED") if !issue.closed => world.close(id, "COMPLETED"),
        Some("OPEN") => world.reopen(id),
        _ => (),
    }
    Ok(answer(id))
}

pub(super) fn close(world: &mut World, input: &Value) -> Payload {
    let id = text(input, "issueId");
    let issue = issue_of(world, id)?;
    may_change(world, &issue, "CloseIssue")?;
    if let Some(original) = input["duplicateIssueId"].as_str() {
        issue_of(world, original)?;
    }
    let reason = input["stateReason"].as_str().unwrap_or("COMPLETED");
    world.close(id, reason);
    if let Some(original) = input["duplicateIssueId"].as_str().map(Id::from) {
        world.touch(id, |issue| issue.duplicate_of = Some(original));
    }
    Ok(answer(id))
}

pub(super) fn reopen(world: &mut World, input: &Value) -> Payload {
    let id = text(input, "issueId");
    let issue = issue_of(world, id)?;
    may_change(world, &issue, "ReopenIssue")?;
    world.reopen(id);
    Ok(answer(id))
}

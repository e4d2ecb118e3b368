//! Resolvers of owners, repositories, labels and refs.

use serde_json::Value;

use super::super::answer::{Ask, Ent, Fail, Out, leaf, maybe, record};
use super::super::page::connection;
use super::super::world::{Issue, Pull, Repository, World};
use super::{maybe_text, project};

pub(super) fn owner_field(world: &World, id: &str, ask: &Ask<'_>) -> Result<Option<Out>, Fail> {
    let owner = &world.owners[id];
    let out = match ask.field {
        "id" => leaf(id),
        "login" => leaf(owner.login.as_str()),
        "projectV2" => project::by_number(world, owner, ask)?,
        "projectsV2" => project::listed(world, owner, ask)?,
        _ => return Ok(None),
    };
    Ok(Some(out))
}

pub(super) fn field(world: &World, id: &str, ask: &Ask<'_>) -> Result<Option<Out>, Fail> {
    let repo = &world.repositories[id];
    let out = match ask.field {
        "id" => leaf(id),
        "nameWithOwner" => leaf(repo.full_name()),
        "hasIssuesEnabled" => leaf(repo.has_issues),
        "isArchived" => leaf(repo.archived),
        "viewerPermission" => leaf(repo.permission.as_str()),
        "visibility" => leaf(repo.visibility.as_str()),
        "mergeCommitAllowed" => leaf(repo.merge_commit),
        "squashMergeAllowed" => leaf(repo.squash),
        "rebaseMergeAllowed" => leaf(repo.rebase),
        "autoMergeAllowed" => leaf(repo.auto_merge),
        "deleteBranchOnMerge" => leaf(repo.delete_branch_on_merge),
        "defaultBranchRef" => maybe(world.ref_of(id, &repo.default_branch).map(|r| Ent::Ref(r.id.clone()))),
        "labels" => labels(world, id, ask)?,
        "issues" => issues(world, repo, ask)?,
        "pullRequest" => pull(world, repo, ask)?,
        "pullRequests" => pulls(world, repo, ask)?,
        _ => return Ok(None),
    };
    Ok(Some(out))
}

fn labels(world: &World, repo: &str, ask: &Ask<'_>) -> Result<Out, Fail> {
    let query = ask.text("query").to_lowercase();
    let here = world.labels.values().filter(|l| l.repo == repo && l.name.to_lowercase().contains(&query));
    let mut all: Vec<_> = here.collect();
    if ask.args["orderBy"]["field"] == "NAME" {
        all.sort_by_key(|l| l.name.to_lowercase());
    }
    if ask.args["orderBy"]["direction"] == "DESC" {
        all.reverse();
    }
    connection("LabelConnection", all.iter().map(|l| (l.id.clone(), Ent::Label(l.id.clone()))).collect(), ask.args)
}

/// `labels` and `states` may come as arguments or inside `filterBy`.
fn wanted(issue: &Issue, world: &World, args: &Value) -> Result<bool, Fail> {
    let filter = &args["filterBy"];
    for unmodelled in ["assignee", "mentioned", "milestone", "milestoneNumber"] {
        if !filter[unmodelled].is_null() {
            return Err(Fail::unmodelled(&format!("IssueFilters.{unmodelled}")));
        }
    }
    let has = |name: &Value| {
        issue.labels.iter().any(|l| name.as_str().is_some_and(|n| world.labels[l].name.eq_ignore_ascii_case(n)))
    };
    let state = if issue.closed { "CLOSED" } else { "OPEN" };
    let fits = |list: &Value, test: &dyn Fn(&Value) -> bool| {
        list.as_array().is_none_or(|l| l.is_empty() || l.iter().any(test))
    };
    let since = match filter["since"].as_str() {
        Some(text) => Some(
            text.parse()
                .map_err(|_| Fail::new("argumentLiteralsIncompatible", format!("`{text}` is not a valid DateTime")))?,
        ),
        None => None,
    };
    Ok(fits(&args["labels"], &has)
        && fits(&filter["labels"], &has)
        && fits(&args["states"], &|s| s == state)
        && fits(&filter["states"], &|s| s == state)
        && filter["createdBy"].as_str().is_none_or(|by| issue.author.eq_ignore_ascii_case(by))
        && since.is_none_or(|since: jiff::Timestamp| issue.updated >= since))
}

fn issues(world: &World, repo: &Repository, ask: &Ask<'_>) -> Result<Out, Fail> {
    let mut all = Vec::new();
    for issue in world.issues_in(&repo.full_name()) {
        if wanted(issue, world, ask.args)? {
            all.push(issue);
        }
    }
    match ask.args["orderBy"]["field"].as_str() {
        Some("UPDATED_AT") => all.sort_by_key(|i| (i.updated, i.number)),
        Some("COMMENTS") => all.sort_by_key(|i| world.comments_on(&i.id).len()),
        _ => (),
    }
    if ask.args["orderBy"]["direction"] == "DESC" {
        all.reverse();
    }
    connection("IssueConnection", all.iter().map(|i| (i.id.clone(), Ent::Issue(i.id.clone()))).collect(), ask.args)
}

fn pull(world: &World, repo: &Repository, ask: &Ask<'_>) -> Result<Out, Fail> {
    let number = &ask.args["number"];
    let found = world.pulls.values().find(|p| p.repo == repo.id && *number == p.number);
    let found = found.ok_or_else(|| {
        Fail::new("NOT_FOUND", format!("Could not resolve to a PullRequest with the number of {number}."))
    })?;
    Ok(Out::Obj(Ent::Pull(found.id.clone())))
}

fn pulls(world: &World, repo: &Repository, ask: &Ask<'_>) -> Result<Out, Fail> {
    let args = ask.args;
    if args["labels"].is_array() {
        return Err(Fail::unmodelled("Repository.pullRequests(labels:)"));
    }
    let fits = |p: &&Pull| {
        p.repo == repo.id
            && args["headRefName"].as_str().is_none_or(|h| p.head == h)
            && args["baseRefName"].as_str().is_none_or(|b| p.base == b)
            && args["states"].as_array().is_none_or(|s| s.iter().any(|s| *s == p.state.as_str()))
    };
    let mut all: Vec<&Pull> = world.pulls.values().filter(fits).collect();
    if args["orderBy"]["field"] == "UPDATED_AT" {
        all.sort_by_key(|p| (p.updated, p.number));
    }
    if args["orderBy"]["direction"] == "DESC" {
        all.reverse();
    }
    connection("PullRequestConnection", all.iter().map(|p| (p.id.clone(), Ent::Pull(p.id.clone()))).collect(), args)
}

pub(super) fn label_field(world: &World, id: &str, ask: &Ask<'_>) -> Result<Option<Out>, Fail> {
    let label = &world.labels[id];
    Ok(Some(match ask.field {
        "id" => leaf(id),
        "name" => leaf(label.name.as_str()),
        "color" => leaf(label.color.as_str()),
        "description" => maybe_text(label.description.as_deref()),
        _ => return Ok(None),
    }))
}

pub(super) fn ref_field(world: &World, id: &str, ask: &Ask<'_>) -> Result<Option<Out>, Fail> {
    let entry = &world.refs[id];
    Ok(Some(match ask.field {
        "id" => leaf(id),
        "name" => leaf(entry.short()),
        "target" => Out::Obj(commit(&entry.oid)),
        _ => return Ok(None),
    }))
}

pub(super) fn commit(oid: &str) -> Ent {
    record("Commit", vec![("id", leaf(format!("C_{oid}"))), ("oid", leaf(oid))])
}

//! Resolvers of issues and comments.

use super::super::answer::{Ask, Ent, Fail, Out, leaf, maybe, record};
use super::super::page::connection;
use super::super::world::{Content, Id, Issue, World};
use super::{actor, maybe_text, maybe_time, time};

pub(super) fn field(world: &World, id: &str, ask: &Ask<'_>) -> Result<Option<Out>, Fail> {
    let issue = world.issues.get(id).ok_or_else(|| Fail::no_node(id))?;
    let out = match ask.field {
        "id" => leaf(id),
        "number" => leaf(issue.number),
        "url" => leaf(url(world, issue)),
        "title" => leaf(issue.title.as_str()),
        "body" => leaf(issue.body.as_str()),
        "state" => leaf(if issue.closed { "CLOSED" } else { "OPEN" }),
        "stateReason" => state_reason(issue, ask),
        "createdAt" => time(issue.created),
        "updatedAt" => time(issue.updated),
        "closedAt" => maybe_time(issue.closed_at),
        "lastEditedAt" => maybe_time(issue.edited),
        "author" => actor(world, &issue.author),
        "editor" => issue.editor.as_deref().map_or(leaf(serde_json::Value::Null), |e| actor(world, e)),
        "repository" => Out::Obj(Ent::Repository(issue.repo.clone())),
        _ => return related(world, issue, ask),
    };
    Ok(Some(out))
}

fn related(world: &World, issue: &Issue, ask: &Ask<'_>) -> Result<Option<Out>, Fail> {
    let args = ask.args;
    let out = match ask.field {
        "parent" => maybe(issue.parent.as_ref().filter(|p| sees_issue(world, p)).map(|p| Ent::Issue(p.clone()))),
        "subIssues" => connection("IssueConnection", issues(world, &issue.children), args)?,
        "subIssuesSummary" => Out::Obj(record("SubIssuesSummary", vec![("total", leaf(issue.children.len()))])),
        "blockedBy" => blocked_by(world, issue, ask)?,
        "issueDependenciesSummary" => dependencies(world, issue),
        "labels" => connection("LabelConnection", labels(&issue.labels), args)?,
        "assignees" => {
            let all = issue.assignees.iter().map(|a| (a.clone(), Ent::Owner(a.clone())));
            connection("UserConnection", all.collect(), args)?
        }
        "comments" => comments(world, issue, ask)?,
        "projectItems" => project_items(world, issue, ask)?,
        "closedByPullRequestsReferences" => closing_pulls(world, issue, ask)?,
        _ => return Ok(None),
    };
    Ok(Some(out))
}

pub(super) fn url(world: &World, issue: &Issue) -> String {
    format!("https://github.com/{}/issues/{}", world.repositories[&issue.repo].full_name(), issue.number)
}

/// DUPLICATE is reported only if the query enables it; otherwise it reads `NOT_PLANNED` (§1.2).
fn state_reason(issue: &Issue, ask: &Ask<'_>) -> Out {
    match issue.reason.as_deref() {
        Some("DUPLICATE") if !ask.flag("enableDuplicate") => leaf("NOT_PLANNED"),
        reason => maybe_text(reason),
    }
}

fn sees_issue(world: &World, id: &str) -> bool {
    super::sees(world, &Content::Issue(id.into()))
}

fn issues(world: &World, ids: &[Id]) -> Vec<(String, Ent)> {
    ids.iter().filter(|id| sees_issue(world, id)).map(|id| (id.clone(), Ent::Issue(id.clone()))).collect()
}

/// Closed blockers are listed too (§1.2).
fn blocked_by(world: &World, issue: &Issue, ask: &Ask<'_>) -> Result<Out, Fail> {
    let mut all = issues(world, &issue.blocked_by);
    if ask.args["orderBy"]["field"] == "CREATED_AT" {
        all.sort_by_key(|(id, _)| world.issues[id].created);
    }
    if ask.args["orderBy"]["direction"] == "DESC" {
        all.reverse();
    }
    connection("IssueConnection", all, ask.args)
}

fn dependencies(world: &World, issue: &Issue) -> Out {
    let blocking = world.issues.values().filter(|i| i.blocked_by.contains(&issue.id)).count();
    let fields = vec![("totalBlockedBy", leaf(issue.blocked_by.len())), ("totalBlocking", leaf(blocking))];
    Out::Obj(record("IssueDependenciesSummary", fields))
}

pub(super) fn labels(ids: &[Id]) -> Vec<(String, Ent)> {
    ids.iter().map(|l| (l.clone(), Ent::Label(l.clone()))).collect()
}

fn comments(world: &World, issue: &Issue, ask: &Ask<'_>) -> Result<Out, Fail> {
    let mut all = world.comments_on(&issue.id);
    if !ask.args["orderBy"].is_null() {
        all.sort_by_key(|c| c.updated);
    }
    if ask.args["orderBy"]["direction"] == "DESC" {
        all.reverse();
    }
    connection(
        "IssueCommentConnection",
        all.iter().map(|c| (c.id.clone(), Ent::Comment(c.id.clone()))).collect(),
        ask.args,
    )
}

fn project_items(world: &World, issue: &Issue, ask: &Ask<'_>) -> Result<Out, Fail> {
    let archived = ask.args["includeArchived"].as_bool().unwrap_or(true);
    let content = Content::Issue(issue.id.clone());
    let fits = |i: &&super::super::world::Item| {
        i.content == content
            && (archived || !i.archived)
            && !i.unlisted
            && super::can_see_project(world, &world.projects[&i.project]).is_ok()
    };
    let all = world.items.values().filter(fits).map(|i| (i.id.clone(), Ent::Item(i.id.clone())));
    connection("ProjectV2ItemConnection", all.collect(), ask.args)
}

fn closing_pulls(world: &World, issue: &Issue, ask: &Ask<'_>) -> Result<Out, Fail> {
    let closed = ask.flag("includeClosedPrs");
    let fits = |p: &&super::super::world::Pull| (closed || p.state == "OPEN") && world.closes(p).contains(&issue.id);
    let all = world.pulls.values().filter(fits).map(|p| (p.id.clone(), Ent::Pull(p.id.clone())));
    connection("PullRequestConnection", all.collect(), ask.args)
}

pub(super) fn comment_field(world: &World, id: &str, ask: &Ask<'_>) -> Result<Option<Out>, Fail> {
    let comment = world.comments.get(id).ok_or_else(|| Fail::no_node(id))?;
    Ok(Some(match ask.field {
        "id" => leaf(id),
        "body" => leaf(comment.body.as_str()),
        "author" => actor(world, &comment.author),
        "createdAt" => time(comment.created),
        "updatedAt" => time(comment.updated),
        "lastEditedAt" => maybe_time(comment.edited),
        "viewerDidAuthor" => leaf(comment.author == world.viewer),
        "isMinimized" => leaf(comment.minimized),
        "url" => {
            let on = world.issues.get(&comment.subject).map(|i| url(world, i));
            let on = on.or_else(|| world.pulls.get(&comment.subject).map(|p| super::pull::url(world, p)));
            leaf(format!("{}#issuecomment-{}", on.unwrap_or_default(), comment.serial))
        }
        _ => return Ok(None),
    }))
}

//! Mutations of sub-issues and dependencies.

use serde_json::Value;

use super::super::answer::{Ent, Fail, Out};
use super::super::world::{Id, Issue, MAX_CHILDREN, MAX_DEPTH, World};
use super::{Payload, issue_of, may_change, text};

/// The start of all of GitHub's refusals of a sub-issue, with its misspelling.
const SUB: &str = "An error occured while adding the sub-issue to the parent issue.";

fn sub_fail(why: &str) -> Fail {
    Fail::unprocessable(format!("{SUB} {why}"))
}

fn one(name: &'static str, id: &str) -> (&'static str, Out) {
    (name, Out::Obj(Ent::Issue(id.into())))
}

fn sub_issue_id(world: &World, input: &Value) -> Result<Id, Fail> {
    if let Some(id) = input["subIssueId"].as_str() {
        return Ok(id.into());
    }
    let url = input["subIssueUrl"]
        .as_str()
        .ok_or_else(|| Fail::unprocessable("One of subIssueId or subIssueUrl must be provided"))?;
    let path = url.strip_prefix("https://github.com/").and_then(|p| p.rsplit_once("/issues/"));
    let found = path.and_then(|(repo, number)| {
        let number: u32 = number.parse().ok()?;
        world.issues.values().find(|i| i.number == number && world.repositories[&i.repo].full_name() == repo)
    });
    found
        .map(|i| i.id.clone())
        .ok_or_else(|| Fail::new("NOT_FOUND", format!("Could not resolve to an issue at '{url}'")))
}

/// At most a hundred children and eight levels (§1.2 limits).
pub(super) fn check_room(world: &World, parent: &Issue, height: usize) -> Result<(), Fail> {
    if parent.children.len() >= MAX_CHILDREN {
        return Err(sub_fail("Parent cannot have more than 100 sub-issues"));
    }
    if world.ancestors(&parent.id).len() + 1 + height > MAX_DEPTH {
        return Err(sub_fail("Sub-issues may not be nested more than 8 levels deep"));
    }
    Ok(())
}

pub(super) fn add_sub_issue(world: &mut World, input: &Value) -> Payload {
    let parent = issue_of(world, text(input, "issueId"))?;
    let child = issue_of(world, &sub_issue_id(world, input)?)?;
    may_change(world, &parent, "AddSubIssue")?;
    if parent.children.contains(&child.id) {
        return Err(sub_fail("Issue may not contain duplicate sub-issues"));
    }
    if child.parent.is_some() && input["replaceParent"] != true {
        return Err(sub_fail("Sub issue may only have one parent"));
    }
    let above = world.ancestors(&parent.id);
    if parent.id == child.id || above.contains(&child.id) {
        return Err(sub_fail("Issue may not contain circular sub-issues"));
    }
    check_room(world, &parent, world.height(&child.id))?;
    world.put_under(&child.id, Some(&parent.id));
    Ok(vec![one("issue", &parent.id), one("subIssue", &child.id)])
}

pub(super) fn remove_sub_issue(world: &mut World, input: &Value) -> Payload {
    let parent = issue_of(world, text(input, "issueId"))?;
    let child = issue_of(world, text(input, "subIssueId"))?;
    may_change(world, &parent, "RemoveSubIssue")?;
    if !parent.children.contains(&child.id) {
        return Err(Fail::unprocessable("The issue is not a sub-issue of the parent issue"));
    }
    world.put_under(&child.id, None);
    Ok(vec![one("issue", &parent.id)])
}

pub(super) fn reprioritize(world: &mut World, input: &Value) -> Payload {
    let parent = issue_of(world, text(input, "issueId"))?;
    let child = text(input, "subIssueId").to_owned();
    may_change(world, &parent, "ReprioritizeSubIssue")?;
    let mut order = parent.children.clone();
    let from = order
        .iter()
        .position(|c| *c == child)
        .ok_or_else(|| Fail::unprocessable("Sub-issue does not belong to the parent"))?;
    order.remove(from);
    let at = |id: &Value| order.iter().position(|c| *id == c.as_str());
    let to = match (&input["afterId"], &input["beforeId"]) {
        (Value::Null, Value::Null) => Some(0),
        (after, Value::Null) => at(after).map(|p| p + 1),
        (Value::Null, before) => at(before),
        _ => {
            return Err(Fail::unprocessable("Only one of afterId and beforeId may be given"));
        }
    };
    let to = to.ok_or_else(|| Fail::unprocessable("The neighbour is not a sub-issue of the parent"))?;
    order.insert(to, child);
    if let Some(issue) = world.issues.get_mut(&parent.id) {
        issue.children = order;
    }
    Ok(vec![one("issue", &parent.id)])
}

pub(super) fn add_blocked_by(world: &mut World, input: &Value) -> Payload {
    let issue = issue_of(world, text(input, "issueId"))?;
    // A pull request cannot be a blocker (§1.2): its id is not that of an issue.
    let blocker = issue_of(world, text(input, "blockingIssueId"))?;
    may_change(world, &issue, "AddBlockedBy")?;
    if issue.blocked_by.contains(&blocker.id) {
        return Err(Fail::unprocessable("Target issue has already been taken"));
    }
    if world.waits_for(&blocker.id, &issue.id) {
        return Err(Fail::unprocessable("Dependency would create a cycle"));
    }
    if let Some(found) = world.issues.get_mut(&issue.id) {
        found.blocked_by.push(blocker.id.clone());
    }
    Ok(vec![one("issue", &issue.id), one("blockingIssue", &blocker.id)])
}

pub(super) fn remove_blocked_by(world: &mut World, input: &Value) -> Payload {
    let issue = issue_of(world, text(input, "issueId"))?;
    let blocker = text(input, "blockingIssueId");
    may_change(world, &issue, "RemoveBlockedBy")?;
    if !issue.blocked_by.iter().any(|b| b == blocker) {
        return Err(Fail::unprocessable("The issue is not blocked by that issue"));
    }
    if let Some(found) = world.issues.get_mut(&issue.id) {
        found.blocked_by.retain(|b| b != blocker);
    }
    Ok(vec![one("issue", &issue.id)])
}

//! Mutations of comments.

use serde_json::Value;

use super::super::answer::{Ent, Fail, Out, record};
use super::super::read;
use super::super::world::{Comment, World};
use super::{Payload, can_push, check_body, count_creation, not_permitted, repo_open, text};

pub(super) fn add(world: &mut World, input: &Value) -> Payload {
    let (subject, body) = (text(input, "subjectId"), text(input, "body"));
    let found = read::node(world, subject)?;
    let repo = match &found {
        Ent::Issue(id) => world.issues[id].repo.clone(),
        Ent::Pull(id) => world.pulls[id].repo.clone(),
        _ => return Err(Fail::no_node(subject)),
    };
    repo_open(world, &repo)?;
    check_text(body)?;
    count_creation(world, false)?;
    let id = world.write_comment(subject, &world.viewer.clone(), body);
    let edge = record("IssueCommentEdge", vec![("node", Out::Obj(Ent::Comment(id)))]);
    Ok(vec![("commentEdge", Out::Obj(edge)), ("subject", Out::Obj(found))])
}

fn check_text(body: &str) -> Result<(), Fail> {
    if body.trim().is_empty() {
        return Err(Fail::unprocessable("Body can't be blank"));
    }
    check_body(body)
}

/// Only the author and those who may push can change a comment.
fn editable(world: &World, id: &str, mutation: &str) -> Result<Comment, Fail> {
    if !matches!(read::node(world, id)?, Ent::Comment(_)) {
        return Err(Fail::no_node(id));
    }
    let comment = world.comments[id].clone();
    let repo = world.issues.get(&comment.subject).map(|i| &i.repo);
    let repo = repo.or_else(|| world.pulls.get(&comment.subject).map(|p| &p.repo)).ok_or_else(|| Fail::no_node(id))?;
    repo_open(world, repo)?;
    if comment.author != world.viewer && !can_push(world, repo) {
        return Err(not_permitted(world, mutation));
    }
    Ok(comment)
}

pub(super) fn update(world: &mut World, input: &Value) -> Payload {
    let (id, body) = (text(input, "id"), text(input, "body"));
    editable(world, id, "UpdateIssueComment")?;
    check_text(body)?;
    world.rewrite_comment(id, body);
    Ok(vec![("issueComment", Out::Obj(Ent::Comment(id.into())))])
}

pub(super) fn delete(world: &mut World, input: &Value) -> Payload {
    let id = text(input, "id");
    editable(world, id, "DeleteIssueComment")?;
    world.comments.remove(id);
    Ok(vec![])
}

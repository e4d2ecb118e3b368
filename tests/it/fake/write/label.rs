//! Mutations of labels.

use serde_json::Value;

use super::super::answer::{Ent, Fail, Out};
use super::super::read;
use super::super::world::{Id, World};
use super::{Payload, can_push, can_triage, ids, not_permitted, repo_open, text};

pub(super) fn create(world: &mut World, input: &Value) -> Payload {
    let (repo, name, color) = (text(input, "repositoryId"), text(input, "name").trim(), text(input, "color"));
    if !world.repositories.contains_key(repo) {
        return Err(Fail::no_node(repo));
    }
    repo_open(world, repo)?;
    if !can_push(world, repo) {
        return Err(not_permitted(world, "CreateLabel"));
    }
    if name.is_empty() {
        return Err(Fail::unprocessable("Name can't be blank"));
    }
    if name.chars().count() > 50 {
        return Err(Fail::unprocessable("Name is too long (maximum is 50 characters)"));
    }
    // Six hex digits without the '#'.
    if color.len() != 6 || !color.chars().all(|c| c.is_ascii_hexdigit()) {
        return Err(Fail::unprocessable("Color is invalid"));
    }
    let description = input["description"].as_str();
    if description.is_some_and(|d| d.chars().count() > 100) {
        return Err(Fail::unprocessable("Description is too long (maximum is 100 characters)"));
    }
    if world.label_named(repo, name).is_some() {
        return Err(Fail::unprocessable("Name has already been taken"));
    }
    let id = world.new_label(repo, name, color, description.map(Into::into));
    Ok(vec![("label", Out::Obj(Ent::Label(id)))])
}

pub(super) fn add(world: &mut World, input: &Value) -> Payload {
    change(world, input, "AddLabelsToLabelable", |have, label| {
        if !have.contains(&label) {
            have.push(label);
        }
    })
}

pub(super) fn remove(world: &mut World, input: &Value) -> Payload {
    change(world, input, "RemoveLabelsFromLabelable", |have, label| {
        have.retain(|l| *l != label);
    })
}

fn change(world: &mut World, input: &Value, mutation: &str, apply: impl Fn(&mut Vec<Id>, Id)) -> Payload {
    let on = text(input, "labelableId");
    let labels = ids(input, "labelIds");
    let found = read::node(world, on)?;
    let (repo, mut have) = match &found {
        Ent::Issue(id) => (world.issues[id].repo.clone(), world.issues[id].labels.clone()),
        Ent::Pull(id) => (world.pulls[id].repo.clone(), world.pulls[id].labels.clone()),
        _ => return Err(Fail::no_node(on)),
    };
    repo_open(world, &repo)?;
    if !can_triage(world, &repo) {
        return Err(not_permitted(world, mutation));
    }
    if let Some(missing) = labels.iter().find(|l| world.labels.get(*l).is_none_or(|l| l.repo != repo)) {
        return Err(Fail::no_node(missing));
    }
    let before = have.clone();
    for label in labels {
        apply(&mut have, label);
    }
    if have != before {
        let now = world.now;
        world.touch(on, |issue| issue.labels.clone_from(&have));
        if let Some(pull) = world.pulls.get_mut(on) {
            (pull.labels, pull.updated) = (have, now);
        }
    }
    Ok(vec![("labelable", Out::Obj(found))])
}

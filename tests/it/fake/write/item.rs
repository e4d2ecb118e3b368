//! Mutations of project items and their values.

use serde_json::Value;

use super::super::answer::{Ent, Fail, Out, leaf};
use super::super::read;
use super::super::world::{Content, Field, Item, Setting, World};
use super::{Fields, Payload, check_body, check_title, count_creation, open_project, repo_open, text};

fn answer(name: &'static str, id: &str) -> Fields {
    vec![(name, Out::Obj(Ent::Item(id.into())))]
}

pub(super) fn add(world: &mut World, input: &Value) -> Payload {
    let (project, content) = (text(input, "projectId"), text(input, "contentId"));
    open_project(world, project, "AddProjectV2ItemById")?;
    let about = match read::node(world, content)? {
        Ent::Issue(id) => Content::Issue(id),
        Ent::Pull(id) => Content::Pull(id),
        _ => return Err(Fail::no_node(content)),
    };
    // A new issue may not be found for some seconds (§1.3).
    if let Some(issue) = world.issues.get_mut(content)
        && issue.not_yet_addable > 0
    {
        issue.not_yet_addable -= 1;
        return Err(Fail::no_node(content));
    }
    let item = world.put_item(project, about);
    Ok(answer("item", &item))
}

pub(super) fn add_draft(world: &mut World, input: &Value) -> Payload {
    let (project, title, body) = (text(input, "projectId"), text(input, "title"), text(input, "body"));
    open_project(world, project, "AddProjectV2DraftIssue")?;
    check_title(title)?;
    check_body(body)?;
    let (id, updated) = (world.new_id("DI"), world.now);
    let draft = Content::Draft { id, title: title.trim().into(), body: body.into(), updated };
    let item = world.put_item(project, draft);
    Ok(answer("projectItem", &item))
}

/// The item stays; its content becomes a new issue.
pub(super) fn convert(world: &mut World, input: &Value) -> Payload {
    let (item, repo) = (text(input, "itemId"), text(input, "repositoryId"));
    let found = world.items.get(item).ok_or_else(|| Fail::no_node(item))?.clone();
    open_project(world, &found.project, "ConvertProjectV2DraftIssueItemToIssue")?;
    if !world.repositories.contains_key(repo) {
        return Err(Fail::no_node(repo));
    }
    repo_open(world, repo)?;
    let Content::Draft { title, body, .. } = &found.content else {
        return Err(Fail::unprocessable("The item is not a draft issue"));
    };
    count_creation(world, true)?;
    let issue = world.open_issue(repo, title, body, &world.viewer.clone());
    let now = world.now;
    if let Some(found) = world.items.get_mut(item) {
        (found.content, found.updated) = (Content::Issue(issue), now);
    }
    Ok(answer("item", item))
}

/// The item, which must belong to the project.
fn found(world: &World, input: &Value, mutation: &str) -> Result<Item, Fail> {
    let (project, item) = (text(input, "projectId"), text(input, "itemId"));
    open_project(world, project, mutation)?;
    let item_found = world.items.get(item).filter(|i| i.project == project);
    item_found.cloned().ok_or_else(|| Fail::no_node(item))
}

fn editable(world: &World, input: &Value, mutation: &str) -> Result<(Item, Field), Fail> {
    let item = found(world, input, mutation)?;
    let id = text(input, "fieldId");
    let field = world.fields.get(id).filter(|f| f.project == item.project);
    let field = field.cloned().ok_or_else(|| Fail::no_node(id))?;
    if item.archived {
        return Err(Fail::unprocessable("The item is archived and cannot be updated"));
    }
    if !matches!(field.kind.as_str(), "SINGLE_SELECT" | "TEXT" | "NUMBER" | "DATE") {
        return Err(Fail::unprocessable(format!(
            "The field of type {} is currently not supported.",
            field.kind.to_lowercase()
        )));
    }
    Ok((item, field))
}

pub(super) fn set_value(world: &mut World, input: &Value) -> Payload {
    let (item, field) = editable(world, input, "UpdateProjectV2ItemFieldValue")?;
    let set = setting(&field, &input["value"])?;
    world.set_value(&item.id, &field.id, Some(set));
    Ok(answer("projectV2Item", &item.id))
}

fn setting(field: &Field, value: &Value) -> Result<Setting, Fail> {
    let given = value.as_object().map(|v| v.values().filter(|v| !v.is_null()).count()).unwrap_or_default();
    if given > 1 {
        return Err(Fail::new("VALIDATION", "Only one value may be given for a field"));
    }
    let wrong = |what: &str| {
        Fail::new(
            "VALIDATION",
            format!("Did not receive a {what} to update a field of type {}", field.kind.to_lowercase()),
        )
    };
    match field.kind.as_str() {
        "SINGLE_SELECT" => {
            let id = value["singleSelectOptionId"].as_str().ok_or_else(|| wrong("single select option Id"))?;
            // An empty id does not unset a value (§1.2).
            if !field.options.iter().any(|o| o.id == id) {
                return Err(Fail::new("VALIDATION", "The single select option Id does not belong to the field"));
            }
            Ok(Setting::Option(id.into()))
        }
        "NUMBER" => value["number"].as_f64().map(Setting::Number).ok_or_else(|| wrong("number value")),
        "DATE" => value["date"].as_str().map(|d| Setting::Date(d.into())).ok_or_else(|| wrong("date value")),
        _ => value["text"].as_str().map(|t| Setting::Text(t.into())).ok_or_else(|| wrong("text value")),
    }
}

pub(super) fn clear_value(world: &mut World, input: &Value) -> Payload {
    let (item, field) = editable(world, input, "ClearProjectV2ItemFieldValue")?;
    world.set_value(&item.id, &field.id, None);
    Ok(answer("projectV2Item", &item.id))
}

pub(super) fn delete(world: &mut World, input: &Value) -> Payload {
    let item = found(world, input, "DeleteProjectV2Item")?;
    world.items.remove(&item.id);
    world.touch_project(&item.project);
    Ok(vec![("deletedItemId", leaf(item.id))])
}

pub(super) fn archive(world: &mut World, input: &Value, archived: bool) -> Payload {
    let name = if archived { "ArchiveProjectV2Item" } else { "UnarchiveProjectV2Item" };
    let item = found(world, input, name)?;
    let now = world.now;
    if let Some(found) = world.items.get_mut(&item.id)
        && found.archived != archived
    {
        (found.archived, found.updated) = (archived, now);
    }
    Ok(answer("item", &item.id))
}

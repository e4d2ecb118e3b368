//! Mutations of projects and their fields.

use serde_json::Value;

use super::super::answer::{Ent, Fail, Out};
use super::super::world::{Choice, Field, World};
use super::{Fields, Payload, not_permitted, open_project, repo_open, text};

/// 50 fields in a project, 50 options in a field (§1.2 limits).
const MOST: usize = 50;

pub(super) fn create_project(world: &mut World, input: &Value) -> Payload {
    let (owner, title) = (text(input, "ownerId"), text(input, "title").trim());
    let login = world.owners.get(owner).ok_or_else(|| Fail::no_node(owner))?.login.clone();
    if !input["teamId"].is_null() {
        return Err(Fail::unmodelled("CreateProjectV2Input.teamId"));
    }
    let of_user = !world.owners[owner].is_organization;
    if of_user && (world.fine_grained || login != world.viewer) {
        return Err(not_permitted(world, "CreateProjectV2"));
    }
    if title.is_empty() {
        return Err(Fail::unprocessable("Title can't be blank"));
    }
    let repo = input["repositoryId"].as_str();
    if let Some(repo) = repo {
        repo_open(world, repo)?;
    }
    let id = world.open_project(&login, title);
    if let (Some(repo), Some(project)) = (repo, world.projects.get_mut(&id)) {
        project.repositories.push(repo.into());
    }
    Ok(vec![("projectV2", Out::Obj(Ent::Project(id)))])
}

pub(super) fn link(world: &mut World, input: &Value) -> Payload {
    let (project, repo) = (text(input, "projectId"), text(input, "repositoryId"));
    open_project(world, project, "LinkProjectV2ToRepository")?;
    repo_open(world, repo)?;
    if let Some(project) = world.projects.get_mut(project)
        && !project.repositories.iter().any(|r| r == repo)
    {
        project.repositories.push(repo.into());
    }
    Ok(vec![("repository", Out::Obj(Ent::Repository(repo.into())))])
}

fn answer(id: &str) -> Fields {
    vec![("projectV2Field", Out::Obj(Ent::Field(id.into())))]
}

fn check_name(world: &World, project: &str, name: &str, own: Option<&str>) -> Result<(), Fail> {
    if name.trim().is_empty() {
        return Err(Fail::unprocessable("Name can't be blank"));
    }
    match world.field_named(project, name.trim()) {
        Some(field) if own != Some(field.id.as_str()) => Err(Fail::unprocessable("Name has already been taken")),
        _ => Ok(()),
    }
}

pub(super) fn create(world: &mut World, input: &Value) -> Payload {
    let (project, name, kind) = (text(input, "projectId"), text(input, "name").trim(), text(input, "dataType"));
    open_project(world, project, "CreateProjectV2Field")?;
    check_name(world, project, name, None)?;
    if world.project_fields(project).len() >= MOST {
        return Err(Fail::unprocessable("A project can have at most 50 fields"));
    }
    if !matches!(kind, "SINGLE_SELECT" | "TEXT" | "NUMBER" | "DATE") {
        return Err(Fail::unmodelled(&format!("createProjectV2Field of {kind}")));
    }
    let given = input["singleSelectOptions"].as_array().cloned().unwrap_or_default();
    if kind == "SINGLE_SELECT" {
        check_options(&given, None)?;
    } else if !given.is_empty() {
        return Err(Fail::unprocessable("Single select options are only for fields of type single_select"));
    }
    let options = choices(world, &given, None);
    let id = world.new_field(project, name, kind, options);
    world.touch_project(project);
    Ok(answer(&id))
}

pub(super) fn update(world: &mut World, input: &Value) -> Payload {
    let id = text(input, "fieldId");
    let field = world.fields.get(id).ok_or_else(|| Fail::no_node(id))?.clone();
    open_project(world, &field.project, "UpdateProjectV2Field")?;
    if !matches!(field.kind.as_str(), "SINGLE_SELECT" | "TEXT" | "NUMBER" | "DATE") {
        return Err(Fail::unprocessable(format!("The field of type {} cannot be updated", field.kind.to_lowercase())));
    }
    let name = input["name"].as_str();
    if let Some(name) = name {
        check_name(world, &field.project, name, Some(id))?;
    }
    if let Some(given) = input["singleSelectOptions"].as_array() {
        check_options(given, Some(&field))?;
        let options = choices(world, given, Some(&field));
        world.replace_options(id, options);
    }
    if let (Some(name), Some(field)) = (name, world.fields.get_mut(id)) {
        field.name = name.trim().into();
    }
    world.touch_project(&field.project);
    Ok(answer(id))
}

/// Checks the given options; an id must be one that the field already has.
fn check_options(given: &[Value], of: Option<&Field>) -> Result<(), Fail> {
    if given.is_empty() {
        return Err(Fail::unprocessable("Single select fields need at least one option"));
    }
    if given.len() > MOST {
        return Err(Fail::unprocessable("A single select field can have at most 50 options"));
    }
    let mut names: Vec<String> = given.iter().map(|o| text(o, "name").trim().to_lowercase()).collect();
    names.sort();
    if names.iter().any(String::is_empty) {
        return Err(Fail::unprocessable("Option name can't be blank"));
    }
    if names.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(Fail::unprocessable("Option names must be unique"));
    }
    let known = |id: &str| of.is_some_and(|f| f.options.iter().any(|o| o.id == id));
    match given.iter().filter_map(|o| o["id"].as_str()).find(|id| !known(id)) {
        Some(_) => Err(Fail::new("VALIDATION", "The single select option Id does not belong to the field")),
        None => Ok(()),
    }
}

/// An option sent without its id is a new option, whatever its name (§4 project setup).
fn choices(world: &mut World, given: &[Value], of: Option<&Field>) -> Vec<Choice> {
    let mut options = Vec::new();
    for option in given {
        let mut choice =
            world.new_choice(text(option, "name").trim(), text(option, "color"), text(option, "description"));
        if let (Some(id), Some(_)) = (option["id"].as_str(), of) {
            choice.id = id.into();
        }
        options.push(choice);
    }
    options
}

//! Resolvers of projects, their fields, items and values.

use serde_json::Value;

use super::super::answer::{Ask, Ent, Fail, Out, leaf, maybe, record};
use super::super::page::connection;
use super::super::world::{Choice, Content, Field, Item, Owner, Project, Setting, World};
use super::time;

/// Fine-grained tokens cannot reach projects of a user (§1.4).
pub(in super::super) fn can_see_project(world: &World, project: &Project) -> Result<(), Fail> {
    let of_user = world.owner_named(&project.owner).is_some_and(|o| !o.is_organization);
    if world.fine_grained && of_user {
        return Err(Fail::new("FORBIDDEN", "Resource not accessible by personal access token"));
    }
    Ok(())
}

pub(super) fn by_number(world: &World, owner: &Owner, ask: &Ask<'_>) -> Result<Out, Fail> {
    let number = &ask.args["number"];
    let found = world.projects.values().find(|p| p.owner == owner.login && *number == p.number);
    let Some(project) = found else {
        return Err(Fail::new("NOT_FOUND", format!("Could not resolve to a ProjectV2 with the number {number}.")));
    };
    can_see_project(world, project)?;
    Ok(Out::Obj(Ent::Project(project.id.clone())))
}

pub(super) fn listed(world: &World, owner: &Owner, ask: &Ask<'_>) -> Result<Out, Fail> {
    let query = ask.text("query").to_lowercase();
    let mut all: Vec<&Project> =
        world.projects.values().filter(|p| p.owner == owner.login && p.title.to_lowercase().contains(&query)).collect();
    for project in &all {
        can_see_project(world, project)?;
    }
    match ask.args["orderBy"]["field"].as_str() {
        Some("TITLE") => all.sort_by_key(|p| p.title.to_lowercase()),
        Some("UPDATED_AT") => all.sort_by_key(|p| p.updated),
        _ => all.sort_by_key(|p| p.number),
    }
    if ask.args["orderBy"]["direction"] == "DESC" {
        all.reverse();
    }
    connection(
        "ProjectV2Connection",
        all.iter().map(|p| (p.id.clone(), Ent::Project(p.id.clone()))).collect(),
        ask.args,
    )
}

pub(super) fn field(world: &World, id: &str, ask: &Ask<'_>) -> Result<Option<Out>, Fail> {
    let project = world.projects.get(id).ok_or_else(|| Fail::no_node(id))?;
    let out = match ask.field {
        "id" => leaf(id),
        "number" => leaf(project.number),
        "title" => leaf(project.title.as_str()),
        "url" => leaf(url(world, project)),
        "closed" => leaf(project.closed),
        "public" => leaf(project.public),
        "viewerCanUpdate" => leaf(project.viewer_can_update),
        "updatedAt" => time(project.updated),
        "fields" => fields(world, project, ask)?,
        "workflows" => workflows(project, ask)?,
        "items" => items(world, project, ask)?,
        _ => return Ok(None),
    };
    Ok(Some(out))
}

fn url(world: &World, project: &Project) -> String {
    let organization = world.owner_named(&project.owner).is_some_and(|o| o.is_organization);
    let kind = if organization { "orgs" } else { "users" };
    format!("https://github.com/{kind}/{}/projects/{}", project.owner, project.number)
}

fn fields(world: &World, project: &Project, ask: &Ask<'_>) -> Result<Out, Fail> {
    let mut all = world.project_fields(&project.id);
    if ask.args["orderBy"]["field"] == "NAME" {
        all.sort_by_key(|f| f.name.to_lowercase());
    }
    if ask.args["orderBy"]["direction"] == "DESC" {
        all.reverse();
    }
    let all = all.iter().map(|f| (f.id.clone(), Ent::Field(f.id.clone())));
    connection("ProjectV2FieldConfigurationConnection", all.collect(), ask.args)
}

fn workflows(project: &Project, ask: &Ask<'_>) -> Result<Out, Fail> {
    let shown = |w: &super::super::world::Workflow| {
        let fields = vec![
            ("id", leaf(w.id.as_str())),
            ("name", leaf(w.name.as_str())),
            ("number", leaf(w.number)),
            ("enabled", leaf(w.enabled)),
        ];
        (w.id.clone(), record("ProjectV2Workflow", fields))
    };
    connection("ProjectV2WorkflowConnection", project.workflows.iter().map(shown).collect(), ask.args)
}

/// Archived items are hidden unless requested; 3.17 cannot request them (§1.1).
fn items(world: &World, project: &Project, ask: &Ask<'_>) -> Result<Out, Fail> {
    if !ask.text("query").is_empty() {
        return Err(Fail::unmodelled("ProjectV2.items(query:)"));
    }
    let states = ask.args["archivedStates"].as_array();
    let wants = |archived: bool| {
        let state = if archived { "ARCHIVED" } else { "NOT_ARCHIVED" };
        states.map_or(!archived, |s| s.iter().any(|s| s == state))
    };
    let mut all: Vec<&Item> = world.items.values().filter(|i| i.project == project.id && wants(i.archived)).collect();
    if ask.args["orderBy"]["direction"] == "DESC" {
        all.reverse();
    }
    connection(
        "ProjectV2ItemConnection",
        all.iter().map(|i| (i.id.clone(), Ent::Item(i.id.clone()))).collect(),
        ask.args,
    )
}

pub(super) fn field_field(world: &World, id: &str, ask: &Ask<'_>) -> Result<Option<Out>, Fail> {
    let field = world.fields.get(id).ok_or_else(|| Fail::no_node(id))?;
    Ok(Some(match ask.field {
        "id" => leaf(id),
        "name" => leaf(field.name.as_str()),
        "dataType" => leaf(field.kind.as_str()),
        "updatedAt" => time(field.updated),
        "options" => options(field, &ask.args["names"]),
        _ => return Ok(None),
    }))
}

fn options(field: &Field, names: &Value) -> Out {
    let wants = |o: &&Choice| names.as_array().is_none_or(|n| n.iter().any(|n| n == o.name.as_str()));
    let shown = |o: &Choice| {
        Out::Obj(record(
            "ProjectV2SingleSelectFieldOption",
            vec![
                ("id", leaf(o.id.as_str())),
                ("name", leaf(o.name.as_str())),
                ("color", leaf(o.color.as_str())),
                ("description", leaf(o.description.as_str())),
            ],
        ))
    };
    Out::List(field.options.iter().filter(wants).map(shown).collect())
}

pub(super) fn item_field(world: &World, id: &str, ask: &Ask<'_>) -> Result<Option<Out>, Fail> {
    let item = world.items.get(id).ok_or_else(|| Fail::no_node(id))?;
    let seen = super::sees(world, &item.content);
    Ok(Some(match ask.field {
        "id" => leaf(id),
        "isArchived" => leaf(item.archived),
        "updatedAt" => time(item.updated),
        "project" => Out::Obj(Ent::Project(item.project.clone())),
        // Content that the viewer cannot see is REDACTED and null (§1.2).
        "type" => leaf(if seen { item_type(&item.content) } else { "REDACTED" }),
        "content" => maybe(seen.then(|| content_of(item))),
        "fieldValueByName" => value_by_name(world, item, ask.text("name"))?,
        _ => return Ok(None),
    }))
}

fn item_type(content: &Content) -> &'static str {
    match content {
        Content::Issue(_) => "ISSUE",
        Content::Pull(_) => "PULL_REQUEST",
        Content::Draft { .. } => "DRAFT_ISSUE",
    }
}

pub(in super::super) fn content_of(item: &Item) -> Ent {
    match &item.content {
        Content::Issue(id) => Ent::Issue(id.clone()),
        Content::Pull(id) => Ent::Pull(id.clone()),
        Content::Draft { id, title, updated, .. } => record(
            "DraftIssue",
            vec![("id", leaf(id.as_str())), ("title", leaf(title.as_str())), ("updatedAt", time(*updated))],
        ),
    }
}

/// A field that the project does not have is null, not an error.
fn value_by_name(world: &World, item: &Item, name: &str) -> Result<Out, Fail> {
    let Some(field) = world.field_named(&item.project, name) else {
        return Ok(leaf(Value::Null));
    };
    if !matches!(field.kind.as_str(), "SINGLE_SELECT" | "TEXT" | "NUMBER" | "DATE") {
        return Err(Fail::unmodelled(&format!("fieldValueByName of a {} field", field.kind)));
    }
    let value = Ent::Value { item: item.id.clone(), field: field.id.clone() };
    Ok(maybe(item.values.get(&field.id).map(|_| value)))
}

pub(super) fn value_field(world: &World, item: &str, field: &str, ask: &Ask<'_>) -> Result<Option<Out>, Fail> {
    let value = &world.items[item].values[field];
    let option = |id: &str| world.fields[field].options.iter().find(|o| o.id == id);
    Ok(Some(match (ask.field, &value.set) {
        ("id", _) => leaf(value.id.as_str()),
        ("updatedAt", _) => time(value.updated),
        ("creator", _) => super::actor(world, &value.by),
        ("optionId", Setting::Option(id)) => leaf(id.as_str()),
        ("name", Setting::Option(id)) => super::maybe_text(option(id).map(|o| o.name.as_str())),
        ("text", Setting::Text(text)) | ("date", Setting::Date(text)) => leaf(text.as_str()),
        ("number", Setting::Number(number)) => leaf(*number),
        _ => return Ok(None),
    }))
}

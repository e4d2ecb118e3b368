//! Resolvers of everything that can be read; a field without one is reported as an error.

mod issue;
mod project;
pub(super) mod pull;
mod repository;
mod root;

use jiff::Timestamp;
use serde_json::Value;

use super::answer::{Ask, Ent, Fail, Out, Request, leaf};
use super::world::{Content, Setting, World};

pub(super) use self::project::{can_see_project, content_of};
pub(super) use self::pull::queue_entry;
pub(super) use self::root::node;

pub(super) fn time(at: Timestamp) -> Out {
    leaf(at.to_string())
}

pub(super) fn maybe_time(at: Option<Timestamp>) -> Out {
    Out::Leaf(at.map(|t| t.to_string()).into())
}

pub(super) fn maybe_text(text: Option<&str>) -> Out {
    text.map_or(Out::Leaf(Value::Null), leaf)
}

/// The concrete GraphQL type of an object.
pub(super) fn type_name(world: &World, ent: &Ent) -> String {
    let name = match ent {
        Ent::Query => "Query",
        Ent::Mutation => "Mutation",
        Ent::Owner(id) if world.owners.get(id).is_some_and(|o| o.is_organization) => "Organization",
        Ent::Owner(_) => "User",
        Ent::Repository(_) => "Repository",
        Ent::Label(_) => "Label",
        Ent::Issue(_) => "Issue",
        Ent::Comment(_) => "IssueComment",
        Ent::Project(_) => "ProjectV2",
        Ent::Field(id) if world.fields.get(id).is_some_and(|f| f.kind == "SINGLE_SELECT") => {
            "ProjectV2SingleSelectField"
        }
        Ent::Field(_) => "ProjectV2Field",
        Ent::Item(_) => "ProjectV2Item",
        Ent::Value { item, field } => value_type(world, item, field),
        Ent::Pull(_) => "PullRequest",
        Ent::Ref(_) => "Ref",
        Ent::Record { ty, .. } => ty,
    };
    name.to_owned()
}

fn value_type(world: &World, item: &str, field: &str) -> &'static str {
    match world.items.get(item).and_then(|i| i.values.get(field)).map(|v| &v.set) {
        Some(Setting::Text(_)) => "ProjectV2ItemFieldTextValue",
        Some(Setting::Number(_)) => "ProjectV2ItemFieldNumberValue",
        Some(Setting::Date(_)) => "ProjectV2ItemFieldDateValue",
        Some(Setting::Option(_)) | None => "ProjectV2ItemFieldSingleSelectValue",
    }
}

/// Resolves one field of one object.
pub(super) fn field(request: &Request<'_>, ent: &Ent, ty: &str, ask: &Ask<'_>) -> Result<Out, Fail> {
    if let Ent::Pull(id) = ent
        && ask.field == "mergeable"
    {
        return Ok(pull::mergeable(&mut request.world.borrow_mut(), id));
    }
    let world = request.world.borrow();
    let found = match ent {
        Ent::Query => root::field(request, &world, ask)?,
        Ent::Mutation => None,
        Ent::Owner(id) => repository::owner_field(&world, id, ask)?,
        Ent::Repository(id) => repository::field(&world, id, ask)?,
        Ent::Label(id) => repository::label_field(&world, id, ask)?,
        Ent::Ref(id) => repository::ref_field(&world, id, ask)?,
        Ent::Issue(id) => issue::field(&world, id, ask)?,
        Ent::Comment(id) => issue::comment_field(&world, id, ask)?,
        Ent::Project(id) => project::field(&world, id, ask)?,
        Ent::Field(id) => project::field_field(&world, id, ask)?,
        Ent::Item(id) => project::item_field(&world, id, ask)?,
        Ent::Value { item, field } => project::value_field(&world, item, field, ask)?,
        Ent::Pull(id) => pull::field(&world, id, ask)?,
        Ent::Record { fields, .. } => fields.iter().find(|(name, _)| name == ask.field).map(|(_, out)| out.clone()),
    };
    found.ok_or_else(|| Fail::unmodelled(&format!("{ty}.{}", ask.field)))
}

/// The actor of a login; a deleted account is null.
pub(super) fn actor(world: &World, login: &str) -> Out {
    let owner = world.owner_named(login).map(|o| Ent::Owner(o.id.clone()));
    super::answer::maybe(owner)
}

/// Whether the viewer can see the content of an item.
pub(super) fn sees(world: &World, content: &Content) -> bool {
    match content {
        Content::Issue(id) => world.issues.get(id).is_some_and(|i| !world.is_hidden(&i.repo)),
        Content::Pull(id) => world.pulls.get(id).is_some_and(|p| !world.is_hidden(&p.repo)),
        Content::Draft { .. } => true,
    }
}

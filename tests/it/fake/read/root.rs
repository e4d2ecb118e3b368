//! Resolvers of `Query`: lookups by id, owner, repository, and the rate limit.

use super::super::answer::{Ask, Ent, Fail, Out, Request, leaf, record};
use super::super::world::{Content, World};
use super::{can_see_project, time};

pub(super) fn field(request: &Request<'_>, world: &World, ask: &Ask<'_>) -> Result<Option<Out>, Fail> {
    let out = match ask.field {
        "node" => Out::Obj(node(world, ask.text("id"))?),
        "viewer" => super::actor(world, &world.viewer),
        "repositoryOwner" => owner(world, ask, "repository owner", |_| true)?,
        "organization" => owner(world, ask, "Organization", |is_organization| is_organization)?,
        "user" => owner(world, ask, "User", |is_organization| !is_organization)?,
        "repository" => repository(world, ask)?,
        "rateLimit" => rate_limit(request, world),
        _ => return Ok(None),
    };
    Ok(Some(out))
}

fn owner(world: &World, ask: &Ask<'_>, kind: &str, fits: impl Fn(bool) -> bool) -> Result<Out, Fail> {
    let login = ask.text("login");
    match world.owner_named(login).filter(|o| fits(o.is_organization)) {
        Some(found) => Ok(Out::Obj(Ent::Owner(found.id.clone()))),
        // `repositoryOwner` returns null for an unknown login; for the other kinds it is an error.
        None if kind == "repository owner" => Ok(Out::Leaf(serde_json::Value::Null)),
        None => Err(Fail::new(
            "NOT_FOUND",
            format!("Could not resolve to a{} {kind} with the login of '{login}'.", article(kind)),
        )),
    }
}

fn article(kind: &str) -> &'static str {
    if kind.starts_with(['O', 'o']) { "n" } else { "" }
}

fn repository(world: &World, ask: &Ask<'_>) -> Result<Out, Fail> {
    let name = format!("{}/{}", ask.text("owner"), ask.text("name"));
    let found = world.repositories.values().find(|r| r.full_name().eq_ignore_ascii_case(&name));
    match found.filter(|r| !world.is_hidden(&r.id)) {
        Some(repository) => Ok(Out::Obj(Ent::Repository(repository.id.clone()))),
        None => Err(Fail::new("NOT_FOUND", format!("Could not resolve to a Repository with the name '{name}'."))),
    }
}

fn rate_limit(request: &Request<'_>, world: &World) -> Out {
    Out::Obj(record(
        "RateLimit",
        vec![
            ("limit", leaf(world.points_limit)),
            ("cost", leaf(request.cost)),
            ("remaining", leaf(world.points_remaining())),
            ("used", leaf(world.points_used)),
            ("resetAt", time(world.points_reset)),
            ("nodeCount", leaf(request.nodes)),
        ],
    ))
}

/// Any object by its id; objects that the viewer cannot see do not exist (§1.3).
pub(in super::super) fn node(world: &World, id: &str) -> Result<Ent, Fail> {
    let missing = || Fail::no_node(id);
    if let Some(issue) = world.issues.get(id) {
        return visible(world, &issue.repo, Ent::Issue(id.into())).ok_or_else(missing);
    }
    if let Some(project) = world.projects.get(id) {
        can_see_project(world, project)?;
        return Ok(Ent::Project(id.into()));
    }
    if let Some(item) = world.items.get(id) {
        can_see_project(world, &world.projects[&item.project])?;
        return Ok(Ent::Item(id.into()));
    }
    other_node(world, id).ok_or_else(missing)
}

fn other_node(world: &World, id: &str) -> Option<Ent> {
    let own = id.to_owned();
    if world.owners.contains_key(id) {
        Some(Ent::Owner(own))
    } else if world.repositories.contains_key(id) {
        visible(world, id, Ent::Repository(own))
    } else if let Some(label) = world.labels.get(id) {
        visible(world, &label.repo, Ent::Label(own))
    } else if let Some(comment) = world.comments.get(id) {
        let on = world.issues.get(&comment.subject).map(|i| &i.repo);
        let on = on.or_else(|| world.pulls.get(&comment.subject).map(|p| &p.repo))?;
        visible(world, on, Ent::Comment(own))
    } else if let Some(pull) = world.pulls.get(id) {
        visible(world, &pull.repo, Ent::Pull(own))
    } else if let Some(entry) = world.refs.get(id) {
        visible(world, &entry.repo, Ent::Ref(own))
    } else if world.fields.contains_key(id) {
        Some(Ent::Field(own))
    } else {
        draft(world, id)
    }
}

fn draft(world: &World, id: &str) -> Option<Ent> {
    let found = world.items.values().find(|i| matches!(&i.content, Content::Draft { id: draft, .. } if draft == id))?;
    Some(super::content_of(found))
}

fn visible(world: &World, repo: &str, ent: Ent) -> Option<Ent> {
    (!world.is_hidden(repo)).then_some(ent)
}

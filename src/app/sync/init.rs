//! `sync init`: finds or creates the project, adds its fields, checks the token, and writes the settings.

use serde::Serialize;

use super::columns::{ForeignColumn, foreign};
use super::target::{Calm, Target};
use crate::app::workspace::settings::set_setting;
use crate::app::{Code, Failure, FailureKind, Hint, Workspace};
use crate::github::{Client, Features, FieldNames, GithubError, Knowledge, Project, Repo, Slug, Wait, Wanted};
use crate::task::{Estimate, Priority};
use crate::workflow::Workflow;

#[derive(Debug, Clone, Default)]
pub struct InitAsk {
    pub repo: Option<String>,
    pub owner: Option<String>,
    pub project: Option<u64>,
    pub title: Option<String>,
}

/// Progress, for display.
#[derive(Debug)]
pub enum InitStep<'a> {
    Creating(&'a str),
    Field(&'a str),
    Waiting(&'a Wait),
}

#[derive(Debug, Serialize)]
pub struct SyncInit {
    pub host: String,
    pub repo: String,
    pub owner: String,
    pub project: u64,
    pub title: String,
    pub url: String,
    pub viewer: String,
    pub created: bool,
    /// Created fields and added options.
    pub fields: Vec<String>,
    /// What GitHub's built-in workflows do to the field Status.
    pub workflows: Vec<String>,
    pub dependencies: bool,
    /// Columns that are neither states of this board nor mapped.
    pub unmapped: Vec<ForeignColumn>,
}

pub fn sync_init(ws: &Workspace, ask: &InitAsk, tell: &mut dyn FnMut(InitStep<'_>)) -> Result<SyncInit, Failure> {
    let target = asked(ws, ask)?;
    let tell = std::cell::RefCell::new(tell);
    let mut waits = |wait: &Wait| (tell.borrow_mut())(InitStep::Waiting(wait));
    let calm = Calm::new(&mut waits);
    let client = target.client(ws, &calm)?;
    let repo = client.repository(&target.slug)?;
    refuse_lacking(&client, &repo)?;
    let mut known = Knowledge::default();
    let features = client.features(&mut known)?;
    let (project, created) =
        found(ws, ask, &client, &target, &repo, &mut |title| (tell.borrow_mut())(InitStep::Creating(title)))?;
    if !project.writable {
        return Err(Failure::new(
            FailureKind::Offline,
            Code::NoRights,
            format!("this token has no write access to the project {:?}", project.title),
        )
        .hint(Hint::step("ask its owner for write access"))
        .hint(Hint::option("--project NUMBER", "to use another project")));
    }
    let wanted = wanted(ws.flow(), &target.names);
    // Check before changing anything: every later command would refuse a project that is only half set up.
    wanted.iter().try_for_each(|wanted| refuse_misfit(&project, wanted, features))?;
    client.link_repository(&project.id, &repo.id).or_else(|error| match error {
        // A project of another owner cannot be linked, but works without a link.
        GithubError::Refused(_) | GithubError::Forbidden(_) => Ok(()),
        other => Err(other),
    })?;
    let mut fields = Vec::new();
    for wanted in &wanted {
        fields
            .extend(fit(&client, &project, wanted, features, &mut |name| (tell.borrow_mut())(InitStep::Field(name)))?);
    }
    let columns = project.field(&target.names.state).map(|field| field.options.as_slice()).unwrap_or_default();
    let unmapped = foreign(columns.iter().map(|option| option.name.as_str()), ws.flow(), |name| {
        ws.settings.github_states.contains_key(name)
    });
    write(ws, &target, &repo.slug, project.number)?;
    let status = |name: &&String| {
        ["Item closed", "Pull request merged", "Item reopened", "Auto-close issue"].contains(&name.as_str())
    };
    Ok(SyncInit {
        host: target.host.0,
        repo: repo.slug.to_string(),
        owner: target.owner,
        project: project.number,
        workflows: project.workflows.iter().filter(status).cloned().collect(),
        title: project.title,
        url: project.url,
        viewer: repo.viewer,
        created,
        fields,
        dependencies: features.dependencies,
        unmapped,
    })
}

fn asked(ws: &Workspace, ask: &InitAsk) -> Result<Target, Failure> {
    let set = Target::of(ws)?;
    let named = ask.repo.as_ref().map(|text| {
        Slug::parse(text).ok_or_else(|| {
            Failure::usage(Code::BadRepo, format!("{text:?} is not a repository")).hint(Hint::step("use OWNER/NAME"))
        })
    });
    let slug = named.transpose()?;
    let mut target = match (set, &slug) {
        (Some(target), _) => target,
        (None, Some(slug)) => Target::named(ws, slug)?,
        (None, None) => {
            return Err(Failure::refused(Code::NoRepo, "this repository has no GitHub remote")
                .hint(Hint::option("--repo OWNER/NAME", "to choose a repository"))
                .hint(Hint::variable("GH_HOST", "to the host of your GitHub Enterprise server, if you use one")));
        }
    };
    if let Some(slug) = slug {
        if target.owner == target.slug.owner {
            target.owner.clone_from(&slug.owner);
        }
        target.slug = slug;
    }
    if let Some(owner) = &ask.owner {
        target.owner.clone_from(owner);
    }
    target.number = ask.project.or(target.number);
    Ok(target)
}

/// Refuses a token without the necessary rights. A classic token lists its scopes, so the hint can name the missing
/// one.
fn refuse_lacking(client: &Client<'_>, repo: &Repo) -> Result<(), Failure> {
    let offline = |code, message: String| Failure::new(FailureKind::Offline, code, message);
    if repo.archived || !repo.issues {
        let why = if repo.archived { "is archived" } else { "has issues disabled" };
        return Err(Failure::refused(Code::Unwritable, format!("{} {why}", repo.slug))
            .hint(Hint::step("change that in its settings on GitHub")));
    }
    if let Some(scopes) = client.scopes() {
        let has = |name: &str| scopes.iter().any(|scope| scope == name);
        let mut missing = Vec::new();
        if !has("project") {
            missing.push("project");
        }
        let enough = has("repo") || (repo.public && has("public_repo"));
        if !enough {
            missing.push("repo");
        }
        if !missing.is_empty() {
            let list = missing.join(",");
            return Err(offline(Code::NoScope, format!("the token lacks the scope {}", missing.join(" and "))).hint(
                Hint::shell(
                    &format!("gh auth refresh -s {list}"),
                    "to add it; if you created the token on GitHub, add it there",
                ),
            ));
        }
    }
    match repo.may_write() {
        true => Ok(()),
        false => {
            Err(offline(Code::NoRights, format!("the token has only read access to {}", repo.slug)).hint(Hint::step(
                "ask for write access; a fine-grained token needs read and write access to Issues and Pull requests",
            )))
        }
    }
}

/// Finds the project by number or title, or creates it.
fn found(
    ws: &Workspace,
    ask: &InitAsk,
    client: &Client<'_>,
    target: &Target,
    repo: &Repo,
    tell: &mut dyn FnMut(&str),
) -> Result<(Project, bool), Failure> {
    if let Some(number) = target.number {
        let found = client.project(&target.owner, number, &target.slug)?.project;
        return found.map(|project| (project, false)).ok_or_else(|| {
            Failure::refused(
                Code::NoProject,
                format!("project {number} of {} does not exist, or this token has no access to it", target.owner),
            )
            .hint(Hint::omit("--project", "to create one"))
            .hint(Hint::step("a fine-grained token cannot see a user's own projects"))
        });
    }
    let title = ask.title.clone().unwrap_or_else(|| board_name(ws));
    let (owner, numbers) = client.projects_titled(&target.owner, &title)?;
    let (number, created) = match numbers.as_slice() {
        [] => {
            tell(&title);
            (client.create_project(&owner, &repo.id, &title)?, true)
        }
        [one] => (*one, false),
        many => {
            let list: Vec<String> = many.iter().map(ToString::to_string).collect();
            return Err(Failure::usage(
                Code::WhichProject,
                format!("{} has several projects with the title {title:?}: {}", target.owner, list.join(", ")),
            )
            .hint(Hint::option("--project NUMBER", "to choose one")));
        }
    };
    let project = client.project(&target.owner, number, &target.slug)?.project;
    project.map(|project| (project, created)).ok_or_else(|| {
        Failure::broken(Code::NoProject, format!("project {number} is not available yet")).hint(Hint::Retry)
    })
}

fn board_name(ws: &Workspace) -> String {
    let set = ws.settings.text("board.name");
    let folder = || ws.store.root().file_name().map(|name| name.to_string_lossy().into_owned());
    if set.is_empty() { folder().unwrap_or_else(|| "ralph".into()) } else { set.to_owned() }
}

/// The three fields as they should be. Colours: grey for waiting, blue for work in progress, green for done.
pub fn wanted(flow: &Workflow, names: &FieldNames) -> Vec<Wanted> {
    let color = |state: &crate::workflow::State| match state {
        state if state.terminal && !state.off => "GREEN",
        state if state.terminal => "GRAY",
        state if state.off => "RED",
        state if state.lock => "BLUE",
        state if state.human => "YELLOW",
        _ => "GRAY",
    };
    let states = flow.states().iter().map(|state| (state.name.to_string(), color(state))).collect();
    let priority =
        |priority: &Priority| (priority.to_string(), ["RED", "ORANGE", "YELLOW", "GRAY"][*priority as usize]);
    let estimate =
        |estimate: &Estimate| (estimate.to_string(), ["GREEN", "GREEN", "YELLOW", "ORANGE", "RED"][*estimate as usize]);
    vec![
        Wanted { name: names.state.clone(), setting: "github.state_field", options: states },
        Wanted {
            name: names.priority.clone(),
            setting: "github.priority_field",
            options: Priority::ALL.iter().map(priority).collect(),
        },
        Wanted {
            name: names.estimate.clone(),
            setting: "github.estimate_field",
            options: Estimate::ALL.iter().map(estimate).collect(),
        },
    ]
}

/// Refuses a field that cannot be adapted. GitHub ignores case in the names of fields.
fn refuse_misfit(project: &Project, wanted: &Wanted, features: Features) -> Result<(), Failure> {
    if project.others.iter().any(|name| name.eq_ignore_ascii_case(&wanted.name)) {
        return Err(Failure::refused(
            Code::FieldKind,
            format!("the project's field {:?} is not a single select; nothing was changed", wanted.name),
        )
        .hint(Hint::set(wanted.setting, "NAME", "to use another field, which `sync init` then creates"))
        .hint(Hint::open(&project.url, "to rename that field")));
    }
    let missing = project.field(&wanted.name).map(|field| field.lacks(wanted)).unwrap_or_default();
    if missing.is_empty() || features.option_ids {
        return Ok(());
    }
    let message = format!(
        "the field {} lacks {}; adding options on this GitHub server would clear the field of every item, so nothing was changed",
        wanted.name,
        missing.join(", ")
    );
    Err(Failure::refused(Code::NoOption, message).hint(Hint::open(&project.url, "to add them by hand")))
}

fn fit(
    client: &Client<'_>,
    project: &Project,
    wanted: &Wanted,
    features: Features,
    tell: &mut dyn FnMut(&str),
) -> Result<Option<String>, Failure> {
    let Some(field) = project.field(&wanted.name) else {
        tell(&wanted.name);
        client.create_field(&project.id, wanted)?;
        return Ok(Some(wanted.name.clone()));
    };
    let missing = field.lacks(wanted);
    if missing.is_empty() {
        return Ok(None);
    }
    tell(&wanted.name);
    client.add_options(field, wanted, features)?;
    Ok(Some(format!("{}: {}", wanted.name, missing.join(", "))))
}

fn write(ws: &Workspace, target: &Target, slug: &Slug, number: u64) -> Result<(), Failure> {
    if target.host.0 != "github.com" {
        set_setting(ws, "github.host", &target.host.0, false)?;
    }
    set_setting(ws, "github.repo", &slug.to_string(), false)?;
    let owner = if target.owner == slug.owner { "" } else { &target.owner };
    if owner != ws.settings.text("github.owner") {
        set_setting(ws, "github.owner", owner, false)?;
    }
    set_setting(ws, "github.project", &number.to_string(), false).map(|_| ())
}

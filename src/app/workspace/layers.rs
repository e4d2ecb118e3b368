//! What a board is set up with: its settings in their layers, its workflow, and the rules that follow from both.

use std::path::{Path, PathBuf};

use crate::app::Failure;
use crate::board::Rules;
use crate::config::{Settings, Source};
use crate::fs;
use crate::task::Problem;
use crate::workflow::{Workflow, WorkflowError};

pub(in crate::app) fn rules(flow: Workflow, settings: &Settings) -> Result<Rules, Failure> {
    let mut rules = Rules::of(flow);
    rules.mode = settings.text("review.mode").parse()?;
    rules.max_rejections = settings.number("review.max_rejections").unwrap_or(rules.max_rejections);
    rules.per_worker = settings.number("claims.per_worker").map_or(rules.per_worker, |n| n as usize);
    for (spec, setting) in settings.all() {
        let role = spec.key.strip_prefix("roles.").and_then(|rest| rest.strip_suffix(".limit"));
        if let (Some(role), Ok(limit)) = (role, setting.value.parse()) {
            rules.limits.insert(role.to_owned(), limit);
        }
    }
    Ok(rules)
}

/// The user's own file of settings.
pub(in crate::app) fn user_config() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config")))?;
    Some(folder.join("ralph/config.toml"))
}

pub(in crate::app) fn board_config(root: &Path) -> PathBuf {
    root.join(".ralph/config.toml")
}

pub(in crate::app) fn layered(root: &Path, flags: &[String]) -> Result<Settings, Failure> {
    let mut settings = Settings::defaults();
    if let Some((path, text)) =
        user_config().and_then(|path| fs::read_text(&path).ok().flatten().map(|text| (path, text)))
    {
        settings.add_file(Source::User(path), &text)?;
    }
    if let Some(text) = fs::read_text(&board_config(root))? {
        settings.add_file(Source::Board(".ralph/config.toml".into()), &text)?;
    }
    settings.add_environment(|name| std::env::var(name).ok())?;
    for flag in flags {
        settings.add_flag(flag)?;
    }
    Ok(settings)
}

pub(in crate::app) fn workflow(root: &Path) -> Result<Workflow, Failure> {
    let Some(text) = fs::read_text(&root.join(".ralph/workflow.toml"))? else { return Ok(Workflow::builtin()) };
    Workflow::parse(&text).map_err(|error| {
        let file = ".ralph/workflow.toml";
        let problem = match &error {
            WorkflowError::Syntax { message, offset } => Problem::at(file, &text, *offset, message.trim()),
            other => Problem::whole(file, other.to_string()),
        };
        problem.into()
    })
}

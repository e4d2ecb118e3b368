//! The configuration of a board: layers of settings, the workflow, and the rules that follow from both.

use std::path::{Path, PathBuf};

use crate::app::Failure;
use crate::board::{Rules, ScopeMode};
use crate::config::{ConfigError, Settings, Source};
use crate::fs;
use crate::task::Problem;
use crate::workflow::{Workflow, WorkflowError};

pub(in crate::app) fn rules(flow: Workflow, settings: &Settings) -> Result<Rules, Failure> {
    let mut rules = Rules::of(flow);
    rules.mode = settings.text("review.mode").parse()?;
    rules.max_rejections = settings.number("review.max_rejections").unwrap_or(rules.max_rejections);
    rules.per_worker = settings.number("claims.per_worker").map_or(rules.per_worker, |n| n as usize);
    rules.scopes = match settings.text("scopes.mode") {
        "off" => ScopeMode::Off,
        "strict" => ScopeMode::Strict,
        _ => ScopeMode::Tell,
    };
    for (spec, setting) in settings.all() {
        let role = spec.key.strip_prefix("roles.").and_then(|rest| rest.strip_suffix(".limit"));
        if let (Some(role), Ok(limit)) = (role, setting.value.parse()) {
            rules.limits.insert(role.to_owned(), limit);
        }
    }
    Ok(rules)
}

/// Whether only people merge.
pub(in crate::app) fn merges_by_person(settings: &Settings) -> bool {
    settings.text("review.merge") == "person"
}

/// The path of the user's own settings.
pub(in crate::app) fn user_config() -> Option<PathBuf> {
    Some(crate::os::terminal::config_home()?.join("ralph/config.toml"))
}

pub(in crate::app) fn board_config(root: &Path) -> PathBuf {
    root.join(".ralph/config.toml")
}

/// Settings and workflow of a board, and the problems in their files. A broken file or value is left out, so that the
/// board can still be read.
pub(in crate::app) struct Setup {
    pub settings: Settings,
    pub flow: Workflow,
    pub problems: Vec<Problem>,
    /// A file of the board cannot be read, and no earlier version is known: the rules of the board are unknown.
    pub unusable: bool,
}

impl Setup {
    /// `local` is the folder where this clone keeps the last valid settings and workflow.
    pub fn read(root: &Path, local: &Path, flags: &[String]) -> Result<Self, Failure> {
        let mut setup =
            Self { settings: Settings::defaults(), flow: Workflow::builtin(), problems: Vec::new(), unusable: false };
        if let Some(path) = user_config()
            && let Some(text) = fs::read_text(&path).ok().flatten()
        {
            setup.add_file(Source::User(path), &text)?;
        }
        if let Some(text) = fs::read_text(&board_config(root))? {
            setup.add_board_file(&text, &local.join("config.toml"))?;
        }
        setup.problems.append(&mut setup.settings.bad);
        setup.settings.add_environment(|name| std::env::var(name).ok())?;
        for flag in flags {
            setup.settings.add_flag(flag)?;
        }
        if let Some(text) = fs::read_text(&root.join(WORKFLOW))? {
            setup.add_workflow(&text, &local.join("workflow.toml"))?;
        }
        setup.reserve_merging();
        Ok(setup)
    }

    /// Reads the setup of a revision from the board's files alone, so that it is the same on every machine.
    pub fn of_texts(config: Option<&str>, workflow: Option<&str>) -> Result<Self, Failure> {
        let mut setup =
            Self { settings: Settings::defaults(), flow: Workflow::builtin(), problems: Vec::new(), unusable: false };
        if let Some(text) = config {
            setup.add_file(Source::Board(".ralph/config.toml".into()), text)?;
        }
        setup.problems.append(&mut setup.settings.bad);
        if let Some(text) = workflow.filter(|text| !text.trim().is_empty()) {
            match Workflow::parse(text) {
                Ok(flow) => setup.flow = flow,
                Err(error) => {
                    setup.problems.push(workflow_problem(&error, text));
                    setup.flow = Workflow::guessed();
                }
            }
        }
        setup.reserve_merging();
        Ok(setup)
    }

    fn reserve_merging(&mut self) {
        if merges_by_person(&self.settings) {
            self.flow.reserve_merging();
        }
    }

    /// Adds the board's settings, or the last valid ones if the file is broken.
    fn add_board_file(&mut self, text: &str, last: &Path) -> Result<(), ConfigError> {
        let source = || Source::Board(".ralph/config.toml".into());
        let before = self.problems.len();
        self.add_file(source(), text)?;
        let known = fs::read_text(last).ok().flatten();
        if self.problems.len() == before {
            keep(last, text, known.as_deref());
        } else if let Some(known) = known {
            let settings = self.settings.clone();
            self.unusable = self.settings.add_file(source(), &known).is_err();
            if self.unusable {
                self.settings = settings;
            }
        }
        Ok(())
    }

    fn add_file(&mut self, source: Source, text: &str) -> Result<(), ConfigError> {
        let before = self.settings.clone();
        match self.settings.add_file(source, text) {
            Err(ConfigError::Syntax(problem)) => {
                self.settings = before;
                self.problems.push(problem);
                self.unusable = true;
                Ok(())
            }
            other => other,
        }
    }

    fn add_workflow(&mut self, text: &str, last: &Path) -> Result<(), ConfigError> {
        let known = || fs::read_text(last).ok().flatten();
        // A shell empties a file before it starts the program that writes to it; an empty file without a known version
        // counts as missing.
        if text.trim().is_empty() && known().is_none() {
            return Ok(());
        }
        match Workflow::parse(text) {
            Ok(flow) => {
                self.flow = flow;
                keep(last, text, known().as_deref());
            }
            Err(WorkflowError::Format(found)) => {
                return Err(ConfigError::Format { file: WORKFLOW.into(), found: found.to_string() });
            }
            Err(error) => {
                self.problems.push(workflow_problem(&error, text));
                let last = known().and_then(|text| Workflow::parse(&text).ok());
                self.unusable |= last.is_none();
                self.flow = last.unwrap_or_else(Workflow::guessed);
            }
        }
        Ok(())
    }
}

const WORKFLOW: &str = ".ralph/workflow.toml";

fn workflow_problem(error: &WorkflowError, text: &str) -> Problem {
    match error {
        WorkflowError::Syntax { message, offset } => Problem::at(WORKFLOW, text, *offset, message.trim()),
        WorkflowError::Inconsistent { message, value } => {
            Problem::at(WORKFLOW, text, place_of(text, value.as_deref()), message)
        }
        other => Problem::whole(WORKFLOW, other.to_string()),
    }
}

/// Keeps a copy of a valid file; a failure to write it is ignored.
fn keep(last: &Path, text: &str, known: Option<&str>) {
    if known != Some(text) {
        let _ = last.parent().map(fs::make_dir);
        let _ = fs::replace(last, text.as_bytes(), false);
    }
}

/// The position of an invalid value in the table: its last occurrence, because the error may be that it is repeated.
fn place_of(text: &str, value: Option<&str>) -> usize {
    value.and_then(|value| text.rfind(&format!("\"{value}\""))).unwrap_or(0)
}

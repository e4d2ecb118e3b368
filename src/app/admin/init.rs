//! `init`: creates a board in this repository. It asks no questions and adds only what is missing.

use std::path::Path;

use serde::Serialize;

use crate::app::admin::change_workflow::{named, write_table};
use crate::app::admin::demo;
use crate::app::admin::editor_files::write_editor_files;
use crate::app::workspace::git_commit::IGNORED;
use crate::app::workspace::layers::board_config;
use crate::app::workspace::open::{IGNORED_BOARD, IGNORED_PROBE, Options};
use crate::app::{Code, Failure, Hint, Workspace};
use crate::fs;
use crate::git::{ATTRIBUTES, DRIVER, GitError, Repository};

#[derive(Debug, Clone, Default)]
pub struct InitOptions {
    /// Add example tasks.
    pub demo: bool,
    /// Run `git init` first if there is no repository.
    pub git: bool,
    /// One of the workflows that ralph ships; the default is `full`.
    pub workflow: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct Initialised {
    pub root: String,
    pub done: Vec<String>,
    pub kept: Vec<String>,
    pub tasks: usize,
    /// The number of tasks that existed before.
    pub found: usize,
    /// Notes for the person.
    pub notices: Vec<String>,
}

const CONFIG: &str = "\
# Settings of this board; `ralph config list` shows them all.
format = 1
";

pub fn init(options: &Options, wanted: &InitOptions) -> Result<Initialised, Failure> {
    if wanted.git && matches!(Repository::discover(&options.dir), Err(GitError::NoRepository(_))) {
        Repository::create(&options.dir)?;
    }
    let mut ws = Workspace::open_repository(options)?;
    if let Some(name) = &wanted.workflow {
        named(name)?;
    }
    if wanted.demo {
        ws.me()?;
        demo::refuse_unless_empty(&ws)?;
    }
    let mut report = Initialised {
        root: ws.store.root().display().to_string(),
        done: vec![],
        kept: vec![],
        tasks: 0,
        found: 0,
        notices: vec![],
    };
    report.found = fs::names(&ws.store.tasks_dir())?.iter().filter(|name| name.ends_with(".toml")).count();
    let config = board_config(ws.store.root());
    report.note(!config.exists(), ".ralph/config.toml");
    if !config.exists() {
        fs::make_dir(&ws.store.tasks_dir())?;
        fs::replace(&config, CONFIG.as_bytes(), true)?;
    }
    if let Some(name) = wanted.workflow.as_ref().filter(|name| named(name).map_or(true, |flow| flow != *ws.flow())) {
        use_table(&ws, name, report.found)?;
        ws = Workspace::open_repository(options)?;
        report.note(true, &format!(".ralph/workflow.toml: the workflow {name}"));
    }
    let attributes = add_lines(&ws.store.root().join(".gitattributes"), &ATTRIBUTES)?;
    report.note(attributes, ".gitattributes: merge driver for tasks and the journal");
    let ignored = add_lines(&ws.store.root().join(".gitignore"), &IGNORED)?;
    report.note(ignored, ".gitignore: /worktrees/");
    let editor = write_editor_files(&ws)?;
    editor.into_iter().for_each(|what| report.note(true, what));
    ws.repository.remember_root()?;
    let driver = wanted_driver();
    let installed = ws.repository.merge_driver().as_deref() == Some(&format!("{driver} {DRIVER}"));
    if !installed {
        ws.repository.install_merge_driver(&driver)?;
    }
    report.note(!installed, "git config merge.ralph.driver, for this clone");
    if wanted.demo {
        report.tasks = demo::fill(&ws)?;
    }
    if ws.repository.is_ignored(IGNORED_PROBE) {
        report.notices.push(IGNORED_BOARD.to_owned());
    }
    Ok(report)
}

/// Replaces the workflow table of a board without tasks; a board with tasks has to be converted with `workflow use`.
fn use_table(ws: &Workspace, name: &str, tasks: usize) -> Result<(), Failure> {
    named(name)?;
    match tasks {
        0 => write_table(ws, name),
        _ => {
            let message = format!("this board already has tasks and uses the workflow {:?}", ws.flow().name);
            Err(Failure::refused(Code::NotEmpty, message)
                .hint(Hint::run(&format!("workflow use {name}"), "to convert its tasks")))
        }
    }
}

/// Whether there is a board already.
pub fn has_board(options: &Options) -> bool {
    Workspace::open_repository(options).is_ok_and(|ws| ws.store.board_dir().is_dir())
}

impl Initialised {
    fn note(&mut self, done: bool, what: &str) {
        if done { &mut self.done } else { &mut self.kept }.push(what.to_owned());
    }
}

/// Adds the missing lines; returns whether any were added.
pub(in crate::app) fn add_lines(path: &Path, lines: &[&str]) -> Result<bool, Failure> {
    let mut text = fs::read_text(path)?.unwrap_or_default();
    let missing: Vec<&&str> = lines.iter().filter(|line| !has_line(&text, line)).collect();
    if missing.is_empty() {
        return Ok(false);
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    for line in missing {
        text.push_str(line);
        text.push('\n');
    }
    fs::replace(path, text.as_bytes(), true)?;
    Ok(true)
}

/// `worktrees/`, `/worktrees` and `/worktrees/*` count as `/worktrees/`.
pub(in crate::app) fn has_line(text: &str, line: &str) -> bool {
    let bare = |line: &str| line.trim().trim_start_matches('/').trim_end_matches('*').trim_end_matches('/').to_owned();
    text.lines().any(|there| bare(there) == bare(line))
}

/// How git calls this program: by name if that finds it in `PATH`, otherwise by its path.
pub(in crate::app) fn wanted_driver() -> String {
    let Ok(exe) = std::env::current_exe().and_then(|exe| exe.canonicalize()) else { return "ralph".into() };
    match on_path("ralph").and_then(|found| found.canonicalize().ok()) {
        Some(found) if found == exe => "ralph".into(),
        _ => format!("'{}'", exe.display()),
    }
}

pub(in crate::app) fn on_path(name: &str) -> Option<std::path::PathBuf> {
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths).map(|folder| folder.join(name)).find(|path| path.is_file())
}

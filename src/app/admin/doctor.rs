//! `doctor`: the problems of a board, and safe fixes for some of them.

use std::path::PathBuf;

use serde::Serialize;

use crate::app::admin::init::{add_lines, has_line, on_path, wanted_driver};
use crate::app::workspace::open::IGNORED_PROBE;
use crate::app::{Failure, Workspace};
use crate::board::{Assignment, Board, Op, Place, inspect};
use crate::fs;
use crate::git::{ATTRIBUTES, DRIVER};
use crate::task::{Problem, TaskId};

#[derive(Debug, Serialize)]
pub struct Diagnosis {
    pub tasks: usize,
    pub findings: Vec<DoctorFinding>,
    /// Guarantees that ralph cannot give on this system.
    pub limits: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
pub struct DoctorFinding {
    pub code: &'static str,
    pub task: Option<TaskId>,
    pub message: String,
    pub advice: String,
    pub fixable: bool,
    pub fixed: bool,
    #[serde(skip)]
    fix: Option<Fix>,
}

/// The fix of a finding.
#[derive(Debug)]
enum Fix {
    Assign(TaskId, Vec<Assignment>),
    /// Renames the file of the first task to the id of the second.
    Rename(TaskId, TaskId),
    Remove(PathBuf),
    DropIndex,
    Attributes,
    Driver,
}

impl DoctorFinding {
    fn new(code: &'static str, message: impl Into<String>, advice: impl Into<String>, fix: Option<Fix>) -> Self {
        let (message, advice) = (message.into(), advice.into());
        Self { code, task: None, message, advice, fixable: fix.is_some(), fixed: false, fix }
    }

    fn of(problem: &Problem) -> Self {
        let advice = problem.hint.clone().unwrap_or_else(|| "correct the file".into());
        Self::new("bad-file", problem.to_string(), advice, None)
    }
}

pub fn doctor(ws: &Workspace, fix: bool) -> Result<Diagnosis, Failure> {
    let mut findings = Vec::new();
    // Checked before the board is read, which would rebuild it.
    if ws.store.index_is_intact() == Some(false) {
        let advice = "it is a cache: the next command that lists tasks rebuilds it";
        findings.push(DoctorFinding::new("damaged-index", "the index is damaged", advice, Some(Fix::DropIndex)));
    }
    let board = ws.board()?;
    findings.extend(board.problems().into_iter().map(DoctorFinding::of));
    let renamed = renamed(ws, &board)?;
    findings.extend(renamed.iter().map(|(now, id)| {
        let message = format!("the file of {id} was renamed to {now}.toml");
        let fix = Fix::Rename(now.clone(), id.clone());
        DoctorFinding::new(
            "renamed-file",
            message,
            "`--fix` restores its name, so that links to it work again",
            Some(fix),
        )
    }));
    let lost = |id: &TaskId| renamed.iter().any(|(_, stated)| stated == id);
    findings.extend(inspect(&board, ws.flow()).into_iter().map(|found| {
        let task = found.task.as_ref().and_then(|id| board.get(id));
        // A link to a task whose file was renamed is kept.
        let away = task.is_some_and(|task| task.parent.iter().chain(&task.blocked_by).any(lost));
        let fix = found.task.clone().filter(|_| !found.fix.is_empty() && !away);
        let fix = fix.map(|task| Fix::Assign(task, found.fix));
        let advice = if away { "`--fix` restores the name of that task's file".to_owned() } else { found.advice };
        DoctorFinding { task: found.task, ..DoctorFinding::new(found.code, found.message, advice, fix) }
    }));
    findings.extend(ws.store.journal()?.1.iter().map(DoctorFinding::of));
    findings.extend(files(ws, &lost)?);
    findings.extend(links(ws, &board));
    findings.extend(settings(ws));
    findings.extend(git(ws)?);
    findings.extend(copies(ws)?);
    findings.extend(foreign());
    findings.extend(conflicts(ws, &board));
    if fix {
        mend(ws, &mut findings)?;
        // Problems that a wrong file name caused are gone once it is corrected.
        if renamed.iter().any(|(_, id)| ws.store.exists(id)) {
            findings.retain(|finding| finding.fixed);
            findings.extend(doctor(ws, false)?.findings.into_iter().filter(|left| !left.fixable));
        }
    }
    Ok(Diagnosis { tasks: board.tasks().len(), findings, limits: crate::os::limits() })
}

/// Tasks whose file states another id than its name, if no other task has that id.
fn renamed(ws: &Workspace, board: &Board) -> Result<Vec<(TaskId, TaskId)>, Failure> {
    let mut found = Vec::new();
    for task in board.tasks().iter().filter(|task| !task.problems.is_empty()) {
        let text = ws.store.text_of(&ws.store.path(&task.id, &Place::Task))?.unwrap_or_default();
        let table: toml::Table = text.parse().unwrap_or_default();
        let stated = table.get("id").and_then(|id| id.as_str()).and_then(|id| TaskId::new(id).ok());
        found.extend(stated.filter(|id| *id != task.id && !ws.store.exists(id)).map(|id| (task.id.clone(), id)));
    }
    Ok(found)
}

/// Tasks with a sync conflict.
fn conflicts(ws: &Workspace, board: &Board) -> Vec<DoctorFinding> {
    let mirrored = board.tasks().iter().filter(|task| task.github.is_some());
    let found = mirrored.filter_map(|task| {
        let over = crate::app::edit::fields::conflicts_of(ws, &task.id);
        let message = format!("{} and its issue on GitHub differ in {}", task.id, over.join(", "));
        let advice = format!("run `ralph sync resolve {}` with `--take local` or `--take remote`", task.id);
        let finding = DoctorFinding::new("sync-conflict", message, advice, None);
        (!over.is_empty()).then(|| DoctorFinding { task: Some(task.id.clone()), ..finding })
    });
    found.collect()
}

/// Misplaced, duplicate and leftover files.
fn files(ws: &Workspace, has_other_name: &dyn Fn(&TaskId) -> bool) -> Result<Vec<DoctorFinding>, Failure> {
    let mut found = Vec::new();
    let folders = [ws.store.board_dir(), ws.store.local().to_owned()];
    for entry in folders.iter().flat_map(|folder| walkdir::WalkDir::new(folder).into_iter().filter_map(Result::ok)) {
        let name = entry.file_name().to_string_lossy();
        if name.starts_with('.') && name.ends_with(".tmp") {
            let message = format!("{} is left over from a process that was killed", ws.store.shown(entry.path()));
            found.push(DoctorFinding::new(
                "stray-file",
                message,
                "`--fix` removes it",
                Some(Fix::Remove(entry.path().to_owned())),
            ));
        }
    }
    for name in fs::names(&ws.store.board_dir().join("archive"))? {
        let Some(id) = name.strip_suffix(".toml").and_then(|stem| TaskId::new(stem).ok()) else { continue };
        if ws.store.exists(&id) {
            let (there, away) = (ws.store.path(&id, &Place::Task), ws.store.path(&id, &Place::Archive));
            let same = fs::read(&there)? == fs::read(&away)?;
            let (message, advice, fix) = match same {
                true => ("both files are equal", "`--fix` removes the archived one", Some(Fix::Remove(away))),
                false => ("the files differ", "delete the file that is out of date", None),
            };
            let message = format!("{id} is both on the board and in the archive: {message}");
            found.push(DoctorFinding::new("duplicate-id", message, advice, fix));
        }
    }
    let mut folded = std::collections::HashMap::new();
    for name in fs::names(&ws.store.tasks_dir())? {
        if let Some(other) = folded.insert(name.to_lowercase(), name.clone()) {
            let message = format!("{other} and {name} are the same file on file systems that ignore case");
            found.push(DoctorFinding::new("duplicate-id", message, "rename one of them", None));
        }
    }
    for name in fs::names(&ws.store.board_dir().join("notes"))? {
        let Ok(id) = TaskId::new(name) else { continue };
        if !ws.store.exists(&id) && !ws.store.is_archived(&id) && !has_other_name(&id) {
            let message = format!("there are notes for {id}, which does not exist");
            found.push(DoctorFinding::new(
                "orphan-notes",
                message,
                format!("if they are not needed, delete .ralph/notes/{id}"),
                None,
            ));
        }
    }
    if ws.store.local().join("intent/damaged").exists() {
        let path = ws.store.local().join("intent/damaged");
        let message = "a command was interrupted, and its record is damaged";
        found.push(DoctorFinding::new(
            "damaged-intent",
            message,
            format!("compare {} with the board", path.display()),
            None,
        ));
    }
    Ok(found)
}

/// Links to artifacts that do not exist.
fn links(ws: &Workspace, board: &Board) -> Vec<DoctorFinding> {
    let all = board.tasks().iter().flat_map(|task| task.artifacts.iter().map(move |(kind, path)| (task, kind, path)));
    let gone = all.filter(|(_, _, path)| !path.contains("://") && !ws.store.root().join(path).exists());
    gone.map(|(task, kind, path)| DoctorFinding {
        task: Some(task.id.clone()),
        ..DoctorFinding::new(
            "missing-artifact",
            format!("the {kind} of {} does not exist: {path}", task.id),
            "restore the file, or correct the link",
            None,
        )
    })
    .collect()
}

fn settings(ws: &Workspace) -> Vec<DoctorFinding> {
    let unknown = ws.settings.unknown.iter();
    let rule = crate::app::watch::event_rules::check_rules(ws).err();
    let rule = rule.map(|failure| DoctorFinding::new("bad-rule", failure.message, "correct the `[[on]]` table", None));
    let broken = ws.setup_problems().iter().map(DoctorFinding::of);
    let unknown = unknown.map(|problem| {
        let hint = problem.hint.as_deref().unwrap_or("`ralph config list` shows the settings");
        DoctorFinding::new("unknown-setting", problem.to_string(), hint, None)
    });
    broken.chain(unknown).chain(rule).collect()
}

fn git(ws: &Workspace) -> Result<Vec<DoctorFinding>, Failure> {
    let mut found = Vec::new();
    if ws.repository.is_ignored(IGNORED_PROBE) {
        found.push(DoctorFinding::new("ignored-board", "git ignores .ralph", "remove the line from .gitignore", None));
    }
    if let Some(remote) = ws.claims_remote().filter(|remote| !ws.repository.has_remote(remote)) {
        let message = format!("claims.remote is {remote:?}, but this repository has no such remote");
        found.push(DoctorFinding::new(
            "no-remote",
            message,
            "add it with `git remote add`, or correct the setting",
            None,
        ));
    }
    match ws.repository.merge_driver() {
        None => {
            let message = "this clone has no merge driver for task files";
            found.push(DoctorFinding::new(
                "no-merge-driver",
                message,
                "`--fix` or `ralph init` installs it",
                Some(Fix::Driver),
            ));
        }
        Some(command) => {
            let program = command.strip_suffix(DRIVER).unwrap_or(&command).trim().trim_matches('\'');
            if !PathBuf::from(program).is_file() && on_path(program).is_none() {
                let message = format!("the merge driver of this clone runs {program}, which does not exist");
                found.push(DoctorFinding::new(
                    "no-merge-driver",
                    message,
                    "`--fix` or `ralph init` corrects it",
                    Some(Fix::Driver),
                ));
            }
        }
    }
    let attributes = fs::read_text(&ws.store.root().join(".gitattributes"))?.unwrap_or_default();
    if ATTRIBUTES.iter().any(|line| !has_line(&attributes, line)) {
        let message = ".gitattributes lacks the merge driver for the board";
        found.push(DoctorFinding::new(
            "no-attributes",
            message,
            "`--fix` or `ralph init` adds the lines",
            Some(Fix::Attributes),
        ));
    }
    Ok(found)
}

/// Tasks that were edited in a linked worktree's copy of the board, which ralph does not read.
fn copies(ws: &Workspace) -> Result<Vec<DoctorFinding>, Failure> {
    let advice =
        "make the change with `ralph`, which edits the board itself from any directory, then restore this copy";
    let found = crate::app::repo::worktree::edited_copies(ws)?;
    Ok(found.into_iter().map(|message| DoctorFinding::new("edited-copy", message, advice, None)).collect())
}

/// Other programs named `ralph` exist; agents that call `ralph` would start them.
fn foreign() -> Option<DoctorFinding> {
    let found = on_path("ralph")?;
    let same = |path: &PathBuf| {
        path.canonicalize().ok() == std::env::current_exe().ok().and_then(|exe| exe.canonicalize().ok())
    };
    if same(&found) {
        return None;
    }
    let output = std::process::Command::new(&found).arg("--version").stdin(std::process::Stdio::null()).output();
    let ours = output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("ralph-board"));
    let message = format!("`ralph` on your PATH is another program: {}", found.display());
    (!ours).then(|| {
        DoctorFinding::new(
            "foreign-ralph",
            message,
            "put this ralph first on the PATH, or run it with its full path",
            None,
        )
    })
}

fn mend(ws: &Workspace, findings: &mut [DoctorFinding]) -> Result<(), Failure> {
    // The lock is held throughout, so no running command owns a file that looks like a leftover.
    let lock = ws.lock()?;
    for finding in findings {
        match finding.fix.take() {
            Some(Fix::Assign(task, wanted)) => {
                let changes = crate::app::edit::set::changes(ws, &task, &wanted)?;
                ws.commit(&lock, Op::new("doctor", changes))?;
            }
            Some(Fix::Rename(now, id)) => {
                let path = |id: &TaskId| ws.store.path(id, &Place::Task);
                if !fs::rename_new(&path(&now), &path(&id))? {
                    continue;
                }
            }
            Some(Fix::Remove(path)) => fs::remove(&path)?,
            Some(Fix::DropIndex) => ws.store.drop_index()?,
            Some(Fix::Attributes) => {
                add_lines(&ws.store.root().join(".gitattributes"), &ATTRIBUTES)?;
            }
            Some(Fix::Driver) => ws.repository.install_merge_driver(&wanted_driver())?,
            None => continue,
        }
        finding.fixed = true;
    }
    Ok(())
}

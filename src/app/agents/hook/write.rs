//! The policy checks for written files: where code may be written, and which documents must exist first.

use std::path::{Path, PathBuf};

use super::scene::Scene;
use super::scope::in_scope;
use super::{Failure, Gate};
use crate::agent::document::{DocumentKind, DocumentName, Subject, check};
use crate::app::records::artifact::check_artifact;
use crate::board::Change;
use crate::fs;
use crate::task::{Task, TaskId, Value};

/// impl-worktree-gate: implement writes only to the task's worktree, `thoughts/` and temporary folders; other commands
/// write no code in this repository.
pub fn in_worktree(scene: &Scene<'_>) -> Result<Gate, Failure> {
    let (Some(file), Some(task)) = (scene.input.file(), scene.task(&scene.cwd)) else { return Ok(Gate::Allow) };
    in_place(scene, task, &scene.path(&file))
}

/// Whether the worker of a task may write a file.
pub(super) fn in_place(scene: &Scene<'_>, task: &Task, path: &Path) -> Result<Gate, Failure> {
    let implements = scene.is_doing(task, "implement");
    let Some(doing) = scene.doing(task).filter(|_| implements || scene.holds(task)) else { return Ok(Gate::Allow) };
    let place = scene.place(&task.id)?;
    let own = scene.linked(&place.path).filter(|_| implements);
    let around = scene.worktree_of(path);
    let inside = scene.is_inside(path);
    let allowed = match (around, own) {
        (Some(around), Some(own)) if around.path == own.path => return in_scope(scene, task, path),
        (None, _) if inside => scene.within(path).is_some_and(|path| path.starts_with("thoughts")),
        _ => !inside && (!implements || temporary().iter().any(|folder| path.starts_with(folder))),
    };
    if allowed {
        return Ok(Gate::Allow);
    }
    let (why, instead) = match own {
        Some(own) => (
            format!("{} is outside the worktree of {}", path.display(), task.id),
            format!("write it under {}", own.path.display()),
        ),
        None if implements => (
            format!("{} is outside the worktree of {}", path.display(), task.id),
            format!("create the worktree with `ralph worktree add {}`", task.id),
        ),
        None => (
            format!("{} of {} can only write its document, not {}", doing.name, task.id, path.display()),
            "write under thoughts/, or outside this repository".to_owned(),
        ),
    };
    Ok(Gate::block(why, instead))
}

fn temporary() -> Vec<PathBuf> {
    [std::env::temp_dir(), "/tmp".into()].map(|folder| fs::settled(&folder)).to_vec()
}

/// impl-plan-required: code in a task's worktree requires a plan.
pub fn with_plan(scene: &Scene<'_>) -> Result<Gate, Failure> {
    let Some(path) = scene.input.file().map(|file| scene.path(&file)) else { return Ok(Gate::Allow) };
    let Some(task) = scene.task_at(&path) else { return Ok(Gate::Allow) };
    let document = scene.within(&path).is_some_and(|path| path.starts_with("thoughts"));
    let members = scene.members(&task.id);
    if document || members.iter().any(|task| is_there(scene, task, "plan")) {
        return Ok(Gate::Allow);
    }
    let why = match members.iter().find_map(|task| task.artifacts.get("plan")) {
        Some(path) => format!("the plan of {} does not exist: {path}", task.id),
        None => format!("{} has no plan", task.id),
    };
    Ok(Gate::block(why, format!("write the plan first: `ralph artifact new plan {}` creates the file", task.id)))
}

fn is_there(scene: &Scene<'_>, task: &Task, kind: &str) -> bool {
    task.artifacts.get(kind).is_some_and(|path| scene.ws.store.root().join(path).is_file())
}

/// plan-research-required: a plan requires the research of every member.
pub fn with_research(scene: &Scene<'_>) -> Result<Gate, Failure> {
    let Some(path) = scene.input.file().map(|file| scene.path(&file)) else { return Ok(Gate::Allow) };
    if !is_in(scene, &path, DocumentKind::Plan) {
        return Ok(Gate::Allow);
    }
    let held = || scene.held().into_iter().find(|task| scene.is_doing(task, "plan"));
    let Some(task) = owner(scene, &path, DocumentKind::Plan).or_else(held) else { return Ok(Gate::Allow) };
    for member in scene.members(&task.id) {
        if !is_there(scene, member, "research") && !went_straight(scene, &member.id)? {
            let why = match member.artifacts.get("research") {
                Some(path) => format!("the research of {} does not exist: {path}", member.id),
                None => format!("{} has no research document to plan from", member.id),
            };
            let id = &member.id;
            let instead = format!(
                "`ralph artifact new research {id}` creates the file, `ralph artifact link research {id}` links it"
            );
            return Ok(Gate::block(why, instead));
        }
    }
    Ok(Gate::Allow)
}

/// Whether the task skipped research: according to the journal, it moved from a state of triage directly to planning.
fn went_straight(scene: &Scene<'_>, id: &TaskId) -> Result<bool, Failure> {
    let flow = scene.ws.flow();
    let (Ok(triage), Ok(plan)) = (flow.command("triage"), flow.command("plan")) else { return Ok(false) };
    let moved = |change: &Change| match change {
        Change::Set { old: Some(Value::Text(old)), new: Some(Value::Text(new)), .. } if change.is_state_of(id) => {
            let to_plan = plan.from.iter().any(|state| state.as_str() == new);
            to_plan.then(|| triage.from.iter().any(|state| state.as_str() == old))
        }
        _ => None,
    };
    let journal = scene.ws.journal()?;
    Ok(journal.iter().rev().flat_map(|line| &line.changes).find_map(moved).unwrap_or(false))
}

/// review-no-dup: each round has one review, which is not overwritten.
pub fn one_critique(scene: &Scene<'_>) -> Result<Gate, Failure> {
    let Some(path) = scene.input.file().map(|file| scene.path(&file)) else { return Ok(Gate::Allow) };
    let Some(task) = owner(scene, &path, DocumentKind::Review) else { return Ok(Gate::Allow) };
    let subject = Subject::of(DocumentKind::Review, &scene.board, &task.id, scene.ws.rules())?;
    let named = scene.within(&path).and_then(Path::to_str).and_then(DocumentName::parse);
    let found = check_artifact(scene.ws, "review", &task.id).ok().filter(|found| found.findings.is_empty());
    if let Some(found) = found {
        let why = format!("round {} of {} already has a review: {}", subject.round, subject.task, found.path);
        let end = scene.signed(format!("ralph move {} __COMPLETE__ --for review", subject.task));
        return Ok(Gate::block(why, format!("edit that file, or end the review: `{end}`")));
    }
    match named {
        Some(name) if name.round != subject.round => {
            let why =
                format!("this is the review of round {}, but {} is in round {}", name.round, task.id, subject.round);
            Ok(Gate::block(why, format!("`ralph artifact new review {}` creates the file", task.id)))
        }
        _ => Ok(Gate::Allow),
    }
}

/// review-verify-doc: a review that was just written must be complete.
pub fn whole_critique(scene: &Scene<'_>) -> Result<Gate, Failure> {
    let Some(path) = scene.input.file().map(|file| scene.path(&file)) else { return Ok(Gate::Allow) };
    if !is_in(scene, &path, DocumentKind::Review) {
        return Ok(Gate::Allow);
    }
    let Some(task) = owner(scene, &path, DocumentKind::Review) else {
        let Some(held) = scene.held().into_iter().find(|task| scene.is_doing(task, "review")) else {
            return Ok(Gate::Allow);
        };
        let why = format!("{} does not have the file name of a review", path.display());
        return Ok(Gate::block(why, format!("`ralph artifact new review {}` creates the file", held.id)));
    };
    let subject = Subject::of(DocumentKind::Review, &scene.board, &task.id, scene.ws.rules())?;
    let text = fs::read_text(&path)?.unwrap_or_default();
    let findings = check(DocumentKind::Review, &text, &subject);
    if findings.is_empty() {
        return Ok(Gate::Allow);
    }
    let all: Vec<String> = findings.iter().take(4).map(ToString::to_string).collect();
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let instead = format!("fix it; `ralph artifact check review {}` lists everything that is missing", task.id);
    Ok(Gate::block(format!("{name} is not complete: {}", all.join("; ")), instead))
}

fn is_in(scene: &Scene<'_>, path: &Path, kind: DocumentKind) -> bool {
    scene.within(path).is_some_and(|path| path.starts_with(kind.folder()))
}

/// The task that the file name of a document states.
fn owner<'a>(scene: &'a Scene<'_>, path: &Path, kind: DocumentKind) -> Option<&'a Task> {
    let name = DocumentName::parse(&fs::slashed(scene.within(path)?)).filter(|name| name.kind == kind)?;
    name.owner(scene.board.tasks())
}

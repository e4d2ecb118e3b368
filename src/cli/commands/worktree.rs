//! `ralph worktree`.

use crate::app::{self, Included, Setup, Start, WorktreeAdded, WorktreeRemoved, WorktreeStep, WorktreeView};
use crate::cli::args::WorktreeCommand;
use crate::cli::style::{self, paint};
use crate::cli::table::{self, Cell, cell};
use crate::cli::{Answer, Outcome, Session, words};

pub fn run(session: &Session<'_>, command: &WorktreeCommand) -> Answer {
    match command {
        WorktreeCommand::Add { task, from, stack, no_setup } => {
            let setup = if *no_setup { Setup::Skip } else { Setup::Full { log: None } };
            add(session, task, from.as_ref(), *stack, &setup)
        }
        WorktreeCommand::Ls => list(session),
        WorktreeCommand::Path(args) => {
            let path = session.with(|ws| app::worktree_path(ws, &ws.find(&args.task)?))?;
            answer(session, &path, &format!("{}\n", path.display()))
        }
        WorktreeCommand::Rm { task, force } => {
            let removed = session.with(|ws| app::remove_worktree(ws, &ws.find(task)?, *force))?;
            answer(session, &removed, &line(&removed, "removed"))
        }
        WorktreeCommand::Prune { yes } => prune(session, *yes),
        WorktreeCommand::Lock { task, reason } => lock(session, task, Some(reason.as_str())),
        WorktreeCommand::Unlock(args) => lock(session, &args.task, None),
    }
}

fn answer(session: &Session<'_>, value: &impl serde::Serialize, text: &str) -> Answer {
    if session.out.json {
        session.out.json(value);
    } else {
        session.out.text(text);
    }
    Ok(Outcome::Done)
}

fn add(session: &Session<'_>, task: &str, from: Option<&String>, stack: bool, setup: &Setup) -> Answer {
    let start = match (from, stack) {
        (Some(revision), _) => Start::Revision(revision.clone()),
        (None, true) => Start::Predecessor,
        (None, false) => Start::Main,
    };
    let terminal = !session.out.json && std::io::IsTerminal::is_terminal(&std::io::stderr());
    let mut tell = |step: WorktreeStep<'_>| {
        if terminal {
            session.out.status(Some(&doing(&step)));
        }
    };
    let added = session.with(|ws| app::add_worktree(ws, &ws.find(task)?, &start, setup, &mut tell));
    if terminal {
        session.out.status(None);
    }
    let added = added?;
    answer(session, &added, &added_line(&added))
}

fn doing(step: &WorktreeStep<'_>) -> String {
    match step {
        WorktreeStep::CheckingOut { done, of } => format!("checking out files: {done} of {of}"),
        WorktreeStep::Including { path } => format!("copying {path}"),
        WorktreeStep::Running { program } => format!("running {}", program.join(" ")),
    }
}

fn added_line(added: &WorktreeAdded) -> String {
    let how = if added.reused { "already exists".into() } else { format!("checked out from {}", added.from) };
    let port = added.port.map(|port| paint(style::DIM, format!("  port {port}"))).unwrap_or_default();
    let (path, task, branch) =
        (added.path.display(), paint(style::ID, &added.task), paint(style::LABEL, &added.branch));
    let mut line = format!("{task}  {path}  {branch}  {how}{port}");
    line.push_str(&included_line(&added.included));
    line + "\n"
}

/// What was copied and linked; nothing if there was nothing to bring along.
fn included_line(included: &Included) -> String {
    let is_linked = |path: &&String| included.linked > 0 && path.ends_with('/');
    let (linked, copied): (Vec<&String>, Vec<&String>) = included.paths.iter().partition(is_linked);
    let named = |verb: &str, paths: &[&String], count: String| {
        let shown: Vec<&str> = paths.iter().take(3).map(|path| path.as_str()).collect();
        let more = paths.len() - shown.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        if paths.is_empty() { String::new() } else { format!("\n{verb} {}{more} ({count})", shown.join(", ")) }
    };
    named("linked", &linked, words::count(included.linked, "folder"))
        + &named("included", &copied, words::count(included.files, "file"))
}

fn list(session: &Session<'_>) -> Answer {
    let (found, now) = session.with(|ws| Ok((app::list_worktrees(ws)?, ws.now())))?;
    if session.out.json {
        session.out.json(&found);
        return Ok(Outcome::Done);
    }
    if found.is_empty() {
        session.out.say("no worktrees");
        return Ok(Outcome::Done);
    }
    let rows: Vec<Vec<Cell>> = found.iter().map(|view| row(view, now)).collect();
    session.out.text(&table::render(
        &["TASK", "STATE", "BRANCH", "STATUS", "AHEAD", "BEHIND", "AGE", "PORT", "PATH"],
        8,
        &[6, 7, 1],
        &rows,
        session.out.width(),
    ));
    Ok(Outcome::Done)
}

fn row(view: &WorktreeView, now: jiff::Timestamp) -> Vec<Cell> {
    let is = match view {
        view if view.missing => "missing".to_owned(),
        view => {
            let locked = view.locked.as_ref().map(|_| "locked");
            let dirty = view.dirty.unwrap_or(true).then_some("uncommitted changes");
            [locked, dirty].into_iter().flatten().collect::<Vec<_>>().join(" ")
        }
    };
    let number = |count: Option<usize>| count.filter(|n| *n > 0).map(|n| n.to_string()).unwrap_or_default();
    let color = view.state.as_ref().map_or(style::PLAIN, style::state);
    vec![
        cell(view.task.as_ref().map(ToString::to_string).unwrap_or_default(), style::ID),
        cell(view.state.as_ref().map(ToString::to_string).unwrap_or_default(), color),
        cell(view.branch.as_deref().unwrap_or("(detached)"), style::LABEL),
        cell(is, style::WARN),
        cell(number(view.distance.map(|distance| distance.ahead)), style::PLAIN),
        cell(number(view.distance.map(|distance| distance.behind)), style::PLAIN),
        cell(view.made.map(|made| words::ago(made, now)).unwrap_or_default(), style::DIM),
        cell(view.port.map(|port| port.to_string()).unwrap_or_default(), style::DIM),
        cell(view.path.display().to_string(), style::PLAIN),
    ]
}

fn line(removed: &WorktreeRemoved, verb: &str) -> String {
    let branch = removed.branch.as_deref().unwrap_or("(detached)");
    let branch = if removed.branch_deleted { format!("{branch}, deleted") } else { branch.to_owned() };
    format!(
        "{} {verb}  {}  {}\n",
        removed.path.display(),
        paint(style::LABEL, branch),
        paint(style::DIM, &removed.reason)
    )
}

fn prune(session: &Session<'_>, yes: bool) -> Answer {
    let found = session.with(|ws| app::prune_worktrees(ws, yes))?;
    if session.out.json {
        session.out.json(&found);
    } else if found.is_empty() {
        session.out.say("nothing to do: no worktree is merged or orphaned");
    } else {
        let verb = if yes { "removed" } else { "can be removed" };
        session.out.text(&found.iter().map(|removed| line(removed, verb)).collect::<String>());
        if !yes {
            session.out.say("run `ralph worktree prune --yes` to remove them");
        }
    }
    Ok(Outcome::Done)
}

fn lock(session: &Session<'_>, task: &str, reason: Option<&str>) -> Answer {
    let path = session.with(|ws| app::lock_worktree(ws, &ws.find(task)?, reason))?;
    let word = if reason.is_some() { "locked" } else { "unlocked" };
    answer(session, &path, &format!("{} {word}\n", path.display()))
}

//! `uninstall`: removes what `init` and `setup` created in a repository. The tasks stay, except with `--tasks`.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;

use crate::app::agents::setup::{Done, SetUpHost, SetUpHow, set_up};
use crate::app::repo::rescue::rescued_dir;
use crate::app::workspace::git_commit::{IGNORED, TAPLO};
use crate::app::{Code, Failure, Hint, Workspace};
use crate::fs;
use crate::git::ATTRIBUTES;
use crate::task::TaskId;

#[derive(Debug, Serialize)]
pub struct Uninstalled {
    /// Removed parts, or parts that would be removed.
    pub removed: Vec<String>,
    /// Edited files, and parts that are kept intentionally.
    pub kept: Vec<String>,
    pub dry_run: bool,
}

const HOSTS: [SetUpHost; 4] = [SetUpHost::Claude, SetUpHost::Codex, SetUpHost::Gemini, SetUpHost::Opencode];

pub fn uninstall(ws: &Workspace, tasks: bool, dry_run: bool) -> Result<Uninstalled, Failure> {
    ws.refuse_programs("uninstall ralph")?;
    refuse_claimed(ws)?;
    let mut done = Uninstalled { removed: Vec::new(), kept: Vec::new(), dry_run };
    for host in HOSTS {
        for file in set_up(ws, host, SetUpHow::Remove, dry_run)?.files {
            match file.done {
                Done::Removed if file.emptied => done.removed.push(file.path),
                Done::Removed => done.removed.push(format!("ralph's section of {}", file.path)),
                Done::Kept => done.kept.push(format!("{}: {}", file.path, file.why.unwrap_or_default())),
                Done::Created | Done::Updated | Done::Unchanged => {}
            }
        }
    }
    let mut seen = BTreeSet::new();
    done.removed.retain(|what| seen.insert(what.clone()));
    let root = ws.store.root();
    without_lines(&mut done, root, ".gitattributes", &ATTRIBUTES)?;
    // Worktrees must stay ignored while any exist.
    if fs::names(&root.join("worktrees"))?.is_empty() {
        without_lines(&mut done, root, ".gitignore", &IGNORED)?;
    }
    remove(&mut done, &ws.store.board_dir().join("schema"), ".ralph/schema")?;
    if ws.repository.merge_driver().is_some() {
        done.removed.push("git config merge.ralph".into());
        if !dry_run {
            ws.repository.remove_merge_driver()?;
        }
    }
    let taplo = root.join(".taplo.toml");
    if fs::read_text(&taplo)?.as_deref() == Some(TAPLO) {
        remove_file(&mut done, &taplo, ".taplo.toml")?;
    }
    let worktrees = root.join("worktrees");
    if !fs::names(&worktrees)?.is_empty() {
        done.kept.push("worktrees/: your work; `git worktree remove` removes a worktree".into());
    }
    remove_local(&mut done, ws)?;
    match tasks {
        true => remove(&mut done, ws.store.board_dir().as_path(), ".ralph: tasks, notes and journal")?,
        false => done.kept.push(".ralph: your tasks".into()),
    }
    Ok(done)
}

/// Refuses because running workers would lose their claims.
fn refuse_claimed(ws: &Workspace) -> Result<(), Failure> {
    let claims = ws.claims()?;
    let live: Vec<&TaskId> =
        claims.iter().filter(|(_, claim)| claim.live && !claim.foreign).map(|(id, _)| id).collect();
    match live.first() {
        None => Ok(()),
        Some(first) => Err(Failure::refused(Code::Held, format!("cannot uninstall while {first} is claimed"))
            .hint(Hint::run("claims ls", "to list the claims"))
            .hint(Hint::run(&format!("release {first}"), "to release it"))),
    }
}

/// Removes what ralph keeps in this clone, except files that were rescued from worktrees: those are people's work.
fn remove_local(done: &mut Uninstalled, ws: &Workspace) -> Result<(), Failure> {
    let what = ".git/ralph: claims, runs and caches of this clone";
    let (local, rescued) = (ws.store.local(), rescued_dir(ws));
    if fs::names(&rescued)?.is_empty() {
        return remove(done, local, what);
    }
    done.kept.push(format!("{}: files rescued from removed worktrees", rescued.display()));
    done.removed.push(what.to_owned());
    let others = fs::names(local)?.into_iter().map(|name| local.join(name)).filter(|path| *path != rescued);
    for path in others.filter(|_| !done.dry_run) {
        if path.is_dir() { fs::remove_tree(&path)? } else { fs::remove(&path)? }
    }
    Ok(())
}

fn remove_file(done: &mut Uninstalled, path: &Path, what: &str) -> Result<(), Failure> {
    done.removed.push(what.to_owned());
    if done.dry_run { Ok(()) } else { Ok(fs::remove(path)?) }
}

fn remove(done: &mut Uninstalled, path: &Path, what: &str) -> Result<(), Failure> {
    if !path.exists() {
        return Ok(());
    }
    done.removed.push(what.to_owned());
    if !done.dry_run {
        fs::remove_tree(path)?;
    }
    Ok(())
}

/// Removes lines from a file, and the file itself if nothing else is left.
fn without_lines(done: &mut Uninstalled, root: &Path, name: &str, lines: &[&str]) -> Result<(), Failure> {
    let path = root.join(name);
    let Some(text) = fs::read_text(&path)? else { return Ok(()) };
    let kept: String = text.split_inclusive('\n').filter(|line| !lines.contains(&line.trim_end())).collect();
    if kept == text {
        return Ok(());
    }
    done.removed.push(format!("ralph's lines in {name}"));
    match (done.dry_run, kept.trim().is_empty()) {
        (true, _) => Ok(()),
        (false, true) => Ok(fs::remove(&path)?),
        (false, false) => Ok(fs::replace(&path, kept.as_bytes(), true)?),
    }
}

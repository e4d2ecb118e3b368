//! The gates around git: who may work on which branch, and whether a commit and a pull request really came about.

use std::path::Path;

use super::scene::Scene;
use super::{Failure, Gate};
use crate::agent::{Call, GitCall, calls};
use crate::app::repo::worktree::main_branch;
use crate::app::sync::target::Target;
use crate::git::{FailedVerb, failure_in};
use crate::task::Task;

/// What changes a branch, its index or its files.
const CHANGING: &[&str] = &[
    "add",
    "am",
    "apply",
    "branch",
    "checkout",
    "cherry-pick",
    "clean",
    "commit",
    "merge",
    "mv",
    "pull",
    "push",
    "read-tree",
    "rebase",
    "reset",
    "restore",
    "revert",
    "rm",
    "stash",
    "switch",
    "update-index",
    "update-ref",
];
const LOOKING: &[&str] = &["status", "diff", "log", "show", "rev-parse", "stash"];
/// What hands a task back or asks for help, wherever one stands.
const GIVING_UP: &[&str] = &["release", "escalate", "note"];

/// branch-gate: who does not implement works in the main worktree, and that is on the main branch.
pub fn on_main(scene: &Scene<'_>) -> Result<Gate, Failure> {
    let (Some(line), Some(task)) = (scene.input.command(), scene.task(&scene.cwd)) else { return Ok(Gate::Allow) };
    let doing = scene.doing(task);
    if scene.worker.is_none() || doing.is_none_or(|doing| doing.name == "implement") {
        return Ok(Gate::Allow);
    }
    let main = main_branch(scene.ws);
    let branch = scene.ws.repository.current_branch()?;
    if branch.as_ref() == Some(&main) {
        return Ok(Gate::Allow);
    }
    match calls(&line, &scene.cwd) {
        Ok(calls) if switches_back(&calls, &main) || calls.iter().all(is_harmless) => return Ok(Gate::Allow),
        Ok(_) => {}
        Err(why) => return Ok(Gate::unreadable(why)),
    }
    let on = branch.map_or_else(|| "detached".to_owned(), |branch| format!("on {branch}"));
    let doing = doing.map_or("work", |doing| doing.name.as_str());
    Ok(Gate::block(
        format!("the main worktree is {on}, and {doing} is done on {main}"),
        format!("go back first: `git -C {} switch {main}`", scene.ws.store.root().display()),
    ))
}

/// The first thing that it does.
fn switches_back(calls: &[Call], main: &str) -> bool {
    calls.first().and_then(Call::git).is_some_and(|git| {
        let mut named = git.args.iter().filter(|arg| !["-q", "--quiet"].contains(&arg.as_str()));
        let only = named.next().is_some_and(|arg| arg == main) && named.next().is_none();
        only && ["checkout", "switch"].contains(&git.verb.as_str())
    })
}

fn is_harmless(call: &Call) -> bool {
    match call.git() {
        Some(git) => LOOKING.contains(&git.verb.as_str()),
        None if call.program() == "ralph" => call.words.get(1).is_some_and(|verb| GIVING_UP.contains(&verb.as_str())),
        None => false,
    }
}

/// impl-branch-gate: who implements changes nothing on the main branch.
pub fn off_main(scene: &Scene<'_>) -> Result<Gate, Failure> {
    let (Some(line), Some(task)) = (scene.input.command(), scene.task(&scene.cwd)) else { return Ok(Gate::Allow) };
    if !scene.is_doing(task, "implement") {
        return Ok(Gate::Allow);
    }
    let main = main_branch(scene.ws);
    let place = scene.place(&task.id)?;
    let instead = match scene.linked(&place.path) {
        Some(_) => format!("work in its worktree, on {}: `cd {}`", place.branch, place.path.display()),
        None => format!("`ralph worktree add {}` makes its worktree, on {}", task.id, place.branch),
    };
    let calls = match calls(&line, &scene.cwd) {
        Ok(calls) => calls,
        Err(why) => return Ok(Gate::unreadable(why)),
    };
    for git in calls.iter().filter_map(Call::git).filter(changes) {
        let verb = &git.verb;
        if names_main(&git, &main) {
            return Ok(Gate::block(
                format!("git {verb} would change {main}, and {} is being implemented", task.id),
                instead,
            ));
        }
        let Some(folder) = &git.dir else {
            let why = format!("nobody can tell in which folder git {verb} would run");
            return Ok(Gate::block(why, format!("name the folder plainly; {instead}")));
        };
        if scene.branch_at(folder) == Some(Some(main.clone())) {
            return Ok(Gate::block(
                format!("git {verb} would act on {main}, and {} is being implemented", task.id),
                instead,
            ));
        }
    }
    Ok(Gate::Allow)
}

fn changes(git: &GitCall) -> bool {
    let looks = match git.verb.as_str() {
        "stash" => git.args.first().is_some_and(|arg| arg == "list" || arg == "show"),
        // Without a name it lists them.
        "branch" => git.args.iter().all(|arg| arg.starts_with('-') && arg != "-m" && arg != "-M"),
        _ => false,
    };
    CHANGING.contains(&git.verb.as_str()) && !looks
}

/// Whether it names the main branch as what it changes.
fn names_main(git: &GitCall, main: &str) -> bool {
    let is_main = |name: &str| name == main || name.strip_prefix("refs/heads/") == Some(main);
    let plain = || git.args.iter().filter(|arg| !arg.starts_with('-'));
    match git.verb.as_str() {
        "push" => {
            let target = |arg: &String| is_main(arg.trim_start_matches('+').rsplit(':').next().unwrap_or_default());
            plain().skip(1).any(target) || git.args.iter().any(|arg| arg == "--all" || arg == "--mirror")
        }
        "switch" | "checkout" => {
            plain().next().is_some_and(|arg| is_main(arg)) && !git.args.iter().any(|arg| arg == "--")
        }
        "branch" => {
            let forced = git.args.iter().any(|arg| arg == "--force" || short(arg, "fdDmMcC"));
            forced && plain().any(|arg| is_main(arg))
        }
        "update-ref" => plain().any(|arg| is_main(arg)),
        _ => false,
    }
}

fn short(arg: &str, letters: &str) -> bool {
    arg.starts_with('-') && !arg.starts_with("--") && arg[1..].chars().any(|c| letters.contains(c))
}

/// impl-verify-commit: what git says of a commit or push that did not come about.
pub fn commit_made(scene: &Scene<'_>) -> Result<Gate, Failure> {
    let (Some(line), Some(task)) = (scene.input.command(), scene.task(&scene.cwd)) else { return Ok(Gate::Allow) };
    // It has already run, and the gates before it block what cannot be parsed.
    let Ok(found) = calls(&line, &scene.cwd) else { return Ok(Gate::Allow) };
    let of = |verb: &str| found.iter().filter_map(Call::git).any(|git| git.verb == verb);
    let (commits, pushes) = (of("commit"), of("push"));
    if !commits && !pushes {
        return Ok(Gate::Allow);
    }
    let output = scene.input.answer();
    let Some((verb, line)) = failure_in(&output, commits, pushes) else { return Ok(Gate::Allow) };
    let (what, instead) = match verb {
        FailedVerb::Push => {
            ("push", "merge what is there (`git pull --rebase`), fix what is named, and push again".to_owned())
        }
        FailedVerb::Commit => {
            ("commit", format!("fix what is named, then commit again in the worktree of {}", task.id))
        }
    };
    Ok(Gate::block(format!("the {what} failed: {}", line.trim()), instead))
}

/// impl-verify-pr: a pull request that the board does not know of helps nobody.
pub fn pull_request_linked(scene: &Scene<'_>) -> Result<Gate, Failure> {
    let Some(line) = scene.input.command() else { return Ok(Gate::Allow) };
    let Ok(found) = calls(&line, &scene.cwd) else { return Ok(Gate::Allow) };
    let Some(asked) = found.iter().find_map(|call| opened(scene, call)) else { return Ok(Gate::Allow) };
    let has_github = Target::of(scene.ws)?.is_some();
    let linked = scene.members(&asked.task.id).iter().any(|task| task.artifacts.contains_key("pr"));
    if linked || (asked.ours && !has_github) {
        return Ok(Gate::Allow);
    }
    let id = &asked.task.id;
    let instead = match has_github {
        true => format!("`{}` finds or makes it, and links it", scene.signed(format!("ralph pr {id}"))),
        false => format!("link it: `ralph task set {id} artifacts.pr=URL`"),
    };
    Ok(Gate::block(format!("{id} has no pull request linked"), instead))
}

struct Opened<'a> {
    task: &'a Task,
    ours: bool,
}

/// The task whose pull request a call opens.
fn opened<'a>(scene: &'a Scene<'_>, call: &Call) -> Option<Opened<'a>> {
    let words: Vec<&str> =
        call.words.iter().skip(1).map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    match (call.program(), words.as_slice()) {
        ("ralph", ["pr", task, ..]) => {
            let id = scene.ws.find(task).ok()?;
            Some(Opened { task: scene.board.get(&id)?, ours: true })
        }
        ("gh", ["pr", "create", ..]) => {
            let folder = call.dir.as_deref().map_or_else(|| scene.cwd.clone(), |dir| scene.path(dir));
            let task = scene.task_at(&folder).or_else(|| scene.task(Path::new(&folder)))?;
            Some(Opened { task, ours: false })
        }
        _ => None,
    }
}

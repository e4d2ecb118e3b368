//! The policy checks for git: branches, failed commits and pushes, and missing pull requests.

use std::path::Path;

use super::scene::Scene;
use super::{Failure, Gate, write};
use crate::agent::{Call, GitCall, calls};
use crate::app::repo::worktree::main_branch;
use crate::app::sync::target::Target;
use crate::fs;
use crate::git::{FailedVerb, failure_in};
use crate::task::Task;

/// Commands that only read, or that do not affect this repository. Any other command, including an alias, may change a
/// branch.
const READING: &[&str] = &[
    "--help",
    "--version",
    "annotate",
    "archive",
    "blame",
    "cat-file",
    "check-attr",
    "check-ignore",
    "clone",
    "count-objects",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "for-each-ref",
    "grep",
    "help",
    "init",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "merge-base",
    "name-rev",
    "range-diff",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "show-branch",
    "show-ref",
    "status",
    "tag",
    "var",
    "version",
    "whatchanged",
];
/// Commands that move a branch.
const MOVING: &[&str] =
    &["am", "cherry-pick", "commit", "fast-import", "merge", "pull", "push", "rebase", "reset", "revert", "update-ref"];
const LOOKING: &[&str] = &["status", "diff", "log", "show", "rev-parse", "stash"];
/// Commands that hand a task over; they are allowed in any directory.
const GIVING_UP: &[&str] = &["release", "escalate", "note"];

/// branch-gate: commands other than implement run in the main worktree, which must be on the main branch.
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
        format!("the main worktree is {on}, but {doing} must run on {main}"),
        format!("switch back first: `git -C {} switch {main}`", scene.ws.store.root().display()),
    ))
}

/// Whether the first command switches to the main branch.
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

/// impl-branch-gate: a worker with a task must not change the main branch.
pub fn off_main(scene: &Scene<'_>) -> Result<Gate, Failure> {
    let (Some(line), Some(task)) = (scene.input.command(), scene.task(&scene.cwd)) else { return Ok(Gate::Allow) };
    let implements = scene.is_doing(task, "implement");
    if scene.integrates(task) || !(implements || scene.holds(task)) {
        return Ok(Gate::Allow);
    }
    let calls = match calls(&line, &scene.cwd) {
        Ok(calls) => calls,
        Err(why) => return Ok(Gate::unreadable(why)),
    };
    let written = calls.iter().flat_map(Call::writes).map(|path| fs::settled(&path));
    for path in written.filter(|path| scene.is_inside(path)) {
        let gate = write::in_place(scene, task, &path)?;
        if gate.is_block() {
            return Ok(gate);
        }
    }
    let Some(why) = calls.iter().find_map(|call| leads_to_main(scene, task, call)) else { return Ok(Gate::Allow) };
    let place = scene.place(&task.id)?;
    Ok(Gate::block(
        why,
        match scene.linked(&place.path) {
            _ if !implements => "documents are committed with the board: `ralph commit`".to_owned(),
            Some(_) => format!("work in its worktree, on {}: `cd {}`", place.branch, place.path.display()),
            None => format!("create its worktree on {1} with `ralph worktree add {0}`", task.id, place.branch),
        },
    ))
}

/// Why a call by a worker with a task is blocked.
fn leads_to_main(scene: &Scene<'_>, task: &Task, call: &Call) -> Option<String> {
    let main = main_branch(scene.ws);
    let doing = scene.doing(task).map_or("work", |doing| doing.name.as_str());
    if call.is_unknown() {
        return Some(
            "cannot determine which program this runs: write its name, and pass a script to a shell as an argument"
                .into(),
        );
    }
    if call.hides_git(MOVING) {
        return Some(format!("cannot determine which git command {} runs: call git directly", call.program()));
    }
    // Other commands than implement work on main, and may switch to it.
    let moves = |git: &GitCall| doing == "implement" || MOVING.contains(&git.verb.as_str());
    let git = call.git().filter(changes).filter(moves)?;
    let verb = &git.verb;
    let while_it = match doing {
        "implement" => format!("{} is being implemented", task.id),
        _ => format!("`{doing}` on {} must not change any branch", task.id),
    };
    if names_main(&git, &main) {
        return Some(format!("git {verb} would change {main}, but {while_it}"));
    }
    let Some(folder) = &git.dir else {
        return Some(format!("cannot determine in which repository git {verb} runs: name the folder"));
    };
    let on_main = scene.branch_at(folder) == Some(Some(main.clone()));
    on_main.then(|| format!("git {verb} would act on {main}, but {while_it}"))
}

fn changes(git: &GitCall) -> bool {
    let first = git.args.first().map_or("", String::as_str);
    let options_only = || git.args.iter().all(|arg| arg.starts_with('-'));
    let reads = match git.verb.as_str() {
        "stash" => ["list", "show"].contains(&first),
        "worktree" => first == "list",
        "reflog" => !["expire", "delete"].contains(&first),
        "remote" => ["", "-v", "show", "get-url"].contains(&first),
        "config" => {
            let asks = ["--get", "--get-all", "--get-regexp", "--list", "-l", "get", "list"];
            git.args.len() == 1 || git.args.iter().any(|arg| asks.contains(&arg.as_str()))
        }
        "fetch" => !git.args.iter().any(|arg| arg.contains(':') && !arg.contains("://")),
        // Without a name, `git branch` lists the branches.
        "branch" => options_only() && !git.args.iter().any(|arg| arg == "-m" || arg == "-M"),
        verb => READING.contains(&verb),
    };
    !reads
}

/// Whether the command would change the main branch by name.
fn names_main(git: &GitCall, main: &str) -> bool {
    let is_main = |name: &str| name == main || name.strip_prefix("refs/heads/") == Some(main);
    let plain = || git.args.iter().filter(|arg| !arg.starts_with('-'));
    match git.verb.as_str() {
        "push" | "fetch" | "pull" => {
            let target = |arg: &String| {
                let target = arg.trim_start_matches('+').rsplit(':').next().unwrap_or_default();
                let named = git.verb == "push" || arg.contains(':');
                named && (is_main(target) || target.contains('*'))
            };
            plain().skip(1).any(target) || git.args.iter().any(|arg| arg == "--all" || arg == "--mirror")
        }
        "switch" | "checkout" => {
            plain().next().is_some_and(|arg| is_main(arg)) && !git.args.iter().any(|arg| arg == "--")
        }
        "branch" => {
            let forced = git.args.iter().any(|arg| arg == "--force" || short(arg, "fdDmMcC"));
            forced && plain().any(|arg| is_main(arg))
        }
        "update-ref" | "fast-import" | "filter-branch"
            if git.args.iter().any(|arg| arg == "--stdin" || arg == "--all") =>
        {
            true
        }
        "update-ref" | "symbolic-ref" | "send-pack" | "receive-pack" => {
            plain().any(|arg| is_main(arg.rsplit(':').next().unwrap_or_default()))
        }
        "fast-import" => true,
        _ => false,
    }
}

fn short(arg: &str, letters: &str) -> bool {
    arg.starts_with('-') && !arg.starts_with("--") && arg[1..].chars().any(|c| letters.contains(c))
}

/// impl-verify-commit: reports git's message if a commit or push failed.
pub fn commit_made(scene: &Scene<'_>) -> Result<Gate, Failure> {
    let (Some(line), Some(task)) = (scene.input.command(), scene.task(&scene.cwd)) else { return Ok(Gate::Allow) };
    // The command has already run, and the earlier policy checks block commands that cannot be parsed.
    let Ok(found) = calls(&line, &scene.cwd) else { return Ok(Gate::Allow) };
    let of = |verb: &str| found.iter().filter_map(Call::git).any(|git| git.verb == verb);
    let (commits, pushes) = (of("commit"), of("push"));
    if !commits && !pushes {
        return Ok(Gate::Allow);
    }
    let output = scene.input.answer();
    let Some((verb, line)) = failure_in(&output, commits, pushes) else { return Ok(Gate::Allow) };
    let (what, instead) = match verb {
        FailedVerb::Push => ("push", "run `git pull --rebase`, fix the reported problems, and push again".to_owned()),
        FailedVerb::Commit => {
            ("commit", format!("fix the reported problems, then commit again in the worktree of {}", task.id))
        }
    };
    Ok(Gate::block(format!("the {what} failed: {}", line.trim()), instead))
}

/// impl-verify-pr: a pull request must be linked to its task.
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
        true => format!("`{}` finds or creates it, and links it", scene.signed(format!("ralph pr {id}"))),
        false => format!("link it: `ralph task set {id} artifacts.pr=URL`"),
    };
    Ok(Gate::block(format!("{id} has no pull request linked"), instead))
}

struct Opened<'a> {
    task: &'a Task,
    ours: bool,
}

/// The task for which a call opens a pull request.
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

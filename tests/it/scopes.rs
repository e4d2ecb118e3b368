//! Path scopes: builders whose plans change the same files never have claims at once; changes outside of a plan are
//! reported.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::sandbox::{RALPH, Sandbox};

/// Writes a task whose plan changes these files, with every box ticked.
fn plan(sandbox: &Sandbox, id: &str, state: &str, files: &[&str]) {
    let named: Vec<String> = files.iter().map(|file| format!("`{file}`")).collect();
    let path = format!("thoughts/shared/plans/2026-11-18-{id}-x.md");
    let text = format!("# Plan\n\n## Phase 1: It ({id})\n\n- **files**: {}\n- [x] done\n", named.join(", "));
    std::fs::create_dir_all(sandbox.root().join("thoughts/shared/plans")).unwrap();
    std::fs::write(sandbox.root().join(&path), text).unwrap();
    let artifacts = format!("[artifacts]\nplan = '{path}'");
    sandbox.write_task(id, format!("title = 'Work {id}'\nstate = '{state}'\n{artifacts}\n"));
}

/// A board with a commit, and tasks whose plans are ready to be implemented.
fn board(tasks: &[(&str, &[&str])]) -> Sandbox {
    let sandbox = Sandbox::new();
    for (id, files) in tasks {
        plan(&sandbox, id, "Plan in Review", files);
    }
    std::fs::create_dir_all(sandbox.root().join("src")).unwrap();
    std::fs::write(sandbox.root().join("src/a.rs"), "one\n").unwrap();
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "base"]);
    sandbox
}

fn build(id: &'static str, worker: &'static str) -> [&'static str; 6] {
    ["claim", id, "--for", "implement", "--as", worker]
}

#[test]
fn a_builder_is_refused_files_that_another_is_changing_whichever_door_it_uses() {
    let sandbox = board(&[("t-a", &["src/sync/"]), ("t-b", &["docs", "src/sync/mod.rs"]), ("t-c", &["src/sync.rs"])]);
    let claimed = sandbox.ralph(&[&build("t-a", "builder")[..], &["--json"]].concat()).json();
    assert_eq!(claimed["paths"], serde_json::json!(["src/sync"]));
    for args in [
        &build("t-b", "builder-2")[..],
        &["move", "t-b", "in-progress", "--for", "implement", "--as", "builder-2"],
        &["move", "t-b", "__LOCK__", "--for", "implement", "--as", "builder-2"],
        &["run", "t-b", "--for", "implement", "--as", "builder-2", "--", "true"],
    ] {
        let said = sandbox.ralph(args).fails(3);
        let why = "t-b overlaps with t-a, which is claimed by builder: both change src/sync/mod.rs";
        assert!(said.contains(why) && said.contains("ralph wait t-a"), "{args:?}: {said}");
    }
    let failure: Value =
        serde_json::from_str(&sandbox.ralph(&[&build("t-b", "builder-2")[..], &["--json"]].concat()).stderr).unwrap();
    assert_eq!(failure["error"]["code"], "scope-held");
    sandbox.ralph(&build("t-c", "builder-3")).ok();
    sandbox.ralph(&["release", "t-a", "--as", "builder"]).ok();
    sandbox.ralph(&build("t-b", "builder-2")).ok();
}

#[test]
fn next_hands_out_other_work_and_why_says_what_overlaps() {
    let sandbox = board(&[("t-a", &["src/a.rs"]), ("t-b", &["src/"]), ("t-c", &["docs/"])]);
    sandbox.ralph(&["task", "set", "t-b", "priority=P0"]).ok();
    sandbox.ralph(&build("t-a", "builder")).ok();
    assert_eq!(sandbox.ralph(&["next", "--as", "builder-2", "--json"]).json()["task"], "t-c");
    assert_eq!(sandbox.ralph(&["next", "--claim", "--as", "builder-2", "--json"]).json()["task"], "t-c");
    let none = sandbox.ralph(&["next", "--claim", "--as", "builder-3"]).fails(5);
    assert!(none.contains("ralph why t-b"), "{none}");
    let why = sandbox.ralph(&["why", "t-b"]).ok();
    assert!(why.contains("t-b overlaps with t-a, which is claimed by builder: both change src/a.rs"), "{why}");
}

#[test]
fn people_are_warned_unless_scopes_are_strict() {
    let sandbox = board(&[("t-a", &["src/a.rs"]), ("t-b", &["src/"]), ("t-c", &["src/"])]);
    sandbox.ralph(&build("t-a", "builder")).ok();
    let warned = sandbox.ralph(&build("t-b", "anna"));
    assert_eq!(warned.code, 0);
    assert!(warned.stderr.contains("t-b overlaps with t-a"), "{}", warned.stderr);
    sandbox.ralph(&["config", "set", "scopes.mode", "strict"]).ok();
    assert!(sandbox.ralph(&build("t-c", "bert")).fails(3).contains("--force"));
    sandbox.ralph(&[&build("t-c", "bert")[..], &["--force"]].concat()).ok();
    sandbox.ralph(&["release", "t-c", "--as", "bert"]).ok();
    sandbox.ralph(&["config", "set", "scopes.mode", "off"]).ok();
    sandbox.ralph(&build("t-c", "builder-2")).ok();
}

#[test]
fn the_files_of_each_claim_are_listed() {
    let sandbox = board(&[("t-a", &["src/sync/", "README.md"]), ("t-b", &[])]);
    sandbox.ralph(&build("t-a", "builder")).ok();
    sandbox.ralph(&build("t-b", "builder-2")).ok();
    let listed = sandbox.ralph(&["claims", "ls", "--paths"]).ok();
    let lines: Vec<Vec<&str>> = listed.lines().map(|line| line.split_whitespace().collect()).collect();
    let ends: Vec<(&str, &str)> = lines.iter().map(|words| (words[0], *words.last().unwrap())).collect();
    assert_eq!(ends, [("ID", "PATH"), ("t-a", "README.md"), ("t-a", "src/sync"), ("t-b", "scope")], "{listed}");
    let json = sandbox.ralph(&["claims", "ls", "--paths", "--json"]).json();
    assert_eq!(json[0]["paths"], serde_json::json!(["README.md", "src/sync"]));
    assert!(!sandbox.ralph(&["claims", "ls"]).ok().contains("README.md"));
}

#[test]
fn who_has_a_file_is_known_from_claims_and_worktrees() {
    let sandbox = board(&[("t-a", &["src/sync/"]), ("t-b", &["docs/"])]);
    sandbox.ralph(&build("t-a", "builder")).ok();
    sandbox.ralph(&build("t-b", "builder-2")).ok();
    sandbox.ralph(&["worktree", "add", "t-b"]).ok();
    let worktree = sandbox.root().join("worktrees/t-b");
    std::fs::create_dir_all(worktree.join("src/sync")).unwrap();
    std::fs::write(worktree.join("src/sync/new.rs"), "new\n").unwrap();
    std::fs::write(worktree.join("src/a.rs"), "two\n").unwrap();
    sandbox.git_in(&worktree, &["commit", "-qam", "a"]).ok();

    let tasks = |who: &Value, key: &str| -> Vec<String> {
        who[key].as_array().unwrap().iter().map(|one| one["task"].as_str().unwrap().to_owned()).collect()
    };
    let who = |path: &str| sandbox.ralph(&["who", path, "--json"]).json();
    let both = who("src/sync/new.rs");
    assert_eq!((tasks(&both, "claims"), tasks(&both, "worktrees")), (vec!["t-a".into()], vec!["t-b".into()]));
    let committed = who("src/a.rs");
    assert_eq!((tasks(&committed, "claims"), tasks(&committed, "worktrees")), (vec![], vec!["t-b".into()]));
    assert_eq!(committed["worktrees"][0]["files"], serde_json::json!(["src/a.rs"]));
    let folder = who("src");
    assert_eq!((tasks(&folder, "claims"), tasks(&folder, "worktrees")), (vec!["t-a".into()], vec!["t-b".into()]));
    let said = sandbox.ralph(&["who", "src/sync/new.rs"]).ok();
    assert!(said.contains("t-a") && said.contains("claimed for implement") && said.contains("feature/t-b"), "{said}");

    // In a folder of another worktree, a path means the same file.
    let inside = sandbox.ralph_in(&worktree.join("src"), &["who", "sync/mod.rs", "--json"]).json();
    assert_eq!((inside["path"].as_str(), tasks(&inside, "claims")), (Some("src/sync/mod.rs"), vec!["t-a".into()]));
    let nobody = sandbox.ralph(&["who", "LICENSE"]);
    assert_eq!((nobody.code, nobody.stdout.as_str()), (0, ""));
    assert!(nobody.stderr.contains("nobody works on LICENSE"), "{}", nobody.stderr);
    assert!(sandbox.ralph(&["who", "/etc/hosts"]).fails(1).contains("outside the repository"));
}

/// A task claimed by a builder, with a commit that changes `src/a.rs` and `src/b.rs`, of which the plan names the
/// first.
fn built() -> Sandbox {
    let sandbox = board(&[("t-a", &["src/a.rs"])]);
    sandbox.ralph(&build("t-a", "builder")).ok();
    sandbox.ralph(&["worktree", "add", "t-a"]).ok();
    let worktree = sandbox.root().join("worktrees/t-a");
    for file in ["src/a.rs", "src/b.rs", "thoughts/notes.md"] {
        std::fs::create_dir_all(worktree.join(file).parent().unwrap()).unwrap();
        std::fs::write(worktree.join(file), "two\n").unwrap();
    }
    sandbox.git_in(&worktree, &["add", "-A"]).ok();
    sandbox.git_in(&worktree, &["commit", "-qm", "work"]).ok();
    sandbox
}

const COMPLETE: [&str; 6] = ["move", "t-a", "__COMPLETE__", "--for", "implement", "--as"];

#[test]
fn files_that_the_plan_does_not_name_are_told_when_the_work_ends() {
    for (worker, force) in [("builder", None), ("anna", Some("--force"))] {
        let sandbox = built();
        let args: Vec<&str> = COMPLETE.into_iter().chain([worker, "--json"]).chain(force).collect();
        let moved = sandbox.ralph(&args).json();
        assert_eq!((&moved["to"], &moved["out_of_scope"]), (&"In Review".into(), &serde_json::json!(["src/b.rs"])));
        let notes = sandbox.ralph(&["show", "t-a", "--json"]).json()["notes"].clone();
        let text = notes[0]["text"].as_str().unwrap().trim().to_owned();
        assert_eq!(text, "The branch changes files outside the scope of its plan: src/b.rs");
    }
    let sandbox = built();
    let said = sandbox.ralph(&[&COMPLETE[..], &["builder"]].concat()).ok();
    assert!(said.contains("outside the scope of the plan: src/b.rs\n"), "{said}");
}

#[test]
fn strict_scopes_refuse_such_files_until_the_plan_names_them() {
    let sandbox = built();
    sandbox.ralph(&["config", "set", "scopes.mode", "strict"]).ok();
    let complete = [&COMPLETE[..], &["builder"]].concat();
    let said = sandbox.ralph(&complete).fails(1);
    assert!(said.contains("the branch of t-a changes files outside its scope: src/b.rs\n"), "{said}");
    assert!(said.contains("ralph renew t-a"), "{said}");
    let file = sandbox.root().join("thoughts/shared/plans/2026-11-18-t-a-x.md");
    let text = std::fs::read_to_string(&file).unwrap().replace("`src/a.rs`", "`src/a.rs`, `src/b.rs`");
    std::fs::write(&file, text).unwrap();
    assert_eq!(sandbox.ralph(&complete).code, 1, "the claim does not cover it yet");
    let renewed = sandbox.ralph(&["renew", "t-a", "--as", "builder", "--json"]).json();
    assert_eq!(renewed["paths"], serde_json::json!(["src/a.rs", "src/b.rs"]));
    let moved = sandbox.ralph(&[&complete[..], &["--json"]].concat()).json();
    assert_eq!((&moved["to"], moved.get("out_of_scope")), (&"In Review".into(), None));
}

#[test]
fn without_scopes_nothing_is_told() {
    let sandbox = built();
    sandbox.ralph(&["config", "set", "scopes.mode", "off"]).ok();
    let moved = sandbox.ralph(&[&COMPLETE[..], &["builder", "--json"]].concat()).json();
    assert_eq!((&moved["to"], moved.get("out_of_scope")), (&"In Review".into(), None));
}

/// The environment of a process in the sandbox, shared between threads.
struct Env {
    root: PathBuf,
    home: PathBuf,
}

impl Env {
    fn ralph(&self, args: &[&str]) -> (i32, Value) {
        let mut command = Command::new(RALPH);
        command.current_dir(&self.root).env("HOME", &self.home).stdin(Stdio::null()).args(args).arg("--json");
        let output = command.output().unwrap();
        (output.status.code().unwrap(), serde_json::from_slice(&output.stdout).unwrap_or_default())
    }
}

/// Whether two paths are equal or one contains the other, implemented independently of ralph.
fn meet(one: &str, two: &str) -> bool {
    let parts = |path: &str| path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    parts(one).iter().zip(parts(two)).all(|(one, two)| *one == two)
}

/// The files of each claim between its grant and its release, as seen by the workers.
struct Held<'a> {
    plans: &'a [(String, Vec<String>)],
    live: Mutex<Vec<usize>>,
    most: AtomicUsize,
    refused: AtomicUsize,
}

impl Held<'_> {
    fn begin(&self, id: &str, round: u64) -> usize {
        let mine = self.plans.iter().position(|(name, _)| name == id).unwrap();
        let mut live = self.live.lock().unwrap();
        for &other in live.iter() {
            let both = |one: &&String| self.plans[other].1.iter().any(|two| meet(one, two));
            let shared = self.plans[mine].1.iter().find(both);
            assert_eq!(shared, None, "round {round}: {id} and {} are held at once", self.plans[other].0);
        }
        live.push(mine);
        self.most.fetch_max(live.len(), Ordering::Relaxed);
        mine
    }

    fn end(&self, mine: usize) {
        self.live.lock().unwrap().retain(|&other| other != mine);
    }
}

/// One builder: claims a task with a random command, holds it while others try, and releases it.
fn builder(env: &Env, held: &Held<'_>, number: u64, round: u64) {
    let mut dice = fastrand::Rng::with_seed(round * 100 + number);
    let name = format!("builder-{number}");
    for _ in 0..3 {
        let id = &held.plans[dice.usize(..held.plans.len())].0;
        let (code, said) = match dice.u8(..3) {
            0 => env.ralph(&["claim", id, "--for", "implement", "--as", &name]),
            1 => env.ralph(&["move", id, "__LOCK__", "--for", "implement", "--as", &name]),
            _ => env.ralph(&["next", "--claim", "--as", &name]),
        };
        assert!([0, 3, 5].contains(&code), "round {round}: {name} ended with {code}");
        let Some(id) = said["task"].as_str().filter(|_| code == 0) else {
            held.refused.fetch_add(1, Ordering::Relaxed);
            continue;
        };
        let mine = held.begin(id, round);
        // Listing the claims while others claim and release.
        assert_eq!(env.ralph(&["claims", "ls"]).0, 0);
        held.end(mine);
        assert_eq!(env.ralph(&["release", id, "--as", &name]).0, 0, "round {round}: {name} {id}");
    }
}

/// Builders as real processes, with plans that often share files: no two overlapping claims are live at once.
#[test]
fn random_plans_with_overlapping_files_are_never_built_at_once() {
    let rounds: u64 = std::env::var("RALPH_TEST_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(5);
    let (mut most, mut refused) = (0, 0);
    for round in 0..rounds {
        let mut dice = fastrand::Rng::with_seed(round);
        let part = |dice: &mut fastrand::Rng| *dice.choice(&["a", "b", "ab", "c"]).unwrap();
        let path = |dice: &mut fastrand::Rng| -> String {
            let parts: Vec<&str> = (0..dice.usize(1..4)).map(|_| part(dice)).collect();
            parts.join("/") + if dice.bool() { "/" } else { "" }
        };
        let plans: Vec<(String, Vec<String>)> =
            (0..8).map(|n| (format!("t-{n}"), (0..dice.usize(..3)).map(|_| path(&mut dice)).collect())).collect();
        let sandbox = Sandbox::new();
        sandbox.ralph(&["config", "set", "roles.builder.limit", "9"]).ok();
        for (id, files) in &plans {
            plan(&sandbox, id, "Plan in Review", &files.iter().map(String::as_str).collect::<Vec<_>>());
        }
        let env = Env { root: sandbox.root(), home: sandbox.home() };
        let held = Held { plans: &plans, live: Mutex::default(), most: 0.into(), refused: 0.into() };
        std::thread::scope(|scope| {
            for number in 1..=4 {
                let (env, held) = (&env, &held);
                scope.spawn(move || builder(env, held, number, round));
            }
        });
        most = most.max(held.most.into_inner());
        refused += held.refused.into_inner();
        assert_eq!(env.ralph(&["claims", "ls"]).1, serde_json::json!([]), "round {round}: a claim was left");
    }
    assert!(most > 1 && refused > 0, "claims must race: {most} at once, {refused} refused");
}

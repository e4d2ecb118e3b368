//! The board between clones: pull, push, and claims that several machines agree on through a bare repository.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::sandbox::{Output, RALPH, Sandbox, eventually, finish};
use crate::system::{make_program, symlink};

/// Clones of one bare repository, each with the board and the driver.
struct Hub {
    sandbox: Sandbox,
    clones: Vec<PathBuf>,
}

impl Hub {
    fn new(clones: usize, tasks: &[(&str, &str)]) -> Self {
        let sandbox = Sandbox::new();
        sandbox.git(&["init", "-q", "--bare", "-b", "main", "../hub.git"]);
        sandbox.git(&["remote", "add", "origin", "../hub.git"]);
        for (id, text) in tasks {
            sandbox.write_task(id, text);
        }
        sandbox.ralph(&["push"]).ok();
        let mut hub = Self { clones: vec![sandbox.root()], sandbox };
        for number in 1..clones {
            let folder = hub.sandbox.outside(&format!("clone-{number}"));
            hub.sandbox.git(&["clone", "-q", "../hub.git", folder.to_str().unwrap()]);
            hub.sandbox.ralph_in(&folder, &["init"]).ok();
            hub.clones.push(folder);
        }
        hub
    }

    /// Clones that share their claims through the remote.
    fn agreeing(clones: usize, tasks: &[(&str, &str)]) -> Self {
        let hub = Self::new(clones, tasks);
        hub.at(0, &["config", "set", "claims.remote", "origin"]).ok();
        hub.at(0, &["push"]).ok();
        for clone in 1..clones {
            hub.at(clone, &["pull"]).ok();
        }
        hub
    }

    fn at(&self, clone: usize, args: &[&str]) -> Output {
        self.sandbox.ralph_in(&self.clones[clone], args)
    }

    fn git(&self, clone: usize, args: &[&str]) -> String {
        self.sandbox.git_in(&self.clones[clone], args).ok()
    }

    fn write(&self, clone: usize, path: &str, text: &str) {
        std::fs::write(self.clones[clone].join(path), text).unwrap();
    }

    fn task(&self, clone: usize, id: &str) -> Value {
        self.at(clone, &["task", "show", id, "--json"]).json()
    }

    /// A program that runs until a file exists: the file, and the program.
    fn gate(&self) -> (PathBuf, String) {
        let go = self.sandbox.outside("go");
        let program = format!("until [ -e '{}' ]; do sleep 0.02; done", go.display());
        (go, program)
    }

    fn remote_claims(&self) -> Vec<String> {
        let said = self.git(0, &["ls-remote", "origin", "refs/ralph/claims/*"]);
        said.lines().map(|line| line.rsplit('/').next().unwrap().to_owned()).collect()
    }

    fn go_offline(&self, clone: usize) {
        self.git(clone, &["remote", "set-url", "origin", "/nowhere"]);
    }

    fn go_online(&self, clone: usize) {
        let hub = self.sandbox.outside("hub.git");
        self.git(clone, &["remote", "set-url", "origin", hub.to_str().unwrap()]);
    }
}

#[test]
fn changes_of_two_clones_meet() {
    let hub = Hub::new(2, &[("t-a", "title = 'A' # mine\n"), ("t-b", "title = 'B'\n")]);
    hub.at(0, &["task", "set", "t-a", "priority=P1"]).ok();
    hub.at(0, &["note", "t-a", "from the first"]).ok();
    hub.at(1, &["task", "set", "t-a", "estimate=S"]).ok();
    hub.at(1, &["note", "t-a", "from the second"]).ok();
    assert_eq!(hub.at(0, &["push", "--json"]).json()["pushed"], true);
    let shared = hub.at(1, &["push", "--json"]).json();
    assert!(shared["pulled"].is_string() && shared["pushed"] == true, "{shared}");
    let pulled = hub.at(0, &["pull", "--json"]).json();
    assert!(pulled["changed"].as_array().unwrap().contains(&".ralph/tasks/t-a.toml".into()), "{pulled}");
    for clone in 0..2 {
        let task = hub.task(clone, "t-a");
        assert_eq!((&task["priority"], &task["estimate"]), (&"P1".into(), &"S".into()));
        assert_eq!(task["notes"].as_array().unwrap().len(), 2);
        assert_eq!(hub.at(clone, &["log", "t-a", "--json"]).json().as_array().unwrap().len(), 4);
        assert_eq!(hub.git(clone, &["status", "--porcelain"]), "");
        assert!(std::fs::read_to_string(hub.clones[clone].join(".ralph/tasks/t-a.toml")).unwrap().contains("# mine"));
        hub.git(clone, &["fsck", "--strict"]);
    }
    assert!(hub.at(0, &["pull"]).stderr.contains("nothing to do"));
    assert!(hub.at(1, &["push"]).stderr.contains("nothing to do"));
}

#[test]
fn what_is_not_the_board_is_neither_pulled_nor_pushed() {
    let hub = Hub::new(2, &[("t-a", "title = 'A'\n")]);
    hub.write(0, "code.txt", "code\n");
    hub.git(0, &["add", "code.txt"]);
    hub.git(0, &["commit", "-qm", "code"]);
    hub.at(0, &["task", "set", "t-a", "priority=P1"]).ok();
    let said = hub.at(0, &["push"]).fails(1);
    assert!(said.contains("main has changes outside the board that origin does not have: code.txt"), "{said}");
    hub.git(0, &["push", "-q", "origin", "main"]);
    hub.at(1, &["task", "set", "t-a", "estimate=S"]).ok();
    let before = hub.git(1, &["ls-files", "-s", "--", ":!.ralph"]);
    let said = hub.at(1, &["pull"]).fails(1);
    assert!(
        said.contains("origin/main contains changes outside the board: code.txt") && said.contains("git pull"),
        "{said}"
    );
    assert!(!hub.clones[1].join("code.txt").exists());
    assert_eq!(hub.git(1, &["ls-files", "-s", "--", ":!.ralph"]), before);
    hub.git(1, &["-c", "pull.rebase=false", "pull", "-q", "--no-edit"]);
    hub.at(1, &["push"]).ok();
    // Unpushed code in this clone does not prevent pulling the board.
    hub.write(1, "more.txt", "more\n");
    hub.git(1, &["add", "more.txt"]);
    hub.git(1, &["commit", "-qm", "more"]);
    hub.at(0, &["pull"]).ok();
    hub.at(0, &["task", "set", "t-a", "priority=P0"]).ok();
    hub.at(0, &["push"]).ok();
    hub.at(1, &["pull"]).ok();
    assert_eq!(hub.task(1, "t-a")["priority"], "P0");
}

#[test]
fn staged_and_changed_files_survive_pull_and_push() {
    let hub = Hub::new(2, &[("t-a", "title = 'A'\n")]);
    hub.write(0, "staged.txt", "one\n");
    hub.git(0, &["add", "staged.txt"]);
    hub.write(0, "staged.txt", "two\n");
    hub.write(0, "loose.txt", "x\n");
    // Changed within the timestamp of the index and with the same size: only the content differs.
    std::thread::sleep(Duration::from_millis(1100));
    hub.at(1, &["task", "set", "t-a", "priority=P1"]).ok();
    hub.at(1, &["push"]).ok();
    hub.at(0, &["task", "set", "t-a", "estimate=S"]).ok();
    hub.at(0, &["pull"]).ok();
    hub.at(0, &["push"]).ok();
    assert_eq!(hub.git(0, &["status", "--porcelain"]), "AM staged.txt\n?? loose.txt\n");
    assert_eq!(hub.git(0, &["show", ":staged.txt"]), "one\n");
}

#[test]
fn one_key_with_two_values_changes_nothing_until_somebody_says_whose_counts() {
    let hub = Hub::new(2, &[("t-a", "title = 'A'\n"), ("t-b", "title = 'B'\n")]);
    hub.at(0, &["task", "set", "t-a", "priority=P0"]).ok();
    hub.at(0, &["task", "set", "t-b", "priority=P0"]).ok();
    hub.at(0, &["push"]).ok();
    hub.at(1, &["task", "set", "t-a", "priority=P3", "labels+=here"]).ok();
    hub.at(1, &["commit"]).ok();
    let (head, files) = (hub.git(1, &["rev-parse", "HEAD"]), hub.git(1, &["ls-files", "-s"]));
    let said = hub.at(1, &["pull"]).fails(1);
    assert!(said.contains(".ralph/tasks/t-a.toml (priority)") && !said.contains("t-b"), "{said}");
    assert_eq!((hub.git(1, &["rev-parse", "HEAD"]), hub.git(1, &["ls-files", "-s"])), (head, files));
    hub.git(1, &["fsck", "--strict"]);
    hub.at(1, &["pull", "--take", "theirs"]).ok();
    assert_eq!((&hub.task(1, "t-a")["priority"], &hub.task(1, "t-b")["priority"]), (&"P0".into(), &"P0".into()));
    assert_eq!(hub.task(1, "t-a")["labels"][0], "here");
    hub.at(1, &["push"]).ok();
    hub.at(0, &["task", "rm", "t-b"]).ok();
    hub.at(0, &["push"]).ok();
    hub.at(1, &["task", "set", "t-b", "estimate=S"]).ok();
    assert!(hub.at(1, &["pull"]).fails(1).contains("t-b.toml"));
    hub.at(1, &["push", "--take", "ours"]).ok();
    hub.at(0, &["pull"]).ok();
    assert_eq!(hub.task(0, "t-b")["estimate"], "S");
}

#[test]
fn a_change_of_a_task_that_was_archived_elsewhere_goes_along() {
    let hub = Hub::new(2, &[("t-a", "title = 'A'\nstate = 'Done'\n")]);
    hub.at(0, &["task", "archive", "t-a"]).ok();
    hub.at(0, &["push"]).ok();
    hub.at(1, &["task", "set", "t-a", "priority=P1"]).ok();
    hub.at(1, &["push"]).ok();
    assert!(!hub.clones[1].join(".ralph/tasks/t-a.toml").exists());
    let text = std::fs::read_to_string(hub.clones[1].join(".ralph/archive/t-a.toml")).unwrap();
    assert!(text.contains("P1"), "{text}");
}

#[test]
fn without_a_remote_a_branch_or_a_network_it_says_so() {
    let sandbox = Sandbox::new();
    sandbox.ralph(&["commit"]).ok();
    assert!(sandbox.ralph(&["pull"]).fails(1).contains("no remote"));
    let hub = Hub::new(1, &[("t-a", "title = 'A'\n")]);
    hub.go_offline(0);
    assert!(hub.at(0, &["pull"]).fails(6).contains("origin cannot be reached"));
    assert!(hub.at(0, &["push", "--json"]).fails(6).contains("\"offline\""));
    assert!(hub.at(0, &["pull", "elsewhere"]).fails(1).contains("no remote \"elsewhere\""));
    hub.git(0, &["checkout", "-q", "--detach"]);
    assert!(hub.at(0, &["push"]).fails(1).contains("HEAD is detached"));
}

#[test]
fn a_claim_is_known_to_every_clone() {
    let hub = Hub::agreeing(2, &[("t-a", "title = 'A'\n"), ("t-b", "title = 'B'\n")]);
    hub.at(0, &["claim", "t-a", "--as", "analyst", "--for", "triage"]).ok();
    // The same name on another machine is another worker.
    let said = hub.at(1, &["claim", "t-a", "--as", "analyst", "--for", "triage"]).fails(3);
    assert!(said.contains("claimed by analyst in another clone"), "{said}");
    assert_eq!(hub.at(1, &["next", "--claim", "--as", "analyst", "--json"]).json()["task"], "t-b");
    let listed = hub.at(0, &["claims", "ls", "--remote", "--json"]).json();
    assert_eq!((&listed[0]["place"], &listed[1]["place"]), (&"here".into(), &"elsewhere".into()));
    assert_eq!(hub.at(0, &["next", "--claim", "--as", "analyst-2"]).code, 5);
    hub.at(0, &["renew", "t-a", "--as", "analyst"]).ok();
    hub.at(0, &["release", "t-a", "--as", "analyst"]).ok();
    assert_eq!(hub.remote_claims(), ["t-b"]);
    hub.at(1, &["move", "t-b", "Research Needed", "--for", "triage", "--as", "analyst"]).ok();
    let said = hub.at(0, &["claim", "t-b", "--as", "analyst", "--for", "triage"]).fails(3);
    assert!(said.contains("t-b was changed on"), "the change has not been pushed yet: {said}");
    hub.at(1, &["push"]).ok();
    assert_eq!(hub.remote_claims(), Vec::<String>::new());
    hub.at(1, &["move", "t-b", "__LOCK__", "--for", "research", "--as", "analyst"]).ok();
    assert_eq!(hub.remote_claims(), ["t-b"], "a move into a lock is a claim");
}

#[test]
fn a_lease_that_runs_out_frees_the_task_for_other_machines() {
    let hub = Hub::agreeing(2, &[("t-a", "title = 'A'\nstate = 'Research Needed'\n")]);
    hub.at(0, &["claim", "t-a", "--as", "analyst"]).ok();
    hub.at(0, &["push"]).ok();
    hub.at(1, &["pull"]).ok();
    assert_eq!(hub.task(1, "t-a")["state"], "Research in Progress");
    hub.at(1, &["reap"]).ok();
    assert_eq!(hub.task(1, "t-a")["state"], "Research in Progress", "its holder on another machine is alive");
    let late = |args: &[&str]| {
        let mut command = hub.sandbox.command(RALPH, &hub.clones[1]);
        finish(command.env("RALPH_NOW", "2026-11-20T00:00:00Z").args(args))
    };
    let reaped = late(&["reap", "--json"]).json();
    assert_eq!((&reaped[0]["task"], &reaped[0]["to"]), (&"t-a".into(), &"Research Needed".into()));
    assert_eq!(hub.remote_claims(), Vec::<String>::new());
    late(&["claim", "t-a", "--as", "analyst-2"]).ok();
    // The first holder finds that it has lost the claim.
    hub.at(0, &["claims", "ls", "--remote"]).ok();
    let said = hub.at(0, &["move", "t-a", "__COMPLETE__", "--for", "research", "--as", "analyst"]).fails(3);
    assert!(said.contains("analyst-2"), "{said}");
}

/// A machine gives a task back, and another one has taken it over and finished it in the meantime: the release says nothing about the
/// work, so it is dropped instead of being a merge conflict.
#[test]
fn a_release_does_not_conflict_with_the_work_of_another_machine() {
    let (release, again) =
        (&["release", "t-a", "--as", "builder"][..], &["claim", "t-a", "--as", "builder", "--local"][..]);
    for gives_back in [&[release][..], &[&["reap"]], &[release, again, release]] {
        let hub = Hub::agreeing(2, &[("t-a", "title = 'A'\nstate = 'Ready for Plan'\n")]);
        hub.at(0, &["claim", "t-a", "--as", "builder"]).ok();
        hub.at(0, &["push"]).ok();
        hub.at(1, &["pull"]).ok();
        hub.go_offline(0);
        for args in gives_back {
            let mut late = hub.sandbox.command(RALPH, &hub.clones[0]);
            let said = finish(late.env("RALPH_NOW", "2026-11-20T00:00:00Z").args(*args));
            assert_eq!(said.code, 0, "{said}");
        }
        assert_eq!(hub.task(0, "t-a")["state"], "Ready for Plan", "{gives_back:?}");
        hub.at(1, &["claim", "t-a", "--as", "ada", "--force"]).ok();
        hub.at(1, &["move", "t-a", "Plan in Review", "--as", "ada"]).ok();
        hub.at(1, &["push"]).ok();
        hub.at(0, &["note", "t-a", "the journal has more", "--as", "bob"]).ok();
        hub.go_online(0);
        hub.at(0, &["push"]).ok();
        hub.at(1, &["pull"]).ok();
        for clone in 0..2 {
            let task = hub.task(clone, "t-a");
            assert_eq!((&task["state"], task["notes"].as_array().unwrap().len()), (&"Plan in Review".into(), 1));
            assert!(hub.at(clone, &["doctor"]).ok().contains("no problems"), "{gives_back:?}");
        }
    }
}

#[test]
fn a_claim_is_taken_over_by_force_wherever_it_is() {
    let hub = Hub::agreeing(2, &[("t-a", "title = 'A'\n")]);
    hub.at(0, &["claim", "t-a", "--as", "ada"]).ok();
    hub.at(1, &["claim", "t-a", "--as", "bob"]).fails(3);
    hub.at(1, &["claim", "t-a", "--as", "bob", "--force"]).ok();
    hub.at(0, &["renew", "t-a", "--as", "ada"]).fails(3);
    let listed = hub.at(0, &["claims", "ls", "--json"]).json();
    assert_eq!((&listed[0]["worker"], &listed[0]["place"]), (&"bob".into(), &"elsewhere".into()));
}

#[test]
fn offline_a_claim_is_refused_unless_it_is_local_and_is_told_later() {
    let hub = Hub::agreeing(2, &[("t-a", "title = 'A'\n"), ("t-b", "title = 'B'\n")]);
    hub.go_offline(0);
    let said = hub.at(0, &["claim", "t-a", "--as", "ada"]).fails(6);
    assert!(said.contains("--local"), "{said}");
    assert_eq!(hub.task(0, "t-a")["claim"], Value::Null);
    hub.at(0, &["claim", "t-a", "--as", "ada", "--local"]).ok();
    hub.at(0, &["claim", "t-b", "--as", "ada", "--local"]).ok();
    assert_eq!(hub.at(0, &["claims", "ls", "--json"]).json()[0]["place"], "not published");
    hub.at(1, &["claim", "t-b", "--as", "bob"]).ok();
    hub.go_online(0);
    let said = hub.at(0, &["pull"]);
    assert!(said.stderr.contains("t-b is claimed here by ada, and on origin by bob"), "{said}");
    let mut claims = hub.remote_claims();
    claims.sort();
    assert_eq!(claims, ["t-a", "t-b"]);
    hub.at(1, &["claim", "t-a", "--as", "bob"]).fails(3);
}

#[test]
fn what_is_released_offline_is_free_for_others_once_the_remote_hears_of_it() {
    let hub = Hub::agreeing(2, &[("t-a", "title = 'A'\n")]);
    hub.at(0, &["claim", "t-a", "--as", "ada"]).ok();
    hub.go_offline(0);
    let said = hub.at(0, &["release", "t-a", "--as", "ada"]);
    assert_eq!(said.code, 0);
    assert!(said.stderr.contains("origin cannot be reached"), "{said}");
    assert_eq!(hub.task(0, "t-a")["claim"], Value::Null);
    hub.at(1, &["claim", "t-a", "--as", "bob"]).fails(3);
    hub.go_online(0);
    hub.at(0, &["task", "ls"]).ok();
    hub.at(1, &["claim", "t-a", "--as", "bob"]).ok();
}

#[test]
fn a_program_renews_its_lease_for_other_machines() {
    let hub = Hub::agreeing(2, &[("t-a", "title = 'A'\n")]);
    let real = |clone: usize, args: &[&str]| {
        let mut command = hub.sandbox.command(RALPH, &hub.clones[clone]);
        command.env_remove("RALPH_NOW").env_remove("RALPH_SEED").args(["--config", "claims.lease=4s"]).args(args);
        command
    };
    let (go, program) = hub.gate();
    let run = ["run", "t-a", "--as", "ada", "--", "sh", "-c", &program];
    let mut running = real(0, &run).stdout(Stdio::null()).spawn().unwrap();
    let until = || {
        let listed = finish(&mut real(1, &["claims", "ls", "--remote", "--json"])).json();
        listed[0]["until"].as_str().map(str::to_owned)
    };
    eventually("the claim is published", || until().is_some());
    let first = until();
    eventually("the lease is longer than the first one", || until() > first);
    let said = finish(&mut real(1, &["claim", "t-a", "--as", "bob"]));
    assert_eq!(said.code, 3, "{said}");
    std::fs::write(go, "").unwrap();
    assert!(running.wait().unwrap().success());
    assert_eq!(hub.remote_claims(), Vec::<String>::new());
    assert_eq!(finish(&mut real(1, &["claim", "t-a", "--as", "bob"])).code, 0);
}

/// A process died after it published a claim and before it recorded it: the next command removes the claim from the
/// remote.
#[test]
fn a_claim_that_was_killed_half_way_binds_nobody() {
    let hub = Hub::agreeing(2, &[("t-a", "title = 'A'\n")]);
    let mut published = 0;
    for round in 0.. {
        let output =
            crate::crash::killed_at(&hub.sandbox, &hub.clones[0], 20 + round * 9, &["claim", "t-a", "--as", "ada"]);
        let there = !hub.remote_claims().is_empty();
        // Any next command of the same clone will do.
        hub.at(0, &["claims", "ls", "--remote"]).ok();
        let here = hub.task(0, "t-a")["claim"]["by"] == "ada";
        assert_eq!(!hub.remote_claims().is_empty(), here, "round {round}");
        published += usize::from(there && !here);
        let other = hub.at(1, &["claim", "t-a", "--as", "bob"]);
        assert_eq!(other.code, if here { 3 } else { 0 }, "round {round}: {other}");
        if here {
            hub.at(0, &["release", "t-a", "--as", "ada"]).ok();
        } else {
            hub.at(1, &["release", "t-a", "--as", "bob"]).ok();
        }
        assert_eq!(hub.remote_claims(), Vec::<String>::new(), "round {round}");
        if output.code == 0 {
            break;
        }
    }
    assert!(published > 0, "no kill hit between publishing and recording");
}

/// Clones that share claims through the remote, with tasks whose plans change these files.
fn planned(clones: usize, files: &[(&str, &str)]) -> Hub {
    let plan = |id: &str| format!("thoughts/shared/plans/2026-11-18-{id}-x.md");
    let task = |id: &str| format!("title = 'X'\nstate = 'Plan in Review'\n[artifacts]\nplan = '{}'\n", plan(id));
    let texts: Vec<(&str, String)> = files.iter().map(|(id, _)| (*id, task(id))).collect();
    let brief: Vec<(&str, &str)> = texts.iter().map(|(id, text)| (*id, text.as_str())).collect();
    let hub = Hub::agreeing(clones, &brief);
    for clone in &hub.clones {
        for (id, files) in files {
            let file = clone.join(plan(id));
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, format!("# Plan\n## Phase 1: It\n- **files**: {files}\n- [ ] it\n")).unwrap();
        }
    }
    hub
}

#[test]
fn files_that_another_machine_is_changing_are_refused() {
    let hub = planned(2, &[("t-a", "`src/sync/`"), ("t-b", "`src/sync/mod.rs`"), ("t-c", "`docs/`")]);
    let build = |clone: usize, id: &str| hub.at(clone, &["claim", id, "--for", "implement", "--as", "builder"]);
    build(0, "t-a").ok();
    let said = build(1, "t-b").fails(3);
    assert!(said.contains("t-b overlaps with t-a, which is claimed by builder in another clone on "), "{said}");
    assert_eq!(hub.remote_claims(), ["t-a"]);
    let listed = hub.at(1, &["claims", "ls", "--paths"]).ok();
    assert!(listed.contains("t-a") && listed.contains("src/sync"), "{listed}");
    build(1, "t-c").ok();
    hub.at(1, &["release", "t-c", "--as", "builder"]).ok();
    hub.at(0, &["release", "t-a", "--as", "builder"]).ok();
    build(1, "t-b").ok();
}

/// Clones publish claims on overlapping files at the same moment: at most one of them is granted.
#[test]
fn overlapping_claims_that_are_published_at_once_are_never_both_granted() {
    let rounds: u64 = std::env::var("RALPH_TEST_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(5);
    let names = ["t-a", "t-b", "t-c"];
    let hub = planned(3, &[("t-a", "`src/`"), ("t-b", "`src/sync/`, `docs/`"), ("t-c", "`src/sync/mod.rs`")]);
    let command = |clone: usize, args: &[&str]| {
        let mut command = hub.sandbox.command(RALPH, &hub.clones[clone]);
        command.env_remove("RALPH_NOW").env_remove("RALPH_SEED").args(args).args(["--as", "builder"]);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command
    };
    let mut granted = 0;
    for round in 0..rounds {
        let claim = |clone: usize| command(clone, &["claim", names[clone], "--for", "implement"]).spawn().unwrap();
        let racing: Vec<_> = (0..3).map(claim).collect();
        let ended: Vec<_> = racing.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
        let codes: Vec<i32> = ended.iter().map(|output| output.status.code().unwrap()).collect();
        let said = || ended.iter().map(|output| String::from_utf8_lossy(&output.stderr)).collect::<String>();
        assert!(codes.iter().all(|code| [0, 3].contains(code)), "round {round}: {codes:?}: {}", said());
        let winners: Vec<usize> = (0..3).filter(|&clone| codes[clone] == 0).collect();
        assert!(winners.len() < 2, "round {round}: {winners:?} hold overlapping files");
        assert_eq!(hub.remote_claims().len(), winners.len(), "round {round}: a refused claim is removed");
        for &clone in &winners {
            finish(&mut command(clone, &["release", names[clone]])).ok();
        }
        granted += winners.len();
    }
    assert!(granted > 0, "no claim was ever granted");
}

#[test]
fn eight_clones_claim_the_same_tasks_and_each_has_one_holder() {
    let tasks: Vec<(String, String)> =
        (0..50).map(|n| (format!("t-{n:02}"), format!("title = 'Task {n}'\n"))).collect();
    let brief: Vec<(&str, &str)> = tasks.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    let hub = Hub::agreeing(8, &brief);
    let run = |clone: usize, id: &str| -> Command {
        let mut command = hub.sandbox.command(RALPH, &hub.clones[clone]);
        command.env_remove("RALPH_NOW").env_remove("RALPH_SEED");
        command.args(["claim", id, "--as", &format!("person-{clone}")]).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    };
    let mut commands: Vec<Vec<(String, Command)>> = Vec::new();
    for clone in 0..8 {
        let mut order: Vec<&str> = brief.iter().map(|(id, _)| *id).collect();
        fastrand::Rng::with_seed(clone as u64).shuffle(&mut order);
        commands.push(order.into_iter().map(|id| (id.to_owned(), run(clone, id))).collect());
    }
    let won: Vec<Vec<String>> = std::thread::scope(|scope| {
        let threads: Vec<_> = commands
            .into_iter()
            .map(|list| {
                scope.spawn(move || {
                    let mut won = Vec::new();
                    for (id, mut command) in list {
                        let output = command.output().unwrap();
                        let code = output.status.code().unwrap();
                        assert!(code == 0 || code == 3, "{id}: {}", String::from_utf8_lossy(&output.stderr));
                        if code == 0 {
                            won.push(id);
                        }
                    }
                    won
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut all: Vec<&String> = won.iter().flatten().collect();
    all.sort();
    assert_eq!(all, tasks.iter().map(|(id, _)| id).collect::<Vec<_>>(), "each once");
    assert_eq!(hub.remote_claims().len(), 50);
    assert!(won.iter().filter(|tasks| !tasks.is_empty()).count() > 4, "claims must race: {won:?}");
}

/// The acknowledged changes of the three clones.
#[derive(Default)]
struct Done {
    labels: BTreeSet<(String, String)>,
    notes: BTreeMap<String, usize>,
    tasks: BTreeSet<String>,
    /// The possible values of each clone's own key: a change that was killed may have been made or not.
    own: BTreeMap<(String, usize), BTreeSet<Option<String>>>,
}

/// Random changes, pulls and pushes, some of them killed: the boards end up equal and nothing is lost.
#[test]
fn three_clones_with_kills_end_equal_and_lose_nothing() {
    let rounds: u64 = std::env::var("RALPH_TEST_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(5);
    for seed in 0..rounds.div_ceil(5) {
        three_clones(fastrand::Rng::with_seed(seed));
    }
}

fn three_clones(mut dice: fastrand::Rng) {
    let hub = Hub::agreeing(3, &[("t-a", "title = 'A' # a\n"), ("t-b", "title = 'B'\n"), ("t-c", "title = 'C'\n")]);
    let mut done = Done::default();
    for step in 0..90 {
        let clone = dice.usize(0..3);
        let id = *dice.choice(&["t-a", "t-b", "t-c"]).unwrap();
        match dice.u8(0..12) {
            0..=1 => {
                let label = format!("l-{step}");
                if act(&hub, clone, &mut dice, &["task", "set", id, &format!("labels+={label}")]) == Some(0) {
                    done.labels.insert((id.to_owned(), label));
                }
            }
            2 => {
                if act(&hub, clone, &mut dice, &["note", id, &format!("note {step}")]) == Some(0) {
                    *done.notes.entry(id.to_owned()).or_default() += 1;
                }
            }
            3 => {
                let title = format!("New {step}");
                if act(&hub, clone, &mut dice, &["task", "add", &title]) == Some(0) {
                    done.tasks.insert(title);
                }
            }
            4..=5 => {
                let value = format!("v{step}");
                let key = format!("custom.clone{clone}={value}");
                let ended = act(&hub, clone, &mut dice, &["task", "set", "--custom", id, &key]);
                let values = done.own.entry((id.to_owned(), clone)).or_insert_with(|| BTreeSet::from([None]));
                match ended {
                    Some(0) => *values = BTreeSet::from([Some(value)]),
                    None => drop(values.insert(Some(value))),
                    Some(code) => panic!("step {step}: {code}"),
                }
            }
            6 => drop(act(&hub, clone, &mut dice, &["task", "set", id, &format!("priority=P{}", step % 4)])),
            7 => drop(act(&hub, clone, &mut dice, &["claim", id, "--as", &format!("person-{clone}")])),
            8 => drop(act(&hub, clone, &mut dice, &["release", id, "--as", &format!("person-{clone}")])),
            9 => drop(act(&hub, clone, &mut dice, &["pull", "--take", "ours"])),
            _ => drop(act(&hub, clone, &mut dice, &["push", "--take", "theirs"])),
        }
        one_holder(&hub, step);
    }
    for _ in 0..2 {
        for clone in 0..3 {
            hub.at(clone, &["push", "--take", "ours"]).ok();
        }
    }
    let boards: Vec<String> = (0..3).map(|clone| hub.git(clone, &["rev-parse", "HEAD^{tree}"])).collect();
    assert!(boards.iter().all(|board| *board == boards[0]), "{boards:?}");
    nothing_is_lost(&hub, &done);
}

/// Runs a command that may be killed; `None` if it was.
fn act(hub: &Hub, clone: usize, dice: &mut fastrand::Rng, args: &[&str]) -> Option<i32> {
    let mut command = hub.sandbox.command(RALPH, &hub.clones[clone]);
    let mut child = command.args(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    if dice.u8(0..4) == 0 {
        std::thread::sleep(Duration::from_micros(dice.u64(1_000..40_000)));
        let _ = child.kill();
    }
    let code = child.wait().unwrap().code();
    assert!(code.is_none_or(|code| [0, 1, 3].contains(&code)), "{args:?} in clone {clone}: {code:?}");
    code
}

/// No two clones list a live claim of their own on the same task.
fn one_holder(hub: &Hub, step: usize) {
    let mut holders: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for clone in 0..3 {
        let listed = hub.at(clone, &["claims", "ls", "--remote", "--json"]).json();
        for claim in listed.as_array().unwrap().iter().filter(|claim| claim["live"] == true && claim["place"] == "here")
        {
            holders.entry(claim["task"].as_str().unwrap().to_owned()).or_default().push(clone);
        }
    }
    assert!(holders.values().all(|clones| clones.len() == 1), "step {step}: {holders:?}");
}

fn nothing_is_lost(hub: &Hub, done: &Done) {
    let all = hub.at(0, &["task", "ls", "--all", "--json"]).json();
    let titles: BTreeSet<&str> = all.as_array().unwrap().iter().map(|task| task["title"].as_str().unwrap()).collect();
    for title in &done.tasks {
        assert!(titles.contains(title.as_str()), "{title} is lost");
    }
    for (id, label) in &done.labels {
        let labels = hub.task(0, id)["labels"].clone();
        assert!(labels.as_array().unwrap().contains(&label.as_str().into()), "{id}: {label} is lost: {labels}");
    }
    for (id, count) in &done.notes {
        assert!(hub.task(0, id)["notes"].as_array().unwrap().len() >= *count, "{id}: a note is lost");
    }
    for ((id, clone), values) in &done.own {
        let text = read(&hub.clones[0], id);
        let says = text.lines().find_map(|line| line.strip_prefix(&format!("clone{clone} = ")));
        let says = says.map(|value| value.trim_matches('"').to_owned());
        assert!(values.contains(&says), "{id} clone {clone}: {values:?}\n{text}");
    }
    assert!(read(&hub.clones[0], "t-a").contains("# a"), "a comment is lost");
    for clone in 0..3 {
        assert_eq!(hub.git(clone, &["status", "--porcelain"]), "");
        hub.git(clone, &["fsck", "--strict"]);
        // `doctor --fix` removes what killed processes left behind; no other problems remain.
        drop(hub.at(clone, &["doctor", "--fix"]));
        hub.at(clone, &["doctor"]).ok();
    }
}

fn read(clone: &Path, id: &str) -> String {
    std::fs::read_to_string(clone.join(format!(".ralph/tasks/{id}.toml"))).unwrap()
}

/// Adds a hook to the remote that rejects pushes to these references.
fn deny(hub: &Hub, prefix: &str) {
    let hook = hub.sandbox.outside("hub.git/hooks/update");
    let script = format!("#!/bin/sh\ncase $1 in {prefix}*) echo 'ask the owner' >&2; exit 1;; esac\n");
    std::fs::write(&hook, script).unwrap();
    make_program(&hook);
}

fn allow(hub: &Hub) {
    std::fs::remove_file(hub.sandbox.outside("hub.git/hooks/update")).unwrap();
}

#[test]
fn a_remote_that_refuses_is_neither_a_race_nor_out_of_reach() {
    let hub = Hub::agreeing(2, &[("t-a", "title = 'A'\n"), ("t-b", "title = 'B'\n")]);
    hub.at(0, &["claim", "t-a", "--as", "ada"]).ok();
    deny(&hub, "refs/ralph/");
    let said = hub.at(0, &["claim", "t-b", "--as", "ada"]).fails(6);
    assert!(said.contains("origin rejected the push") && said.contains("ask the owner"), "{said}");
    let said = hub.at(0, &["release", "t-a", "--as", "ada"]);
    assert!(said.code == 0 && said.stderr.contains("will be sent by the next command"), "{said}");
    allow(&hub);
    hub.at(0, &["task", "ls"]).ok();
    assert_eq!(hub.remote_claims(), Vec::<String>::new());
    deny(&hub, "refs/heads/");
    hub.at(0, &["task", "set", "t-a", "priority=P1"]).ok();
    assert!(hub.at(0, &["push"]).fails(6).contains("ask the owner"));
}

#[test]
fn what_is_no_claim_on_the_remote_is_taken_over() {
    let hub = Hub::agreeing(1, &[("t-a", "title = 'A'\n")]);
    hub.git(0, &["push", "-q", "origin", "HEAD:refs/ralph/claims/t-a"]);
    hub.at(0, &["claim", "t-a", "--as", "ada"]).ok();
    assert_eq!(hub.at(0, &["claims", "ls", "--json"]).json()[0]["place"], "here");
}

/// A refused claim does not replace the existing one.
#[test]
fn a_refused_claim_leaves_the_holders_own() {
    let hub = Hub::agreeing(2, &[("t-a", "title = 'A'\nstate = 'Ready for Plan'\n")]);
    let (go, program) = hub.gate();
    let run = ["run", "t-a", "--as", "builder", "--", "sh", "-c", &program];
    let mut first = hub.sandbox.command(RALPH, &hub.clones[0]).args(run).stdout(Stdio::null()).spawn().unwrap();
    eventually("the claim is published", || !hub.remote_claims().is_empty());
    hub.at(0, &["run", "t-a", "--as", "builder", "--", "true"]).fails(3);
    hub.at(1, &["claim", "t-a", "--as", "builder-2"]).fails(3);
    let listed = hub.at(0, &["claims", "ls", "--remote", "--json"]).json();
    assert_eq!((&listed[0]["live"], &listed[0]["place"]), (&true.into(), &"here".into()));
    std::fs::write(go, "").unwrap();
    assert!(first.wait().unwrap().success());
    assert!(hub.at(1, &["claim", "t-a", "--as", "builder-2"]).fails(3).contains("changed on origin/main"));
    hub.at(1, &["pull"]).ok();
    hub.at(1, &["claim", "t-a", "--as", "builder-2"]).ok();
}

/// If the answer to a renewal is lost, the remote may have it or not; the holder keeps the claim in both cases.
#[test]
fn a_renewal_whose_answer_is_lost_keeps_the_claim() {
    let hub = Hub::agreeing(2, &[("t-a", "title = 'A'\n")]);
    hub.at(0, &["claim", "t-a", "--as", "ada"]).ok();
    for nth in (10..400).step_by(11) {
        let output = crate::crash::killed_at(&hub.sandbox, &hub.clones[0], nth, &["renew", "t-a", "--as", "ada"]);
        let listed = hub.at(0, &["claims", "ls", "--remote", "--json"]).json();
        assert_eq!((&listed[0]["worker"], &listed[0]["live"]), (&"ada".into(), &true.into()), "call {nth}");
        assert_eq!(hub.at(1, &["claim", "t-a", "--as", "bob"]).code, 3, "call {nth}");
        hub.at(0, &["renew", "t-a", "--as", "ada"]).ok();
        if output.code == 0 {
            break;
        }
    }
    hub.at(0, &["release", "t-a", "--as", "ada"]).ok();
    assert_eq!(hub.remote_claims(), Vec::<String>::new());
}

#[test]
fn a_worker_who_lost_its_claim_elsewhere_is_refused_at_its_next_move() {
    let hub = Hub::agreeing(2, &[("t-a", "title = 'A'\nstate = 'Ready for Plan'\n")]);
    let claimed = hub.at(0, &["claim", "t-a", "--as", "builder", "--json"]).json();
    hub.at(1, &["claim", "t-a", "--as", "ada", "--force"]).ok();
    let mut moved = hub.sandbox.command(RALPH, &hub.clones[0]);
    moved.env("RALPH_CLAIM", claimed["claim"].as_str().unwrap());
    let said = finish(moved.args(["escalate", "t-a", "--for", "plan", "--as", "builder"]));
    assert!(said.code == 3 && said.stderr.contains("claimed by ada"), "{said}");
    assert_eq!(hub.task(0, "t-a")["state"], "Ready for Plan", "everything since the lost claim was undone");
    assert_eq!(hub.at(0, &["wait", "t-a", "--until", "free", "--timeout", "1s"]).code, 5);
}

#[test]
fn documents_settle_line_by_line_and_a_removal_says_so() {
    let hub = Hub::new(2, &[("t-a", "title = 'A'\n")]);
    let doc = "thoughts/shared/plans/p.md";
    for clone in 0..2 {
        std::fs::create_dir_all(hub.clones[clone].join("thoughts/shared/plans")).unwrap();
    }
    hub.write(0, doc, "1\n2\n3\n4\n5\n6\n7\n");
    hub.at(0, &["push"]).ok();
    hub.at(1, &["pull"]).ok();
    hub.write(0, doc, "one\n2\n3\n4\n5\n6\nseven\n");
    hub.at(0, &["task", "rm", "t-a"]).ok();
    hub.at(0, &["push"]).ok();
    hub.write(1, doc, "ONE\n2\n3\nfour\n5\n6\n7\n");
    hub.at(1, &["task", "set", "t-a", "priority=P0"]).ok();
    let said = hub.at(1, &["pull"]).fails(1);
    assert!(said.contains("t-a.toml (changed here, removed there)"), "{said}");
    let pulled = hub.at(1, &["pull", "--take", "theirs", "--json"]).json();
    assert_eq!(pulled["removed"][0], ".ralph/tasks/t-a.toml");
    let text = std::fs::read_to_string(hub.clones[1].join(doc)).unwrap();
    assert_eq!(text, "one\n2\n3\nfour\n5\n6\nseven\n");
}

/// A clone may contain any names and links: nothing outside of it is read or written.
#[test]
fn links_and_journals_do_not_lead_out_of_the_repository() {
    let hub = Hub::new(2, &[("t-a", "title = 'A'\n")]);
    let outside = hub.sandbox.outside("outside.toml");
    std::fs::write(&outside, "title = 'mine'\n").unwrap();
    let link = |clone: usize, path: &str| {
        let path = hub.clones[clone].join(path);
        let _ = std::fs::remove_file(&path);
        symlink(&outside, path).unwrap();
    };
    link(0, ".ralph/tasks/t-evil.toml");
    hub.at(0, &["push"]).ok();
    assert!(hub.at(1, &["pull"]).fails(1).contains("t-evil.toml"));
    assert!(hub.at(0, &["task", "set", "t-evil", "priority=P1"]).fails(4).contains("leads out of the repository"));
    let journal = std::fs::read_dir(hub.clones[1].join(".ralph/journal")).ok().into_iter().flatten().next();
    let name = journal.map_or("2026-11.jsonl".into(), |entry| entry.unwrap().file_name().into_string().unwrap());
    std::fs::create_dir_all(hub.clones[1].join(".ralph/journal")).unwrap();
    link(1, &format!(".ralph/journal/{name}"));
    hub.at(1, &["task", "set", "t-a", "priority=P1"]).fails(4);
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "title = 'mine'\n");
    std::fs::remove_file(hub.clones[1].join(format!(".ralph/journal/{name}"))).unwrap();
    let evil = r#"{"id":"zz","at":"2030-01-01T00:00:00Z","by":"Ada","verb":"note","changes":[{"task":"t-a","file":{"note":"../../../../evil.md"},"old":"x","new":null}]}"#;
    let evil_id = evil.replace("\"t-a\"", "\"../../../evil\"").replace("zz", "zy");
    std::fs::write(hub.clones[1].join(".ralph/journal/2030-01.jsonl"), format!("{evil}\n{evil_id}\n")).unwrap();
    drop(hub.at(1, &["undo"]));
    drop(hub.at(1, &["undo", "zz", "--force"]));
    drop(hub.at(1, &["undo", "zy", "--force"]));
    assert!(!hub.sandbox.outside("evil.md").exists() && !hub.sandbox.outside("evil.toml").exists());
    assert!(hub.at(1, &["doctor"]).stdout.contains("2030-01.jsonl:1"));
}

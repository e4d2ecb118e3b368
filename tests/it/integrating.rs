//! `ralph merge`: checks, merges, cleans up, and resumes after it was killed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::crash::killed_at;
use crate::sandbox::Sandbox;
use crate::system::{make_program, mode, symlink};

const REVIEWED: &str = "title = 'Work'\nstate = 'In Review'\n[artifacts]\nplan = 'thoughts/shared/plans/p.md'\n";

fn write(path: &Path, content: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

fn commit(sandbox: &Sandbox, folder: &Path, message: &str) {
    sandbox.git_in(folder, &["add", "-A"]).ok();
    sandbox.git_in(folder, &["commit", "-q", "-m", message]).ok();
}

fn worktree(sandbox: &Sandbox) -> PathBuf {
    sandbox.root().join("worktrees/t-x7")
}

/// A task in review, with a plan, and with commits in its worktree.
fn reviewed() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write_task("t-x7", REVIEWED);
    write(&sandbox.root().join("thoughts/shared/plans/p.md"), "plan\n");
    write(&sandbox.root().join("code.txt"), "one\n");
    write(&sandbox.root().join("gone.txt"), "old\n");
    commit(&sandbox, &sandbox.root(), "base");
    sandbox.ralph(&["worktree", "add", "x7"]).ok();
    write(&worktree(&sandbox).join("code.txt"), "one\ntwo\n");
    write(&worktree(&sandbox).join("src/new.txt"), "new\n");
    std::fs::remove_file(worktree(&sandbox).join("gone.txt")).unwrap();
    commit(&sandbox, &worktree(&sandbox), "work");
    sandbox
}

fn state(sandbox: &Sandbox, id: &str) -> String {
    sandbox.ralph(&["task", "show", id, "--json"]).json()["state"].as_str().unwrap().to_owned()
}

#[track_caller]
fn git_agrees(sandbox: &Sandbox) {
    sandbox.git(&["fsck", "--strict"]);
    assert_eq!(sandbox.git(&["worktree", "prune", "-n", "-v"]), "");
    assert_eq!(sandbox.git(&["status", "--porcelain", "--", ":!.ralph"]), "");
}

/// Every file outside `.git` and the board, with its mode.
fn files(root: &Path) -> BTreeMap<String, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let name = entry.path().strip_prefix(root).unwrap().display().to_string();
            if [".git", ".ralph", "worktrees"].contains(&name.as_str()) {
                continue;
            }
            let meta = entry.path().symlink_metadata().unwrap();
            if meta.is_dir() {
                folders.push(entry.path());
            } else if meta.is_symlink() {
                let target = std::fs::read_link(entry.path()).unwrap();
                found.insert(name, (0, target.as_os_str().as_encoded_bytes().to_vec()));
            } else {
                found.insert(name, (mode(&meta), std::fs::read(entry.path()).unwrap()));
            }
        }
    }
    found
}

#[test]
fn a_branch_lands_in_main_and_everything_is_cleaned_up() {
    for (style, parents, subject) in
        [("merge", 2, "Merge feature/t-x7: Work (t-x7)"), ("squash", 1, "Work (t-x7)"), ("ff", 1, "work")]
    {
        let sandbox = reviewed();
        sandbox.ralph(&["config", "set", "merge.style", style]).ok();
        let merged = sandbox.ralph(&["merge", "x7", "--json"]).json();
        assert_eq!((&merged["to"], &merged["branch_deleted"]), (&"Done".into(), &true.into()), "{style}");
        assert_eq!(merged["commit"], sandbox.git(&["rev-parse", "main"]).trim());
        assert_eq!(sandbox.git(&["log", "-1", "--format=%s"]).trim(), subject);
        assert_eq!(sandbox.git(&["log", "-1", "--format=%P"]).split_whitespace().count(), parents);
        assert_eq!(std::fs::read_to_string(sandbox.root().join("code.txt")).unwrap(), "one\ntwo\n");
        assert!(sandbox.root().join("src/new.txt").exists() && !sandbox.root().join("gone.txt").exists());
        assert!(!worktree(&sandbox).exists() && !sandbox.git(&["branch"]).contains("feature"));
        assert_eq!(state(&sandbox, "x7"), "Done");
        assert!(sandbox.ralph(&["log", "x7", "--json"]).json()[0]["verb"] == "merge");
        git_agrees(&sandbox);
    }
}

#[test]
fn a_persons_staged_and_changed_files_stay_as_they_are() {
    let sandbox = reviewed();
    write(&sandbox.root().join("mine.txt"), "mine\n");
    sandbox.git(&["add", "mine.txt"]);
    write(&sandbox.root().join("mine.txt"), "mine, changed\n");
    write(&sandbox.root().join("loose.txt"), "loose\n");
    sandbox.ralph(&["merge", "x7"]).ok();
    assert_eq!(sandbox.git(&["status", "--porcelain", "--", ":!.ralph"]), "AM mine.txt\n?? loose.txt\n");
    assert_eq!(sandbox.git(&["show", ":mine.txt"]), "mine\n");
}

type Spoil = fn(&Sandbox);

#[test]
fn what_is_in_the_way_is_named_and_nothing_happens() {
    let dirty: [(&str, Spoil); 4] = [
        ("code.txt", |sandbox| write(&sandbox.root().join("code.txt"), "mine\n")),
        ("code.txt", |sandbox| {
            write(&sandbox.root().join("code.txt"), "mine\n");
            sandbox.git(&["add", "code.txt"]);
            write(&sandbox.root().join("code.txt"), "one\n");
        }),
        ("src/new.txt", |sandbox| write(&sandbox.root().join("src/new.txt"), "mine\n")),
        ("src/new.txt", |sandbox| symlink("/tmp", sandbox.root().join("src")).unwrap()),
    ];
    for (path, spoil) in dirty {
        let sandbox = reviewed();
        spoil(&sandbox);
        let before = (files(&sandbox.root()), sandbox.git(&["rev-parse", "main"]), sandbox.git(&["ls-files", "-s"]));
        let said = sandbox.ralph(&["merge", "x7"]).fails(1);
        assert!(said.contains(path), "{said}");
        let after = (files(&sandbox.root()), sandbox.git(&["rev-parse", "main"]), sandbox.git(&["ls-files", "-s"]));
        assert_eq!(before, after);
        assert_eq!(state(&sandbox, "x7"), "In Review");
        assert!(worktree(&sandbox).exists());
    }
}

/// Main, its index and its worktree are compared byte for byte.
#[test]
fn a_workers_conflict_leaves_main_as_it_was_and_calls_a_person() {
    let sandbox = reviewed();
    write(&sandbox.root().join("code.txt"), "one\nother\n");
    commit(&sandbox, &sandbox.root(), "other");
    write(&sandbox.root().join("staged.txt"), "staged\n");
    sandbox.git(&["add", "staged.txt"]);
    let bytes = |sandbox: &Sandbox| {
        let index = std::fs::read(sandbox.root().join(".git/index")).unwrap();
        let refs = std::fs::read(sandbox.root().join(".git/refs/heads/main")).unwrap();
        (files(&sandbox.root()), index, refs, std::fs::read(sandbox.root().join(".git/logs/HEAD")).unwrap())
    };
    let before = bytes(&sandbox);
    let said = sandbox.ralph(&["merge", "x7"]).fails(1);
    assert!(
        said.contains("merge conflict between feature/t-x7 and main: code.txt") && said.contains("git merge main"),
        "{said}"
    );
    assert_eq!(state(&sandbox, "t-x7"), "In Review", "a person sees the message, so the task is not handed over");
    let said = sandbox.ralph(&["merge", "x7", "--as", "integrator"]).fails(1);
    assert!(
        said.contains("merge conflict between feature/t-x7 and main: code.txt") && said.contains("Human Needed"),
        "{said}"
    );
    assert!(bytes(&sandbox) == before, "something changed");
    let task = sandbox.ralph(&["task", "show", "x7", "--json"]).json();
    assert_eq!(task["state"], "Human Needed");
    assert!(task["notes"][0]["text"].as_str().unwrap().contains("code.txt"), "{task}");
    assert!(worktree(&sandbox).exists() && sandbox.git(&["branch"]).contains("feature/t-x7"));
    // Resolved in the worktree and moved back, the task can be merged.
    assert_ne!(sandbox.git_in(&worktree(&sandbox), &["merge", "-q", "main"]).code, 0);
    write(&worktree(&sandbox).join("code.txt"), "one\ntwo\nother\n");
    commit(&sandbox, &worktree(&sandbox), "settled");
    sandbox.ralph(&["move", "x7", "In Review"]).ok();
    sandbox.ralph(&["merge", "x7"]).ok();
    assert_eq!(std::fs::read_to_string(sandbox.root().join("code.txt")).unwrap(), "one\ntwo\nother\n");
}

#[test]
fn the_gates_hold_before_anything_is_done() {
    let sandbox = reviewed();
    let main = sandbox.git(&["rev-parse", "main"]);
    let refused = |args: &[&str], wanted: &str| {
        let said = sandbox.ralph(args).fails(1);
        assert!(said.contains(wanted), "{said}");
        assert_eq!(sandbox.git(&["rev-parse", "main"]), main);
    };
    refused(&["merge", "x7", "--as", "builder"], "merge is for integrator");
    write(&worktree(&sandbox).join("more.txt"), "more\n");
    refused(&["merge", "x7"], "uncommitted changes");
    std::fs::remove_file(worktree(&sandbox).join("more.txt")).unwrap();
    let worker = ["merge", "x7", "--as", "integrator"];
    sandbox.write_task("t-x7", "title = 'Work'\nstate = 'In Review'\n");
    refused(&worker, "t-x7 has no plan");
    sandbox.write_task("t-x7", REVIEWED.replace("p.md", "q.md"));
    refused(&worker, "q.md, does not exist");
    sandbox.write_task("t-x7", REVIEWED.replace("In Review", "Plan in Review"));
    refused(&worker, "Plan in Review");
    sandbox.write_task("t-y", REVIEWED);
    refused(&["merge", "t-y"], "no branch feature/t-y");
    sandbox.ralph(&["worktree", "add", "t-y"]).ok();
    refused(&["merge", "t-y"], "no commits that main lacks");
    sandbox.write_task("t-x7", "title = 'Work'\nstate = 'Backlog'\n");
    sandbox.ralph(&["merge", "x7"]).ok();
}

#[test]
fn checks_run_in_the_worktree_once_they_are_trusted_and_must_succeed() {
    let sandbox = reviewed();
    let check = "test -f src/new.txt && test \"$RALPH_TASK\" = t-x7 && echo checked && test ! -f ../../broken";
    sandbox.ralph(&["config", "set", "merge.checks", &format!("[[\"sh\", \"-c\", '{check}']]")]).ok();
    let said = sandbox.ralph(&["merge", "x7"]).fails(1);
    assert!(said.contains("not trusted yet") && said.contains("echo checked"), "{said}");
    assert!(sandbox.ralph(&["trust"]).stderr.contains("not a terminal"));
    sandbox.ralph(&["trust", "--yes"]).ok();
    write(&sandbox.root().join("broken"), "");
    let said = sandbox.ralph(&["merge", "x7"]).fails(1);
    assert!(said.contains("failed (exit status 1)") && said.contains("output:\n  checked"), "{said}");
    assert_eq!(state(&sandbox, "x7"), "In Review");
    // The programs have changed, so they need to be trusted again.
    sandbox.ralph(&["config", "set", "merge.checks", "[[\"false\"]]"]).ok();
    let said = sandbox.ralph(&["merge", "x7"]).fails(1);
    assert!(said.contains("this board's programs changed since you trusted them"), "{said}");
    sandbox.ralph(&["config", "set", "merge.checks", &format!("[[\"sh\", \"-c\", '{check}']]")]).ok();
    std::fs::remove_file(sandbox.root().join("broken")).unwrap();
    let open = sandbox.ralph(&["feedback", "x7"]).ok();
    assert!(open.contains("1 open: merge check\n"), "{open}");
    assert_eq!(sandbox.ralph(&["merge", "x7", "--json"]).json()["checks"], 1);
    assert_eq!(sandbox.ralph(&["feedback", "x7", "--json"]).json()["points"], serde_json::json!([]));
    sandbox.ralph(&["trust", "--forget"]).ok();
    assert!(!std::fs::read_to_string(sandbox.home().join(".config/ralph/trust.toml")).unwrap().contains("checked"));
}

#[test]
fn a_program_that_changed_since_it_was_trusted_is_named() {
    let sandbox = reviewed();
    write(&sandbox.root().join("check.sh"), "exit 0\n");
    sandbox.ralph(&["config", "set", "merge.checks", "[[\"sh\", \"../../check.sh\"], [\"sh\", \"check.sh\"]]"]).ok();
    assert!(!sandbox.ralph(&["inbox"]).ok().contains("not trusted"), "never trusted is not a change");
    sandbox.ralph(&["trust", "--yes"]).ok();
    write(&sandbox.root().join("check.sh"), "exit 1\n");
    let told = "check.sh changed since you trusted this board's programs";
    let said = sandbox.ralph(&["merge", "x7"]).fails(1);
    assert!(said.contains(told) && said.contains("ralph trust"), "{said}");
    let inbox = sandbox.ralph(&["inbox"]).ok();
    assert!(inbox.contains(told) && inbox.contains("ralph trust"), "{inbox}");
    sandbox.ralph(&["trust", "--yes"]).ok();
    assert!(!sandbox.ralph(&["inbox"]).ok().contains(told));
}

#[test]
fn main_is_merged_into_wherever_it_is_checked_out_or_not() {
    let sandbox = reviewed();
    sandbox.git(&["checkout", "-q", "-b", "aside"]);
    sandbox.ralph(&["merge", "x7"]).ok();
    assert_eq!(std::fs::read_to_string(sandbox.root().join("code.txt")).unwrap(), "one\n");
    assert_eq!(sandbox.git(&["show", "main:code.txt"]), "one\ntwo\n");
    git_agrees(&sandbox);
    let sandbox = reviewed();
    sandbox.git(&["checkout", "-q", "-b", "aside"]);
    sandbox.git(&["worktree", "add", "-q", "../elsewhere", "main"]);
    sandbox.ralph(&["merge", "x7"]).ok();
    let elsewhere = sandbox.outside("elsewhere");
    assert_eq!(std::fs::read_to_string(elsewhere.join("code.txt")).unwrap(), "one\ntwo\n");
    assert_eq!(sandbox.git_in(&elsewhere, &["status", "--porcelain"]).ok(), "");
    git_agrees(&sandbox);
}

#[test]
fn a_style_that_only_goes_forward_refuses_a_branch_that_was_left_behind() {
    let sandbox = reviewed();
    write(&sandbox.root().join("other.txt"), "x\n");
    commit(&sandbox, &sandbox.root(), "other");
    sandbox.ralph(&["config", "set", "merge.style", "ff"]).ok();
    let said = sandbox.ralph(&["merge", "x7"]).fails(1);
    assert!(said.contains("cannot be fast-forwarded to feature/t-x7"), "{said}");
}

/// Links, modes, line endings, filters, a file in place of a folder and vice versa: as git would have created them.
#[test]
fn every_file_is_as_a_merge_by_git_would_have_made_it() {
    let sandbox = reviewed();
    let root = sandbox.root();
    sandbox.git(&["config", "filter.rot.smudge", "tr a-z b-za"]);
    sandbox.git(&["config", "filter.rot.clean", "tr b-za a-z"]);
    write(&root.join("folder/inside"), "x\n");
    write(&root.join("file"), "x\n");
    write(&root.join("plain"), "x\n");
    commit(&sandbox, &root, "before");
    let there = worktree(&sandbox);
    sandbox.git_in(&there, &["merge", "-q", "main"]).ok();
    write(&there.join(".gitattributes"), "*.crlf text eol=crlf\n*.rot filter=rot\n");
    write(&there.join("a.crlf"), "one\r\ntwo\r\n");
    write(&there.join("a.rot"), "bcd\n");
    std::fs::remove_dir_all(there.join("folder")).unwrap();
    write(&there.join("folder"), "now a file\n");
    std::fs::remove_file(there.join("file")).unwrap();
    write(&there.join("file/now/a"), "folder\n");
    make_program(&there.join("plain"));
    symlink("code.txt", there.join("link")).unwrap();
    commit(&sandbox, &there, "all kinds");
    sandbox.git(&["clone", "-q", "--no-local", ".", "../by-git"]);
    let by_git = sandbox.outside("by-git");
    sandbox.git_in(&by_git, &["config", "filter.rot.smudge", "tr a-z b-za"]).ok();
    sandbox.git_in(&by_git, &["merge", "-q", "--no-ff", "origin/feature/t-x7"]).ok();
    sandbox.ralph(&["merge", "x7"]).ok();
    assert_eq!(files(&root), files(&by_git));
    assert_eq!(sandbox.git(&["rev-parse", "HEAD^{tree}"]), sandbox.git_in(&by_git, &["rev-parse", "HEAD^{tree}"]).ok());
    git_agrees(&sandbox);
}

#[test]
fn a_group_lands_once_and_its_parent_goes_along() {
    let sandbox = reviewed();
    sandbox.write_task("t-p", "title = 'Parent'\nkind = 'epic'\natomic = true\nstate = 'In Review'\n");
    sandbox.write_task("t-x7", REVIEWED.replace("state", "parent = 't-p'\nstate"));
    sandbox.write_task("t-x8", "title = 'Second'\nparent = 't-p'\nblocked_by = ['t-x7']\nstate = 'In Review'\n");
    assert!(sandbox.ralph(&["merge", "x8", "--as", "integrator"]).fails(1).contains("t-x7"));
    let merged = sandbox.ralph(&["merge", "x7", "--as", "integrator", "--json"]).json();
    assert_eq!(merged["along"].as_array().unwrap().len(), 2);
    for id in ["t-x7", "t-x8", "t-p"] {
        assert_eq!(state(&sandbox, id), "Done");
    }
}

#[test]
fn a_worktree_that_the_checks_left_dirty_stays_and_says_so() {
    let sandbox = reviewed();
    sandbox.ralph(&["config", "set", "merge.checks", "[[\"touch\", \"left-behind\"]]"]).ok();
    sandbox.ralph(&["trust", "--yes"]).ok();
    let merged = sandbox.ralph(&["merge", "x7", "--json"]).json();
    assert!(merged["kept"].as_str().unwrap().contains("uncommitted changes"), "{merged}");
    assert!(worktree(&sandbox).join("left-behind").exists());
    assert_eq!(state(&sandbox, "x7"), "Done");
}

/// Wherever it is killed, the next call ends with the same main, the task done, and a consistent git repository.
#[test]
fn a_merge_that_is_killed_is_taken_up_again() {
    let sandbox = reviewed();
    let clean = sandbox.outside("clean");
    copy(&sandbox.outside("repo"), &clean);
    let mut landed = 0;
    let mut round = 0;
    let stride =
        if std::env::var("RALPH_TEST_ROUNDS").is_ok_and(|n| n.parse::<u32>().is_ok_and(|n| n >= 20)) { 3 } else { 17 };
    loop {
        std::fs::remove_dir_all(sandbox.root()).unwrap();
        copy(&clean, &sandbox.root());
        let output = killed_at(&sandbox, &sandbox.root(), 60 + round * stride, &["merge", "x7"]);
        let half = sandbox.git(&["show", "main:code.txt"]) == "one\ntwo\n";
        landed += u32::from(half && output.code != 0);
        if state(&sandbox, "x7") != "Done" {
            sandbox.ralph(&["merge", "x7"]).ok();
        }
        assert_eq!(std::fs::read_to_string(sandbox.root().join("code.txt")).unwrap(), "one\ntwo\n", "round {round}");
        assert_eq!(sandbox.git(&["rev-list", "--count", "main"]).trim(), "3", "round {round}: merged once");
        assert_eq!(state(&sandbox, "x7"), "Done", "round {round}");
        assert!(!worktree(&sandbox).exists(), "round {round}");
        assert!(!sandbox.git(&["branch"]).contains("feature"), "round {round}");
        git_agrees(&sandbox);
        if output.code == 0 {
            break;
        }
        round += 1;
    }
    assert!(round > 5 && landed > 0, "{round} kills, {landed} after main had moved");
}

fn copy(from: &Path, to: &Path) {
    let status = std::process::Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap();
    assert!(status.success());
}

/// A slow filter leaves time for a person to save a file: the saved file is kept, and nothing is merged.
#[test]
fn a_save_while_it_lands_wins_and_nothing_is_half_done() {
    let sandbox = reviewed();
    let there = worktree(&sandbox);
    write(&there.join(".gitattributes"), "slow.txt filter=slow\n");
    write(&there.join("slow.txt"), "slow\n");
    write(&there.join("zz.txt"), "new\n");
    commit(&sandbox, &there, "more");
    write(&sandbox.root().join("zz.txt"), "old\n");
    commit(&sandbox, &sandbox.root(), "zz");
    sandbox.git_in(&there, &["merge", "-q", "-X", "ours", "main"]).ok();
    let file = sandbox.root().join("zz.txt");
    let save = format!("cat; echo 'hours of work' >> {}", file.display());
    sandbox.git(&["config", "filter.slow.smudge", &save]);
    let main = sandbox.git(&["rev-parse", "main"]);
    let said = sandbox.ralph(&["merge", "x7"]).fails(1);
    assert!(said.contains("zz.txt"), "{said}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "old\nhours of work\n");
    assert_eq!(sandbox.git(&["rev-parse", "main"]), main);
    let status = sandbox.git(&["status", "--porcelain", "--", ":!.ralph"]);
    assert_eq!(status, " M zz.txt\n", "all others are as they were");
    assert_eq!(sandbox.ralph(&["doctor"]).code, 0);
}

#[test]
#[cfg(unix)]
fn odd_names_land_and_links_on_the_way_do_not_lead_out() {
    use std::os::unix::ffi::OsStrExt as _;
    let sandbox = reviewed();
    let there = worktree(&sandbox);
    let long = "n".repeat(250);
    let latin = std::ffi::OsStr::from_bytes(b"caf\xe9.txt");
    write(&there.join(&long), "long\n");
    std::fs::write(there.join(latin), "latin\n").unwrap();
    commit(&sandbox, &there, "odd");
    sandbox.ralph(&["merge", "x7"]).ok();
    assert!(sandbox.root().join(&long).exists() && sandbox.root().join(latin).exists());
    git_agrees(&sandbox);

    let sandbox = reviewed();
    write(&sandbox.root().join("dir/a"), "a\n");
    commit(&sandbox, &sandbox.root(), "dir");
    sandbox.git_in(&worktree(&sandbox), &["merge", "-q", "main"]).ok();
    write(&worktree(&sandbox).join("dir/a"), "b\n");
    commit(&sandbox, &worktree(&sandbox), "b");
    let outside = sandbox.outside("outside");
    std::fs::rename(sandbox.root().join("dir"), &outside).unwrap();
    symlink(&outside, sandbox.root().join("dir")).unwrap();
    assert!(sandbox.ralph(&["merge", "x7"]).fails(1).contains("dir/a"));
    assert_eq!(std::fs::read_to_string(outside.join("a")).unwrap(), "a\n");
}

#[test]
fn a_tag_does_not_stand_in_for_the_branch() {
    let sandbox = reviewed();
    sandbox.git(&["checkout", "-q", "--detach"]);
    write(&sandbox.root().join("evil.txt"), "x\n");
    sandbox.git(&["add", "evil.txt"]);
    sandbox.git(&["commit", "-qm", "evil"]);
    sandbox.git(&["tag", "feature/t-x7"]);
    sandbox.git(&["tag", "main"]);
    sandbox.git(&["checkout", "-q", "heads/main"]);
    sandbox.ralph(&["merge", "x7"]).ok();
    let files = sandbox.git(&["ls-tree", "-r", "--name-only", "refs/heads/main"]);
    assert!(files.contains("src/new.txt") && !files.contains("evil"), "{files}");
}

#[test]
fn checks_are_of_what_main_will_be() {
    let sandbox = reviewed();
    write(&sandbox.root().join("bad"), "x\n");
    commit(&sandbox, &sandbox.root(), "bad, on main");
    sandbox.ralph(&["config", "set", "merge.checks", "[[\"sh\", \"-c\", \"test ! -f bad\"]]"]).ok();
    sandbox.ralph(&["trust", "--yes"]).ok();
    assert!(sandbox.ralph(&["merge", "x7"]).fails(1).contains("`sh -c test ! -f bad` failed"));
    assert!(worktree(&sandbox).join("bad").exists(), "the branch contains main, so that it can be fixed there");
    std::fs::remove_file(worktree(&sandbox).join("bad")).unwrap();
    commit(&sandbox, &worktree(&sandbox), "mended");
    sandbox.ralph(&["merge", "x7"]).ok();
    assert!(!sandbox.root().join("bad").exists());
}

/// Once main has the work, the task is closed even if its worktree cannot be cleaned up, and the rest is reported.
#[test]
fn what_cannot_be_cleaned_up_is_named_and_the_task_is_done() {
    let sandbox = reviewed();
    let said = sandbox.ralph_in(&worktree(&sandbox), &["merge", "x7"]);
    assert!(said.code == 0 && said.stderr.contains("was removed; change to"), "{said}");
    assert!(!sandbox.git(&["branch"]).contains("feature"));

    let sandbox = reviewed();
    let module = sandbox.outside("module");
    sandbox.git(&["clone", "-q", ".", module.to_str().unwrap()]);
    let add = ["-c", "protocol.file.allow=always", "submodule", "add", "-q", module.to_str().unwrap(), "sub"];
    sandbox.git_in(&worktree(&sandbox), &add).ok();
    commit(&sandbox, &worktree(&sandbox), "submodule");
    let merged = sandbox.ralph(&["merge", "x7", "--json"]).json();
    assert!(merged["kept"].as_str().unwrap().contains("submodule"), "{merged}");
    assert_eq!(state(&sandbox, "x7"), "Done");

    let sandbox = reviewed();
    std::fs::remove_file(worktree(&sandbox).join(".git")).unwrap();
    assert_eq!(sandbox.ralph(&["doctor"]).code, 0);
    sandbox.ralph(&["merge", "x7"]).ok();
    assert!(!sandbox.git(&["worktree", "list"]).contains("t-x7"));

    let sandbox = reviewed();
    sandbox.git_in(&worktree(&sandbox), &["checkout", "-q", "--detach"]).ok();
    write(&worktree(&sandbox).join("late.txt"), "x\n");
    commit(&sandbox, &worktree(&sandbox), "late");
    assert!(sandbox.ralph(&["merge", "x7"]).fails(1).contains("detached HEAD, not on feature/t-x7"));
}

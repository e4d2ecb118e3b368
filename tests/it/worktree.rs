//! Worktrees: created with gix, and consistent for git.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::sandbox::{RALPH, Sandbox, finish};
use crate::system::symlink;

/// A repository with a commit and a task.
fn committed() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write_task("t-x7", "title = 'Work'\nstate = 'In Progress'\n");
    std::fs::write(sandbox.root().join("code.txt"), "one\n").unwrap();
    commit(&sandbox, &sandbox.root(), "base");
    sandbox
}

fn commit(sandbox: &Sandbox, folder: &Path, message: &str) {
    sandbox.git_in(folder, &["add", "-A"]).ok();
    sandbox.git_in(folder, &["commit", "-q", "-m", message]).ok();
}

fn path(sandbox: &Sandbox) -> PathBuf {
    sandbox.root().join("worktrees/t-x7")
}

#[track_caller]
fn git_agrees(sandbox: &Sandbox) {
    sandbox.git(&["fsck", "--strict"]);
    assert_eq!(sandbox.git(&["worktree", "prune", "-n", "-v"]), "", "git would prune something");
    assert_eq!(sandbox.git(&["status", "--porcelain", "--", ":!.ralph"]), "");
}

#[test]
fn a_worktree_is_made_once_and_reused() {
    let sandbox = committed();
    let made = sandbox.ralph(&["worktree", "add", "x7", "--json"]).json();
    assert_eq!((&made["branch"], &made["reused"]), (&"feature/t-x7".into(), &false.into()));
    assert_eq!(std::fs::read_to_string(path(&sandbox).join("code.txt")).unwrap(), "one\n");
    assert!(sandbox.git(&["worktree", "list"]).contains("[feature/t-x7]"));
    assert_eq!(sandbox.git_in(&path(&sandbox), &["status", "--porcelain"]).ok(), "");
    git_agrees(&sandbox);
    assert_eq!(sandbox.ralph(&["worktree", "add", "x7", "--json"]).json()["reused"], true);
    let where_it_is = sandbox.ralph(&["worktree", "path", "x7"]).ok();
    assert_eq!(PathBuf::from(where_it_is.trim()).canonicalize().unwrap(), path(&sandbox).canonicalize().unwrap());
    sandbox.git_in(&path(&sandbox), &["checkout", "-q", "-b", "elsewhere"]).ok();
    assert!(sandbox.ralph(&["worktree", "add", "x7"]).fails(1).contains("on branch elsewhere instead of feature/t-x7"));
}

#[test]
fn what_would_be_lost_keeps_a_worktree() {
    let sandbox = committed();
    sandbox.ralph(&["worktree", "add", "x7"]).ok();
    std::fs::write(path(&sandbox).join("new.txt"), "x").unwrap();
    assert!(sandbox.ralph(&["worktree", "rm", "x7"]).fails(1).contains("uncommitted changes"));
    commit(&sandbox, &path(&sandbox), "work");
    let said = sandbox.ralph(&["worktree", "rm", "x7"]).fails(1);
    assert!(said.contains("1 commit is not merged into main") && !said.contains("not committed"), "{said}");
    sandbox.ralph(&["worktree", "lock", "x7", "on a stick"]).ok();
    assert!(sandbox.ralph(&["worktree", "rm", "x7"]).fails(1).contains("locked: on a stick"));
    sandbox.ralph(&["worktree", "unlock", "x7"]).ok();
    let listed = sandbox.ralph(&["worktree", "ls", "--json"]).json();
    assert_eq!(
        (&listed[0]["task"], &listed[0]["distance"]["ahead"], &listed[0]["dirty"]),
        (&"t-x7".into(), &1.into(), &false.into())
    );
    sandbox.git(&["merge", "-q", "--no-edit", "feature/t-x7"]);
    let removed = sandbox.ralph(&["worktree", "rm", "x7", "--json"]).json();
    assert_eq!(removed["branch_deleted"], true);
    assert!(!path(&sandbox).exists() && !sandbox.git(&["branch"]).contains("feature"));
    git_agrees(&sandbox);
}

#[test]
fn force_throws_the_files_away_and_keeps_the_commits() {
    let sandbox = committed();
    sandbox.ralph(&["worktree", "add", "x7"]).ok();
    std::fs::write(path(&sandbox).join("code.txt"), "two\n").unwrap();
    commit(&sandbox, &path(&sandbox), "work");
    std::fs::write(path(&sandbox).join("junk"), "x").unwrap();
    let removed = sandbox.ralph(&["worktree", "rm", "x7", "--force", "--json"]).json();
    assert_eq!(removed["branch_deleted"], false);
    assert!(!path(&sandbox).exists() && sandbox.git(&["branch"]).contains("feature/t-x7"));
    sandbox.ralph(&["worktree", "add", "x7"]).ok();
    assert_eq!(std::fs::read_to_string(path(&sandbox).join("code.txt")).unwrap(), "two\n", "the branch is used again");
}

#[test]
fn only_what_is_merged_or_gone_is_pruned() {
    let sandbox = committed();
    for id in ["done", "open", "gone", "dirty"] {
        sandbox.write_task(id, "title = 'x'\nstate = 'In Progress'\n");
        sandbox.ralph(&["worktree", "add", id]).ok();
    }
    for id in ["done", "dirty"] {
        sandbox.write_task(id, "title = 'x'\nstate = 'Done'\n");
    }
    std::fs::write(sandbox.root().join("worktrees/dirty/junk"), "x").unwrap();
    std::fs::remove_dir_all(sandbox.root().join("worktrees/gone")).unwrap();
    let named = sandbox.ralph(&["worktree", "prune"]);
    assert!(
        named.stdout.contains("worktrees/done can be removed")
            && named.stdout.contains("worktrees/gone can be removed"),
        "{named}"
    );
    assert!(!named.stdout.contains("open") && !named.stdout.contains("dirty"), "{named}");
    assert!(sandbox.root().join("worktrees/done").exists());
    sandbox.ralph(&["worktree", "prune", "--yes"]).ok();
    assert_eq!(sandbox.ralph(&["worktree", "ls", "--json"]).json().as_array().unwrap().len(), 2);
    git_agrees(&sandbox);
}

#[test]
fn a_branch_is_stacked_on_the_one_that_it_waits_for() {
    let sandbox = committed();
    sandbox.write_task("next", "title = 'Next'\nblocked_by = ['t-x7']\n");
    assert!(sandbox.ralph(&["worktree", "add", "next", "--stack"]).fails(1).contains("no blocker with a branch"));
    sandbox.ralph(&["worktree", "add", "x7"]).ok();
    std::fs::write(path(&sandbox).join("code.txt"), "two\n").unwrap();
    commit(&sandbox, &path(&sandbox), "work");
    sandbox.ralph(&["worktree", "add", "next", "--stack"]).ok();
    assert_eq!(std::fs::read_to_string(sandbox.root().join("worktrees/next/code.txt")).unwrap(), "two\n");
    assert!(sandbox.ralph(&["worktree", "add", "t-x7", "--from", "nowhere"]).code == 0, "it already exists");
    sandbox.write_task("other", "title = 'o'\n");
    assert!(
        sandbox
            .ralph(&["worktree", "add", "other", "--from", "nowhere"])
            .fails(2)
            .contains("unknown revision \"nowhere\"")
    );
    assert!(!sandbox.git(&["branch"]).contains("other"), "nothing is left of it");
}

#[test]
fn nothing_is_made_outside_the_repository_or_over_something_else() {
    let sandbox = committed();
    let elsewhere = sandbox.outside("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, sandbox.root().join("worktrees")).unwrap();
    assert!(sandbox.ralph(&["worktree", "add", "x7"]).fails(1).contains("is a symbolic link"));
    std::fs::remove_file(sandbox.root().join("worktrees")).unwrap();
    std::fs::create_dir_all(path(&sandbox)).unwrap();
    std::fs::write(path(&sandbox).join("mine.txt"), "keep").unwrap();
    assert!(sandbox.ralph(&["worktree", "add", "x7"]).fails(1).contains("is not a worktree and is not empty"));
    std::fs::remove_dir_all(path(&sandbox)).unwrap();
    symlink(&elsewhere, path(&sandbox)).unwrap();
    assert!(sandbox.ralph(&["worktree", "add", "x7"]).fails(1).contains("is a symbolic link"));
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
    assert!(!sandbox.git(&["branch"]).contains("feature"));
}

/// Line endings, links, modes and filters as git itself would check them out.
#[test]
fn every_file_is_as_git_would_have_made_it() {
    let sandbox = committed();
    let root = sandbox.root();
    std::fs::write(root.join(".gitattributes"), "*.crlf eol=crlf\n*.lf eol=lf\n*.bin binary\n*.up filter=up\n")
        .unwrap();
    sandbox.git(&["config", "filter.up.smudge", "tr a-z A-Z"]);
    sandbox.git(&["config", "filter.up.clean", "tr A-Z a-z"]);
    for (name, text) in [
        ("a.crlf", "one\ntwo\n"),
        ("b.lf", "one\n"),
        ("c.bin", "\0\r\n\x01"),
        ("d.up", "quiet\n"),
        ("sub/dir/é ü.txt", "x"),
        ("empty", ""),
    ] {
        std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        std::fs::write(root.join(name), text).unwrap();
    }
    finish(Command::new("chmod").arg("+x").arg(root.join("b.lf"))).ok();
    symlink("sub/dir", root.join("link")).unwrap();
    symlink("nowhere", root.join("dangling")).unwrap();
    commit(&sandbox, &root, "odd files");
    sandbox.ralph(&["worktree", "add", "x7"]).ok();
    let other = sandbox.outside("by-git");
    sandbox.git(&["worktree", "add", "-q", other.to_str().unwrap(), "-b", "by-git"]);
    let difference =
        finish(Command::new("diff").args(["-r", "--no-dereference", "-x", ".git"]).arg(&other).arg(path(&sandbox)));
    assert_eq!(difference.ok(), "");
    let modes = |folder: &Path| {
        finish(Command::new("find").arg(folder).args(["-not", "-path", "*/.git*", "-printf", "%P %m %y\\n"])).ok()
    };
    let sorted = |text: String| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(modes(&other)), sorted(modes(&path(&sandbox))));
    assert_eq!(sandbox.git_in(&path(&sandbox), &["status", "--porcelain"]).ok(), "");
    std::fs::write(root.join(".gitattributes"), "*.nope working-tree-encoding=UTF-16LE\n").unwrap();
    commit(&sandbox, &root, "utf-16");
    sandbox.write_task("later", "title = 'x'\n");
    assert!(sandbox.ralph(&["worktree", "add", "later"]).fails(1).contains("UTF-16"));
    assert!(!sandbox.git(&["branch"]).contains("later"));
}

/// Killed at any system call: git finds no errors, and the next try creates the worktree.
#[test]
fn a_worktree_whose_making_was_killed_is_made_anew() {
    let sandbox = committed();
    for n in 0..12 {
        std::fs::write(sandbox.root().join(format!("file{n}")), format!("{n}\n").repeat(50)).unwrap();
    }
    commit(&sandbox, &sandbox.root(), "files");
    let calls = "openat,write,mkdir,rename,link,linkat,unlink,rmdir,close,symlink";
    for nth in (1..400).step_by(7) {
        let mut command = sandbox.command("strace", &sandbox.root());
        command.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={calls}")]);
        command.args(["-e", &format!("inject={calls}:signal=SIGKILL:when={nth}"), RALPH, "worktree", "add", "x7"]);
        let ended = finish(&mut command).code;
        let again = sandbox.ralph(&["worktree", "add", "x7"]);
        assert_eq!(again.code, 0, "call {nth}: {again}");
        assert_eq!(sandbox.git_in(&path(&sandbox), &["status", "--porcelain"]).ok(), "", "call {nth}");
        assert_eq!(std::fs::read_to_string(path(&sandbox).join("file7")).unwrap().lines().count(), 50);
        sandbox.ralph(&["worktree", "rm", "x7"]).ok();
        git_agrees(&sandbox);
        if ended == 0 {
            break;
        }
    }
}

/// Ignored files are kept too: only a build's own folders are removed, and a person's own worktree stays.
#[test]
fn ignored_files_are_rescued_and_a_persons_own_worktree_stays() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.root().join(".gitignore"), ".env\ntarget/\n").unwrap();
    let id = sandbox.add(&["One"]);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "base"]);
    sandbox.ralph(&["worktree", "add", &id]).ok();
    let (there, mine) = (sandbox.root().join("worktrees").join(&id), sandbox.outside("mine"));
    std::fs::write(there.join(".env"), "secret\n").unwrap();
    std::fs::create_dir(there.join("target")).unwrap();
    std::fs::write(there.join("target/x"), "built\n").unwrap();
    sandbox.git(&["worktree", "add", "-q", "-b", "feature/mine", &mine.display().to_string()]);
    std::fs::write(mine.join(".env"), "mine\n").unwrap();
    sandbox.ralph(&["worktree", "prune", "--yes"]).ok();
    assert_eq!(std::fs::read_to_string(mine.join(".env")).unwrap(), "mine\n");
    let said = sandbox.ralph(&["worktree", "rm", &id]);
    assert!(said.code == 0 && said.stderr.contains("were moved to") && said.stderr.contains(".env"), "{said}");
    let rescued = sandbox.root().join(".git/ralph/rescued");
    let place = std::fs::read_dir(&rescued).unwrap().next().unwrap().unwrap().path();
    assert_eq!(std::fs::read_to_string(place.join(".env")).unwrap(), "secret\n");
    assert!(!there.exists() && !place.join("target").exists());
}

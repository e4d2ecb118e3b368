//! `ralph commit` commits the board, and leaves all other staged and changed files as they were.

use std::path::Path;

use crate::crash::killed_at;
use crate::sandbox::Sandbox;
use crate::system::{make_program, symlink};

fn write(path: &Path, content: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

fn program(path: &Path, content: &str) {
    write(path, content);
    make_program(path);
}

/// A repository with other work in progress: staged, changed, staged and changed, deleted, renamed and untracked files.
fn busy(sandbox: &Sandbox) -> String {
    let root = sandbox.root();
    for name in ["staged", "changed", "both", "deleted", "old"] {
        write(&root.join(name), "one\n");
    }
    sandbox.git(&["add", "staged", "changed", "both", "deleted", "old"]);
    sandbox.git(&["commit", "-qm", "base"]);
    write(&root.join("staged"), "two\n");
    write(&root.join("both"), "two\n");
    write(&root.join("new"), "new\n");
    sandbox.git(&["add", "staged", "both", "new"]);
    sandbox.git(&["rm", "-q", "deleted"]);
    sandbox.git(&["mv", "old", "renamed"]);
    write(&root.join("both"), "three\n");
    write(&root.join("changed"), "two\n");
    write(&root.join("untracked"), "x\n");
    own(sandbox)
}

/// `git status` without the board, with the content of the index.
fn own(sandbox: &Sandbox) -> String {
    let but = [":!.ralph", ":!.gitattributes", ":!.gitignore", ":!.taplo.toml", ":!thoughts"];
    let status = sandbox.git(&[&["status", "--porcelain", "--"], but.as_slice()].concat());
    let staged = sandbox.git(&[&["ls-files", "-s", "--"], but.as_slice()].concat());
    format!("{status}\n{staged}")
}

fn board_status(sandbox: &Sandbox) -> String {
    sandbox.git(&["status", "--porcelain", "--", ".ralph", ".gitattributes", ".gitignore", ".taplo.toml"])
}

#[test]
fn the_board_is_committed_and_a_persons_own_work_stays_as_it_is() {
    let sandbox = Sandbox::new();
    let before = busy(&sandbox);
    let id = sandbox.add(&["One"]);
    sandbox.ralph(&["note", &id, "hm"]).ok();
    write(&sandbox.root().join("thoughts/shared/plans/p.md"), "plan\n");
    write(&sandbox.root().join("thoughts/private.md"), "mine\n");
    let made = sandbox.ralph(&["commit", "--json"]).json();
    assert_eq!(made["message"], format!("board: {id}"));
    assert_eq!(board_status(&sandbox), "");
    assert_eq!(own(&sandbox), before);
    let files = sandbox.git(&["show", "--name-only", "--format=", "HEAD"]);
    assert!(files.contains("thoughts/shared/plans/p.md") && !files.contains("private") && !files.contains("staged"));
    assert!(
        files.contains(".gitattributes") && files.contains(".taplo.toml"),
        "the files of `init` are committed too: {files}"
    );
    sandbox.git(&["fsck", "--strict"]);
    assert!(sandbox.ralph(&["commit"]).stderr.contains("nothing to commit"));
    sandbox.ralph(&["task", "rm", &id]).ok();
    sandbox.ralph(&["commit", "-m", "gone again"]).ok();
    assert_eq!(sandbox.git(&["log", "-1", "--format=%s"]).trim(), "board: gone again");
    assert!(!sandbox.git(&["ls-tree", "-r", "--name-only", "HEAD"]).contains(&id));
    assert_eq!(own(&sandbox), before);
    assert!(sandbox.git(&["reflog"]).contains("commit: board: gone again"));
}

#[test]
fn it_works_on_the_first_commit_and_from_a_linked_worktree() {
    let sandbox = Sandbox::new();
    sandbox.ralph(&["commit"]).ok();
    assert_eq!(sandbox.git(&["rev-list", "--count", "HEAD"]).trim(), "1");
    sandbox.git(&["worktree", "add", "-q", "../linked"]);
    let linked = sandbox.outside("linked");
    sandbox.ralph_in(&linked, &["task", "add", "From afar"]).ok();
    sandbox.ralph_in(&linked, &["commit"]).ok();
    assert_eq!(board_status(&sandbox), "");
    assert_eq!(sandbox.git(&["rev-list", "--count", "main"]).trim(), "2");
    assert_eq!(sandbox.git_in(&linked, &["status", "--porcelain"]).ok(), "");
}

#[test]
fn lines_of_a_persons_own_in_a_shared_file_stay_theirs_to_commit() {
    let sandbox = Sandbox::new();
    write(&sandbox.root().join(".gitignore"), "/target/\n/worktrees/\n");
    sandbox.add(&["One"]);
    sandbox.ralph(&["commit"]).ok();
    assert_eq!(board_status(&sandbox), "?? .gitignore\n");
}

#[test]
fn the_hooks_of_the_user_are_run_and_may_refuse() {
    let sandbox = Sandbox::new();
    let before = busy(&sandbox);
    let seen = sandbox.outside("seen");
    let hook = format!("#!/bin/sh\ngit diff --cached --name-only > {}\n[ -z \"$REFUSE\" ]\n", seen.display());
    program(&sandbox.root().join(".git/hooks/pre-commit"), &hook);
    let id = sandbox.add(&["One"]);
    let mut refused = sandbox.command(crate::sandbox::RALPH, &sandbox.root());
    let said = crate::sandbox::finish(refused.args(["commit"]).env("REFUSE", "1")).fails(1);
    assert!(said.contains("hook"), "{said}");
    assert_eq!(own(&sandbox), before);
    assert!(board_status(&sandbox).contains("?? .ralph/"), "{}", board_status(&sandbox));
    sandbox.ralph(&["commit"]).ok();
    let shown = std::fs::read_to_string(&seen).unwrap();
    assert!(shown.contains(&id) && !shown.contains("staged"), "the hook sees what is committed: {shown}");
    assert_eq!((own(&sandbox), board_status(&sandbox)), (before, String::new()));
}

#[test]
fn a_commit_is_signed_where_the_user_signs_and_not_made_where_that_fails() {
    let sandbox = Sandbox::new();
    let signer = sandbox.outside("signer");
    let said = "printf '[GNUPG:] SIG_CREATED x\\n' >&2; cat > /dev/null";
    let block = "printf -- '-----BEGIN PGP SIGNATURE-----\\nabc\\n-----END PGP SIGNATURE-----\\n'";
    program(&signer, &format!("#!/bin/sh\n{said}\n[ -z \"$REFUSE\" ] || exit 1\n{block}\n"));
    sandbox.git(&["config", "commit.gpgSign", "true"]);
    sandbox.git(&["config", "gpg.program", signer.to_str().unwrap()]);
    sandbox.git(&["config", "user.signingKey", "me"]);
    sandbox.add(&["One"]);
    let mut refused = sandbox.command(crate::sandbox::RALPH, &sandbox.root());
    let failed = crate::sandbox::finish(refused.args(["commit"]).env("REFUSE", "1")).fails(4);
    assert!(failed.contains("sign"), "{failed}");
    assert_ne!(sandbox.git_in(&sandbox.root(), &["rev-parse", "HEAD"]).code, 0, "nothing was committed");
    sandbox.ralph(&["commit"]).ok();
    assert!(sandbox.git(&["cat-file", "commit", "HEAD"]).contains("BEGIN PGP SIGNATURE"));
}

#[test]
fn a_merge_that_is_under_way_is_left_alone() {
    let sandbox = Sandbox::new();
    write(&sandbox.root().join("f"), "one\n");
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "base"]);
    sandbox.git(&["checkout", "-qb", "other"]);
    write(&sandbox.root().join("f"), "two\n");
    sandbox.git(&["commit", "-qam", "two"]);
    sandbox.git(&["checkout", "-q", "main"]);
    write(&sandbox.root().join("f"), "three\n");
    sandbox.git(&["commit", "-qam", "three"]);
    assert_ne!(sandbox.git_in(&sandbox.root(), &["merge", "-q", "other"]).code, 0);
    sandbox.add(&["One"]);
    assert!(sandbox.ralph(&["commit"]).fails(1).contains("a merge is in progress"));
    assert!(sandbox.git(&["ls-files", "-u"]).contains('f'));
}

#[test]
fn a_board_that_wants_it_is_committed_after_each_verb() {
    let sandbox = Sandbox::new();
    sandbox.ralph(&["config", "set", "git.commit", "each"]).ok();
    let before = busy(&sandbox);
    let id = sandbox.add(&["One"]);
    sandbox.ralph(&["task", "set", &id, "priority=P1"]).ok();
    let log = sandbox.git(&["log", "--format=%s", "-2"]);
    assert_eq!(log, format!("board: {id}\nboard: {id}\n"));
    assert_eq!((own(&sandbox), board_status(&sandbox)), (before, String::new()));
    // A command succeeds even if git cannot commit its change.
    write(&sandbox.root().join(".git/index.lock"), "");
    let said = sandbox.ralph(&["task", "set", &id, "priority=P2"]);
    assert!(said.stderr.contains("the board was not committed"), "{said}");
    assert!(sandbox.read_task(&id).contains("P2"));
}

/// Killed at any system call: nothing staged is lost, no lock remains, and the next commit has everything.
#[test]
fn a_commit_that_is_killed_leaves_nothing_in_the_way() {
    let sandbox = Sandbox::new();
    let before = busy(&sandbox);
    let mut committed = false;
    for round in 0.. {
        sandbox.add(&["One"]);
        let output = killed_at(&sandbox, &sandbox.root(), 5 + round * 7, &["commit"]);
        sandbox.ralph(&["commit"]).ok();
        assert_eq!((own(&sandbox), board_status(&sandbox)), (before.clone(), String::new()), "round {round}");
        assert!(!sandbox.root().join(".git/index.lock").exists(), "round {round}");
        if output.code == 0 {
            committed = true;
            break;
        }
    }
    assert!(committed);
    sandbox.git(&["fsck", "--strict"]);
}

#[test]
fn what_would_be_lost_or_wrong_is_not_committed() {
    let sandbox = Sandbox::new();
    sandbox.write_task("t-a", "title = 'A'\n");
    sandbox.ralph(&["commit"]).ok();
    sandbox.write_task("t-b", "<<<<<<< HEAD\ntitle = 'x'\n=======\ntitle = 'y'\n>>>>>>> o\n");
    assert!(sandbox.ralph(&["commit"]).fails(4).contains("t-b.toml:1:1"));
    sandbox.write_task("t-b", "title = \n");
    let said = sandbox.ralph(&["commit"]);
    assert!(said.code == 0 && said.stderr.contains("problem: .ralph/tasks/t-b.toml:1"), "{said}");
    std::fs::write(sandbox.root().join(".ralph/tasks/.t-a.toml.swp"), "x").unwrap();
    std::fs::write(sandbox.root().join(".ralph/tasks/t-a.toml~"), "x").unwrap();
    assert!(sandbox.ralph(&["commit"]).stderr.contains("nothing to commit"));
    sandbox.git(&["checkout", "-q", "--detach"]);
    sandbox.add(&["Lost"]);
    assert!(sandbox.ralph(&["commit"]).fails(1).contains("HEAD is detached"));
    sandbox.git(&["checkout", "-q", "main"]);
    let (tasks, elsewhere) = (sandbox.root().join(".ralph/tasks"), sandbox.outside("tasks"));
    std::fs::rename(&tasks, &elsewhere).unwrap();
    symlink(&elsewhere, &tasks).unwrap();
    assert!(sandbox.ralph(&["commit"]).fails(4).contains("leads out of the repository"));
    sandbox.git(&["write-tree"]);
}

//! Using the board from linked worktrees, subfolders, a `.git` file and `GIT_DIR`; and what is refused.

use crate::sandbox::{RALPH, Sandbox, finish};

/// A task, a commit, and a linked worktree next to the repository.
fn linked() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write_task("t-a", "title = 'A'\n");
    sandbox.ralph(&["commit"]).ok();
    sandbox.git(&["worktree", "add", "-q", "../linked"]);
    sandbox
}

/// Runs commands that change the board from a folder that is not the main worktree.
#[track_caller]
fn works_from(sandbox: &Sandbox, folder: &std::path::Path) {
    let ralph = |args: &[&str]| sandbox.ralph_in(folder, args);
    assert_eq!(ralph(&["task", "ls", "--json"]).json()[0]["id"], "t-a");
    ralph(&["task", "set", "t-a", "priority=P1"]).ok();
    ralph(&["note", "t-a", "hm"]).ok();
    ralph(&["claim", "t-a"]).ok();
    ralph(&["release", "t-a"]).ok();
    ralph(&["run", "t-a", "--", "true"]).ok();
    ralph(&["worktree", "add", "t-a"]).ok();
    let path = ralph(&["worktree", "path", "t-a"]).ok();
    assert!(path.trim().ends_with("repo/worktrees/t-a"), "{path}");
    ralph(&["worktree", "rm", "t-a"]).ok();
    ralph(&["undo"]).ok();
    ralph(&["status"]).ok();
    ralph(&["log"]).ok();
    ralph(&["commit"]).ok();
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    assert!(sandbox.read_task("t-a").contains("P1"));
}

#[test]
fn from_a_linked_worktree_and_from_subfolders() {
    let sandbox = linked();
    let deep = sandbox.outside("linked/some/where");
    std::fs::create_dir_all(&deep).unwrap();
    works_from(&sandbox, &deep);
    let deep = sandbox.root().join("some/where");
    std::fs::create_dir_all(&deep).unwrap();
    works_from(&sandbox, &deep);
    works_from(&sandbox, &sandbox.root().join(".ralph/tasks"));
}

#[test]
fn where_git_is_a_file() {
    let sandbox = Sandbox::bare();
    sandbox.git(&["init", "-q", "-b", "main", "--separate-git-dir", "../elsewhere.git"]);
    sandbox.ralph(&["init"]).ok();
    sandbox.write_task("t-a", "title = 'A'\n");
    sandbox.ralph(&["commit"]).ok();
    works_from(&sandbox, &sandbox.root());
    sandbox.git(&["worktree", "add", "-q", "../linked"]);
    works_from(&sandbox, &sandbox.outside("linked"));
}

#[test]
fn in_a_submodule_the_board_is_the_submodules() {
    let sandbox = linked();
    let outer = sandbox.outside("outer");
    sandbox.git(&["init", "-q", "-b", "main", outer.to_str().unwrap()]);
    let inner = sandbox.root();
    let add = ["-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.to_str().unwrap(), "sub"];
    sandbox.git_in(&outer, &add).ok();
    sandbox.ralph_in(&outer.join("sub"), &["task", "set", "t-a", "priority=P0"]).ok();
    assert!(std::fs::read_to_string(outer.join("sub/.ralph/tasks/t-a.toml")).unwrap().contains("P0"));
    assert!(sandbox.ralph_in(&outer, &["task", "ls"]).fails(4).contains("no board"));
}

#[test]
fn with_git_dir_set() {
    let sandbox = linked();
    let away = sandbox.outside("away");
    std::fs::create_dir(&away).unwrap();
    let with = |args: &[&str]| {
        let mut command = sandbox.command(RALPH, &away);
        finish(command.env("GIT_DIR", sandbox.root().join(".git")).args(args))
    };
    assert_eq!(with(&["task", "ls", "--json"]).json()[0]["id"], "t-a");
    with(&["task", "set", "t-a", "priority=P1"]).ok();
    with(&["commit"]).ok();
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    // As git runs its hooks: with its own index, in a linked worktree.
    let mut command = sandbox.command(RALPH, &sandbox.outside("linked"));
    command.env("GIT_DIR", sandbox.root().join(".git/worktrees/linked")).env("GIT_INDEX_FILE", "/nowhere");
    finish(command.args(["task", "set", "t-a", "estimate=S"])).ok();
    assert!(sandbox.read_task("t-a").contains("estimate"));
}

#[test]
fn a_bare_repository_is_refused_with_the_reason_and_so_are_its_worktrees() {
    let sandbox = linked();
    sandbox.git(&["clone", "-q", "--bare", ".", "../bare.git"]);
    let bare = sandbox.outside("bare.git");
    assert!(sandbox.ralph_in(&bare, &["task", "ls"]).fails(4).contains("bare repository"));
    sandbox.git_in(&bare, &["worktree", "add", "-q", "../of-bare", "main"]).ok();
    assert!(sandbox.ralph_in(&sandbox.outside("of-bare"), &["task", "ls"]).fails(4).contains("bare repository"));
}

#[test]
fn a_task_edited_in_a_copy_of_the_board_is_found() {
    let sandbox = linked();
    let copy = sandbox.outside("linked/.ralph/tasks");
    assert_eq!(sandbox.ralph(&["doctor"]).code, 0);
    std::fs::write(copy.join("t-a.toml"), "title = 'A, edited'\n").unwrap();
    std::fs::write(copy.join("t-new.toml"), "title = 'New'\n").unwrap();
    let said = sandbox.ralph(&["doctor", "--json"]);
    assert_eq!(said.code, 1);
    let codes = said.stdout.matches("edited-copy").count();
    assert!(codes == 2 && said.stdout.contains("t-new.toml"), "{said}");
    let linked = sandbox.outside("linked");
    sandbox.git_in(&linked, &["add", "-A"]).ok();
    sandbox.git_in(&linked, &["commit", "-qm", "edits"]).ok();
    assert_eq!(sandbox.ralph(&["doctor", "--json"]).stdout.matches("edited-copy").count(), 2);
}

/// Nothing is created, moved or removed outside the repository, whatever a name contains.
#[test]
fn names_that_would_lead_elsewhere_are_refused() {
    let sandbox = linked();
    for bad in ["../x", "/etc/passwd", "a/../../b", ".", "..", "-rf", "a b", "x\ny", ""] {
        for command in [
            &["worktree", "add", bad][..],
            &["worktree", "rm", bad],
            &["worktree", "path", bad],
            &["merge", bad],
            &["claim", bad],
        ] {
            let said = sandbox.ralph(command);
            assert!((1..=4).contains(&said.code), "{command:?}: {said}");
        }
    }
    assert!(!sandbox.outside("x").exists());
    for bad in ["--upload-pack=touch x", "ext::touch x", "../elsewhere", "-x"] {
        assert_ne!(sandbox.ralph(&["pull", "--", bad]).code, 0);
        assert_ne!(sandbox.ralph(&["--config", &format!("claims.remote={bad}"), "claim", "t-a"]).code, 0);
    }
    assert!(!sandbox.root().join("x").exists());
    sandbox.ralph(&["--config", "git.main=../../x", "worktree", "add", "t-a"]).fails(1);
    sandbox.write_task("t-gh", "title = 'G'\n[github]\nnumber = \"../../x\"\n");
    let said = sandbox.ralph(&["worktree", "add", "t-gh"]);
    assert!(said.code != 0 || said.stdout.contains("worktrees/t-gh"), "{said}");
}

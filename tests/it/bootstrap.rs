//! Preparing new worktrees: ignored files, ports, and the programs of `worktree.*`.

use std::path::PathBuf;

use crate::sandbox::{Sandbox, eventually};
use crate::system::symlink;

/// A Node project whose tests need an ignored package and an ignored `.env`.
fn node_project() -> Sandbox {
    let sandbox = Sandbox::new();
    for id in ["t-x7", "t-y8"] {
        sandbox.write_task(id, "title = 'Work'\nstate = 'In Progress'\n");
    }
    write(&sandbox, ".gitignore", "node_modules/\n.env\nsecrets/\nworktrees/\n");
    write(&sandbox, ".worktreeinclude", "# what every worktree needs\nnode_modules/\n.env\nsecrets/*.key\ntest.js\n");
    write(&sandbox, "test.js", "if (require('left-pad')(process.env.X ?? '1') !== '01') process.exit(1)\n");
    write(&sandbox, "package.json", "{\"scripts\": {\"test\": \"node --env-file=.env test.js\"}}\n");
    write(&sandbox, ".env", "X=1\n");
    write(&sandbox, "node_modules/left-pad/index.js", "module.exports = (text) => require('zero') + text\n");
    write(&sandbox, "node_modules/zero/index.js", "module.exports = '0'\n");
    write(&sandbox, "node_modules/.package-lock.json", "{}\n");
    write(&sandbox, "secrets/a.key", "a\n");
    write(&sandbox, "secrets/readme", "not for worktrees\n");
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "base"]);
    sandbox
}

fn write(sandbox: &Sandbox, path: &str, text: &str) {
    let path = sandbox.root().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn worktree(sandbox: &Sandbox, id: &str) -> PathBuf {
    sandbox.root().join("worktrees").join(id)
}

/// Sets a user setting, which needs no trust.
fn set(sandbox: &Sandbox, key: &str, value: &str) {
    sandbox.ralph(&["config", "set", "--user", key, value]).ok();
}

fn shell(line: &str) -> String {
    format!("[[\"sh\", \"-c\", '{line}']]")
}

#[track_caller]
fn its_tests_pass(sandbox: &Sandbox, id: &str) {
    let folder = worktree(sandbox, id);
    let npm_test = sandbox.command("node", &folder).args(["--env-file=.env", "test.js"]).output().unwrap();
    assert!(npm_test.status.success(), "{npm_test:?}");
    assert_eq!(sandbox.git_in(&folder, &["status", "--porcelain"]).ok(), "");
}

#[test]
fn ignored_files_that_match_are_copied_and_the_projects_tests_run_at_once() {
    let sandbox = node_project();
    let added = sandbox.ralph(&["worktree", "add", "x7", "--json"]).json();
    assert_eq!(added["included"]["paths"], serde_json::json!([".env", "node_modules/", "secrets/a.key"]));
    its_tests_pass(&sandbox, "t-x7");
    let folder = worktree(&sandbox, "t-x7");
    assert!(!folder.join("secrets/readme").exists(), "no pattern matches it");
    std::fs::write(folder.join("node_modules/zero/index.js"), "changed").unwrap();
    assert_eq!(
        std::fs::read_to_string(sandbox.root().join("node_modules/zero/index.js")).unwrap(),
        "module.exports = '0'\n"
    );
}

#[test]
fn folders_can_be_links_that_git_does_not_see_and_removal_does_not_follow() {
    let sandbox = node_project();
    set(&sandbox, "worktree.include", "link");
    sandbox.ralph(&["worktree", "add", "x7"]).ok();
    let folder = worktree(&sandbox, "t-x7");
    assert!(folder.join("node_modules/zero").is_symlink() && !folder.join(".env").is_symlink());
    its_tests_pass(&sandbox, "t-x7");
    let said = sandbox.ralph(&["worktree", "rm", "x7"]).ok();
    assert!(!said.contains("moved to"), "it contained nothing to keep: {said}");
    assert!(!folder.exists() && sandbox.root().join("node_modules/zero/index.js").exists());
    set(&sandbox, "worktree.include", "off");
    sandbox.ralph(&["worktree", "add", "x7"]).ok();
    assert!(!folder.join(".env").exists());
}

/// A project with packages in source folders, of which git sees nothing but ignored files.
fn monorepo(how: &str) -> Sandbox {
    let sandbox = node_project();
    write(&sandbox, "apps/web/node_modules/p/index.js", "p\n");
    write(&sandbox, "apps/web/node_modules/p/node_modules/q/index.js", "q\n");
    write(&sandbox, "node_modules/vendored/repo/.git/HEAD", "ref: refs/heads/main\n");
    write(&sandbox, "node_modules/vendored/repo/a.js", "a\n");
    write(&sandbox, "node_modules/vendored/plain/a.js", "a\n");
    set(&sandbox, "worktree.include", how);
    sandbox
}

#[test]
fn only_what_a_pattern_matches_is_linked() {
    let sandbox = monorepo("link");
    let added = sandbox.ralph(&["worktree", "add", "x7"]).ok();
    assert!(added.contains("linked apps/web/node_modules/, node_modules/ (4 folders)"), "{added}");
    let folder = worktree(&sandbox, "t-x7");
    for real in ["apps", "apps/web", "apps/web/node_modules", "node_modules", "node_modules/vendored"] {
        assert!(folder.join(real).is_dir() && !folder.join(real).is_symlink(), "{real}");
    }
    assert!(folder.join("apps/web/node_modules/p").is_symlink());
    assert!(folder.join("node_modules/vendored/plain").is_symlink());
    assert!(!folder.join("node_modules/vendored/repo").exists(), "a repository is left out");
    assert_eq!(sandbox.git_in(&folder, &["status", "--porcelain"]).ok(), "");
    std::fs::write(folder.join("apps/web/main.js"), "new\n").unwrap();
    assert!(!sandbox.root().join("apps/web/main.js").exists(), "source folders are not shared");
    sandbox.git_in(&folder, &["add", "-A"]).ok();
    assert_eq!(sandbox.git_in(&folder, &["diff", "--cached", "--name-only"]).ok(), "apps/web/main.js\n");
    sandbox.git_in(&folder, &["rm", "-q", "--cached", "-r", "apps"]).ok();
    std::fs::remove_file(folder.join("apps/web/main.js")).unwrap();
    sandbox.ralph(&["worktree", "rm", "x7"]).ok();
    assert!(sandbox.root().join("apps/web/node_modules/p/index.js").exists());
}

#[test]
fn a_copy_has_the_folders_that_match_and_no_repositories() {
    let sandbox = monorepo("copy");
    let added = sandbox.ralph(&["worktree", "add", "x7", "--json"]).json();
    let paths = serde_json::json!([".env", "apps/web/node_modules/", "node_modules/", "secrets/a.key"]);
    assert_eq!(added["included"]["paths"], paths);
    let folder = worktree(&sandbox, "t-x7");
    assert!(folder.join("apps/web/node_modules/p/node_modules/q/index.js").is_file());
    assert!(!folder.join("node_modules/vendored/repo").exists());
}

#[test]
fn links_are_brought_along_and_have_the_same_target_as_before() {
    for how in ["copy", "link"] {
        let sandbox = node_project();
        set(&sandbox, "worktree.include", how);
        let shared = sandbox.outside("shared");
        std::fs::create_dir_all(&shared).unwrap();
        std::fs::write(shared.join("env"), "X=1\n").unwrap();
        std::fs::remove_file(sandbox.root().join(".env")).unwrap();
        let above = format!("../{}", shared.file_name().unwrap().to_str().unwrap());
        symlink(format!("{above}/env"), sandbox.root().join(".env")).unwrap();
        symlink(format!("../{above}"), sandbox.root().join("secrets/folder.key")).unwrap();
        symlink("nowhere", sandbox.root().join("secrets/gone.key")).unwrap();
        symlink("readme", sandbox.root().join("secrets/left.key")).unwrap();
        symlink("../package.json", sandbox.root().join("secrets/tracked.key")).unwrap();
        symlink("left-pad", sandbox.root().join("node_modules/pad")).unwrap();
        sandbox.ralph(&["worktree", "add", "x7"]).ok();
        let folder = worktree(&sandbox, "t-x7");
        let target = |path: &str| std::fs::read_link(folder.join(path)).unwrap();
        assert_eq!((target(".env"), target("secrets/folder.key")), (shared.join("env"), shared.clone()), "{how}");
        assert_eq!(target("secrets/gone.key"), PathBuf::from("nowhere"), "{how}");
        assert_eq!(target("secrets/left.key"), sandbox.root().join("secrets/readme"), "{how}");
        assert_eq!(target("secrets/tracked.key"), PathBuf::from("../package.json"), "{how}");
        assert_eq!(target("node_modules/pad"), PathBuf::from("left-pad"), "{how}");
        let said = sandbox.ralph(&["worktree", "rm", "x7"]).ok();
        assert!(!said.contains("moved to"), "it contained nothing to keep: {said}");
        assert!(shared.join("env").exists());
    }
}

#[test]
fn nothing_is_written_through_a_link_of_the_checkout() {
    let sandbox = node_project();
    let outside = sandbox.outside("elsewhere");
    std::fs::create_dir_all(&outside).unwrap();
    sandbox.git(&["checkout", "-q", "-b", "feature/t-x7"]);
    write(&sandbox, "linked", "");
    std::fs::remove_file(sandbox.root().join("linked")).unwrap();
    std::fs::rename(sandbox.root().join("secrets"), sandbox.outside("kept")).unwrap();
    symlink(&outside, sandbox.root().join("secrets")).unwrap();
    sandbox.git(&["add", "-f", "secrets"]);
    sandbox.git(&["commit", "-q", "-m", "a link"]);
    sandbox.git(&["checkout", "-q", "main"]);
    std::fs::rename(sandbox.outside("kept"), sandbox.root().join("secrets")).unwrap();
    let _ = sandbox.ralph(&["worktree", "add", "x7"]);
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn the_setup_runs_once_and_again_only_where_it_failed() {
    let sandbox = node_project();
    set(&sandbox, "worktree.setup", &shell("echo $RALPH_TASK >> ../../setups; test -e ../../fixed"));
    let said = sandbox.ralph(&["worktree", "add", "x7"]).fails(4);
    assert!(said.contains("worktree.setup failed (exit status 1): `sh -c") && said.contains("--no-setup"), "{said}");
    let setups = || std::fs::read_to_string(sandbox.root().join("setups")).unwrap_or_default();
    write(&sandbox, "fixed", "");
    for _ in 0..2 {
        sandbox.ralph(&["worktree", "add", "x7"]).ok();
    }
    assert_eq!(setups(), "t-x7\nt-x7\n");
    sandbox.ralph(&["worktree", "add", "y8", "--no-setup"]).ok();
    assert_eq!(setups(), "t-x7\nt-x7\n");
    for _ in 0..2 {
        sandbox.ralph(&["worktree", "add", "y8"]).ok();
    }
    assert_eq!(setups(), "t-x7\nt-x7\nt-y8\n", "skipped once is not skipped for ever");
}

#[test]
fn a_setup_that_failed_and_was_skipped_runs_with_the_next_add() {
    let sandbox = node_project();
    set(&sandbox, "worktree.setup", &shell("echo x >> ../../setups; test -e ../../fixed"));
    sandbox.ralph(&["worktree", "add", "x7"]).fails(4);
    sandbox.ralph(&["worktree", "add", "x7", "--no-setup"]).ok();
    write(&sandbox, "fixed", "");
    sandbox.ralph(&["worktree", "add", "x7"]).ok();
    assert_eq!(std::fs::read_to_string(sandbox.root().join("setups")).unwrap(), "x\nx\n");
}

#[test]
fn a_setup_that_hangs_is_ended_with_all_that_it_started() {
    let sandbox = node_project();
    set(&sandbox, "worktree.timeout", "1s");
    // The second process has its own session, and its parent has ended.
    let (orphan, programs) = match cfg!(target_os = "linux") {
        true => ("(setsid sleep 600 & echo $! >> ../../pids); ", 2),
        false => ("", 1),
    };
    set(&sandbox, "worktree.setup", &shell(&format!("{orphan}sleep 600 & echo $! >> ../../pids; wait")));
    assert!(sandbox.ralph(&["worktree", "add", "x7"]).fails(4).contains("timed out after 1s"));
    let pids = std::fs::read_to_string(sandbox.root().join("pids")).unwrap();
    assert_eq!(pids.lines().count(), programs);
    for pid in pids.lines() {
        let alive = || sandbox.command("kill", &sandbox.root()).args(["-0", pid]).output().unwrap().status.success();
        eventually("the program has ended", || !alive());
    }
}

#[test]
fn programs_of_a_board_need_consent_before_a_worktree_is_made() {
    let sandbox = node_project();
    sandbox.ralph(&["config", "set", "worktree.setup", &shell("touch ../../ran")]).ok();
    assert!(sandbox.ralph(&["worktree", "add", "x7"]).fails(1).contains("trust"));
    assert!(!worktree(&sandbox, "t-x7").exists());
    sandbox.ralph(&["worktree", "add", "x7", "--no-setup"]).ok();
    assert!(!sandbox.root().join("ran").exists());
    sandbox.ralph(&["trust", "--yes"]).ok();
    sandbox.ralph(&["worktree", "add", "y8"]).ok();
    assert!(sandbox.root().join("ran").exists());
}

#[test]
fn worktrees_have_ports_of_their_own_and_programs_are_told() {
    let sandbox = node_project();
    set(&sandbox, "worktree.setup", &shell("echo $RALPH_PORT $RALPH_PORT_COUNT > ../../ports"));
    let first = sandbox.ralph(&["worktree", "add", "x7", "--json"]).json()["port"].as_u64().unwrap();
    assert_eq!(std::fs::read_to_string(sandbox.root().join("ports")).unwrap(), format!("{first} 10\n"));
    let second = sandbox.ralph(&["worktree", "add", "y8", "--json"]).json()["port"].as_u64().unwrap();
    assert!(first.abs_diff(second) >= 10, "{first} {second}");
    let again = sandbox.ralph(&["worktree", "add", "x7", "--json"]).json();
    assert_eq!(again["port"], first);
    let told = sandbox.ralph(&["run", "x7", "--as", "builder", "--", "sh", "-c", "echo $RALPH_PORT"]).ok();
    assert!(told.contains(&first.to_string()), "{told}");
    let listed = sandbox.ralph(&["worktree", "ls", "--json"]).json();
    assert!(listed.as_array().unwrap().iter().any(|row| row["port"] == second));
}

#[test]
fn before_a_worktree_goes_its_programs_run_and_what_somebody_left_is_rescued() {
    let sandbox = node_project();
    set(&sandbox, "worktree.before_remove", &shell("echo $RALPH_TASK >> ../../removed; false"));
    sandbox.ralph(&["worktree", "add", "x7"]).ok();
    let folder = worktree(&sandbox, "t-x7");
    std::fs::write(folder.join("secrets/mine"), "somebody's").unwrap();
    let said = sandbox.command(crate::sandbox::RALPH, &sandbox.root()).args(["worktree", "rm", "x7"]).output().unwrap();
    let told = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.status.success() && told.contains("before_remove") && told.contains("moved to"), "{told}");
    assert!(told.contains("secrets") && !told.contains(".env"), "copies are not rescued: {told}");
    assert_eq!(std::fs::read_to_string(sandbox.root().join("removed")).unwrap(), "t-x7\n");
}

#[test]
fn what_is_rescued_never_replaces_what_was_rescued_before() {
    let sandbox = node_project();
    for round in 0..4 {
        sandbox.ralph(&["worktree", "add", "x7"]).ok();
        std::fs::write(worktree(&sandbox, "t-x7").join("secrets/mine"), format!("round {round}")).unwrap();
        sandbox.ralph(&["worktree", "rm", "x7"]).ok();
    }
    let folders = std::fs::read_dir(sandbox.root().join(".git/ralph/rescued")).unwrap();
    let text = |folder: std::fs::DirEntry| std::fs::read_to_string(folder.path().join("secrets/mine")).unwrap();
    let mut kept: Vec<String> = folders.map(|folder| text(folder.unwrap())).collect();
    kept.sort();
    assert_eq!(kept, ["round 0", "round 1", "round 2", "round 3"]);
}

#[test]
fn a_port_that_somebody_listens_on_is_not_handed_out() {
    for host in ["127.0.0.1", "::1"] {
        let sandbox = node_project();
        let first = sandbox.ralph(&["worktree", "add", "x7", "--json"]).json()["port"].as_u64().unwrap();
        sandbox.ralph(&["worktree", "rm", "x7"]).ok();
        // The machine may have no IPv6.
        let Ok(_server) = std::net::TcpListener::bind((host, u16::try_from(first).unwrap() + 3)) else { continue };
        let second = sandbox.ralph(&["worktree", "add", "x7", "--json"]).json()["port"].as_u64().unwrap();
        assert_ne!(first, second, "{host}");
    }
}

#[test]
fn a_merge_runs_them_too() {
    let sandbox = node_project();
    set(&sandbox, "worktree.before_remove", &shell("echo $RALPH_TASK >> ../../removed"));
    sandbox.ralph(&["worktree", "add", "x7"]).ok();
    let folder = worktree(&sandbox, "t-x7");
    std::fs::write(folder.join("code.txt"), "new\n").unwrap();
    sandbox.git_in(&folder, &["add", "-A"]).ok();
    sandbox.git_in(&folder, &["commit", "-q", "-m", "work"]).ok();
    sandbox.git(&["checkout", "-q", "--", "."]);
    sandbox.ralph(&["merge", "x7"]).ok();
    assert_eq!(std::fs::read_to_string(sandbox.root().join("removed")).unwrap(), "t-x7\n");
    assert!(!folder.exists());
}

//! Two branches, one board: git merges what it can, and reports conflicts by key.

use crate::sandbox::Sandbox;

fn committed() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write_task("a", "title = \"A\"\n\npriority = \"P2\"\n\nlabels = [\"one\"]\n\nowner = \"x\"\n");
    sandbox.ralph(&["note", "a", "first"]).ok();
    commit(&sandbox);
    sandbox
}

fn commit(sandbox: &Sandbox) {
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "board"]);
}

fn on_branches(sandbox: &Sandbox, ours: &[&[&str]], theirs: &[&[&str]]) -> crate::sandbox::Output {
    sandbox.git(&["checkout", "-q", "-b", "other"]);
    for verb in theirs {
        sandbox.ralph(verb).ok();
    }
    commit(sandbox);
    sandbox.git(&["checkout", "-q", "main"]);
    for verb in ours {
        sandbox.ralph(verb).ok();
    }
    commit(sandbox);
    sandbox.git_in(&sandbox.root(), &["merge", "-q", "--no-edit", "other"])
}

#[test]
fn different_keys_labels_and_notes_merge_cleanly() {
    let sandbox = committed();
    let merged = on_branches(
        &sandbox,
        &[&["task", "set", "a", "priority=P0", "labels+=ours"], &["note", "a", "from ours"]],
        &[&["task", "set", "a", "owner=", "labels+=theirs"], &["note", "a", "from theirs"]],
    );
    merged.ok();
    let task = sandbox.ralph(&["task", "show", "a", "--json"]).json();
    assert_eq!((&task["priority"], &task["owner"]), (&"P0".into(), &serde_json::Value::Null));
    assert_eq!(task["labels"], serde_json::json!(["one", "ours", "theirs"]));
    assert_eq!(task["notes"].as_array().unwrap().len(), 3);
    assert_eq!(sandbox.ralph(&["log", "--json"]).json().as_array().unwrap().len(), 5, "both journals exist");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}

#[test]
fn one_key_with_two_values_is_a_conflict_that_names_the_key_and_the_board_goes_on() {
    let sandbox = committed();
    let other = sandbox.add(&["Another"]);
    commit(&sandbox);
    let merged = on_branches(
        &sandbox,
        &[&["task", "set", "a", "priority=P0", "labels+=ours"]],
        &[&["task", "set", "a", "priority=P1", "labels+=theirs"]],
    );
    assert_eq!(merged.code, 1);
    assert!(format!("{merged}").contains("a.toml: both sides changed priority"), "{merged}");
    let text = sandbox.read_task("a");
    assert!(text.contains("<<<<<<< ours\npriority = \"P0\"\n=======\npriority = \"P1\"\n>>>>>>> theirs\n"), "{text}");
    assert!(text.contains("\"ours\"") && text.contains("\"theirs\""), "{text}");
    let listed = sandbox.ralph(&["task", "ls"]);
    assert!(listed.stdout.contains("Another") && listed.stderr.contains("merge conflict"), "{listed}");
    sandbox.ralph(&["task", "set", &other, "priority=P3"]).ok();
    sandbox.ralph(&["task", "show", "a"]).fails(4);
    // Resolved by hand, as any conflict.
    let line = |part: &str| format!("{part}\n");
    let settled = text
        .replace("<<<<<<< ours\n", "")
        .replace(&line("=======\npriority = \"P1\""), "")
        .replace(">>>>>>> theirs\n", "");
    sandbox.write_task("a", settled);
    assert_eq!(sandbox.ralph(&["task", "show", "a", "--json"]).json()["priority"], "P0");
}

#[test]
fn hand_written_comments_of_both_sides_survive_a_merge() {
    let sandbox = committed();
    sandbox.git(&["checkout", "-q", "-b", "other"]);
    sandbox.write_task("a", format!("{}# theirs\n", sandbox.read_task("a").replace("\"P2\"", "\"P1\" # urgent")));
    commit(&sandbox);
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.write_task(
        "a",
        format!("# ours\n{}\n[mine]\nx = 1\n", sandbox.read_task("a").replace("owner = \"x\"", "owner = \"y\"")),
    );
    commit(&sandbox);
    sandbox.git_in(&sandbox.root(), &["merge", "-q", "--no-edit", "other"]).ok();
    let text = sandbox.read_task("a");
    for wanted in ["# ours", "# theirs", "# urgent", "[mine]", "\"P1\"", "\"y\""] {
        assert!(text.contains(wanted), "{wanted} is not in\n{text}");
    }
}

#[test]
fn a_clone_without_the_driver_is_told_and_mended() {
    let sandbox = committed();
    let clone = sandbox.outside("clone");
    sandbox.git(&["clone", "-q", ".", clone.to_str().unwrap()]);
    let said = sandbox.ralph_in(&clone, &["doctor"]);
    assert!(said.code == 1 && said.stdout.contains("no-merge-driver"), "{said}");
    sandbox.ralph_in(&clone, &["doctor", "--fix"]).ok();
    assert!(sandbox.git_in(&clone, &["config", "merge.ralph.driver"]).ok().contains("merge-driver %O %A %B %P"));
    assert!(
        sandbox.git_in(&clone, &["config", "remote.origin.url"]).ok().contains("repo"),
        "the rest of the config is kept"
    );
    sandbox.ralph_in(&clone, &["doctor"]).ok();
}

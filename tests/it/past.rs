//! Commands that read the board at another revision.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

fn with_history() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write_task("a", "title = 'First' # mine\nstate = 'Research Needed'\n");
    sandbox.write_task("b", "title = 'Second'\nblocked_by = ['a']\nparent = 'p'\ndescription = 'old text'\n");
    sandbox.write_task("p", "title = 'Parent'\nkind = 'epic'\n");
    sandbox.ralph(&["note", "b", "an old note"]).ok();
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "one"]);
    sandbox.git(&["tag", "v1"]);
    sandbox.ralph(&["task", "set", "b", "priority=P1", "--body", "new text"]).ok();
    sandbox.ralph(&["unblock", "b"]).ok();
    sandbox.ralph(&["note", "b", "a new note"]).ok();
    sandbox.write_task("a", "title = 'First' # mine too\nstate = 'Research Needed'\n");
    sandbox.write_task("c", "title = 'Third'\n");
    std::fs::remove_file(sandbox.task_file("p")).unwrap();
    sandbox
}

#[test]
fn the_reading_commands_show_the_board_as_it_was() {
    let sandbox = with_history();
    let status = sandbox.git(&["status", "--porcelain"]);
    assert_snapshot!(sandbox.ralph(&["task", "ls", "--at", "v1"]));
    assert_snapshot!(sandbox.ralph(&["task", "tree", "--at", "main"]));
    let shown = sandbox.ralph(&["task", "show", "b", "--at", "HEAD", "--json"]).json();
    assert_eq!(
        (&shown["description"], &shown["blocked"], &shown["priority"]),
        (&"old text".into(), &true.into(), &serde_json::Value::Null)
    );
    assert_eq!(shown["notes"].as_array().unwrap().len(), 1);
    assert!(sandbox.ralph(&["task", "graph", "--at", "v1"]).ok().contains("Second"));
    assert_eq!(sandbox.ralph(&["status", "--at", "v1", "--json"]).json()["states"][0]["count"], 2);
    assert!(sandbox.ralph(&["task", "show", "c", "--at", "v1"]).fails(1).contains("no task"));
    assert!(sandbox.ralph(&["task", "ls", "--at", "v9"]).fails(2).contains("unknown revision \"v9\""));
    assert_eq!(sandbox.git(&["status", "--porcelain"]), status, "nothing was checked out or written");
}

#[test]
fn a_revision_without_a_board_is_an_empty_board() {
    let sandbox = Sandbox::bare();
    sandbox.git(&["init", "-q", "-b", "main"]);
    sandbox.git(&["commit", "-q", "--allow-empty", "-m", "before"]);
    sandbox.ralph(&["init"]).ok();
    sandbox.add(&["x"]);
    assert_eq!(sandbox.ralph(&["task", "ls", "--at", "main", "--json"]).json(), serde_json::json!([]));
}

#[test]
fn two_boards_are_compared_field_by_field() {
    let sandbox = with_history();
    assert_snapshot!(sandbox.ralph(&["task", "diff", "v1"]));
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "two"]);
    let there = sandbox.ralph(&["task", "diff", "v1", "main", "--json"]).json();
    let kinds: Vec<&str> = there.as_array().unwrap().iter().map(|diff| diff["what"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["changed", "changed", "added", "removed"]);
    assert_eq!(sandbox.ralph(&["task", "diff", "main"]).stderr, "no differences\n");
}

//! The journal and `undo`.

use crate::sandbox::Sandbox;

#[test]
fn every_verb_can_be_taken_back() {
    let sandbox = Sandbox::new();
    sandbox.write_task("a", "title = 'A' # mine\nlabels = [ 'x', # one\n]\n");
    sandbox.write_task("b", "title = 'B'\nblocked_by = ['a']\n");
    let both = || (sandbox.read_task("a"), sandbox.read_task("b"));
    let before = both();
    for verb in [
        vec!["task", "set", "a", "b", "priority=P1", "owner=anna"],
        vec!["task", "set", "a", "labels+=y"],
        vec!["block", "a", "--on", "c"],
        vec!["unblock", "b"],
        vec!["task", "set", "a", "--body", "long\ntext"],
    ] {
        sandbox.write_task("c", "title = 'C'\n");
        sandbox.ralph(&verb).ok();
        assert_ne!(both(), before, "{verb:?}");
        sandbox.ralph(&["undo"]).ok();
        let now = both();
        let flat = |text: &str| text.replace('\'', "\"").split_whitespace().collect::<String>();
        assert_eq!((flat(&now.0), flat(&now.1)), (flat(&before.0), flat(&before.1)), "{verb:?}");
    }
}

#[test]
fn a_removed_task_comes_back_with_its_notes_and_links() {
    let sandbox = Sandbox::new();
    sandbox.write_task("a", "title = 'A' # mine\n");
    sandbox.write_task("b", "title = 'B'\nblocked_by = ['a']\n");
    sandbox.ralph(&["note", "a", "remember this"]).ok();
    assert!(sandbox.ralph(&["task", "rm", "a"]).fails(1).contains("other tasks link to a: b"));
    sandbox.ralph(&["task", "rm", "a", "--force"]).ok();
    assert_eq!(sandbox.ids(), ["b"]);
    sandbox.ralph(&["undo"]).ok();
    assert_eq!(sandbox.read_task("a"), "title = 'A' # mine\n");
    let shown = sandbox.ralph(&["task", "show", "a", "--json"]).json();
    assert_eq!((&shown["notes"][0]["text"], &shown["blocks"][0]), (&"remember this".into(), &"b".into()));
}

#[test]
fn undo_goes_back_step_by_step_and_says_when_there_is_no_more() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["x"]);
    sandbox.ralph(&["task", "set", &id, "priority=P1"]).ok();
    sandbox.ralph(&["task", "set", &id, "priority=P2"]).ok();
    for wanted in ["\"P1\"", "null"] {
        sandbox.ralph(&["undo"]).ok();
        assert_eq!(sandbox.ralph(&["task", "show", &id, "--json"]).json()["priority"].to_string(), wanted);
    }
    sandbox.ralph(&["undo"]).ok();
    assert!(sandbox.ids().is_empty());
    assert!(sandbox.ralph(&["undo"]).fails(1).contains("nothing to undo"));
}

#[test]
fn what_was_changed_since_is_not_undone() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["x"]);
    sandbox.ralph(&["task", "set", &id, "priority=P1"]).ok();
    sandbox.write_task(&id, sandbox.read_task(&id).replace("P1", "P0"));
    assert!(sandbox.ralph(&["undo"]).fails(1).contains("changed by another process (priority)"));
    assert!(sandbox.read_task(&id).contains("P0"));
    // An edit by hand in another part of the file does not prevent the undo.
    sandbox.write_task(&id, format!("# by hand\n{}", sandbox.read_task(&id).replace("P0", "P1")));
    sandbox.ralph(&["undo"]).ok();
    assert!(sandbox.read_task(&id).starts_with("# by hand\n"));
}

#[test]
fn somebody_elses_verb_is_undone_only_by_force() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["x"]);
    sandbox.ralph(&["task", "set", &id, "priority=P1", "--as", "builder-2"]).ok();
    assert!(sandbox.ralph(&["undo"]).fails(1).contains("builder-2"));
    sandbox.ralph(&["undo", "--force"]).ok();
    let log = sandbox.ralph(&["log", &id, "--json"]).json();
    assert_eq!((log[0]["verb"].as_str(), log[0]["undoes"].as_str()), (Some("undo"), log[1]["id"].as_str()));
    assert_eq!((&log[1]["by"], &log[1]["undone"]), (&"builder-2".into(), &true.into()));
    let id_of_verb = log[1]["id"].as_str().unwrap();
    assert!(sandbox.ralph(&["undo", id_of_verb, "--force"]).fails(1).contains("already undone"));
}

#[test]
fn a_new_task_that_others_need_is_not_undone() {
    let sandbox = Sandbox::new();
    let a = sandbox.add(&["a"]);
    sandbox.add(&["b", "--blocked-by", &a, "--as", "anna"]);
    let verbs = sandbox.ralph(&["log", "--json"]).json();
    let said = sandbox.ralph(&["undo", verbs[1]["id"].as_str().unwrap()]).fails(1);
    assert!(said.contains("other tasks link to"), "{said}");
}

#[test]
fn updated_comes_from_the_journal_and_survives_a_lost_index() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["x"]);
    sandbox.ralph(&["task", "set", &id, "priority=P1"]).ok();
    let at = sandbox.ralph(&["log", &id, "--json"]).json()[0]["at"].clone();
    for _ in 0..2 {
        assert_eq!(sandbox.ralph(&["task", "ls", "--json"]).json()[0]["updated"], at);
        assert_eq!(sandbox.ralph(&["task", "show", &id, "--json"]).json()["updated"], at);
        std::fs::remove_file(sandbox.root().join(".git/ralph/index")).unwrap();
    }
}

#[test]
fn a_torn_or_foreign_journal_line_hides_nothing() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["x"]);
    let folder = sandbox.root().join(".ralph/journal");
    let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{text}{{\"id\":\"torn")).unwrap();
    sandbox.ralph(&["task", "set", &id, "priority=P1"]).ok();
    assert_eq!(sandbox.ralph(&["log", "--json"]).json().as_array().unwrap().len(), 2);
    assert!(sandbox.ralph(&["doctor"]).stdout.contains("jsonl:2:1: invalid journal entry"));
}

#[test]
fn an_undo_that_is_undone_leaves_the_verb_standing() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["x"]);
    sandbox.ralph(&["task", "set", &id, "priority=P1"]).ok();
    sandbox.ralph(&["undo"]).ok();
    let log = sandbox.ralph(&["log", "--json"]).json();
    sandbox.ralph(&["undo", log[0]["id"].as_str().unwrap()]).ok();
    let log = sandbox.ralph(&["log", "--json"]).json();
    assert_eq!((&log[1]["undone"], &log[2]["undone"]), (&true.into(), &false.into()));
    sandbox.ralph(&["undo"]).ok();
    assert_eq!(sandbox.ralph(&["task", "show", &id, "--json"]).json()["priority"], serde_json::Value::Null);
    assert!(sandbox.ralph(&["undo", ""]).fails(1).contains("no change"));
}

#[test]
fn a_table_that_a_verb_made_goes_with_it() {
    let sandbox = Sandbox::new();
    sandbox.write_task("a", "title = 'x'\n");
    sandbox.ralph(&["task", "set", "a", "--custom", "team.size=3"]).ok();
    sandbox.ralph(&["undo"]).ok();
    assert_eq!(sandbox.read_task("a"), "title = 'x'\n");
    sandbox.ralph(&["note", "a", "text"]).ok();
    sandbox.ralph(&["task", "rm", "a"]).ok();
    sandbox.ralph(&["doctor"]).ok();
}

//! Regression tests with two clones of a board and users of GitHub.

use super::Mirror;
use super::pair::Pair;

#[test]
fn a_card_that_goes_back_and_gets_a_label_does_not_stop_sync() {
    let mirror = Mirror::new();
    let (task, other) = (mirror.add(&["One", "--state", "Plan in Review"]), mirror.add(&["Two"]));
    mirror.sync();
    let (number, second) = (mirror.number(&task), mirror.number(&other));
    mirror.world(|world| {
        world.set_field(number, "Workflow State", Some("Ready for Plan"));
        world.add_label(number, "bug");
        world.set_field(second, "Priority", Some("P0"));
    });
    mirror.sync();
    assert_eq!(
        (mirror.field(&task, "state").as_str(), mirror.field(&other, "priority").as_str()),
        ("Ready for Plan", "P0")
    );
    assert_eq!(mirror.field(&task, "labels"), r#"["bug","needs-iteration"]"#);
    mirror.sync();
    assert_eq!(mirror.world(|world| world.labels(number)), ["bug", "needs-iteration"]);
    assert_eq!(mirror.sync()["plan"]["rows"], serde_json::json!([]));
}

#[test]
fn what_is_typed_behind_the_marker_makes_no_second_issue() {
    let (pair, ids) = Pair::new(&["One"], false);
    pair.a(&["sync"]).ok();
    let number = pair.mirror.number(&ids[0]);
    let body = pair.mirror.world(|world| world.issue(number).body.clone());
    pair.mirror.world(|world| world.edit_body(number, &format!("{body}\n\nPS: soon")));
    // The second clone does not know the issue yet.
    pair.b(&["sync"]).ok();
    assert_eq!(pair.open_issues("One"), [number]);
    assert_eq!(pair.b(&["ls", "--json"]).json().as_array().unwrap().len(), 1);
    pair.rest();
    assert_eq!(pair.field('b', &ids[0], "description").trim(), "PS: soon");
}

#[test]
fn a_marker_that_was_taken_out_is_put_back_and_makes_no_twin() {
    let (pair, ids) = Pair::new(&["One"], false);
    pair.a(&["sync"]).ok();
    let number = pair.mirror.number(&ids[0]);
    pair.mirror.world(|world| world.edit_body(number, ""));
    pair.b(&["sync"]).ok();
    assert_eq!(pair.open_issues("One"), [number]);
    assert_eq!(pair.b(&["ls", "--json"]).json().as_array().unwrap().len(), 1);
    pair.rest();
    assert!(pair.mirror.world(|world| world.issue(number).body.contains("<!-- ralph task=")));
    pair.mirror.world(|world| world.edit_body(number, "Only words."));
    pair.rest();
    let body = pair.mirror.world(|world| world.issue(number).body.clone());
    assert!(body.starts_with("Only words.\n\n<!-- ralph task="), "{body}");
    assert_eq!(pair.field('a', &ids[0], "description").trim(), "Only words.");
}

#[test]
fn two_clones_that_make_an_issue_each_keep_the_first() {
    let (pair, ids) = Pair::new(&["One"], false);
    pair.a(&["note", &ids[0], "A word."]).ok();
    pair.to_b();
    // Both clones read before either has created an issue, as if they synced at the same moment.
    pair.a(&["sync"]).ok();
    let first = pair.mirror.number(&ids[0]);
    let hidden = pair.mirror.world(|world| world.hide_item(first));
    pair.b(&["sync"]).ok();
    pair.mirror.world(|world| world.show_item(hidden));
    assert_eq!(pair.open_issues("One").len(), 2);
    pair.rest();
    assert_eq!(pair.open_issues("One"), [first], "the older one stays");
    assert_eq!(
        (pair.field('a', &ids[0], "state"), pair.field('b', &ids[0], "state")),
        ("Backlog".into(), "Backlog".into())
    );
    for clone in ['a', 'b'] {
        let github = pair.field(clone, &ids[0], "github");
        assert!(github.contains(&format!("\"number\":{first}")), "{clone}: {github}");
    }
    assert_eq!(pair.mirror.world(|world| world.comments(first).len()), 1);
    pair.a(&["sync", "doctor"]).ok();
}

#[test]
fn an_edit_of_one_clone_is_not_lost_to_what_both_had_agreed_on() {
    let (pair, ids) = Pair::new(&["One"], true);
    let number = pair.mirror.number(&ids[0]);
    pair.a(&["task", "set", &ids[0], "priority=P1"]).ok();
    pair.rest();
    pair.mirror.world(|world| world.set_field(number, "Priority", Some("P0")));
    pair.a(&["sync"]).ok();
    pair.b(&["sync"]).ok();
    pair.b(&["task", "set", &ids[0], "priority=P1"]).ok();
    pair.to_a();
    assert_eq!(pair.field('a', &ids[0], "priority"), "P1", "the base's value counts as an edit");
    pair.rest();
    assert_eq!(pair.mirror.world(|world| world.value(number, "Priority")).as_deref(), Some("P1"));
}

#[test]
fn a_label_that_one_clone_removed_does_not_come_back() {
    let (pair, ids) = Pair::new(&["One"], true);
    let number = pair.mirror.number(&ids[0]);
    pair.rest();
    pair.mirror.world(|world| {
        world.add_label(number, "bug");
        world.add_label(number, "keep");
    });
    pair.a(&["sync"]).ok();
    pair.b(&["sync"]).ok();
    pair.b(&["task", "set", &ids[0], "labels-=bug"]).ok();
    pair.a(&["task", "set", &ids[0], "labels+=mine"]).ok();
    pair.to_a();
    assert_eq!(pair.field('a', &ids[0], "labels"), r#"["keep","mine"]"#);
    pair.rest();
    assert_eq!(pair.mirror.world(|world| world.labels(number)), ["keep", "mine"]);
}

#[test]
fn an_edit_after_an_issue_was_found_again_is_one() {
    let (pair, ids) = Pair::new(&["One"], false);
    pair.a(&["sync"]).ok();
    pair.b(&["sync"]).ok();
    pair.b(&["task", "set", &ids[0], "title=Better"]).ok();
    pair.b(&["sync"]).ok();
    let number = pair.mirror.number(&ids[0]);
    assert_eq!(pair.mirror.world(|world| world.issue(number).title.clone()), "Better");
    assert_eq!(pair.field('b', &ids[0], "title"), "Better");
}

#[test]
fn a_task_that_one_clone_deleted_stays_deleted() {
    let (pair, ids) = Pair::new(&["One", "Two"], true);
    pair.a(&["note", &ids[0], "A word."]).ok();
    pair.rest();
    pair.a(&["rm", &ids[0]]).ok();
    pair.a(&["sync"]).ok();
    let said = pair.b(&["sync"]);
    assert!(said.to_string().contains("was deleted in another clone"), "{said}");
    assert_eq!(pair.field('b', &ids[0], "state"), "Backlog", "no change was taken for a person's edit");
    pair.to_b();
    pair.rest();
    assert!(pair.b(&["show", &ids[0]]).fails(1).contains("no task"));
    assert_eq!(pair.open_issues("One"), Vec::<u32>::new());
    // After an undo the issue is open again.
    pair.a(&["undo", "--force"]).ok();
    pair.rest();
    assert_eq!(pair.open_issues("One").len(), 1);
    let number = pair.mirror.number(&ids[0]);
    assert!(!pair.mirror.world(|world| world.issue(number).body.contains("deleted -->")));
}

#[test]
fn a_card_in_a_column_that_nobody_mapped_is_left_alone_and_named() {
    let mirror = Mirror::new();
    mirror.world(|world| world.add_option(1, "Workflow State", "Icebox"));
    let (cold, done) = mirror.world(|world| {
        let cold = world.add_issue("acme/app", "Cold", "");
        let done = world.add_issue("acme/app", "Done and open", "");
        for (number, option) in [(cold, "Icebox"), (done, "Done")] {
            world.add_to_project(1, number);
            world.set_field(number, "Workflow State", Some(option));
        }
        (cold, done)
    });
    for args in [&["sync", "--dry-run"][..], &["sync"]] {
        let said = mirror.ralph(args).to_string();
        assert!(said.contains(&format!("#{cold} has its card in \"Icebox\"")), "{said}");
        assert!(said.contains(&format!("#{done} is open, but its card is in Done")), "{said}");
    }
    assert_eq!(mirror.ralph(&["ls", "--json"]).json(), serde_json::json!([]));
    assert_eq!(mirror.world(|world| world.value(cold, "Workflow State")).as_deref(), Some("Icebox"));
    let config = mirror.sandbox.root().join(".ralph/config.toml");
    let text = std::fs::read_to_string(&config).unwrap() + "\n[github.states]\nIcebox = \"Backlog\"\n";
    std::fs::write(&config, text).unwrap();
    mirror.ralph(&["sync"]).ok();
    let tasks = mirror.ralph(&["ls", "--json"]).json();
    assert_eq!((&tasks[0]["title"], &tasks[0]["state"]), (&"Cold".into(), &"Backlog".into()));
    mirror.ralph(&["sync"]).ok();
    assert_eq!(
        mirror.world(|world| world.value(cold, "Workflow State")).as_deref(),
        Some("Icebox"),
        "the item keeps its state"
    );
}

/// The comment was posted, its answer was lost, and the note was edited since: resolving the conflict must succeed.
#[test]
fn a_note_conflict_after_a_lost_answer_can_be_resolved() {
    let mirror = Mirror::new();
    let task = mirror.add(&["One"]);
    mirror.sync();
    mirror.ralph(&["note", &task, "first words"]).ok();
    mirror.sync();
    let number = mirror.number(&task);
    // Removes the record of the comment, as if its answer had been lost.
    let path = mirror.sandbox.task_file(&task);
    let text = std::fs::read_to_string(&path).unwrap();
    let start = text.find("[github.notes").unwrap();
    let end = text[start + 1..].find("\n[").map_or(text.len(), |at| start + 1 + at);
    std::fs::write(&path, format!("{}{}", &text[..start], &text[end..])).unwrap();
    mirror.ralph(&["note", &task, "--edit", "1", "other words"]).ok();
    let synced = mirror.ralph(&["sync", "--json"]);
    assert!(synced.stdout.contains("conflict"), "{synced}");
    mirror.ralph(&["sync", "resolve", &task, "--take", "local"]).ok();
    mirror.sync();
    let said: Vec<String> =
        mirror.world(|world| world.comments(number).iter().map(|comment| comment.body.clone()).collect());
    assert_eq!(said.len(), 1);
    assert!(said[0].contains("other words"), "{said:?}");
    assert_eq!(mirror.sync()["plan"]["rows"], serde_json::json!([]));
}

/// The second clone knows the claim only from git: the holder may still be at work.
#[test]
fn a_claim_of_another_machine_is_not_taken_for_dead() {
    let (pair, ids) = Pair::new(&["One"], false);
    pair.a(&["move", &ids[0], "Research Needed"]).ok();
    pair.a(&["claim", &ids[0], "--as", "analyst"]).ok();
    pair.to_b();
    assert_eq!(pair.b(&["reap", "--json"]).json(), serde_json::json!([]));
    assert_eq!(pair.b(&["next", "--claim", "--as", "analyst-2"]).code, 5);
    assert_eq!(pair.field('b', &ids[0], "state"), "Research in Progress");
    // A person overrides the claim.
    pair.b(&["release", &ids[0], "--force"]).ok();
    assert_eq!(pair.b(&["next", "--claim", "--as", "analyst-2"]).code, 0);
    // Claimed in this clone, and the record of the claim is gone: the claim is dead.
    std::fs::remove_dir_all(pair.second.join(".git/ralph/claims")).unwrap();
    assert_eq!(pair.b(&["reap", "--json"]).json()[0]["task"], ids[0].as_str());
}

//! Each field of a task, mirrored in both directions.

use super::Mirror;

#[test]
fn a_new_task_becomes_an_issue_with_all_it_says() {
    let mirror = Mirror::new();
    let epic = mirror.add(&["Ship it", "--kind", "epic"]);
    let first = mirror.add(&[
        "First",
        "--priority",
        "P1",
        "--estimate",
        "S",
        "--label",
        "bug",
        "--label",
        "New One",
        "--parent",
        &epic,
        "--body",
        "Do it.\n\nWell.",
    ]);
    let second = mirror.add(&["Second", "--parent", &epic, "--blocked-by", &first]);
    mirror.ralph(&["note", &first, "A word."]).ok();
    mirror.ralph(&["move", &second, "In Review", "--force"]).ok();
    let synced = mirror.sync();
    assert_eq!(synced["created"].as_array().unwrap().len(), 3, "{synced}");
    let (one, two, parent) = (mirror.number(&first), mirror.number(&second), mirror.number(&epic));
    mirror.world(|world| {
        assert_eq!(world.issue(one).title, "First");
        assert!(world.issue(one).body.starts_with("Do it.\n\nWell.\n\n<!-- ralph task="), "{}", world.issue(one).body);
        assert_eq!(world.labels(one), ["New One", "bug"]);
        let value = |number: u32, field: &str| world.value(number, field);
        assert_eq!(value(one, "Workflow State").as_deref(), Some("Backlog"));
        assert_eq!((value(one, "Priority").as_deref(), value(one, "Estimate").as_deref()), (Some("P1"), Some("S")));
        assert_eq!(
            (value(two, "Workflow State").as_deref(), value(two, "Status").as_deref()),
            (Some("In Review"), Some("In Progress"))
        );
        assert_eq!((world.parent(one), world.parent(two)), (Some(parent), Some(parent)));
        assert_eq!(world.blocked_by(two), [one]);
        assert_eq!(world.comments(one).len(), 1);
        assert!(world.comments(one)[0].body.starts_with("**Ada**:\n\nA word."));
    });
    mirror.requests();
    let again = mirror.sync();
    assert_eq!(again["plan"]["rows"], serde_json::json!([]), "{again}");
    let asked = mirror.requests();
    assert!(asked.iter().all(|name| !name.contains("Batch") && !name.contains("Create")), "{asked:?}");
}

/// One mirrored task, and the number of its issue.
fn one(mirror: &Mirror, args: &[&str]) -> (String, u32) {
    let task = mirror.add(args);
    mirror.sync();
    let number = mirror.number(&task);
    (task, number)
}

#[test]
fn what_people_change_on_github_comes_to_the_board() {
    let mirror = Mirror::new();
    let (task, number) = one(&mirror, &["First", "--label", "bug", "--body", "old"]);
    mirror.world(|world| {
        world.edit_title(number, "  Better   title ");
        world.edit_body(number, "new\r\ntext\r\n");
        world.set_field(number, "Workflow State", Some("Ready for Plan"));
        world.set_field(number, "Priority", Some("P0"));
        world.set_field(number, "Estimate", Some("XS"));
        world.add_label(number, "enhancement");
        world.remove_label(number, "bug");
        world.comment(number, "hubot", "Looks fine.");
    });
    let synced = mirror.sync();
    assert_eq!(synced["pulled"], 6, "{synced}");
    let field = |name: &str| mirror.field(&task, name);
    assert_eq!((field("title").as_str(), field("description").as_str()), ("Better title", "new\ntext\n"));
    assert_eq!(
        (field("state").as_str(), field("priority").as_str(), field("estimate").as_str()),
        ("Ready for Plan", "P0", "XS")
    );
    assert_eq!(field("labels"), r#"["enhancement"]"#);
    let notes = mirror.ralph(&["task", "show", &task, "--json"]).json()["notes"].clone();
    assert_eq!((notes[0]["by"].as_str(), notes[0]["text"].as_str()), (Some("hubot"), Some("Looks fine.")));
    let log = mirror.ralph(&["log", &task, "--json"]).json();
    assert_eq!(log[0]["by"], "github", "{log}");
    assert_eq!(mirror.sync()["plan"]["rows"], serde_json::json!([]));
}

#[test]
fn what_is_changed_here_goes_to_github() {
    let mirror = Mirror::new();
    let (task, number) = one(&mirror, &["First", "--label", "bug", "--priority", "P1", "--body", "old"]);
    mirror.ralph(&["task", "set", &task, "title=Second", "priority=", "estimate=M", "labels=fresh", "body=new"]).ok();
    mirror.ralph(&["cancel", &task]).ok();
    mirror.sync();
    mirror.world(|world| {
        let issue = world.issue(number).clone();
        assert_eq!((issue.title.as_str(), issue.reason.as_deref()), ("Second", Some("NOT_PLANNED")));
        assert!(issue.body.starts_with("new\n\n<!-- ralph"));
        assert_eq!(world.labels(number), ["fresh"]);
        assert_eq!((world.value(number, "Priority"), world.value(number, "Estimate").as_deref()), (None, Some("M")));
        assert_eq!(
            (world.value(number, "Workflow State").as_deref(), world.value(number, "Status").as_deref()),
            (Some("Canceled"), Some("Done"))
        );
    });
    mirror.ralph(&["move", &task, "Backlog"]).ok();
    mirror.sync();
    assert_eq!(mirror.world(|world| world.value(number, "Status")).as_deref(), Some("Todo"));
    assert!(mirror.world(|world| world.issue(number).closed_at.is_none()));
}

#[test]
fn closing_and_reopening_on_github_moves_the_task() {
    let mirror = Mirror::new();
    let (task, number) = one(&mirror, &["First"]);
    let state = || mirror.field(&task, "state");
    for (reason, ends) in [("COMPLETED", "Done"), ("NOT_PLANNED", "Canceled"), ("DUPLICATE", "Canceled")] {
        mirror.world(|world| world.close_issue(number, reason));
        mirror.sync();
        assert_eq!(state(), ends);
        assert_eq!(mirror.world(|world| world.value(number, "Workflow State")).as_deref(), Some(ends));
        mirror.world(|world| world.reopen_issue(number));
        mirror.sync();
        assert_eq!(state(), "Backlog", "after {reason}");
    }
    // An item that is dragged to Done closes its issue.
    mirror.world(|world| world.set_field(number, "Workflow State", Some("Done")));
    mirror.sync();
    assert_eq!(state(), "Done");
    assert_eq!(mirror.world(|world| world.issue(number).reason.clone()).as_deref(), Some("COMPLETED"));
}

#[test]
fn a_holder_whose_task_was_closed_on_github_has_lost_it() {
    let mirror = Mirror::new();
    let (task, number) = one(&mirror, &["First", "--estimate", "S", "--state", "Research Needed"]);
    mirror.ralph(&["claim", &task, "--as", "analyst", "--for", "research"]).ok();
    mirror.sync();
    mirror.world(|world| world.close_issue(number, "COMPLETED"));
    mirror.sync();
    assert_eq!((mirror.field(&task, "state").as_str(), mirror.field(&task, "claim").as_str()), ("Done", "null"));
}

#[test]
fn only_the_same_field_on_both_sides_is_a_conflict_and_a_person_settles_it() {
    let mirror = Mirror::new();
    let (task, number) = one(&mirror, &["First", "--body", "one\ntwo\nthree\n"]);
    mirror.ralph(&["task", "set", &task, "title=Here", "priority=P1", "body=ONE\ntwo\nthree\n"]).ok();
    mirror.world(|world| {
        world.edit_title(number, "There");
        world.set_field(number, "Priority", Some("P2"));
        let body = world.issue(number).body.replace("three", "THREE");
        world.edit_body(number, &body);
    });
    let synced = mirror.ralph(&["sync", "--json"]);
    assert_eq!(synced.code, 1, "{synced}");
    let synced: serde_json::Value = serde_json::from_str(&synced.stdout).unwrap();
    let over: Vec<&str> =
        synced["conflicts"].as_array().unwrap().iter().map(|row| row["what"].as_str().unwrap()).collect();
    assert_eq!(over, ["title", "priority"]);
    assert_eq!(mirror.field(&task, "description"), "ONE\ntwo\nTHREE\n");
    assert!(mirror.world(|world| world.issue(number).body.clone()).starts_with("ONE\ntwo\nTHREE\n"));
    assert_eq!(
        (mirror.field(&task, "title").as_str(), mirror.world(|world| world.issue(number).title.clone()).as_str()),
        ("Here", "There")
    );
    assert!(mirror.sandbox.read_task(&task).contains("[github.conflict]\ntitle = \"There\"\npriority = \"P2\""));
    let status = mirror.ralph(&["sync", "status", "--json"]).json();
    assert_eq!(status["conflicts"].as_array().unwrap().len(), 2, "{status}");
    mirror.ralph(&["sync", "resolve", &task, "--field", "title", "--take", "local"]).ok();
    mirror.ralph(&["sync", "resolve", &task, "--take", "remote"]).ok();
    mirror.sync();
    assert_eq!((mirror.field(&task, "title").as_str(), mirror.field(&task, "priority").as_str()), ("Here", "P2"));
    assert_eq!(mirror.world(|world| world.issue(number).title.clone()), "Here");
    assert!(!mirror.sandbox.read_task(&task).contains("conflict"));
    let refused = mirror.ralph(&["sync", "resolve", &task, "--take", "local"]).fails(1);
    assert!(refused.contains("has no sync conflict"), "{refused}");
}

#[test]
fn links_go_both_ways_and_a_ring_is_left_to_a_person() {
    let mirror = Mirror::new();
    let [a, b, c] = ["A", "B", "C"].map(|title| mirror.add(&[title]));
    mirror.sync();
    let [na, nb, nc] = [&a, &b, &c].map(|task| mirror.number(task));
    mirror.world(|world| {
        world.set_parent(nb, Some(na));
        world.add_blocked_by(nc, nb);
    });
    mirror.sync();
    assert_eq!((mirror.field(&b, "parent"), mirror.field(&c, "blocked_by")), (a.clone(), format!("[\"{b}\"]")));
    mirror.ralph(&["unblock", &c]).ok();
    mirror.ralph(&["task", "set", &b, "parent="]).ok();
    mirror.sync();
    assert_eq!(mirror.world(|world| (world.parent(nb), world.blocked_by(nc))), (None, vec![]));
    // Each change alone is fine, but together they form a cycle.
    mirror.ralph(&["block", &a, "--on", &b]).ok();
    mirror.world(|world| world.add_blocked_by(nb, na));
    let synced = mirror.ralph(&["sync"]);
    assert!(synced.stderr.contains("would create a cycle"), "{synced}");
    assert_eq!(mirror.field(&b, "blocked_by"), "[]");
    // An issue that is not a task may be a parent on GitHub, and stays so.
    let foreign = mirror.world(|world| {
        let number = world.add_issue("acme/app", "Not ours", "");
        world.set_parent(nc, Some(number));
        number
    });
    let _ = mirror.ralph(&["sync"]);
    assert_eq!(mirror.world(|world| world.parent(nc)), Some(foreign));
}

#[test]
fn comments_are_edited_on_either_side_and_never_doubled_or_deleted() {
    let mirror = Mirror::new();
    let (task, number) = one(&mirror, &["First"]);
    mirror.ralph(&["note", &task, "mine"]).ok();
    let theirs = mirror.world(|world| world.comment(number, "hubot", "theirs"));
    mirror.sync();
    let texts = || -> Vec<String> {
        let notes = mirror.ralph(&["task", "show", &task, "--json"]).json()["notes"].clone();
        let mut texts: Vec<String> =
            notes.as_array().unwrap().iter().map(|note| note["text"].as_str().unwrap().to_owned()).collect();
        texts.sort();
        texts
    };
    assert_eq!(texts(), ["mine", "theirs"]);
    mirror.world(|world| world.edit_comment(&theirs, "theirs, better"));
    let folder = mirror.sandbox.root().join(format!(".ralph/notes/{task}"));
    let own = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| std::fs::read_to_string(path).unwrap().contains("mine"))
        .unwrap();
    std::fs::write(&own, std::fs::read_to_string(&own).unwrap().replace("mine", "mine, better")).unwrap();
    // An edited comment does not change the issue's time stamp: only a full sync sees it.
    mirror.ralph(&["sync", "--full"]).ok();
    assert_eq!(texts(), ["mine, better", "theirs, better"]);
    let bodies =
        || mirror.world(|world| world.comments(number).iter().map(|comment| comment.body.clone()).collect::<Vec<_>>());
    assert!(bodies().iter().any(|body| body.starts_with("**Ada**:\n\nmine, better")), "{:?}", bodies());
    // A comment that is deleted on one side stays on the other.
    std::fs::remove_file(&own).unwrap();
    mirror.world(|world| world.delete_comment(&theirs));
    mirror.ralph(&["sync", "--full"]).ok();
    assert_eq!((texts(), bodies().len()), (vec!["theirs, better".to_owned()], 1));
}

#[test]
fn issues_that_were_made_on_github_become_tasks_the_same_on_every_clone() {
    let mirror = Mirror::new();
    let (parent, child) = mirror.world(|world| {
        let parent = world.add_issue("acme/app", "Epic", "All of it.");
        let child = world.add_issue("acme/app", "Part", "");
        let closed = world.add_issue("acme/app", "Long done", "");
        world.close_issue(closed, "COMPLETED");
        world.set_parent(child, Some(parent));
        for number in [parent, child, closed] {
            world.add_to_project(1, number);
        }
        world.set_field(child, "Priority", Some("P1"));
        world.add_draft(1, "Only a draft");
        (parent, child)
    });
    let clone = mirror.sandbox.outside("clone");
    mirror.sandbox.git(&["add", "-A"]);
    mirror.sandbox.git(&["commit", "-qm", "board"]);
    mirror.sandbox.git(&["clone", "-q", ".", clone.to_str().unwrap()]);
    let adopted = mirror.sync();
    assert_eq!(adopted["adopted"].as_array().unwrap().len(), 2, "{adopted}");
    let tasks = mirror.sandbox.ids();
    let show = |number: u32| mirror.ralph(&["task", "show", &format!("#{number}"), "--json"]).json();
    assert_eq!(
        (show(parent)["kind"].as_str(), show(parent)["description"].as_str()),
        (Some("epic"), Some("All of it.\n"))
    );
    assert_eq!(
        (show(child)["parent"].as_str(), show(child)["priority"].as_str()),
        (show(parent)["id"].as_str(), Some("P1"))
    );
    let other = crate::sandbox::finish(mirror.command(&clone).args(["sync", "--json"])).json();
    assert_eq!(other["adopted"].as_array().unwrap().len(), 2);
    for task in &tasks {
        let file = format!(".ralph/tasks/{task}.toml");
        let lines = |text: String| text.lines().map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
        assert_eq!(lines(std::fs::read_to_string(clone.join(&file)).unwrap()), lines(mirror.sandbox.read_task(task)));
    }
}

#[test]
fn what_is_put_away_or_deleted_here_is_put_away_there() {
    let mirror = Mirror::new();
    let (done, gone) = (mirror.add(&["Done"]), mirror.add(&["Gone"]));
    mirror.sync();
    let (nd, ng) = (mirror.number(&done), mirror.number(&gone));
    mirror.ralph(&["done", &done, "--force"]).ok();
    mirror.ralph(&["task", "archive", &done]).ok();
    mirror.ralph(&["task", "rm", &gone]).ok();
    mirror.sync();
    mirror.world(|world| {
        assert!(world.item(nd).archived && world.item(ng).archived);
        assert_eq!(world.issue(ng).reason.as_deref(), Some("NOT_PLANNED"));
    });
    assert_eq!(mirror.sync()["plan"]["rows"], serde_json::json!([]));
    // An item restored on GitHub is restored on the board.
    mirror.world(|world| world.unarchive_item(nd));
    mirror.sync();
    assert!(mirror.sandbox.task_file(&done).exists());
    mirror.world(|world| world.archive_item(nd));
    mirror.sync();
    assert!(!mirror.sandbox.task_file(&done).exists());
    assert!(mirror.sandbox.root().join(format!(".ralph/archive/{done}.toml")).exists());
}

#[test]
fn a_task_that_says_so_stays_here_and_so_do_steps() {
    let mirror = Mirror::new();
    let (quiet, loud) = (mirror.add(&["Quiet"]), mirror.add(&["Loud"]));
    mirror.add(&["A step", "--kind", "step"]);
    let text = mirror.sandbox.read_task(&quiet);
    mirror.sandbox.write_task(&quiet, format!("{text}\n[github]\nmirror = false # nobody's business\n"));
    mirror.ralph(&["block", &loud, "--on", &quiet]).ok();
    let synced = mirror.sync();
    assert_eq!(synced["created"].as_array().unwrap().len(), 1, "{synced}");
    let number = mirror.number(&loud);
    mirror.world(|world| world.edit_title(number, "Louder"));
    mirror.sync();
    assert_eq!(mirror.field(&loud, "blocked_by"), format!("[\"{quiet}\"]"), "what GitHub cannot see stays");
    assert!(mirror.sandbox.read_task(&quiet).contains("# nobody's business"));
}

#[test]
fn one_direction_leaves_the_other_alone() {
    let mirror = Mirror::new();
    let (task, number) = one(&mirror, &["First"]);
    mirror.ralph(&["task", "set", &task, "priority=P1"]).ok();
    mirror.world(|world| world.edit_title(number, "There"));
    mirror.requests();
    mirror.ralph(&["sync", "--pull"]).ok();
    assert!(mirror.requests().iter().all(|name| name != "Batch"));
    assert_eq!(
        (mirror.field(&task, "title").as_str(), mirror.world(|world| world.value(number, "Priority"))),
        ("There", None)
    );
    mirror.world(|world| world.edit_title(number, "There again"));
    mirror.ralph(&["sync", "--push"]).ok();
    assert_eq!(
        (mirror.field(&task, "title").as_str(), mirror.world(|world| world.value(number, "Priority")).as_deref()),
        ("There", Some("P1"))
    );
    mirror.sync();
    assert_eq!(mirror.field(&task, "title"), "There again");
}

#[test]
fn a_dry_run_shows_both_values_and_does_nothing() {
    let mirror = Mirror::new();
    let (task, number) = one(&mirror, &["First", "--priority", "P2"]);
    mirror.ralph(&["task", "set", &task, "priority=P1"]).ok();
    mirror.ralph(&["note", &task, "A word."]).ok();
    mirror.add(&["Second"]);
    mirror.world(|world| world.edit_title(number, "There"));
    mirror.requests();
    let before = mirror.sandbox.read_task(&task);
    let shown = mirror.ralph(&["sync", "--dry-run"]).ok();
    insta::assert_snapshot!(
        shown.replace(&task, "T-ONE").replace(mirror.sandbox.ids().iter().find(|id| **id != task).unwrap(), "T-TWO")
    );
    assert_eq!(mirror.sandbox.read_task(&task), before);
    assert!(mirror.fake.log().iter().all(|logged| logged.kind == "query"));
}

#[test]
fn only_the_named_tasks_are_brought_together() {
    let mirror = Mirror::new();
    let (a, b) = (mirror.add(&["A"]), mirror.add(&["B"]));
    mirror.ralph(&["sync", &a]).ok();
    mirror.number(&a);
    assert_eq!(mirror.field(&b, "github"), "null");
}

#[test]
fn a_branch_that_goes_back_does_not_take_github_back() {
    let mirror = Mirror::new();
    let (task, number) = one(&mirror, &["First"]);
    mirror.sandbox.git(&["add", "-A"]);
    mirror.sandbox.git(&["commit", "-qm", "old"]);
    mirror.ralph(&["task", "set", &task, "title=Newer"]).ok();
    mirror.sync();
    mirror.sandbox.git(&["add", "-A"]);
    mirror.sandbox.git(&["commit", "-qm", "new"]);
    mirror.sandbox.git(&["checkout", "-q", "HEAD^"]);
    assert_eq!(mirror.field(&task, "title"), "First");
    mirror.sync();
    assert_eq!(
        (mirror.field(&task, "title").as_str(), mirror.world(|world| world.issue(number).title.clone()).as_str()),
        ("Newer", "Newer")
    );
}

#[test]
fn an_issue_that_another_clone_made_is_not_written_over() {
    let mirror = Mirror::new();
    let task = mirror.add(&["First", "--body", "text"]);
    mirror.sandbox.git(&["add", "-A"]);
    mirror.sandbox.git(&["commit", "-qm", "board"]);
    let clone = mirror.sandbox.outside("clone");
    mirror.sandbox.git(&["clone", "-q", ".", clone.to_str().unwrap()]);
    mirror.sync();
    let number = mirror.number(&task);
    mirror.world(|world| {
        world.edit_title(number, "Better");
        world.add_label(number, "bug");
    });
    let other = crate::sandbox::finish(mirror.command(&clone).args(["sync"]));
    assert!(other.code == 1 && other.stdout.contains("1 issue found again"), "{other}");
    assert_eq!(
        mirror.world(|world| (world.issue(number).title.clone(), world.labels(number))),
        ("Better".into(), vec!["bug".to_owned()])
    );
    assert_eq!(mirror.world(|world| world.issues_in("acme/app").len()), 1);
}

#[test]
fn a_card_that_was_taken_out_and_put_in_again_takes_nothing_away_here() {
    let mirror = Mirror::new();
    let (task, number) = one(&mirror, &["First", "--priority", "P1", "--estimate", "S"]);
    mirror.world(|world| {
        world.remove_from_project(number);
        world.add_to_project(1, number);
    });
    mirror.sync();
    mirror.sync();
    assert_eq!((mirror.field(&task, "priority").as_str(), mirror.field(&task, "estimate").as_str()), ("P1", "S"));
    assert_eq!(mirror.world(|world| world.value(number, "Priority")).as_deref(), Some("P1"));
}

#[test]
fn an_adopted_task_that_is_deleted_is_closed_there_and_comes_back_with_undo() {
    let mirror = Mirror::new();
    let number = mirror.world(|world| {
        let number = world.add_issue("acme/app", "Theirs", "");
        world.add_to_project(1, number);
        number
    });
    mirror.sync();
    let task = mirror.sandbox.ids().remove(0);
    mirror.ralph(&["task", "rm", &task]).ok();
    mirror.sync();
    assert_eq!(mirror.sandbox.ids().len(), 0, "not adopted again");
    assert!(mirror.world(|world| world.issue(number).closed && world.item(number).archived));
    mirror.ralph(&["undo"]).ok();
    mirror.sync();
    assert_eq!(mirror.field(&task, "state"), "Backlog");
    assert!(mirror.world(|world| !world.issue(number).closed && !world.item(number).archived));
    // Once the issue of a deleted task is closed, later changes on GitHub are left alone.
    mirror.ralph(&["task", "rm", &task]).ok();
    mirror.sync();
    mirror.world(|world| {
        world.unarchive_item(number);
        world.reopen_issue(number);
    });
    mirror.sync();
    assert!(mirror.world(|world| !world.issue(number).closed));
}

#[test]
fn a_file_that_is_broken_is_left_out_and_its_issue_not_taken_for_new() {
    let mirror = Mirror::new();
    mirror.world(|world| {
        let number = world.add_issue("acme/app", "Theirs", "");
        world.add_to_project(1, number);
    });
    mirror.sync();
    let task = mirror.sandbox.ids().remove(0);
    let text = mirror.sandbox.read_task(&task);
    mirror.sandbox.write_task(&task, format!("{text}x = =\n"));
    let said = mirror.ralph(&["sync"]);
    assert!(
        said.code == 1 && said.stdout.contains(&format!("skipped: {task}")) && !said.stdout.contains("imported"),
        "{said}"
    );
    mirror.sandbox.write_task(&task, &text);
    assert_eq!(mirror.sync()["plan"]["rows"], serde_json::json!([]));
    // The same holds for a task whose mirroring was turned off.
    mirror.sandbox.write_task(&task, text.replace("[github]\n", "[github]\nmirror = false\n"));
    assert_eq!(mirror.sync()["adopted"], serde_json::json!([]));
}

#[test]
fn a_conflict_over_a_closed_issue_is_settled_either_way() {
    for (side, ends) in [("local", "Canceled"), ("remote", "Done")] {
        let mirror = Mirror::new();
        let (task, number) = one(&mirror, &["First"]);
        mirror.ralph(&["cancel", &task]).ok();
        mirror.world(|world| world.close_issue(number, "COMPLETED"));
        assert_eq!(mirror.ralph(&["sync"]).code, 1);
        assert!(mirror.ralph(&["task", "show", &task]).ok().contains("conflict    state"));
        mirror.ralph(&["sync", "resolve", &task, "--take", side]).ok();
        mirror.sync();
        assert_eq!(mirror.field(&task, "state"), ends);
        assert!(mirror.world(|world| world.issue(number).closed));
        assert_eq!(mirror.world(|world| world.value(number, "Workflow State")).as_deref(), Some(ends));
        assert_eq!(mirror.sync()["plan"]["rows"], serde_json::json!([]), "{side}");
    }
}

#[test]
fn a_comment_that_was_edited_on_both_sides_is_not_written_over() {
    let mirror = Mirror::new();
    let (task, number) = one(&mirror, &["First"]);
    mirror.ralph(&["note", &task, "said"]).ok();
    mirror.sync();
    mirror.world(|world| world.advance(60));
    mirror.sync();
    let (id, body) =
        mirror.world(|world| (world.comments(number)[0].id.clone(), world.comments(number)[0].body.clone()));
    mirror.world(|world| world.edit_comment(&id, &body.replace("said", "said there")));
    let folder = mirror.sandbox.root().join(format!(".ralph/notes/{task}"));
    let note = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    std::fs::write(&note, std::fs::read_to_string(&note).unwrap().replace("said", "said here")).unwrap();
    let said = mirror.ralph(&["sync"]);
    assert_eq!(said.code, 1, "{said}");
    assert!(mirror.world(|world| world.comments(number)[0].body.contains("said there")));
    mirror.ralph(&["sync", "resolve", &task, "--take", "local"]).ok();
    mirror.sync();
    assert!(mirror.world(|world| world.comments(number)[0].body.contains("said here")));
}

#[test]
fn after_a_push_nothing_has_changed_there_and_undo_is_about_what_a_person_did() {
    let mirror = Mirror::new();
    let (task, _) = one(&mirror, &["First", "--priority", "P2"]);
    mirror.ralph(&["task", "set", &task, "priority=P1", "title=Second"]).ok();
    mirror.ralph(&["done", &task, "--force"]).ok();
    mirror.sync();
    let status = mirror.ralph(&["sync", "status", "--json"]).json();
    assert_eq!((&status["changed_there"], &status["changed_here"]), (&serde_json::json!([]), &serde_json::json!([])));
    let log = mirror.ralph(&["log"]).ok();
    assert!(!log.contains("github.base"), "{log}");
    let undone = mirror.ralph(&["undo"]).ok();
    assert!(undone.contains("Done → Backlog") || undone.contains("state"), "{undone}");
    assert_eq!(mirror.field(&task, "state"), "Backlog");
}

#[test]
fn another_forge_is_not_taken_for_github() {
    let mirror = Mirror::unset(crate::fake::Level::Dotcom);
    mirror.sandbox.git(&["remote", "set-url", "origin", "git@gitlab.com:acme/app.git"]);
    let said = mirror.ralph(&["sync", "init"]).fails(1);
    assert!(said.contains("this repository has no GitHub remote"), "{said}");
}

#[test]
fn an_edit_by_sed_of_every_line_that_fits_is_an_edit() {
    let mirror = Mirror::new();
    let (task, number) = one(&mirror, &["First", "--label", "bug", "--priority", "P1"]);
    let text = mirror.sandbox.read_task(&task);
    let edited = text
        .replace("First", "Second")
        .replace("\"bug\"", "\"feature\"")
        .replace("P1", "P2")
        .replace("Backlog", "In Review");
    mirror.sandbox.write_task(&task, edited);
    mirror.sync();
    mirror.world(|world| {
        assert_eq!((world.issue(number).title.as_str(), world.labels(number)), ("Second", vec!["feature".to_owned()]));
        assert_eq!(
            (world.value(number, "Priority").as_deref(), world.value(number, "Workflow State").as_deref()),
            (Some("P2"), Some("In Review"))
        );
    });
}

#[test]
fn a_board_that_is_committed_after_each_verb_has_one_commit_of_a_run() {
    let mirror = Mirror::new();
    mirror.add(&["First"]);
    mirror.add(&["Second"]);
    mirror.ralph(&["commit"]).ok();
    mirror.ralph(&["config", "set", "git.commit", "each"]).ok();
    mirror.ralph(&["commit"]).ok();
    let count = || mirror.sandbox.git(&["rev-list", "--count", "HEAD"]).trim().parse::<u32>().unwrap();
    let before = count();
    mirror.sync();
    assert_eq!(count(), before + 1);
    assert_eq!(mirror.sandbox.git(&["status", "--porcelain", ".ralph"]), "");
    mirror.sync();
    assert_eq!(count(), before + 1);
}

#[test]
fn undo_of_a_decision_brings_the_conflict_back() {
    let mirror = Mirror::new();
    let (task, number) = one(&mirror, &["First"]);
    mirror.ralph(&["task", "set", &task, "title=Here"]).ok();
    mirror.world(|world| world.edit_title(number, "There"));
    assert_eq!(mirror.ralph(&["sync"]).code, 1);
    mirror.ralph(&["sync", "resolve", &task, "--take", "local"]).ok();
    mirror.ralph(&["undo"]).ok();
    assert_eq!(mirror.field(&task, "title"), "Here");
    assert_eq!(mirror.ralph(&["sync"]).code, 1);
    assert_eq!(mirror.world(|world| world.issue(number).title.clone()), "There");
}

#[test]
fn a_run_in_one_direction_tells_only_of_that() {
    let mirror = Mirror::new();
    let (task, number) = one(&mirror, &["First"]);
    mirror.ralph(&["task", "set", &task, "priority=P1"]).ok();
    mirror.world(|world| world.edit_title(number, "There"));
    let push = mirror.ralph(&["sync", "--push", "--dry-run"]).ok();
    assert!(push.contains("priority") && !push.contains("title"), "{push}");
    let pull = mirror.ralph(&["sync", "--pull"]).ok();
    assert!(!pull.contains("priority") && pull.contains("title  First → There"), "{pull}");
    let again = mirror.ralph(&["sync", "--pull"]).ok();
    assert!(again.contains("nothing to pull; 1 local change is not on GitHub yet"), "{again}");
}

#[test]
fn a_second_issue_of_a_task_is_told_by_every_run_and_the_first_one_stays() {
    let mirror = Mirror::new();
    let (_, number) = one(&mirror, &["First"]);
    mirror.world(|world| {
        let body = world.issue(number).body.clone();
        let copy = world.add_issue("acme/app", "Copy", &body);
        world.add_to_project(1, copy);
    });
    let said = mirror.ralph(&["sync"]);
    assert!(said.stderr.contains("is a second issue of"), "{said}");
    let found = mirror.ralph(&["sync", "doctor"]);
    assert!(found.stdout.contains(&format!("as a duplicate of #{number}")), "{found}");
}

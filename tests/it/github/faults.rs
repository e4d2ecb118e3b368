//! Faults of GitHub and the network: each has a message that names the fix, and nothing is lost.

use super::Mirror;
use crate::fake::{Fault, Limits};

fn one(mirror: &Mirror) -> (String, u32) {
    let task = mirror.add(&["First", "--priority", "P1"]);
    mirror.sync();
    (task.clone(), mirror.number(&task))
}

/// Sync fails with this code and message and changes nothing on either side; once the fault is fixed, the change is
/// synced.
fn survives(code: i32, words: &[&str], breaks: impl FnOnce(&Mirror, u32), mends: impl FnOnce(&Mirror, u32)) {
    let mirror = Mirror::new();
    let (task, number) = one(&mirror);
    mirror.ralph(&["task", "set", &task, "title=Changed here"]).ok();
    let before = mirror.sandbox.read_task(&task);
    breaks(&mirror, number);
    let said = mirror.ralph(&["sync"]);
    assert_eq!(said.code, code, "{said}");
    for word in words {
        assert!(said.to_string().contains(word), "no {word:?} in {said}");
    }
    assert_eq!(mirror.sandbox.read_task(&task), before);
    mends(&mirror, number);
    mirror.sync();
    assert_eq!(mirror.world(|world| world.issue(number).title.clone()), "Changed here");
}

#[test]
fn a_token_that_was_revoked() {
    let switch = |on: bool| move |mirror: &Mirror, _: u32| mirror.world(|world| world.revoked = on);
    survives(6, &["rejected the token", "gh auth login"], switch(true), switch(false));
}

#[test]
fn a_scope_that_is_missing() {
    let breaks = |mirror: &Mirror, _: u32| mirror.world(|world| world.scopes = vec!["repo".into()]);
    let mends = |mirror: &Mirror, _: u32| mirror.world(|world| world.scopes = vec!["repo".into(), "project".into()]);
    survives(6, &["required scopes", "`gh auth refresh -s project`"], breaks, mends);
}

#[test]
fn a_project_that_is_closed() {
    let breaks = |mirror: &Mirror, _: u32| mirror.world(|world| world.close_project(1));
    let mends = |mirror: &Mirror, _: u32| {
        mirror.world(|world| {
            let id = world.project_id(1);
            world.projects.get_mut(&id).unwrap().closed = false;
        });
    };
    survives(1, &["is closed", "to reopen it"], breaks, mends);
}

#[test]
fn an_option_that_was_renamed() {
    let breaks = |mirror: &Mirror, _: u32| {
        mirror.world(|world| world.rename_option(1, "Workflow State", "In Review", "Reviewing"));
    };
    let mends = |mirror: &Mirror, _: u32| {
        mirror.world(|world| world.rename_option(1, "Workflow State", "Reviewing", "In Review"));
    };
    survives(1, &["has no option In Review; it has Reviewing", "restore its name", "ralph sync init"], breaks, mends);
}

#[test]
fn a_bad_gateway_for_ten_minutes() {
    let breaks = |mirror: &Mirror, _: u32| mirror.fake.fault_always(Some(Fault::BadGateway));
    let mends = |mirror: &Mirror, _: u32| mirror.fake.fault_always(None);
    survives(6, &["status 502", "`ralph sync` to continue where it stopped"], breaks, mends);
}

#[test]
fn a_network_that_is_away() {
    let mirror = Mirror::new();
    let (task, _) = one(&mirror);
    mirror.ralph(&["task", "set", &task, "title=Changed here"]).ok();
    let mut command = mirror.command(&mirror.sandbox.root());
    let said =
        crate::sandbox::finish(command.env("RALPH_GITHUB_API", "http://127.0.0.1:9/graphql").arg("sync")).fails(6);
    assert!(said.contains("cannot reach"), "{said}");
    mirror.sync();
}

#[test]
fn a_project_that_was_deleted_loses_no_task() {
    let mirror = Mirror::new();
    let (task, number) = one(&mirror);
    mirror.world(|world| world.delete_project(1));
    let said = mirror.ralph(&["sync"]).fails(1);
    assert!(said.contains("project 1 of acme does not exist") && said.contains("nothing was changed"), "{said}");
    // A new project replaces it: the same issue, another item.
    mirror.ralph(&["config", "set", "github.project", ""]).ok();
    mirror.ralph(&["sync", "init"]).ok();
    let said = mirror.ralph(&["sync"]);
    assert!(said.to_string().contains("no longer in the project"), "{said}");
    mirror.ralph(&["sync", "resolve", &task, "--take", "local"]).ok();
    mirror.sync();
    assert_eq!(mirror.number(&task), number);
    assert_eq!(mirror.world(|world| world.value(number, "Priority")).as_deref(), Some("P1"));
}

#[test]
fn an_item_that_was_archived_while_its_task_is_open_is_told_and_left() {
    let mirror = Mirror::new();
    let (task, number) = one(&mirror);
    mirror.world(|world| world.archive_item(number));
    mirror.ralph(&["task", "set", &task, "priority=P0"]).ok();
    let said = mirror.ralph(&["sync"]);
    assert_eq!(said.code, 1);
    assert!(said.stdout.contains("local   not archived") && said.stdout.contains("remote  archived"), "{said}");
    assert!(mirror.sandbox.task_file(&task).exists());
    let refused = mirror.ralph(&["sync", "resolve", &task, "--take", "remote"]).fails(1);
    assert!(refused.contains("only finished tasks can be archived"), "{refused}");
    mirror.ralph(&["sync", "resolve", &task, "--take", "local"]).ok();
    mirror.sync();
    mirror.sync();
    assert_eq!(mirror.world(|world| world.value(number, "Priority")).as_deref(), Some("P0"));
    assert_eq!(mirror.sync()["plan"]["rows"], serde_json::json!([]));
}

#[test]
fn an_issue_that_was_transferred_is_followed() {
    let mirror = Mirror::new();
    let (task, number) = one(&mirror);
    let there = mirror.world(|world| {
        world.add_repository("acme", "other");
        world.transfer_issue(number, "acme/other")
    });
    mirror.sync();
    assert_eq!(mirror.number(&task), there);
    assert!(mirror.field(&task, "github").contains("acme/other"));
    mirror.ralph(&["task", "set", &task, "title=Still ours"]).ok();
    mirror.sync();
    assert_eq!(mirror.world(|world| world.issue(("acme/other", there)).title.clone()), "Still ours");
}

#[test]
fn an_issue_that_is_gone_is_never_deleted_here() {
    let mirror = Mirror::new();
    let (task, number) = one(&mirror);
    mirror.world(|world| world.delete_issue(number));
    let said = mirror.ralph(&["sync"]);
    assert_eq!(said.code, 1, "{said}");
    assert!(said.stdout.contains("deleted, or not accessible with this token"), "{said}");
    assert_eq!(mirror.field(&task, "title"), "First");
    mirror.ralph(&["sync", "resolve", &task, "--take", "local"]).ok();
    mirror.sync();
    assert_ne!(mirror.number(&task), number, "made anew");
    let number = mirror.number(&task);
    mirror.world(|world| world.remove_from_project(number));
    let _ = mirror.ralph(&["sync"]);
    mirror.ralph(&["sync", "resolve", &task, "--take", "remote"]).ok();
    assert_eq!(mirror.sync()["plan"]["rows"], serde_json::json!([]), "no longer mirrored");
    assert!(mirror.sandbox.read_task(&task).contains("mirror = false"));
}

#[test]
fn much_that_vanishes_at_once_stops_the_run() {
    let mirror = Mirror::new();
    let tasks: Vec<String> = (0..8).map(|n| mirror.add(&[&format!("Task {n}")])).collect();
    mirror.sync();
    let numbers: Vec<u32> = tasks.iter().map(|task| mirror.number(task)).collect();
    mirror.world(|world| numbers.iter().take(6).for_each(|number| world.close_issue(*number, "COMPLETED")));
    let said = mirror.ralph(&["sync"]).fails(1);
    assert!(said.contains("6 of 8 tasks would be closed here") && said.contains("--force"), "{said}");
    assert_eq!(mirror.field(&tasks[0], "state"), "Backlog");
    mirror.ralph(&["sync", "--force"]).ok();
    assert_eq!(mirror.field(&tasks[0], "state"), "Done");
    mirror.world(|world| numbers.iter().for_each(|number| world.remove_from_project(*number)));
    let said = mirror.ralph(&["sync"]).fails(1);
    assert!(said.contains("issues are missing from the project"), "{said}");
}

#[test]
fn no_clock_of_this_machine_decides_anything() {
    for shift in [-86_400, 86_400] {
        let mirror = Mirror::new();
        mirror.world(|world| world.advance(shift));
        let (task, number) = one(&mirror);
        mirror.ralph(&["note", &task, "A word."]).ok();
        mirror.world(|world| world.edit_title(number, "Changed there"));
        mirror.sync();
        assert_eq!(mirror.field(&task, "title"), "Changed there", "{shift}");
        // An issue whose creation was not acknowledged is found again, however far the clocks differ.
        let lost = mirror.add(&["Lost"]);
        let requests = 5;
        mirror.fake.plan((0..requests).map(|index| (index + 3, Fault::DropAfter)));
        let _ = mirror.ralph(&["sync"]);
        mirror.fake.plan([]);
        let _ = mirror.ralph(&["sync"]);
        mirror.world(|world| world.advance(700));
        let _ = mirror.ralph(&["sync"]);
        mirror.sync();
        let titles =
            mirror.world(|world| world.issues_in("acme/app").iter().filter(|issue| issue.title == "Lost").count());
        assert_eq!(titles, 1, "{shift}");
        mirror.number(&lost);
    }
}

#[test]
fn limits_are_waited_for_and_told() {
    for fault in [Fault::Forbidden { retry_after: Some(1) }, Fault::TooMany { retry_after: Some(1) }] {
        let mirror = Mirror::new();
        let task = mirror.add(&["First"]);
        mirror.fake.plan((0..6).map(|index| (index * 2, fault)));
        let said = mirror.ralph(&["sync"]);
        assert_eq!(said.code, 0, "{said}");
        assert!(said.stderr.contains("waiting 1 s: the secondary rate limit"), "{said}");
        mirror.number(&task);
        assert_eq!(mirror.world(|world| world.issues_in("acme/app").len()), 1);
    }
    for fault in [Fault::RateLimited, Fault::RateLimit] {
        let mirror = Mirror::new();
        mirror.fake.plan([(0, fault)]);
        let said = mirror.ralph(&["sync"]);
        assert!(said.code == 0 && said.stderr.contains("the hourly rate limit"), "{said}");
    }
}

#[test]
fn what_github_cannot_make_whole_is_asked_for_in_parts() {
    let mirror = Mirror::new();
    mirror.world(|world| {
        for n in 0..30 {
            let number = world.add_issue("acme/app", &format!("Issue {n}"), "");
            world.add_to_project(1, number);
        }
    });
    mirror.fake.plan((3..20).map(|index| (index, Fault::ResourceLimits)));
    let _ = mirror.ralph(&["sync"]);
    mirror.fake.plan([]);
    mirror.sync();
    assert_eq!(mirror.sandbox.ids().len(), 30);
}

#[test]
fn one_refusal_in_a_batch_leaves_the_others_done() {
    let mirror = Mirror::new();
    let tasks: Vec<String> = (0..3).map(|n| mirror.add(&[&format!("Task {n}")])).collect();
    mirror.sync();
    for task in &tasks {
        mirror.ralph(&["task", "set", task, "priority=P0"]).ok();
    }
    mirror.requests();
    mirror.sync();
    let before = mirror.requests().iter().position(|name| name == "Batch").unwrap();
    for task in &tasks {
        mirror.ralph(&["task", "set", task, "priority=P2"]).ok();
    }
    mirror.fake.plan([
        (before, Fault::AliasFails(1)),
        (before + 1, Fault::AliasFails(1)),
        (before - 1, Fault::AliasFails(1)),
    ]);
    let said = mirror.ralph(&["sync"]);
    assert!(said.code == 1 && said.stdout.contains("failed:"), "{said}");
    mirror.fake.plan([]);
    mirror.sync();
    for task in &tasks {
        let number = mirror.number(task);
        assert_eq!(mirror.world(|world| world.value(number, "Priority")).as_deref(), Some("P2"));
    }
}

#[test]
fn an_index_that_lags_and_a_new_issue_that_is_not_addable_yet_are_waited_for() {
    let mirror = Mirror::new();
    mirror.world(|world| {
        world.item_listing_lag = true;
        world.not_yet_addable = 2;
    });
    let (task, number) = one(&mirror);
    assert_eq!(mirror.world(|world| world.value(number, "Priority")).as_deref(), Some("P1"));
    assert_eq!(mirror.world(|world| world.project_items(1).len()), 1, "{task}");
}

#[test]
fn a_limit_on_creating_is_met_with_patience() {
    let mirror = Mirror::new();
    mirror.world(|world| {
        world.limits = Some(Limits { per_minute: 3, per_hour: 500, issues_per_minute: 3, issues_per_hour: 500 });
    });
    for n in 0..3 {
        mirror.add(&[&format!("Task {n}")]);
    }
    mirror.sync();
    assert_eq!(mirror.world(|world| world.issues_in("acme/app").len()), 3);
}

#[test]
fn texts_that_github_does_not_take_are_told_and_the_rest_goes_on() {
    let mirror = Mirror::new();
    let long = mirror.add(&[&"x".repeat(300)]);
    let (task, _) = {
        let task = mirror.add(&["Fine"]);
        let said = mirror.ralph(&["sync"]);
        assert!(said.code == 1 && said.stdout.contains("longer than the 256 characters"), "{said}");
        (task.clone(), mirror.number(&task))
    };
    assert_eq!(mirror.field(&long, "github"), "null");
    let file = mirror.sandbox.outside("body");
    std::fs::write(&file, "word ".repeat(20_000)).unwrap();
    mirror.ralph(&["task", "set", &long, "title=Short"]).ok();
    mirror.sync();
    let text = mirror.sandbox.read_task(&task);
    mirror.sandbox.write_task(
        &task,
        format!(
            "{}\ndescription = '{}'\n{}",
            text.split("\n[github]").next().unwrap(),
            "word ".repeat(20_000),
            &text[text.find("\n[github]").unwrap()..]
        ),
    );
    let said = mirror.ralph(&["sync"]);
    assert!(said.code == 1 && said.stdout.contains("description: longer than GitHub allows"), "{said}");
}

#[test]
fn duplicates_orphans_and_twins_are_found_by_the_doctor() {
    let mirror = Mirror::new();
    let (task, number) = one(&mirror);
    assert_eq!(mirror.ralph(&["sync", "doctor"]).ok(), "no problems\n");
    mirror.world(|world| {
        // A person copied an issue with its marker.
        let body = world.issue(number).body.clone();
        let copy = world.add_issue("acme/app", "Copy", &body);
        world.add_to_project(1, copy);
        let orphan = world.add_issue("acme/app", "Orphan", "x\n\n<!-- ralph task=t-zzzz uid=0123456789abcdef -->");
        world.add_to_project(1, orphan);
    });
    let twin = mirror.add(&["Twin"]);
    let link = mirror.sandbox.read_task(&task);
    let twin_text = mirror.sandbox.read_task(&twin);
    mirror.sandbox.write_task(&twin, format!("{twin_text}{}", &link[link.find("\n[github]").unwrap()..]));
    let found = mirror.ralph(&["sync", "doctor", "--json"]);
    assert_eq!(found.code, 1);
    let found: serde_json::Value = serde_json::from_str(&found.stdout).unwrap();
    let kinds: Vec<&str> = found.as_array().unwrap().iter().map(|one| one["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["twin", "duplicate", "orphan"], "{found}");
    // A sync does not make it worse.
    let _ = mirror.ralph(&["sync"]);
    assert_eq!(mirror.world(|world| world.issues_in("acme/app").len()), 3);
    assert_eq!(mirror.sandbox.ids().len(), 2);
}

#[test]
fn two_runs_at_once_do_not_meet() {
    let mirror = Mirror::new();
    mirror.add(&["First"]);
    let mut child = mirror.held();
    let said = mirror.ralph(&["sync"]).fails(3);
    assert!(said.contains("another sync is running"), "{said}");
    child.kill().unwrap();
    child.wait().unwrap();
}

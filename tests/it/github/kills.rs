//! A sync that is killed at any request continues with the next run, and creates nothing twice.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::Duration;

use super::Mirror;
use crate::fake::Fault;

fn filled() -> Mirror {
    let mirror = Mirror::new();
    let epic = mirror.add(&["Epic", "--kind", "epic", "--label", "fresh"]);
    let first = mirror.add(&["First", "--parent", &epic, "--priority", "P1", "--body", "text"]);
    let second = mirror.add(&["Second", "--parent", &epic, "--blocked-by", &first]);
    mirror.ralph(&["note", &first, "A word."]).ok();
    mirror.ralph(&["note", &second, "Another."]).ok();
    mirror.world(|world| {
        let number = world.add_issue("acme/app", "Made there", "");
        world.add_to_project(1, number);
        world.comment(number, "hubot", "Theirs.")
    });
    mirror.fake.clear_log();
    mirror
}

fn settle(mirror: &Mirror) {
    // The next run waits, by GitHub's clock, for objects that may still appear.
    let _ = mirror.ralph(&["sync"]);
    mirror.world(|world| world.advance(700));
    let _ = mirror.ralph(&["sync"]);
    let last = mirror.ralph(&["sync", "--json"]);
    assert_eq!(last.code, 0, "{last}");
}

fn check(mirror: &Mirror, at: &str) {
    let titles: Vec<String> =
        mirror.world(|world| world.issues_in("acme/app").iter().map(|issue| issue.title.clone()).collect());
    let unique: BTreeSet<&String> = titles.iter().collect();
    assert_eq!((titles.len(), unique.len()), (4, 4), "{at}: {titles:?}");
    let comments: Vec<String> =
        mirror.world(|world| world.comments.values().map(|comment| comment.body.clone()).collect());
    assert_eq!(comments.len(), 3, "{at}: {comments:?}");
    assert_eq!(mirror.sandbox.ids().len(), 4, "{at}");
    for task in mirror.sandbox.ids() {
        let number = mirror.number(&task);
        assert_eq!(
            mirror.world(|world| world.value(number, "Workflow State")).as_deref(),
            Some("Backlog"),
            "{at}: {task}"
        );
    }
    let again = mirror.sync();
    assert_eq!(again["plan"]["rows"], serde_json::json!([]), "{at}");
}

#[test]
fn a_kill_at_any_request_doubles_nothing() {
    let whole = filled();
    whole.sync();
    let requests = whole.requests().len();
    check(&whole, "without a kill");
    assert!(requests > 8, "{requests}");
    for index in 0..requests {
        for fault in [Fault::HoldBefore, Fault::HoldAfter] {
            let mirror = filled();
            mirror.fake.plan([(index, fault)]);
            let mut command = mirror.command(&mirror.sandbox.root());
            let mut child = command.arg("sync").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            assert!(mirror.fake.wait_held(Duration::from_secs(30)), "request {index} was never sent");
            child.kill().unwrap();
            child.wait().unwrap();
            mirror.fake.plan([]);
            settle(&mirror);
            check(&mirror, &format!("killed at request {index}, {fault:?}"));
        }
    }
}

#[test]
fn an_answer_that_is_lost_doubles_nothing() {
    let whole = filled();
    whole.sync();
    let requests = whole.requests().len();
    for index in 0..requests {
        for fault in [Fault::DropAfter, Fault::Truncate, Fault::BadGatewayAfter, Fault::DropBefore, Fault::BadGateway] {
            let mirror = filled();
            mirror.fake.plan([(index, fault)]);
            let _ = mirror.ralph(&["sync"]);
            mirror.fake.plan([]);
            settle(&mirror);
            check(&mirror, &format!("{fault:?} at request {index}"));
        }
    }
}

//! The size of the tool list, pages that skip nothing, and a read-only server.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use crate::mcp_client::Client;
use crate::sandbox::Sandbox;

pub const TOOLS: [&str; 12] =
    ["next", "claim", "release", "get", "list", "save", "create", "note", "relate", "split", "artifact", "status"];

fn names(listed: &Value) -> Vec<String> {
    listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn twelve_tools_in_less_than_2500_tokens() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox, &[]);
    let listed = client.request("tools/list", json!({})).unwrap();
    assert_eq!(names(&listed), TOOLS);
    let bytes = listed.to_string().len();
    assert!(bytes / 4 < 2_500, "{bytes} bytes");
    for tool in listed["tools"].as_array().unwrap() {
        assert!(tool["description"].as_str().unwrap().len() > 20, "{tool}");
        assert_eq!((&tool["inputSchema"]["type"], &tool["outputSchema"]["type"]), (&"object".into(), &"object".into()));
    }
    client.end();
}

/// Every file in a folder, with its content and modification time.
fn tree(folder: &Path) -> BTreeMap<String, (Vec<u8>, std::time::SystemTime)> {
    let mut found = BTreeMap::new();
    for entry in
        walkdir::WalkDir::new(folder).into_iter().map(Result::unwrap).filter(|entry| entry.file_type().is_file())
    {
        let changed = entry.metadata().unwrap().modified().unwrap();
        found.insert(entry.path().display().to_string(), (std::fs::read(entry.path()).unwrap(), changed));
    }
    found
}

#[test]
fn a_server_that_only_reads_changes_nothing_on_disk() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["One", "--estimate", "L"]);
    sandbox.hand_in("research", &id);
    let before = tree(&sandbox.root());
    let mut client = Client::start(&sandbox, &["--read-only", "--as", "analyst"]);
    let listed = names(&client.request("tools/list", json!({})).unwrap());
    assert_eq!(listed, ["next", "get", "list", "artifact", "status"]);
    for (tool, arguments) in [
        ("claim", json!({ "task": id })),
        ("release", json!({ "task": id })),
        ("save", json!({ "task": id, "title": "x" })),
        ("create", json!({ "tasks": [{ "title": "x" }] })),
        ("note", json!({ "task": id, "text": "x" })),
        ("relate", json!({ "task": id, "parent": "" })),
        ("split", json!({ "task": id, "into": [{ "title": "x", "estimate": "S" }] })),
        ("artifact", json!({ "task": id, "kind": "plan", "action": "new" })),
        ("artifact", json!({ "task": id, "kind": "research", "action": "write", "text": "x" })),
        ("artifact", json!({ "task": id, "kind": "research", "action": "link" })),
        ("next", json!({})),
    ] {
        assert_eq!(client.refused(tool, arguments)["code"], "read-only", "{tool}");
    }
    assert_eq!(client.ok("next", json!({ "claim": false }))["task"]["id"], id);
    assert_eq!(client.ok("get", json!({ "task": id }))["id"], id);
    assert_eq!(client.ok("list", json!({}))["total"], 1);
    client.ok("status", json!({}));
    client.ok("artifact", json!({ "task": id, "kind": "research", "action": "read" }));
    client.request("resources/read", json!({ "uri": "ralph://board" })).unwrap();
    client.request("resources/subscribe", json!({ "uri": "ralph://board" })).unwrap();
    client.hear(|message| message["method"] == "notifications/resources/list_changed");
    client.forget_news();
    // An edit by hand, which the watcher of a read-only server does not journal.
    std::fs::write(sandbox.task_file("t-hand"), "title = 'By hand'\n").unwrap();
    client.hears_of("ralph://board");
    client.end();
    std::fs::remove_file(sandbox.task_file("t-hand")).unwrap();
    // The index is a cache, and the lock file records the last process; both may change.
    let own = |path: &&String| !path.ends_with("/.git/ralph/index") && !path.ends_with("/.git/ralph/lock");
    let after = tree(&sandbox.root());
    assert_eq!(before.keys().filter(own).collect::<Vec<_>>(), after.keys().filter(own).collect::<Vec<_>>());
    for path in before.keys().filter(own) {
        assert!(before[path] == after[path], "{path} has changed");
    }
}

/// Reads all pages of a list and counts how often each task was seen; `between` runs between two pages.
fn walk(client: &mut Client, asked: &Value, mut between: impl FnMut(usize, &Value)) -> BTreeMap<String, usize> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut cursor = Value::Null;
    for page in 0.. {
        let mut arguments = asked.clone();
        if !cursor.is_null() {
            arguments["cursor"] = cursor.clone();
        }
        let listed = client.ok("list", arguments);
        let bytes = listed.to_string().len() as u64;
        assert!(bytes <= asked["max_bytes"].as_u64().unwrap_or(8_000), "{bytes} bytes");
        for task in listed["tasks"].as_array().unwrap() {
            *seen.entry(task["id"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        cursor = listed["cursor"].clone();
        if cursor.is_null() {
            return seen;
        }
        assert!(page < 2_000, "the list has no end");
        between(page, &listed);
    }
    unreachable!()
}

fn thousand(sandbox: &Sandbox) -> BTreeSet<String> {
    let ids: BTreeSet<String> = (0..1_000).map(|n| format!("t-{n:04}")).collect();
    for (n, id) in ids.iter().enumerate() {
        sandbox.write_task(id, format!("title = 'Task {n} with a title of some length'\npriority = 'P{}'\n", n % 4));
    }
    ids
}

#[test]
fn pages_keep_their_budget_and_show_every_task_once() {
    let sandbox = Sandbox::new();
    let ids = thousand(&sandbox);
    let mut client = Client::start(&sandbox, &[]);
    for asked in [
        json!({ "limit": 500 }),
        json!({}),
        json!({ "limit": 500, "max_bytes": 2_000 }),
        json!({ "limit": 500, "sort": "title", "max_bytes": 20_000 }),
        json!({ "limit": 37, "search": "title", "max_bytes": 20_000 }),
    ] {
        let seen = walk(&mut client, &asked, |_, _| ());
        assert_eq!(seen.keys().cloned().collect::<BTreeSet<_>>(), ids, "{asked}");
        assert!(seen.values().all(|times| *times == 1), "{asked}: {seen:?}");
    }
    client.end();
}

/// Tasks are added and removed between pages, including the last one of a page: all others are seen exactly once.
#[test]
fn no_task_that_stays_is_skipped_while_others_come_and_go() {
    let sandbox = Sandbox::new();
    let mut stay = thousand(&sandbox);
    let mut client = Client::start(&sandbox, &[]);
    let mut rng = fastrand::Rng::with_seed(8);
    let asked = json!({ "limit": 500, "max_bytes": 3_000, "sort": "id" });
    let mut gone = BTreeSet::new();
    let seen = walk(&mut client, &asked, |page, listed| {
        // Removes the last tasks of this page and some random ones.
        let shown = listed["tasks"].as_array().unwrap();
        let ends = shown.iter().rev().take(page % 4).map(|task| task["id"].as_str().unwrap().to_owned());
        let others = (0..3).map(|_| format!("t-{:04}", rng.usize(..1_000)));
        for id in ends.chain(others).collect::<Vec<_>>() {
            if stay.remove(&id) {
                std::fs::remove_file(sandbox.task_file(&id)).unwrap();
                gone.insert(id);
            }
        }
        sandbox.write_task(&format!("t-{:04}x{page}", rng.usize(..1_000)), "title = 'New'\n");
    });
    let missed: Vec<&String> = stay.iter().filter(|id| !seen.contains_key(*id)).collect();
    assert!(missed.is_empty(), "{missed:?}");
    let twice: Vec<_> = stay.iter().filter(|id| seen[*id] != 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
    assert!(gone.len() > 50, "{}", gone.len());
    client.end();
}

/// The last task of a page is removed, together with several before it.
#[test]
fn a_page_whose_end_is_taken_away_goes_on_where_it_was() {
    let sandbox = Sandbox::new();
    for n in 0..30 {
        sandbox.write_task(&format!("t-{n:02}"), format!("title = 'T{n}'\n"));
    }
    let mut client = Client::start(&sandbox, &[]);
    let first = client.ok("list", json!({ "limit": 10, "sort": "id" }));
    for n in 4..10 {
        std::fs::remove_file(sandbox.task_file(&format!("t-{n:02}"))).unwrap();
    }
    let second = client.ok("list", json!({ "limit": 10, "sort": "id", "cursor": first["cursor"] }));
    assert_eq!(second["tasks"][0]["id"], "t-10", "{second}");
    client.end();
}

/// The last task of a page moves to another place in the order.
#[test]
fn a_page_does_not_follow_the_task_where_it_ended() {
    let sandbox = Sandbox::new();
    for n in 0..30 {
        sandbox.write_task(&format!("t-{n:02}"), format!("title = 'T{n}'\npriority = 'P1'\n"));
    }
    let mut client = Client::start(&sandbox, &[]);
    let first = client.ok("list", json!({ "limit": 10 }));
    let last = first["tasks"][9]["id"].as_str().unwrap();
    sandbox.write_task(last, "title = 'No priority any more'\n");
    let mut left = BTreeSet::new();
    let mut cursor = first["cursor"].clone();
    while !cursor.is_null() {
        let page = client.ok("list", json!({ "limit": 10, "cursor": cursor }));
        left.extend(page["tasks"].as_array().unwrap().iter().map(|task| task["id"].to_string()));
        cursor = page["cursor"].clone();
    }
    assert_eq!(left.len(), 21, "the remaining twenty, and the one that moved: {left:?}");
    client.end();
}

#[test]
fn an_answer_keeps_its_budget_whatever_the_task_is_like() {
    let sandbox = Sandbox::new();
    let quotes = "\"\\\" ".repeat(3_000);
    sandbox.write_task("t-big", format!("title = 'Big'\nkind = 'epic'\ndescription = '{quotes}'\n"));
    for n in 0..300 {
        sandbox.write_task(&format!("t-{n:03}"), format!("title = 'T{n}'\nparent = 't-big'\n"));
    }
    sandbox.ralph(&["note", "t-big", &"word ".repeat(1_000)]).ok();
    let mut client = Client::start(&sandbox, &[]);
    for most in [4_000, 8_000] {
        let about = client.ok("get", json!({ "task": "t-big", "max_bytes": most }));
        let bytes = about.to_string().len();
        assert!(bytes <= most, "{bytes} bytes of {most}");
        let note = &about["notes"][0];
        let text = note["text"].as_str().unwrap();
        assert!(text.len() > 200, "the newest note is included: {note}");
        assert_eq!(note["cut_at"], text.len(), "{note}");
        assert!(about["children"].as_array().unwrap().last().unwrap().as_str().unwrap().starts_with("and "));
    }
    client.end();
}

#[test]
fn a_file_that_cannot_be_read_is_told_beside_the_answer() {
    let sandbox = Sandbox::new();
    sandbox.write_task("t-a", "title = 'A'\n");
    sandbox.write_task("t-b", "title = \n");
    let mut client = Client::start(&sandbox, &[]);
    let listed = client.ok("list", json!({}));
    assert_eq!(listed["total"], 1);
    assert!(listed["broken_files"][0].as_str().unwrap().starts_with(".ralph/tasks/t-b.toml:1:"), "{listed}");
    client.end();
}

#[test]
fn a_label_may_have_a_comma_in_it() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["One"]);
    let mut client = Client::start(&sandbox, &["--as", "ada"]);
    client.ok("save", json!({ "task": id, "labels": ["a, b"] }));
    client.ok("save", json!({ "task": id, "add_labels": ["c, d"] }));
    assert_eq!(client.ok("get", json!({ "task": id }))["labels"], json!(["a, b", "c, d"]));
    client.end();
}

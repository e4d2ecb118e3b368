//! Subscriptions: they report changes by people and other processes, and only those that were subscribed to.

use serde_json::{Value, json};

use crate::mcp_client::{Client, hold_board, ralph, server};
use crate::sandbox::{Sandbox, finish};

fn subscribed(sandbox: &Sandbox, uris: &[&str]) -> Client {
    let mut client = Client::start(sandbox, &[]);
    for uri in uris {
        client.request("resources/subscribe", json!({ "uri": uri })).unwrap();
    }
    // When the watch starts, anything may have changed, so the list is reported as new.
    client.hear(is_new_list);
    client.forget_news();
    client
}

fn is_new_list(message: &Value) -> bool {
    message["method"] == "notifications/resources/list_changed"
}

#[test]
fn a_task_saved_by_hand_or_by_another_process_is_told_to_who_subscribed() {
    let sandbox = Sandbox::new();
    sandbox.write_task("t-a", "title = 'A'\n");
    sandbox.write_task("t-b", "title = 'B'\n");
    let mut client = subscribed(&sandbox, &["ralph://task/t-a"]);
    std::fs::write(sandbox.task_file("t-b"), "title = 'B2'\n").unwrap();
    std::fs::write(sandbox.task_file("t-a"), "title = 'A2'\n").unwrap();
    client.hears_of("ralph://task/t-a");
    ralph(&sandbox, &["task", "set", "t-b", "priority=P1"]).ok();
    ralph(&sandbox, &["task", "set", "t-a", "priority=P1"]).ok();
    client.hears_of("ralph://task/t-a");
    client.has_not_heard(|message| message["params"]["uri"] == "ralph://task/t-b");
    client.request("resources/subscribe", json!({ "uri": "ralph://task/t-b" })).unwrap();
    client.request("resources/unsubscribe", json!({ "uri": "ralph://task/t-a" })).unwrap();
    client.forget_news();
    ralph(&sandbox, &["task", "set", "t-a", "priority=P2"]).ok();
    ralph(&sandbox, &["task", "set", "t-b", "priority=P2"]).ok();
    client.hears_of("ralph://task/t-b");
    client.has_not_heard(|message| message["params"]["uri"] == "ralph://task/t-a");
    client.end();
}

#[test]
fn a_document_that_is_edited_by_hand_is_told() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["A", "--state", "research-needed"]);
    let path = sandbox.hand_in("research", &id);
    let mut client = subscribed(&sandbox, &[&format!("ralph://artifact/{path}")]);
    let file = sandbox.root().join(&path);
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{text}\nOne more thing.\n")).unwrap();
    client.hears_of(&format!("ralph://artifact/{path}"));
    let read = client.request("resources/read", json!({ "uri": format!("ralph://artifact/{path}") })).unwrap();
    assert!(read["contents"][0]["text"].as_str().unwrap().contains("One more thing."));
    client.end();
}

#[test]
fn a_new_task_and_one_that_goes_change_the_list_and_the_board() {
    let sandbox = Sandbox::new();
    let mut client = subscribed(&sandbox, &["ralph://board"]);
    let id = sandbox.add(&["A"]);
    client.hear(is_new_list);
    client.hears_of("ralph://board");
    let listed = client.request("resources/list", json!({})).unwrap();
    assert!(listed.to_string().contains(&format!("ralph://task/{id}")));
    client.forget_news();
    ralph(&sandbox, &["task", "set", &id, "priority=P1"]).ok();
    client.hears_of("ralph://board");
    client.has_not_heard(is_new_list);
    std::fs::remove_file(sandbox.task_file(&id)).unwrap();
    client.hear(is_new_list);
    client.end();
}

/// A client of the 2026 protocol: it listens, and every message names its subscription.
#[test]
fn a_client_that_listens_hears_what_it_asked_for_until_it_cancels() {
    let sandbox = Sandbox::new();
    sandbox.write_task("t-a", "title = 'A'\n");
    let mut client = Client::open(&mut server(&sandbox, &[]));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "probe", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let found = client.request("server/discover", json!({ "_meta": meta })).unwrap();
    assert!(found["supportedVersions"].to_string().contains("2026-07-28"), "{found}");
    let wanted = json!({ "resourceSubscriptions": ["ralph://task/t-a"], "resourcesListChanged": true });
    let listening = client.send("subscriptions/listen", json!({ "_meta": meta, "notifications": wanted }));
    client.hear(|message| message["method"] == "notifications/subscriptions/acknowledged");
    std::fs::write(sandbox.task_file("t-a"), "title = 'at once'\n").unwrap();
    client.hears_of("ralph://task/t-a");
    client.hear(is_new_list);
    std::fs::write(sandbox.task_file("t-a"), "title = 'later'\n").unwrap();
    client.hears_of("ralph://task/t-a");
    let id = sandbox.add(&["B"]);
    client.hear(is_new_list);
    let called = json!({ "name": "get", "arguments": { "task": id }, "_meta": meta });
    assert_eq!(client.request("tools/call", called).unwrap()["structuredContent"]["id"], id.as_str());
    let enough = json!({ "requestId": listening });
    client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": enough }));
    let still = client.request("server/discover", json!({ "_meta": meta }));
    assert!(still.is_ok());
    client.end();
}

#[test]
fn a_board_that_is_away_for_a_moment_does_not_end_the_subscription() {
    let sandbox = Sandbox::new();
    sandbox.write_task("t-a", "title = 'A'\n");
    let mut client = subscribed(&sandbox, &["ralph://task/t-a"]);
    let (tasks, away) = (sandbox.root().join(".ralph/tasks"), sandbox.outside("away"));
    std::fs::rename(&tasks, &away).unwrap();
    client.hears_of("ralph://task/t-a");
    std::fs::rename(&away, &tasks).unwrap();
    client.hears_of("ralph://task/t-a");
    client.forget_news();
    finish(sandbox.command("sed", &sandbox.root()).args(["-i", "s/A/C/", ".ralph/tasks/t-a.toml"])).ok();
    client.hears_of("ralph://task/t-a");
    client.end();
}

#[test]
fn who_has_seen_the_list_of_resources_is_told_when_it_changes() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox, &[]);
    client.request("resources/list", json!({})).unwrap();
    client.hear(is_new_list);
    sandbox.add(&["A"]);
    client.hear(is_new_list);
    client.end();
}

#[test]
fn a_client_that_listens_keeps_nobody_from_an_answer_while_the_board_is_locked() {
    let sandbox = Sandbox::new();
    sandbox.write_task("t-a", "title = 'A'\n");
    let mut client = Client::start(&sandbox, &[]);
    let lock = hold_board(&sandbox);
    let wanted = json!({ "uri": "ralph://task/t-a" });
    client.request("resources/subscribe", wanted).unwrap();
    client.ok("get", json!({ "task": "t-a" }));
    drop(lock);
    client.hears_of("ralph://task/t-a");
    client.end();
}

#[test]
fn a_document_saved_while_a_folder_appears_is_told() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["A", "--state", "research-needed"]);
    let path = sandbox.hand_in("research", &id);
    let reviews = sandbox.root().join("thoughts/shared/reviews");
    let _ = std::fs::remove_dir_all(&reviews);
    let uri = format!("ralph://artifact/{path}");
    let mut client = subscribed(&sandbox, &[&uri]);
    let file = sandbox.root().join(&path);
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::create_dir(&reviews).unwrap();
    std::fs::write(&file, format!("{text}\nOne more thing.\n")).unwrap();
    client.hears_of(&uri);
    client.end();
}

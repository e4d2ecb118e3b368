//! The name of a caller: from the server, from the call, or from the client; and claims that another worker has taken
//! over.

use serde_json::json;

use crate::mcp_client::{Client, ralph, server};
use crate::sandbox::Sandbox;

fn author(sandbox: &Sandbox) -> String {
    sandbox.ralph(&["log", "--json", "-n", "1"]).json()[0]["by"].as_str().unwrap().to_owned()
}

#[test]
fn a_caller_is_who_the_server_was_started_as() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["One"]);
    let mut client = Client::start(&sandbox, &["--as", "analyst-2"]);
    client.ok("note", json!({ "task": id, "text": "x" }));
    assert_eq!(author(&sandbox), "analyst-2");
    client.ok("note", json!({ "task": id, "text": "x", "as": "analyst-2" }));
    let refused = client.refused("note", json!({ "task": id, "text": "y", "as": "builder" }));
    assert_eq!(refused["code"], "not-you", "{refused}");
    assert_eq!(client.ok("next", json!({}))["role"], "analyst", "by its name");
    client.end();
    let mut client = Client::open(server(&sandbox, &[]).env("RALPH_WORKER", "builder-3"));
    client.greet("probe");
    client.ok("note", json!({ "task": id, "text": "x" }));
    assert_eq!(author(&sandbox), "builder-3");
    assert_eq!(client.refused("note", json!({ "task": id, "text": "y", "as": "builder" }))["code"], "not-you");
    client.end();
}

#[test]
fn a_caller_says_who_it_is_where_the_server_does_not() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["One"]);
    let mut client = Client::open(&mut server(&sandbox, &[]));
    client.greet("Claude Code (beta)");
    client.ok("note", json!({ "task": id, "text": "x" }));
    let own = author(&sandbox);
    assert!(own.starts_with("claude-code-beta-"), "{own}");
    client.ok("note", json!({ "task": id, "text": "x", "as": "builder-2" }));
    assert_eq!(author(&sandbox), "builder-2");
    assert_eq!(client.ok("next", json!({ "as": "analyst" }))["task"]["id"], id);
    assert_eq!(client.refused("claim", json!({ "task": id, "as": "analyst-2" }))["code"], "held");
    client.end();
    // The named worker may come back, so its claim stays.
    assert_eq!(ralph(&sandbox, &["claims", "ls", "--json"]).json().as_array().unwrap().len(), 1);
}

#[test]
fn a_bad_name_is_refused_and_not_written() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["One"]);
    let mut client = Client::start(&sandbox, &[]);
    for name in ["a\nb", "\u{7}"] {
        let refused = client.refused("claim", json!({ "task": id, "as": name }));
        assert!(refused["code"].is_string(), "{refused}");
    }
    assert_eq!(client.ok("status", json!({}))["claims"], json!([]));
    client.end();
}

#[test]
fn a_claim_that_somebody_else_has_taken_is_refused_at_the_next_save() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["One"]);
    let mut client = Client::start(&sandbox, &["--as", "analyst"]);
    assert_eq!(client.ok("next", json!({}))["task"]["id"], id);
    client.ok("save", json!({ "task": id, "priority": "P1" }));
    ralph(&sandbox, &["claim", &id, "--as", "Bob", "--for", "triage", "--force"]).ok();
    let before = sandbox.read_task(&id);
    for arguments in [
        json!({ "task": id, "title": "mine" }),
        json!({ "task": id, "command": "triage", "state": "Done" }),
        json!({ "task": id, "note": "mine" }),
    ] {
        let refused = client.refused("save", arguments);
        assert!(["claim-lost", "held"].contains(&refused["code"].as_str().unwrap()), "{refused}");
    }
    assert_eq!(sandbox.read_task(&id), before);
    // Released, and claimed under the same name by another session: the claim is not this session's.
    ralph(&sandbox, &["release", &id, "--as", "Bob"]).ok();
    ralph(&sandbox, &["claim", &id, "--as", "analyst", "--for", "triage"]).ok();
    let refused = client.refused("save", json!({ "task": id, "title": "mine" }));
    assert_eq!(refused["code"], "claim-lost", "{refused}");
    client.end();
}

/// Two sessions of one host, started by one process: neither gets a task that the other has claimed.
#[test]
fn two_sessions_of_one_host_never_take_up_the_same_task() {
    let sandbox = Sandbox::new();
    let ids = [sandbox.add(&["One"]), sandbox.add(&["Two"])];
    let mut first = Client::start(&sandbox, &[]);
    let mut second = Client::start(&sandbox, &[]);
    let one = first.ok("next", json!({ "role": "analyst" }))["task"]["id"].clone();
    let two = second.ok("next", json!({ "role": "analyst" }))["task"]["id"].clone();
    assert_ne!(one, two);
    assert!(ids.iter().all(|id| [&one, &two].iter().any(|taken| **taken == id.as_str())));
    // When a session ends, its claims are released.
    first.end();
    let mut third = Client::start(&sandbox, &[]);
    assert_eq!(third.ok("next", json!({ "role": "analyst" }))["task"]["id"], one);
    assert_eq!(second.ok("next", json!({ "role": "analyst" }))["task"]["id"], two);
    // The same holds for a session that is killed.
    second.child.kill().unwrap();
    second.child.wait().unwrap();
    third.ok("release", json!({ "task": one }));
    third.ok("claim", json!({ "task": two, "command": "triage" }));
    third.end();
}

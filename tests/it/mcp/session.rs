//! A client without a configured name: its role follows from the command, and its claims end with the session.

use serde_json::json;

use crate::mcp_client::Client;
use crate::sandbox::Sandbox;

/// Runs a command with the same clock as the server.
fn real(sandbox: &Sandbox, args: &[&str]) -> String {
    let mut command = sandbox.command(crate::sandbox::RALPH, &sandbox.root());
    let done = crate::sandbox::finish(command.env_remove("RALPH_NOW").env_remove("RALPH_SEED").args(args));
    assert_eq!(done.code, 0, "{done}");
    done.stdout
}

#[test]
fn a_session_is_held_to_the_rules_of_the_role_whose_work_it_does() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["One", "--estimate", "S", "--state", "Research Needed"]);
    let mut client = Client::start(&sandbox, &[]);
    let taken = client.ok("next", json!({ "role": "analyst" }));
    let owner = taken["task"]["owner"].as_str().unwrap();
    assert!(owner.starts_with("analyst@probe-"), "{owner}");
    // A person would be allowed to; a worker needs the document.
    let refused = client.refused("save", json!({ "task": id, "state": "__COMPLETE__", "command": "research" }));
    assert_eq!(refused["code"], "no-artifact");
    let refused = client.refused("save", json!({ "task": id, "state": "Done", "command": "plan" }));
    assert_eq!(refused["code"], "not-your-command", "{refused}");
    client.ok("save", json!({ "task": id, "state": "__ESCALATE__", "note": "what is meant?" }));
    for more in [json!({}), json!({ "command": "plan" })] {
        let mut asked = json!({ "task": id, "state": "Ready for Plan" });
        asked.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let refused = client.refused("save", asked);
        assert!(["needs-command", "needs-person"].contains(&refused["code"].as_str().unwrap()), "{refused}");
    }
    sandbox.ralph(&["move", &id, "Ready for Plan"]).ok();
}

#[test]
fn what_a_session_holds_goes_back_when_it_ends() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["One", "--estimate", "S", "--state", "Ready for Plan"]);
    let mut client = Client::start(&sandbox, &[]);
    let taken = client.ok("claim", json!({ "task": id }));
    assert_eq!((taken["state"].as_str(), taken["command"].as_str()), (Some("Plan in Progress"), Some("plan")));
    let shown = real(&sandbox, &["task", "show", &id, "--json"]);
    assert!(shown.contains("\"held\":true"), "{shown}");
    client.end();
    let shown: serde_json::Value = serde_json::from_str(&real(&sandbox, &["task", "show", &id, "--json"])).unwrap();
    assert_eq!((&shown["state"], &shown["owner"]), (&json!("Ready for Plan"), &json!(null)), "{shown}");
}

#[test]
fn what_a_session_holds_is_free_the_moment_it_is_killed() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["One", "--estimate", "S", "--state", "Ready for Plan"]);
    let mut client = Client::start(&sandbox, &[]);
    client.ok("claim", json!({ "task": id }));
    client.child.kill().unwrap();
    client.child.wait().unwrap();
    let next = real(&sandbox, &["next", "--claim", "--as", "builder", "--json"]);
    assert!(next.contains(&id), "{next}");
}

#[test]
fn a_save_whose_move_is_refused_changes_nothing() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["One", "--estimate", "S"]);
    let before = sandbox.read_task(&id);
    let mut client = Client::start(&sandbox, &["--as", "analyst"]);
    let asked = json!({ "task": id, "title": "Two", "add_labels": ["x"], "note": "n", "state": "In Review" });
    client.refused("save", asked);
    assert_eq!(sandbox.read_task(&id), before);
    assert!(!sandbox.root().join(".ralph/notes").join(&id).exists());
    // The fields of a call are set before its move is checked: only a large task can be split.
    let asked = |size: &str| json!({ "task": id, "estimate": size, "state": "__COMPLETE__", "command": "split" });
    assert_eq!(client.refused("save", asked("XS"))["code"], "small-enough");
    assert_eq!(sandbox.read_task(&id), before);
    let (_, answer) = client.call("save", asked("L"));
    assert_ne!(answer["error"]["code"], "small-enough", "{answer}");
    client.ok("save", json!({ "task": id, "estimate": "S" }));
    let asked = json!({ "task": id, "priority": "P0", "note": "n", "state": "Research Needed", "command": "triage" });
    assert_eq!(client.ok("save", asked)["changed"], json!(["priority"]));
    let log = sandbox.ralph(&["log", &id, "--json"]).json();
    let last = log[0]["changes"].as_array().unwrap();
    assert_eq!((log[0]["verb"].as_str(), last.len()), (Some("move"), 3), "one verb, one line: {log}");
}

#[test]
fn a_document_is_written_over_only_by_who_has_read_it() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["One", "--estimate", "S", "--state", "Research Needed"]);
    let mut client = Client::start(&sandbox, &["--as", "analyst"]);
    client.ok("next", json!({}));
    let made = client.ok("artifact", json!({ "task": id, "kind": "research", "action": "new" }));
    assert!(made["text"].as_str().unwrap().contains("TO BE WRITTEN"));
    let write = |text: &str, version: Option<&str>| json!({ "task": id, "kind": "research", "action": "write", "text": text, "version": version });
    // The template has not been changed yet.
    let first = client.ok("artifact", write("one", None))["version"].as_str().unwrap().to_owned();
    std::fs::write(sandbox.root().join(made["path"].as_str().unwrap()), "by hand").unwrap();
    let refused = client.refused("artifact", write("two", Some(&first)));
    assert_eq!(refused["code"], "written-already");
    let read = client.ok("artifact", json!({ "task": id, "kind": "research", "action": "read" }));
    assert_eq!(read["text"], "by hand");
    client.ok("artifact", write("two", read["version"].as_str()));
    let refused = client.refused("artifact", json!({ "task": id, "kind": "research", "action": "link" }));
    assert_eq!(refused["code"], "unready-document");
}

#[test]
fn what_a_session_takes_is_free_when_it_is_killed_at_any_moment() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["One", "--estimate", "S", "--state", "Ready for Plan"]);
    let file = sandbox.root().join(".git/ralph/claims").join(format!("{id}.toml"));
    for _ in 0..20 {
        let mut client = Client::start(&sandbox, &[]);
        client.send_call("claim", json!({ "task": id }));
        // The earliest sign of the claim.
        let start = std::time::Instant::now();
        while !file.exists() && start.elapsed() < crate::mcp_client::SOON {
            std::hint::spin_loop();
        }
        client.child.kill().unwrap();
        client.child.wait().unwrap();
        let claims: serde_json::Value = serde_json::from_str(&real(&sandbox, &["claims", "ls", "--json"])).unwrap();
        assert!(claims.as_array().unwrap().iter().all(|claim| claim["live"] == false), "{claims}");
        real(&sandbox, &["reap"]);
    }
}

#[test]
fn a_session_is_not_known_by_the_number_of_its_process() {
    let sandbox = Sandbox::new();
    sandbox.add(&["One"]);
    let mut client = Client::start(&sandbox, &[]);
    let owner = client.ok("next", json!({ "role": "analyst" }))["task"]["claimed_by"].as_str().unwrap().to_owned();
    assert!(!owner.ends_with(&format!("-{}", client.child.id())), "two containers have the same: {owner}");
}

#[test]
fn who_locks_a_task_with_save_has_it_and_goes_on() {
    for args in [&[][..], &["--as", "analyst"]] {
        let sandbox = Sandbox::new();
        let id = sandbox.add(&["One", "--estimate", "S"]);
        let mut client = Client::start(&sandbox, args);
        client.ok("next", json!({ "role": "analyst" }));
        client.ok("save", json!({ "task": id, "command": "triage", "state": "Research Needed" }));
        client.ok("save", json!({ "task": id, "command": "research", "state": "__LOCK__" }));
        client.ok("save", json!({ "task": id, "priority": "P1" }));
        assert_eq!(client.ok("release", json!({ "task": id }))["to"], "Research Needed");
        client.end();
    }
}

#[test]
fn a_program_that_nobody_named_may_not_do_what_only_a_person_may() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["One", "--estimate", "S", "--state", "Research Needed"]);
    let mut client = Client::start(&sandbox, &[]);
    let refused = client.refused("create", json!({ "tasks": [{ "title": "x", "state": "In Review" }] }));
    assert_eq!(refused["code"], "not-allowed");
    assert_eq!(client.refused("save", json!({ "task": id, "state": "Done" }))["code"], "needs-command");
    real(&sandbox, &["claim", &id, "--as", "analyst-2"]);
    let write = json!({ "task": id, "kind": "research", "action": "write", "text": "mine" });
    assert_eq!(client.refused("artifact", write)["code"], "held");
    client.end();
}

#[test]
fn a_task_in_a_ring_is_given_out_with_what_is_wrong() {
    let sandbox = Sandbox::new();
    sandbox.write_task("t-p", "title = 'P'\nkind = 'epic'\natomic = true\n");
    let member = |other: &str| format!("title = 'M'\nparent = 't-p'\nestimate = 'S'\nblocked_by = ['{other}']\n");
    sandbox.write_task("t-a", member("t-b"));
    sandbox.write_task("t-b", member("t-a"));
    let mut client = Client::start(&sandbox, &["--as", "analyst"]);
    let taken = client.ok("next", json!({}));
    assert_eq!(taken["found"], true, "{taken}");
    let about = client.ok("get", json!({ "task": "t-a" }));
    assert_eq!(about["no_position"]["code"], "cycle", "{about}");
    client.end();
}

#[test]
fn what_a_dead_session_left_in_its_lock_is_taken_up_and_completed_by_another() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["One", "--estimate", "S", "--state", "Research Needed"]);
    let mut first = Client::start(&sandbox, &[]);
    first.ok("next", json!({ "role": "analyst" }));
    first.child.kill().unwrap();
    first.child.wait().unwrap();
    let mut second = Client::start(&sandbox, &[]);
    assert_eq!(second.ok("claim", json!({ "task": id }))["command"], "research");
    // The claim is its own: only the document is missing.
    let refused = second.refused("save", json!({ "task": id, "state": "__COMPLETE__", "command": "research" }));
    assert_eq!(refused["code"], "no-artifact");
    let refused = second.refused("save", json!({ "task": id, "state": "__COMPLETE__", "command": "plan" }));
    assert_ne!(refused["code"], "held", "it is not claimed by another worker: {refused}");
    second.end();
}

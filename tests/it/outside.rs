//! Moves outside of ralph by a person: recorded as they are, never undone, and never picked up by workers unnoticed.

use crate::github::Mirror;
use crate::sandbox::Sandbox;

fn shown(sandbox: &Sandbox, task: &str) -> serde_json::Value {
    sandbox.ralph(&["task", "show", task, "--json"]).json()
}

/// Replaces a task's state as an editor would.
fn hand_edit(sandbox: &Sandbox, task: &str, from: &str, to: &str) {
    let path = sandbox.task_file(task);
    let text = std::fs::read_to_string(&path).unwrap();
    let old = format!("state = \"{from}\"");
    assert!(text.contains(&old), "{text}");
    std::fs::write(&path, text.replace(&old, &format!("state = \"{to}\""))).unwrap();
}

/// A task whose project item was moved on GitHub.
fn dragged(from: &str, to: &str) -> (Mirror, String, u32) {
    let mirror = Mirror::new();
    let task = mirror.add(&["First", "--estimate", "S", "--state", from]);
    mirror.sync();
    let number = mirror.number(&task);
    mirror.world(|world| world.set_field(number, "Workflow State", Some(to)));
    (mirror, task, number)
}

#[test]
fn a_card_that_is_moved_into_a_lock_belongs_to_whoever_moved_it() {
    let (mirror, task, number) = dragged("Ready for Plan", "Plan in Progress");
    mirror.sync();
    let task_now = shown(&mirror.sandbox, &task);
    assert_eq!((&task_now["state"], &task_now["owner"]), (&"Plan in Progress".into(), &"hubot".into()));
    assert_eq!((&task_now["claim"], task_now.get("attention")), (&serde_json::Value::Null, None));
    mirror.ralph(&["reap"]).ok();
    mirror.ralph(&["next", "--role", "builder", "--claim", "--as", "builder"]).fails(5);
    mirror.sync();
    assert_eq!(shown(&mirror.sandbox, &task)["state"], "Plan in Progress");
    assert_eq!(mirror.world(|world| world.value(number, "Workflow State")).as_deref(), Some("Plan in Progress"));
}

#[test]
fn a_card_that_is_moved_against_the_workflow_is_flagged_and_handed_to_nobody() {
    for to in ["Plan in Progress", "In Progress", "In Review"] {
        let (mirror, task, number) = dragged("Backlog", to);
        mirror.sync();
        mirror.ralph(&["reap"]).ok();
        let task_now = shown(&mirror.sandbox, &task);
        assert_eq!(task_now["state"], to);
        assert!(task_now["attention"].as_str().is_some_and(|why| why.contains(to)), "{task_now}");
        for role in ["analyst", "builder", "integrator"] {
            mirror.ralph(&["next", "--role", role]).fails(5);
        }
        mirror.sync();
        assert_eq!(mirror.world(|world| world.value(number, "Workflow State")).as_deref(), Some(to), "not sent back");
        let status = mirror.ralph(&["status"]).ok();
        assert!(status.contains(&task), "{status}");
        // A person who moves the task has seen it.
        mirror.ralph(&["move", &task, "Backlog", "--force"]).ok();
        assert_eq!(shown(&mirror.sandbox, &task).get("attention"), None);
    }
}

#[test]
fn a_claim_that_a_card_overrules_ends_and_its_holder_is_told() {
    let mirror = Mirror::new();
    let task = mirror.add(&["First", "--estimate", "S", "--state", "Research Needed"]);
    mirror.sync();
    let number = mirror.number(&task);
    let claimed = mirror.ralph(&["claim", &task, "--as", "analyst", "--for", "research", "--json"]).json();
    mirror.sync();
    mirror.world(|world| world.set_field(number, "Workflow State", Some("Plan in Progress")));
    mirror.sync();
    let task_now = shown(&mirror.sandbox, &task);
    assert_eq!((&task_now["owner"], &task_now["claim"]), (&"hubot".into(), &serde_json::Value::Null));
    let mut command = mirror.command(&mirror.sandbox.root());
    command.env("RALPH_CLAIM", claimed["claim"].as_str().unwrap());
    let told = crate::sandbox::finish(command.args(["escalate", &task, "--as", "analyst"])).fails(3);
    assert!(told.contains("expired or was taken over"), "{told}");
}

#[test]
fn a_lock_that_somebody_saved_while_nobody_watched_is_theirs() {
    let sandbox = Sandbox::new();
    let task = sandbox.add(&["First", "--estimate", "S", "--state", "Ready for Plan"]);
    hand_edit(&sandbox, &task, "Ready for Plan", "Plan in Progress");
    sandbox.ralph(&["next", "--role", "builder", "--claim", "--as", "builder"]).fails(5);
    let now = shown(&sandbox, &task);
    assert_eq!((&now["state"], &now["owner"]), (&"Plan in Progress".into(), &"Ada".into()));
    assert_eq!(now.get("attention"), None, "the workflow allows the move from its first state");
    sandbox.ralph(&["reap"]).ok();
    assert_eq!(shown(&sandbox, &task)["state"], "Plan in Progress");
}

#[test]
fn a_lock_that_came_with_git_belongs_to_the_author_of_the_commit() {
    let sandbox = Sandbox::new();
    let task = sandbox.add(&["First", "--estimate", "S", "--state", "Ready for Plan"]);
    hand_edit(&sandbox, &task, "Ready for Plan", "Plan in Progress");
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "board: planning", "--author", "Grace <grace@example.org>"]);
    sandbox.git(&["commit", "-qm", "something else", "--allow-empty"]);
    sandbox.ralph(&["reap"]).ok();
    assert_eq!(shown(&sandbox, &task)["owner"], "Grace");
}

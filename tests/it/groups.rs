//! Groups: the children of an atomic parent are claimed, moved and released together.

use crate::sandbox::Sandbox;

/// An atomic parent with two children in a state.
fn group(state: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write_task("p", format!("title = 'P'\nkind = 'epic'\natomic = true\nstate = '{state}'\n"));
    for id in ["a", "b"] {
        sandbox.write_task(id, format!("title = '{id}'\nparent = 'p'\nstate = '{state}'\n"));
    }
    sandbox
}

#[track_caller]
fn states(sandbox: &Sandbox, wanted: [&str; 2]) {
    let state = |id: &str| sandbox.ralph(&["task", "show", id, "--json"]).json()["state"].as_str().unwrap().to_owned();
    assert_eq!([state("a"), state("b")], wanted.map(str::to_owned));
}

#[test]
fn a_held_group_is_not_pulled_apart_by_reaping() {
    let sandbox = group("Ready for Plan");
    sandbox.ralph(&["claim", "a", "--as", "builder-1"]).ok();
    states(&sandbox, ["Plan in Progress", "Plan in Progress"]);
    assert!(sandbox.ralph(&["reap"]).stderr.contains("nothing to do"));
    assert_eq!(sandbox.ralph(&["next", "--claim", "--as", "builder-2"]).code, 5);
    sandbox.hand_in("plan", "a");
    sandbox.ralph(&["move", "a", "__COMPLETE__", "--as", "builder-1"]).ok();
    states(&sandbox, ["Plan in Review", "Plan in Review"]);
}

#[test]
fn a_member_cannot_be_taken_beside_the_group() {
    let sandbox = group("Plan in Review");
    sandbox.ralph(&["claim", "a", "--for", "implement", "--as", "builder-1"]).ok();
    assert!(
        sandbox
            .ralph(&["claim", "b", "--for", "implement", "--as", "builder-2"])
            .fails(3)
            .contains("a is claimed by builder-1")
    );
    sandbox.ralph(&["move", "b", "__COMPLETE__", "--as", "builder-2"]).fails(3);
    states(&sandbox, ["In Progress", "In Progress"]);
}

#[test]
fn a_member_that_somebody_holds_keeps_the_group_from_moving() {
    let sandbox = group("Ready for Plan");
    sandbox.ralph(&["claim", "b", "--as", "anna"]).ok();
    assert!(sandbox.ralph(&["claim", "a", "--as", "builder-1"]).fails(3).contains("b is claimed by anna"));
    states(&sandbox, ["Ready for Plan", "Ready for Plan"]);
}

#[test]
fn what_is_given_back_is_the_whole_group() {
    let sandbox = group("Ready for Plan");
    assert_eq!(sandbox.ralph(&["run", "a", "--as", "builder-1", "--", "false"]).code, 1);
    states(&sandbox, ["Ready for Plan", "Ready for Plan"]);
    sandbox.ralph(&["claim", "a", "--as", "builder-1"]).ok();
    sandbox.ralph(&["release", "a", "--as", "builder-1"]).ok();
    states(&sandbox, ["Ready for Plan", "Ready for Plan"]);
}

#[test]
fn why_status_and_next_agree_about_whose_turn_it_is() {
    let sandbox = group("Ready for Plan");
    sandbox.write_task("b", "title = 'b'\nparent = 'p'\nstate = 'Human Needed'\n");
    assert!(sandbox.ralph(&["why", "a"]).ok().contains("a waits for b (Human Needed)"));
    assert_eq!(sandbox.ralph(&["next", "--role", "builder"]).code, 5);
    let queues = sandbox.ralph(&["status", "--json"]).json()["ready"].clone();
    assert_eq!(queues[1]["count"], 0, "{queues}");
    assert_eq!(sandbox.ralph(&["position", "a", "--json"]).json()["convergence"]["recommendation"], "escalate");
}

#[test]
fn the_feedback_on_a_group_is_with_its_primary_whoever_is_asked() {
    let sandbox = group("In Review");
    // The index is written first, so that one task is read through it.
    sandbox.ralph(&["ls"]).ok();
    for asked in ["a", "b"] {
        assert_eq!(sandbox.ralph(&["feedback", asked, "--json"]).json()["task"], "a", "{asked}");
    }
}

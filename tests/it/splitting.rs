//! `ralph split` and `ralph plan sync`: parts of a task, and their blockers.

use std::fs;

use crate::crash::killed_at;
use crate::sandbox::Sandbox;

const TWO: &str = "\
[[task]]
title = 'Read the labels'
ref = 'read'
estimate = 'XS'

[[task]]
title = 'Store the labels'
estimate = 'S'
blocked_by = ['read']
labels = ['store']
description = 'In order.'
";

fn large(sandbox: &Sandbox) -> String {
    sandbox.write_task("t-l", "title = 'Labels'\nkind = 'issue'\nestimate = 'L'\n");
    "t-l".into()
}

fn children(sandbox: &Sandbox, parent: &str) -> Vec<(String, String)> {
    let listed = sandbox.ralph(&["task", "ls", "--all", "--parent", parent, "--sort", "title", "--json"]).json();
    let text = |task: &serde_json::Value, key: &str| task[key].as_str().unwrap().to_owned();
    listed.as_array().unwrap().iter().map(|task| (text(task, "id"), text(task, "title"))).collect()
}

#[test]
fn a_task_becomes_an_epic_of_small_ones_in_one_line_of_the_journal() {
    let sandbox = Sandbox::new();
    let id = large(&sandbox);
    sandbox.ralph(&["next", "--claim", "--as", "analyst"]).ok();
    let done = sandbox.ralph_with(&["split", &id, "--into", "-", "--as", "analyst", "--atomic", "--json"], TWO).json();
    let parts = children(&sandbox, &id);
    assert_eq!(
        parts.iter().map(|(_, title)| title.as_str()).collect::<Vec<_>>(),
        ["Read the labels", "Store the labels"]
    );
    assert_eq!(done["children"][1]["created"], true);
    let parent = sandbox.ralph(&["task", "show", &id, "--json"]).json();
    assert_eq!(
        (&parent["kind"], &parent["state"], &parent["claim"]),
        (&"epic".into(), &"Backlog".into(), &serde_json::Value::Null)
    );
    assert!(sandbox.read_task(&id).contains("atomic = true"));
    let second = sandbox.ralph(&["task", "show", &parts[1].0, "--json"]).json();
    assert_eq!((&second["estimate"], &second["blocked_by"][0]), (&"S".into(), &parts[0].0.as_str().into()));
    assert_eq!(sandbox.ralph(&["log", "--json", "-n", "1"]).json()[0]["verb"], "split");
    sandbox.ralph(&["undo", "--force"]).ok();
    assert_eq!((children(&sandbox, &id), sandbox.read_task(&id).contains("epic")), (Vec::new(), false));
}

#[test]
fn what_is_there_already_is_updated_and_not_doubled() {
    let sandbox = Sandbox::new();
    let id = large(&sandbox);
    sandbox.write_task("t-old", "title = 'read  The labels'\nestimate = 'S'\nparent = 't-l'\nlabels = ['keep']\n");
    for _ in 0..2 {
        sandbox.ralph_with(&["split", &id, "--into", "-"], TWO).ok();
    }
    let parts = children(&sandbox, &id);
    assert_eq!(parts.len(), 2, "{parts:?}");
    let old = sandbox.ralph(&["task", "show", "t-old", "--json"]).json();
    assert_eq!(
        (&old["estimate"], &old["labels"][0], &old["title"]),
        (&"XS".into(), &"keep".into(), &"read The labels".into())
    );
    let (new, _) = parts.iter().find(|(id, _)| id != "t-old").unwrap();
    assert_eq!(sandbox.ralph(&["task", "show", new, "--json"]).json()["blocked_by"][0], "t-old");
    sandbox.ralph_with(&["split", &id, "--into", "-"], "[[task]]\nid = 't-old'\ntitle = 'R'\nestimate = 'S'\n").ok();
    assert_eq!(children(&sandbox, &id).len(), 2, "an id names the child whatever its title");
}

#[test]
fn a_part_that_is_large_or_one_too_many_is_refused_and_nothing_is_made() {
    let sandbox = Sandbox::new();
    let id = large(&sandbox);
    let split = |rows: &str| sandbox.ralph_with(&["split", &id, "--into", "-"], rows);
    let row = |title: &str, more: &str| format!("{{\"title\":\"{title}\",\"estimate\":\"S\"{more}}}\n");
    assert!(split("{\"title\":\"A\",\"estimate\":\"M\"}\n").fails(2).contains("task 1 (\"A\") is of size M"));
    assert!(split(&(row("A", "") + "{\"title\":\"B\"}\n")).fails(2).contains("task 2 (\"B\") has no estimate"));
    assert!(split(&row("A", ",\"state\":\"Done\"")).fails(2).contains("has a state, which split sets itself"));
    assert!(split(&(row("A", "") + &row("a", ""))).fails(2).contains("is given twice"));
    let many: String = (0..6).map(|n| row(&format!("T{n}"), "")).collect();
    let said = split(&many).fails(1);
    assert!(said.contains("6 children") && said.contains("ralph escalate"), "{said}");
    assert!(split(&row("A", ",\"blocked_by\":[\"t-none\"]")).fails(1).contains("task 1 (\"A\")"));
    let ring = row("A", ",\"ref\":\"a\",\"blocked_by\":[\"b\"]") + &row("B", ",\"ref\":\"b\",\"blocked_by\":[\"a\"]");
    assert!(split(&ring).fails(1).contains("would create a cycle"));
    assert_eq!(sandbox.ids(), ["t-l"]);
    sandbox.ralph(&["config", "set", "split.limit", "6"]).ok();
    split(&many).ok();
}

#[test]
fn only_an_analyst_splits_and_only_what_is_large() {
    let sandbox = Sandbox::new();
    let id = large(&sandbox);
    assert!(
        sandbox.ralph_with(&["split", &id, "--into", "-", "--as", "builder"], TWO).fails(1).contains("for analyst")
    );
    sandbox.write_task("t-s", "title = 'Small'\nestimate = 'S'\n");
    let small = |who: &str| sandbox.ralph_with(&["split", "t-s", "--into", "-", "--as", who], TWO);
    assert!(small("analyst").fails(1).contains("is too small for split"));
    small("anna").ok();
    sandbox.write_task("t-d", "title = 'D'\nestimate = 'L'\nstate = 'In Progress'\n");
    sandbox.ralph_with(&["split", "t-d", "--into", "-", "--as", "analyst"], TWO).fails(1);
}

#[test]
fn a_split_that_is_killed_is_done_or_not_begun() {
    for nth in (20..400).step_by(17) {
        let sandbox = Sandbox::new();
        let id = large(&sandbox);
        fs::write(sandbox.root().join("parts.toml"), TWO).unwrap();
        let output = killed_at(&sandbox, &sandbox.root(), nth, &["split", &id, "--into", "parts.toml"]);
        let parts = children(&sandbox, &id);
        let epic = sandbox.ralph(&["task", "show", &id, "--json"]).json()["kind"] == "epic";
        assert!((parts.len(), epic) == (0, false) || (parts.len(), epic) == (2, true), "call {nth}: {parts:?} {epic}");
        sandbox.ralph(&["split", &id, "--into", "parts.toml"]).ok();
        assert_eq!(children(&sandbox, &id).len(), 2, "call {nth}");
        if output.code == 0 {
            return;
        }
    }
    panic!("it never finished");
}

/// A group of three tasks, whose plan has these phases.
fn planned(phases: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write_task("p", "title = 'P'\nkind = 'epic'\natomic = true\nstate = 'Plan in Review'\n");
    for (id, number) in [("t-a", 14), ("t-b", 147), ("t-c", 9)] {
        let text = format!(
            "title = '{id}'\nparent = 'p'\nstate = 'Plan in Review'\n[artifacts]\nplan = 'plan.md'\n[github]\nnumber = {number}\n"
        );
        sandbox.write_task(id, text);
    }
    sandbox.write_task("t-x", "title = 'X'\n");
    fs::write(sandbox.root().join("plan.md"), phases).unwrap();
    sandbox
}

fn waits(sandbox: &Sandbox, id: &str) -> Vec<String> {
    let task = sandbox.ralph(&["task", "show", id, "--json"]).json();
    task["blocked_by"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect()
}

#[test]
fn phases_become_what_tasks_wait_for_and_only_their_own_edges_go() {
    let plan = "## Phase 1: A (GH-14)\n- **depends_on**: null\n## Phase 2: B (GH-0147)\n- **depends_on**: [phase-1]\n## Phase 3: C (t-c)\n- **depends_on**: [GH-147, t-x]\n";
    let sandbox = planned(plan);
    sandbox.ralph(&["block", "t-c", "--on", "t-a"]).ok();
    sandbox.ralph(&["block", "t-a", "--on", "t-x"]).ok();
    let dry = sandbox.ralph(&["plan", "sync", "t-b", "--dry-run", "--json"]).json();
    assert_eq!((dry["added"].as_array().unwrap().len(), waits(&sandbox, "t-b")), (3, vec![]));
    let done = sandbox.ralph(&["plan", "sync", "t-b", "--json"]).json();
    assert_eq!(done["removed"], serde_json::json!([{ "task": "t-c", "on": "t-a" }]));
    assert_eq!(waits(&sandbox, "t-b"), ["t-a"]);
    assert_eq!(waits(&sandbox, "t-c"), ["t-b", "t-x"]);
    assert_eq!(waits(&sandbox, "t-a"), ["t-x"], "tasks outside of the plan stay");
    let again = sandbox.ralph(&["plan", "sync", "t-a", "--json"]).json();
    assert_eq!((again["added"].clone(), again["unchanged"].as_array().unwrap().len()), (serde_json::json!([]), 3));
}

#[test]
fn a_plan_that_names_what_is_not_there_says_in_which_line() {
    for (plan, said) in [
        ("## Phase 1: A (t-a)\n\n- **depends_on**: [phase-7]\n", "plan.md:3: no phase 7"),
        ("## Phase 1: A (t-a)\n- **depends_on**: [GH-1]\n", "plan.md:2: no task GH-1"),
        ("x\n## Phase 1: A (t-zz)\n", "plan.md:2: no task t-zz"),
        ("## Phase 1: A (t-x)\n", "plan.md:1: t-x is not a task of this plan, which is for t-a"),
        (
            "## Phase 1: A (t-a)\n- **depends_on**: [t-b]\n## Phase 2: B (t-b)\n- **depends_on**: [t-a]\n",
            "plan.md:2: this would create a cycle",
        ),
    ] {
        let sandbox = planned(plan);
        let failed = sandbox.ralph(&["plan", "sync", "t-a"]).fails(1);
        assert!(failed.contains(said), "{failed}");
        assert_eq!(waits(&sandbox, "t-a"), Vec::<String>::new());
    }
    let sandbox = planned("## Phase 1: Tidy (optional)\n");
    sandbox.ralph(&["plan", "sync", "t-a"]).ok();
}

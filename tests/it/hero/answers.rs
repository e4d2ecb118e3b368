//! What the answers say about trees of issues, archived issues, ignored arguments, and refusals.

use serde_json::{Value, json};

use super::Hero;
use crate::sandbox::Sandbox;

fn child(hero: &Hero<'_>, parent: &str, state: &str, more: &str) -> (String, String) {
    hero.mirrored(state, &format!("parent = '{parent}'\n{more}"))
}

#[test]
fn a_large_child_that_has_been_split_is_not_to_be_split_again() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let (epic, epic_number) = hero.mirrored("Backlog", "estimate = 'XL'");
    let (feature, feature_number) = child(&hero, &epic, "Backlog", "estimate = 'L'");
    let leaves = ["XS", "XS"].map(|size| child(&hero, &feature, "Research Needed", &format!("estimate = '{size}'")).1);
    // The index is written first, so that one task is read through it.
    sandbox.ralph(&["ls"]).ok();
    for number in [&epic_number, &feature_number, &leaves[0]] {
        let issue = hero.ok("get_issue", json!({ "number": number, "includePipeline": true }));
        assert_ne!(issue["pipeline"]["phase"], "SPLIT", "{number}: {issue}");
    }
    let position = hero.ok("detect_pipeline_position", json!({ "number": epic_number }));
    assert_eq!(position["issues"][0]["subIssueCount"], 2, "{position}");
    assert!(!sandbox.ralph(&["position", &epic]).ok().contains("split"), "{position}");
}

#[test]
fn a_sibling_with_children_is_in_no_group_whoever_is_asked() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let (epic, _) = hero.mirrored("Backlog", "");
    let parts: Vec<String> = (0..2).map(|_| child(&hero, &epic, "Research Needed", "").1).collect();
    let (feature, feature_number) = child(&hero, &epic, "Backlog", "");
    child(&hero, &feature, "Backlog", "");
    sandbox.ralph(&["ls"]).ok();
    let group = hero.ok("detect_group", json!({ "number": parts[0] }));
    let members: Vec<&Value> = group["groupTickets"].as_array().unwrap().iter().map(|row| &row["number"]).collect();
    assert_eq!(members, [&json!(parts[0]), &json!(parts[1])], "{feature_number} is a parent: {group}");
}

#[test]
fn a_queue_lists_issues_to_work_on_and_no_parents() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let (epic, epic_number) = hero.mirrored("Plan in Review", "estimate = 'L'\npriority = 'P0'\natomic = true");
    let (_, part) = child(&hero, &epic, "Plan in Review", "estimate = 'S'\npriority = 'P1'");
    let queue = json!({ "profile": "validator-review", "orderBy": "priority", "limit": 1 });
    let listed = hero.ok("list_issues", queue);
    assert_eq!((&listed["items"][0]["number"], &listed["totalCount"]), (&json!(part), &json!(1)), "{listed}");
    let by_state = hero.ok("list_issues", json!({ "workflowState": "Plan in Review", "orderBy": "priority" }));
    assert_eq!(by_state["items"][0]["number"], json!(epic_number), "a state lists all that are in it: {by_state}");
}

#[test]
fn an_archived_issue_is_found_by_its_number_as_by_its_id() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let (done, number) = hero.mirrored("Done", "");
    let (_, waits) = hero.mirrored("Research Needed", &format!("blocked_by = ['{done}']"));
    hero.ok("archive_item", json!({ "number": number }));
    for typed in [number.clone(), format!("#{number}"), format!("GH-{number}"), done.clone()] {
        assert_eq!(hero.ok("get_issue", json!({ "number": typed }))["id"], json!(done), "{typed}");
        assert!(sandbox.ralph(&["show", &typed]).ok().contains(&done), "{typed}");
    }
    let blocker = hero.ok("list_dependencies", json!({ "number": waits }))["blockedBy"][0].clone();
    let expected = (&json!(number), &json!(format!("Task {number}")), &json!("CLOSED"));
    assert_eq!((&blocker["number"], &blocker["title"], &blocker["state"]), expected, "{blocker}");
    let removed = hero.ok("remove_dependency", json!({ "blockedNumber": waits, "blockingNumber": number }));
    assert_eq!((&removed["blocking"]["number"], &removed["changed"]), (&json!(number), &json!(true)), "{removed}");
    let (code, _) = hero.refused("get_issue", json!({ "number": 9999 }));
    assert_eq!(code, "unknown-task");
}

#[test]
fn an_issue_on_the_board_has_its_number_before_an_archived_one() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let (_, number) = hero.mirrored("Done", "");
    hero.ok("archive_item", json!({ "number": number }));
    sandbox.write_task("later", format!("title = 'Later'\nstate = 'Backlog'\n[github]\nnumber = {number}\n"));
    assert_eq!(hero.ok("get_issue", json!({ "number": number }))["id"], "later");
}

#[test]
fn save_issue_marks_a_group_and_tells_which_arguments_it_ignored() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let (epic, number) = hero.mirrored("Backlog", "");
    let saved = hero.ok("save_issue", json!({ "number": number, "atomic": true }));
    assert_eq!((&saved["changes"]["atomic"], &saved["ignored"]), (&json!(true), &Value::Null), "{saved}");
    assert!(sandbox.read_task(&epic).contains("atomic = true"), "{saved}");
    let asked =
        json!({ "issueNumber": number, "title": "T", "owner": "o", "repo": "r", "projectNumber": 3, "sprint": 4 });
    assert_eq!(hero.ok("save_issue", asked)["ignored"], json!(["sprint"]));
    let made = hero.ok("create_issue", json!({ "title": "New", "atomic": true, "workflow_state": "Backlog" }));
    assert_eq!(made["ignored"], json!(["atomic", "workflow_state"]));
    let listed = hero.ok("list_project_items", json!({ "workflowState": "Backlog", "labels": ["x"] }));
    assert_eq!(listed["ignored"], json!(["labels"]), "{listed}");
}

#[test]
fn a_plan_that_waits_for_a_person_has_a_validator_and_is_not_escalated() {
    let sandbox = Sandbox::new();
    sandbox.ralph(&["config", "set", "review.mode", "interactive"]).ok();
    let mut hero = Hero::new(&sandbox, &[]);
    let (_, number) = hero.mirrored("Plan in Review", "estimate = 'S'");
    let position = hero.ok("detect_pipeline_position", json!({ "number": number }));
    assert_eq!(position["phase"], "HUMAN_GATE", "{position}");
    let convergence = &position["convergence"];
    assert_eq!((&convergence["met"], &convergence["recommendation"]), (&json!(true), &json!("proceed")), "{position}");
    assert_eq!(position["suggestedRoster"]["validator"], 1, "{position}");
}

#[test]
fn a_cycle_of_parents_is_refused_with_advice_that_can_be_followed() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let (above, above_number) = hero.mirrored("Backlog", "");
    let (_, below) = child(&hero, &above, "Backlog", "");
    let (code, said) = hero.refused("add_sub_issue", json!({ "parentNumber": below, "childNumber": above_number }));
    assert_eq!(code, "cycle");
    assert!(said.contains("choose another parent") && !said.contains("remove_dependency"), "{said}");
    let (_, blocker) = hero.mirrored("Backlog", "");
    hero.ok("add_dependency", json!({ "blockedNumber": below, "blockingNumber": blocker }));
    let (_, said) = hero.refused("add_dependency", json!({ "blockedNumber": blocker, "blockingNumber": below }));
    assert!(said.contains("ralph_hero__remove_dependency"), "{said}");
}

#[test]
fn counts_and_guesses_are_one_sentence() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    for id in ["m-340", "m-440"] {
        sandbox.write_task(id, format!("title = '{id}'\nstate = 'Backlog'\n"));
    }
    let (_, said) = hero.refused("get_issue", json!({ "number": "m-240" }));
    assert_eq!(said.matches("did you mean").count(), said.matches('?').count().min(1), "{said}");
    assert!(!said.contains("m-340 (m-340)"), "{said}");
    let streams = hero.ok("detect_work_streams", json!({ "issues": [{ "number": "m-340", "files": ["a.rs"] }] }));
    assert_eq!(streams["rationale"], "1 issue in 1 stream, by shared files and blockers");
    let hygiene = hero.ok("project_hygiene", json!({ "format": "markdown" }))["formatted"].clone();
    assert!(hygiene.as_str().unwrap().contains("| Issues to archive | 0 |"), "{hygiene}");
}

//! Dashboard, hygiene, archive and status updates: their findings on a board, and their changes.

use serde_json::{Value, json};

use super::Hero;
use crate::sandbox::Sandbox;

fn numbers(rows: &Value) -> Vec<&str> {
    rows.as_array().unwrap().iter().map(|row| row["number"].as_str().unwrap()).collect()
}

#[test]
fn the_dashboard_counts_by_state_and_warns_of_limits_blockers_and_size() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let (blocker, first) = hero.mirrored("In Progress", "priority = 'P2'\nowner = 'ann'");
    let (_, urgent) = hero.mirrored("In Progress", "priority = 'P0'");
    let (_, blocked) = hero.mirrored("Research Needed", &format!("blocked_by = ['{blocker}']\nestimate = 'L'"));
    let (_, done) = hero.mirrored("Done", "");
    let asked =
        json!({ "wipLimits": { "in progress": 1 }, "issuesPerPhase": 1, "includeMetrics": true, "atRiskThreshold": 3 });
    let found = hero.ok("pipeline_dashboard", asked);
    let phase =
        |state: &str| found["phases"].as_array().unwrap().iter().find(|row| row["state"] == state).unwrap().clone();
    let active = phase("In Progress");
    assert_eq!((&active["count"], numbers(&active["issues"])), (&json!(2), vec![urgent.as_str()]), "most urgent first");
    assert_eq!(
        phase("Research Needed")["issues"][0]["blockedBy"][0],
        json!({ "number": first, "workflowState": "In Progress" })
    );
    let warnings: Vec<(&str, Value)> = found["health"]["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["type"].as_str().unwrap(), row["issues"].clone()))
        .collect();
    let expected = [
        ("wip_exceeded", json!([urgent, first])),
        ("blocked", json!([blocked])),
        ("oversized_in_pipeline", json!([blocked])),
    ];
    assert_eq!(warnings, expected, "{found}");
    assert_eq!((&found["health"]["ok"], &found["totalIssues"]), (&json!(false), &json!(4)));
    assert_eq!((&found["metrics"]["riskScore"], &found["metrics"]["status"]), (&json!(3), &json!("AT_RISK")));
    assert_eq!(numbers(&found["metrics"]["highlights"]["recentlyCompleted"]), [done.as_str()]);
    let quiet = hero.ok("pipeline_dashboard", json!({ "includeHealth": false, "doneWindowDays": 0 }));
    assert_eq!((&quiet["health"]["ok"], quiet.get("metrics")), (&json!(true), None));
}

#[test]
fn hygiene_finds_what_stands_still_lacks_fields_or_is_there_twice() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    for title in ["Fix the login page for guests", "Update the login page for guests", "Draw the map"] {
        hero.ok("create_issue", json!({ "title": title, "estimate": "S", "priority": "P1" }));
    }
    let (_, done) = hero.mirrored("Done", "");
    let (_, bare) = hero.mirrored("In Review", "");
    let asked = json!({ "archiveDays": 0, "staleDays": 0, "orphanDays": 0, "wipLimits": { "Backlog": 2 }, "format": "markdown" });
    let found = hero.ok("project_hygiene", asked);
    assert_eq!(numbers(&found["archiveCandidates"]), [done.as_str()]);
    assert_eq!(
        (numbers(&found["fieldGaps"]["missingEstimate"]), &found["totalItems"]),
        (vec![bare.as_str()], &json!(5))
    );
    let summary = &found["summary"];
    let counts = ["archiveCandidateCount", "staleCount", "orphanCount", "wipViolationCount", "duplicateCandidateCount"];
    assert_eq!(counts.map(|name| summary[name].as_u64().unwrap()), [1, 4, 3, 1, 1], "{found}");
    assert_eq!(summary["fieldCoveragePercent"], 80);
    assert!(found["formatted"].as_str().unwrap().contains("| Stale issues | 4 |"), "{found}");
    let later = hero.ok("project_hygiene", json!({}));
    assert_eq!(
        (&later["summary"]["staleCount"], &later["wipViolations"]),
        (&json!(0), &json!([])),
        "nothing is old yet"
    );
}

#[test]
fn finished_issues_are_archived_together_and_nothing_else_is() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let (_, done) = hero.mirrored("Done", "");
    let (canceled, _) = hero.mirrored("Canceled", "");
    let (_, open) = hero.mirrored("Backlog", "");
    let all = json!({ "workflowStates": ["Done", "Canceled"], "dryRun": true });
    assert_eq!(hero.ok("bulk_archive", all)["wouldArchive"], 2);
    assert_eq!(hero.ok("list_project_items", json!({}))["totalCount"], 3, "a dry run changes nothing");
    let (code, _) = hero.refused("bulk_archive", json!({ "workflowStates": ["Done", "Backlog"] }));
    assert_eq!((code.as_str(), &hero.ok("list_project_items", json!({}))["totalCount"]), ("not-finished", &json!(3)));
    let one = hero.ok("bulk_archive", json!({ "workflowStates": ["Done"], "maxItems": 200 }));
    assert_eq!((numbers(&one["items"]), &one["archivedCount"]), (vec![done.as_str()], &json!(1)));
    assert_eq!(hero.ok("archive_item", json!({ "projectItemId": canceled }))["archived"], true);
    let left = hero.ok("list_project_items", json!({}));
    assert_eq!(numbers(&left["items"]), [open.as_str()]);
}

#[test]
fn archive_items_takes_one_by_its_number_or_many_by_their_states() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let (_, first) = hero.mirrored("Done", "");
    let (_, second) = hero.mirrored("Done", "");
    let (code, _) = hero.refused("archive_items", json!({ "number": first, "workflowStates": ["Done"] }));
    assert_eq!(code, "bad-arguments");
    assert_eq!(hero.ok("archive_items", json!({ "workflowStates": ["Done"], "dryRun": true }))["wouldArchive"], 2);
    assert_eq!(hero.ok("archive_items", json!({ "number": first }))["archived"], true);
    let rest = hero.ok("archive_items", json!({ "workflowStates": ["Done"] }));
    assert_eq!((numbers(&rest["items"]), &rest["archivedCount"]), (vec![second.as_str()], &json!(1)));
}

#[test]
fn streams_are_told_with_how_far_they_are() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let (_, one) = hero.mirrored("Research Needed", "");
    let (_, other) = hero.mirrored("In Progress", "");
    let issues = json!([{ "number": one, "files": ["a"], "blockedBy": [] }, { "number": other, "files": ["b"], "blockedBy": [] }]);
    let found = hero.ok("detect_stream_positions", json!({ "issues": issues, "issueStates": [] }));
    assert_eq!(found["totalStreams"], 2, "{found}");
    let phases: Vec<&Value> =
        found["streams"].as_array().unwrap().iter().map(|stream| &stream["position"]["phase"]).collect();
    assert_eq!(phases, ["RESEARCH", "IMPLEMENT"]);
    assert_eq!(found["streams"][0]["streamId"], format!("stream-{one}"));
}

#[test]
fn a_status_update_is_a_report_of_its_own_each_time() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let asked = json!({ "status": "AT_RISK", "body": "# Report\n\nLate.", "targetDate": "2026-12-01" });
    let ids: Vec<String> =
        (0..2).map(|_| hero.ok("create_status_update", asked.clone())["id"].as_str().unwrap().to_owned()).collect();
    assert_ne!(ids[0], ids[1]);
    for id in &ids {
        let text = std::fs::read_to_string(sandbox.root().join(id)).unwrap();
        assert!(text.contains("status: AT_RISK\ntarget_date: 2026-12-01\n") && text.ends_with("Late.\n"), "{text}");
    }
}

#[test]
fn a_parent_that_was_left_behind_by_hand_is_brought_on() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let (epic, epic_number) = hero.mirrored("Backlog", "");
    let (_, part) = hero.mirrored("In Review", &format!("parent = '{epic}'"));
    hero.mirrored("Done", &format!("parent = '{epic}'"));
    let done = hero.ok("advance_parent", json!({ "number": part }));
    assert_eq!((&done["advanced"], &done["parent"]["number"]), (&json!(true), &json!(epic_number)), "{done}");
    assert_eq!((&done["parent"]["fromState"], &done["parent"]["toState"]), (&json!("Backlog"), &json!("In Review")));
    assert_eq!(done["childStates"].as_array().unwrap().len(), 2);
    let again = hero.ok("advance_parent", json!({ "number": part }));
    assert_eq!((&again["advanced"], &again["parent"]["currentState"]), (&json!(false), &json!("In Review")));
    let alone = hero.ok("advance_parent", json!({ "number": epic_number }));
    assert_eq!((&alone["advanced"], &alone["child"]["number"]), (&json!(false), &json!(epic_number)));
}

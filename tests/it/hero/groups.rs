//! Groups as ralph-hero's skills use them: the children of one parent, each locked and completed by its own call.

use std::sync::Barrier;

use serde_json::{Value, json};

use super::Hero;
use crate::mcp_client::Client;
use crate::sandbox::Sandbox;

/// A large issue, split as the skill does it into three that are blocked in a chain.
fn split(hero: &mut Hero<'_>) -> (Value, Vec<Value>) {
    let epic = hero.ok("create_issue", json!({ "title": "Labels", "estimate": "L" }))["number"].clone();
    let mut parts = Vec::new();
    for title in ["Store them", "Serve them", "Show them"] {
        let part = hero.ok("create_issue", json!({ "title": title, "labels": ["bug"] }))["number"].clone();
        hero.ok("add_sub_issue", json!({ "parentNumber": epic, "childNumber": part }));
        hero.ok("update_estimate", json!({ "number": part, "estimate": "XS" }));
        hero.state(&part, "__COMPLETE__", "ralph_split");
        parts.push(part);
    }
    for pair in parts.windows(2) {
        hero.ok("add_dependency", json!({ "blockedNumber": pair[1], "blockingNumber": pair[0] }));
    }
    for part in &parts {
        hero.state(part, "Research Needed", "ralph_triage");
    }
    (epic, parts)
}

fn phase(hero: &mut Hero<'_>, number: &Value) -> String {
    let position = hero.ok("detect_pipeline_position", json!({ "number": number }));
    assert_eq!(position["isGroup"], hero.ok("detect_group", json!({ "number": number }))["isGroup"], "{position}");
    position["phase"].as_str().unwrap().to_owned()
}

fn states(hero: &mut Hero<'_>, numbers: &[Value]) -> Vec<String> {
    let one = |number: &Value| hero.ok("get_issue", json!({ "number": number }))["workflowState"].clone();
    numbers.iter().map(one).map(|state| state.as_str().unwrap().to_owned()).collect()
}

/// Writes a document; returns the URL that the skill puts into a comment.
fn document(sandbox: &Sandbox, folder: &str, name: &str, text: &str) -> String {
    let path = format!("thoughts/shared/{folder}/{name}");
    let file = sandbox.root().join(&path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
    format!("https://github.com/o/r/blob/main/{path}")
}

pub fn research_document(sandbox: &Sandbox, number: &Value) -> String {
    let id = number.as_str().unwrap();
    let text = format!(
        "---\ndate: 2026-02-24\ngithub_issue: {id}\ngithub_url: https://github.com/o/r/issues/{id}\nstatus: complete\n\
         type: research\n---\n\n# Labels\n\n## Problem Statement\n\nThey are lost.\n\n## Files Affected\n\n### Will Modify\n\
         - `src/labels.rs` - keep them\n\n### Will Read (Dependencies)\n- None\n"
    );
    document(sandbox, "research", &format!("2026-02-24-GH-{id}-labels.md"), &text)
}

pub fn group_plan(sandbox: &Sandbox, numbers: &[Value]) -> String {
    let ids: Vec<&str> = numbers.iter().map(|number| number.as_str().unwrap()).collect();
    let phases = ids.iter().enumerate().map(|(at, id)| {
        format!("## Phase {}: GH-{id} Labels\n\n### Success Criteria\n- [x] Automated: cargo test\n\n", at + 1)
    });
    let text = format!(
        "---\ndate: 2026-02-24\nstatus: draft\ngithub_issues: [{}]\ngithub_urls:\n  - https://github.com/o/r/issues/{}\n\
         primary_issue: {}\n---\n\n# Labels - Atomic Implementation Plan\n\n{}",
        ids.join(", "),
        ids[0],
        ids[0],
        phases.collect::<String>()
    );
    document(sandbox, "plans", &format!("2026-02-24-group-GH-{}-labels.md", ids[0]), &text)
}

pub fn single_plan(sandbox: &Sandbox, number: &Value) -> String {
    let id = number.as_str().unwrap();
    let text = format!(
        "---\ndate: 2026-02-24\nstatus: draft\ngithub_issue: {id}\n---\n\n# It\n\n## Phase 1: It\n\n\
         ### Success Criteria\n- [ ] Automated: cargo test\n"
    );
    document(sandbox, "plans", &format!("2026-02-24-GH-{id}-it.md"), &text)
}

/// A critique of the group's plan, without its own verdict.
pub fn critique(sandbox: &Sandbox, number: &Value) -> String {
    let id = number.as_str().unwrap();
    let text = format!(
        "---\ndate: 2026-02-24\ngithub_issue: {id}\ngithub_url: https://github.com/o/r/issues/{id}\n\
         plan_document: thoughts/shared/plans/2026-02-24-group-GH-{id}-labels.md\nstatus: needs-iteration\n\
         type: critique\n---\n\nThe success criteria are vague.\n"
    );
    document(sandbox, "reviews", &format!("2026-02-24-GH-{id}-critique.md"), &text)
}

#[track_caller]
fn hand_in(hero: &mut Hero<'_>, number: &Value, heading: &str, url: &str) {
    let body = format!("## {heading}\n\n{url}\n\nSummary: it.");
    let answer = hero.ok("create_comment", json!({ "number": number, "body": body }));
    assert_eq!(answer["artifact"]["linked"], true, "{answer}");
}

#[track_caller]
fn call(client: &mut Client, tool: &str, arguments: Value) -> Value {
    let (refused, answer) = client.call(&format!("ralph_hero__{tool}"), arguments.clone());
    assert!(!refused, "{tool} {arguments}: {answer}");
    answer
}

fn research(client: &mut Client, part: &Value, document: &str) {
    let issue = call(client, "get_issue", json!({ "number": part }));
    assert_eq!(issue["group"]["totalTickets"], 3, "{issue}");
    let state = |state: &str| json!({ "number": part, "state": state, "command": "ralph_research" });
    assert_eq!(call(client, "update_workflow_state", state("__LOCK__"))["newState"], "Research in Progress");
    let body = format!("## Research Document\n\n{document}\n\nKey findings: none.");
    let linked = call(client, "create_comment", json!({ "number": part, "body": body }));
    assert_eq!(linked["artifact"]["linked"], true, "{linked}");
    assert_eq!(call(client, "update_workflow_state", state("__COMPLETE__"))["newState"], "Ready for Plan");
}

/// Both sessions research their parts at the same time. The second and third are blocked by the first and by each
/// other: inside the group that only sets the order.
fn research_in_parallel(sandbox: &Sandbox, one: &mut Client, other: &mut Client, parts: &[Value]) {
    let work: Vec<(Value, String)> =
        parts.iter().map(|part| (part.clone(), research_document(sandbox, part))).collect();
    let start = Barrier::new(2);
    let run = |client: &mut Client, mine: &[(Value, String)]| {
        start.wait();
        mine.iter().rev().for_each(|(part, document)| research(client, part, document));
    };
    std::thread::scope(|scope| {
        scope.spawn(|| run(other, &work[1..]));
        run(one, &work[..1]);
    });
}

#[test]
fn a_group_of_three_goes_from_research_to_done_by_two_sessions_in_the_order_of_the_skills() {
    let sandbox = Sandbox::new();
    let (mut one, mut other) = (Hero::new(&sandbox, &[]), Hero::new(&sandbox, &[]));
    let (epic, parts) = split(&mut one);
    assert_eq!(phase(&mut one, &epic), "RESEARCH");
    research_in_parallel(&sandbox, &mut one.client, &mut other.client, &parts);
    assert_eq!(states(&mut one, &parts), ["Ready for Plan"; 3]);
    let journal = sandbox.ralph(&["log", "--json"]).ok();
    assert_eq!(journal.matches("\"atomic\"").count(), 1, "the group was declared once: {journal}");

    assert_eq!((phase(&mut other, &parts[1]).as_str(), phase(&mut other, &epic).as_str()), ("PLAN", "PLAN"));
    for part in parts.iter().rev() {
        assert_eq!(one.state(part, "__LOCK__", "ralph_plan")["newState"], "Plan in Progress");
    }
    let (code, said) = other
        .refused("update_workflow_state", json!({ "number": parts[2], "state": "__LOCK__", "command": "ralph_plan" }));
    assert_eq!(code, "held", "the other session learns who plans it: {said}");
    let plan = group_plan(&sandbox, &parts);
    for part in &parts {
        hand_in(&mut one, part, "Implementation Plan", &plan);
        assert_eq!(one.state(part, "__COMPLETE__", "ralph_plan")["newState"], "Plan in Review");
    }
    assert_eq!(phase(&mut other, &parts[0]), "HUMAN_GATE");

    assert_eq!(other.state(&parts[0], "__COMPLETE__", "ralph_review")["newState"], "In Progress");
    assert_eq!(states(&mut one, &parts), ["In Progress"; 3], "a group is approved as a whole");
    for part in &parts {
        other.state(part, "__LOCK__", "ralph_impl");
    }
    let (code, _) = one
        .refused("update_workflow_state", json!({ "number": parts[1], "state": "__LOCK__", "command": "ralph_impl" }));
    assert_eq!((code.as_str(), phase(&mut one, &parts[1]).as_str()), ("held", "IMPLEMENT"));
    for part in &parts {
        assert_eq!(other.state(part, "__COMPLETE__", "ralph_impl")["newState"], "In Review");
    }
    assert_eq!(phase(&mut one, &parts[1]), "TERMINAL");
    let all = one.ok("advance_children", json!({ "number": epic, "targetState": "In Review" }));
    assert_eq!((all["skipped"].as_array().unwrap().len(), &all["errors"]), (3, &json!([])));

    for part in &parts {
        let done = one.ok("update_workflow_state", json!({ "number": part, "state": "Done" }));
        assert_eq!(done["newState"], "Done");
    }
    let parent = other.ok("advance_parent", json!({ "number": parts[0] }));
    assert_eq!(parent["advanced"], false, "it went along: {parent}");
    assert_eq!(states(&mut other, &[parts.as_slice(), &[epic]].concat()), ["Done"; 4]);
}

#[test]
fn a_group_is_declared_by_the_first_lock_and_the_answer_says_so() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let (epic, parts) = split(&mut hero);
    let id = epic.as_str().unwrap();
    for asked in parts.iter().chain([&epic]) {
        let issue = hero.ok("get_issue", json!({ "number": asked, "includePipeline": true }));
        assert_eq!(
            (&issue["group"]["isGroup"], &issue["pipeline"]["isGroup"]),
            (&json!(true), &json!(true)),
            "{issue}"
        );
        assert_eq!((&issue["group"]["primary"]["number"], &issue["pipeline"]["groupPrimary"]), (&parts[0], &parts[0]));
    }
    assert!(!sandbox.read_task(id).contains("atomic"), "reading declares nothing");
    let locked = hero.state(&parts[2], "__LOCK__", "ralph_research");
    let mut members = parts.clone();
    members.sort_by_key(ToString::to_string);
    assert_eq!(locked["groupDeclared"], json!({ "parent": epic, "members": members }));
    assert!(sandbox.read_task(id).contains("atomic = true"));
    let again = hero.state(&parts[1], "__LOCK__", "ralph_research");
    assert!(again.get("groupDeclared").is_none(), "{again}");
}

#[test]
fn a_refused_lock_declares_no_group() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let (epic, parts) = split(&mut hero);
    let lock = json!({ "number": parts[0], "state": "__LOCK__", "command": "ralph_plan" });
    assert_eq!(hero.refused("update_workflow_state", lock).0, "not-allowed");
    assert!(!sandbox.read_task(epic.as_str().unwrap()).contains("atomic"));
}

#[test]
fn a_group_that_is_not_ready_is_not_planned_and_says_who_is_missing() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let (_, parts) = split(&mut hero);
    for part in &parts[..2] {
        hero.state(part, "__LOCK__", "ralph_research");
        hero.state(part, "__COMPLETE__", "ralph_research");
    }
    assert_eq!(hero.ok("pick_actionable_issue", json!({ "workflowState": "Ready for Plan" }))["found"], false);
    let lock = json!({ "number": parts[1], "state": "__LOCK__", "command": "ralph_plan" });
    let (code, said) = hero.refused("update_workflow_state", lock);
    assert_eq!(code, "not-converged");
    assert!(said.contains(parts[2].as_str().unwrap()), "{said}");
    let converged = hero.ok("check_convergence", json!({ "number": parts[0], "targetState": "Ready for Plan" }));
    assert_eq!((&converged["total"], &converged["ready"]), (&json!(3), &json!(2)));
}

#[test]
fn whichever_member_is_ready_asks_the_answer_names_those_that_are_not() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let (_, parts) = split(&mut hero);
    hero.state(&parts[2], "__LOCK__", "ralph_research");
    hero.state(&parts[2], "__COMPLETE__", "ralph_research");
    let lock = json!({ "number": parts[2], "state": "__LOCK__", "command": "ralph_plan" });
    let (code, said) = hero.refused("update_workflow_state", lock);
    assert_eq!(code, "not-converged", "the first of the group is behind: {said}");
    for behind in &parts[..2] {
        assert!(said.contains(behind.as_str().unwrap()), "{said}");
    }
}

#[test]
fn children_go_to_a_queue_each_for_itself_and_nowhere_beside_the_pipeline() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let (epic, epic_number) = hero.mirrored("Backlog", "");
    let parts: Vec<String> = ["Backlog", "Ready for Plan", "Backlog"]
        .iter()
        .map(|state| hero.mirrored(state, &format!("parent = '{epic}'\nestimate = 'XS'")).1)
        .collect();
    let count = |done: &Value, key: &str| done[key].as_array().unwrap().len();
    let done = hero.ok("advance_children", json!({ "number": epic_number, "targetState": "Research Needed" }));
    assert_eq!((count(&done, "advanced"), count(&done, "skipped"), count(&done, "errors")), (2, 1, 0), "{done}");
    assert_eq!(done["skipped"][0]["number"], json!(parts[1]), "it is further already");
    let canceled = hero.ok("advance_children", json!({ "issues": parts, "targetState": "Canceled" }));
    assert_eq!((count(&canceled, "advanced"), count(&canceled, "skipped")), (0, 3), "{canceled}");
    let (_, late) = hero.mirrored("Backlog", &format!("parent = '{epic}'"));
    let (_, later) = hero.mirrored("Backlog", &format!("parent = '{epic}'"));
    let one =
        json!({ "direction": "children", "number": epic_number, "issues": [later], "targetState": "Research Needed" });
    let listed = hero.ok("advance_issue", one);
    assert_eq!((count(&listed, "advanced"), count(&listed, "skipped")), (1, 0), "{late} stays: {listed}");
    let parent = hero.ok("advance_issue", json!({ "direction": "parent", "number": parts[0] }));
    assert_eq!((&parent["advanced"], &parent["parent"]["number"]), (&json!(false), &json!(epic_number)));
    let (code, _) = hero.refused("advance_issue", json!({ "direction": "children", "number": epic_number }));
    assert_eq!(code, "bad-arguments");
}

#[test]
fn children_in_progress_without_a_holder_are_advanced_and_a_group_goes_as_one() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    for atomic in ["", "atomic = true"] {
        let (epic, epic_number) = hero.mirrored("Plan in Review", atomic);
        let parts: Vec<String> =
            (0..3).map(|_| hero.mirrored("In Progress", &format!("parent = '{epic}'")).1).collect();
        for target in ["In Review", "Done"] {
            let done = hero.ok("advance_children", json!({ "parentNumber": epic_number, "targetState": target }));
            let mut advanced: Vec<&str> =
                done["advanced"].as_array().unwrap().iter().map(|row| row["number"].as_str().unwrap()).collect();
            advanced.sort_unstable();
            assert_eq!(advanced, parts, "{atomic} {target}: {done}");
        }
    }
}

/// A group whose children are all in this state.
fn members_in(hero: &Hero<'_>, state: &str) -> Vec<Value> {
    let (epic, _) = hero.mirrored("Backlog", "atomic = true");
    (0..3).map(|_| json!(hero.mirrored(state, &format!("parent = '{epic}'\nestimate = 'XS'")).1)).collect()
}

#[test]
fn a_member_is_answered_when_another_session_has_brought_its_group_further() {
    let sandbox = Sandbox::new();
    let (mut one, mut other) = (Hero::new(&sandbox, &[]), Hero::new(&sandbox, &[]));
    let parts = members_in(&one, "Ready for Plan");
    one.state(&parts[0], "__LOCK__", "ralph_plan");
    one.state(&parts[0], "__COMPLETE__", "ralph_plan");
    other.state(&parts[0], "__COMPLETE__", "ralph_review");
    let late = one.state(&parts[1], "__COMPLETE__", "ralph_plan");
    assert_eq!((&late["previousState"], &late["newState"]), (&json!("In Progress"), &json!("In Progress")), "{late}");
    assert_eq!(late["reason"], "it is already in In Progress");
    one.state(&parts[0], "__LOCK__", "ralph_impl");
    one.state(&parts[0], "__COMPLETE__", "ralph_impl");
    other.ok("update_workflow_state", json!({ "number": parts[0], "state": "Done" }));
    for part in &parts {
        assert_eq!(one.state(part, "__COMPLETE__", "ralph_impl")["newState"], "Done");
    }
    let rejected = json!({ "number": parts[1], "state": "Ready for Plan", "command": "ralph_review" });
    assert_eq!(other.refused("update_workflow_state", rejected).0, "not-allowed", "a rejection is not answered so");
}

#[test]
fn two_reviewers_who_approve_at_once_are_both_answered() {
    let sandbox = Sandbox::new();
    let (mut one, mut other) = (Hero::new(&sandbox, &[]), Hero::new(&sandbox, &[]));
    for round in 0..6 {
        let parts = match round % 2 {
            0 => members_in(&one, "Plan in Review"),
            _ => vec![json!(one.mirrored("Plan in Review", "estimate = 'XS'").1)],
        };
        let start = Barrier::new(2);
        let approve = |client: &mut Client| {
            start.wait();
            for part in &parts {
                let state = json!({ "number": part, "state": "__COMPLETE__", "command": "ralph_review" });
                assert_eq!(call(client, "update_workflow_state", state)["newState"], "In Progress");
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| approve(&mut other.client));
            approve(&mut one.client);
        });
    }
}

#[test]
fn the_plan_of_a_group_that_is_not_declared_says_that_a_lock_declares_it() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let (epic, _) = hero.mirrored("Ready for Plan", "");
    let parts: Vec<Value> =
        (0..2).map(|_| json!(hero.mirrored("Ready for Plan", &format!("parent = '{epic}'")).0)).collect();
    let plan = group_plan(&sandbox, &parts);
    let comment = |hero: &mut Hero<'_>, part: &Value| {
        let body = format!("## Group Implementation Plan\n\n{plan}\n");
        hero.ok("create_comment", json!({ "number": part, "body": body }))["artifact"].clone()
    };
    let early = comment(&mut hero, &parts[1]);
    assert_eq!((&early["linked"], &early["code"]), (&json!(false), &json!("other-document")), "{early}");
    assert!(early["error"].as_str().unwrap().contains("state __LOCK__"), "{early}");
    hero.state(&parts[1], "__LOCK__", "ralph_plan");
    assert_eq!(comment(&mut hero, &parts[1])["linked"], true);
}

#[test]
fn a_parent_that_stays_says_truly_why() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let (epic, _) = hero.mirrored("Backlog", "");
    let (_, child) = hero.mirrored("Research Needed", &format!("parent = '{epic}'"));
    hero.mirrored("In Review", &format!("parent = '{epic}'"));
    let parent = hero.ok("advance_parent", json!({ "number": child }));
    assert_eq!(parent["reason"], "the least advanced child is in Research Needed, which is not a gate state");
    assert_eq!(parent["minimumChildState"], "Research Needed");
    assert_eq!(parent["gateStates"], json!(["Ready for Plan", "Plan in Review", "In Review", "Done"]));
    let (epic, _) = hero.mirrored("In Review", "");
    let (_, child) = hero.mirrored("In Review", &format!("parent = '{epic}'"));
    let level = hero.ok("advance_parent", json!({ "number": child }));
    assert_eq!((&level["reason"], level.get("gateStates")), (&json!("the parent is already in In Review"), None));
}

#[test]
fn the_streams_of_a_call_do_not_depend_on_its_order_and_each_has_its_own_phase() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    hero.made.set(98);
    let (epic, _) = hero.mirrored("Backlog", "atomic = true");
    let made = |state: &str| hero.mirrored(state, &format!("parent = '{epic}'\nestimate = 'XS'")).1;
    let (n99, n100, n101) = (made("Ready for Plan"), made("Research Needed"), made("Research Needed"));
    sandbox.write_task("t-b", format!("title = 'B'\nstate = 'Ready for Plan'\nparent = '{epic}'\n"));
    let print = |number: &str, file: &str| json!({ "number": number, "files": [file], "blockedBy": [] });
    let mut issues = vec![print(&n101, "x"), print("t-b", "y"), print(&n100, "x"), print(&n99, "y")];
    for _ in 0..2 {
        let found = hero.ok("detect_stream_positions", json!({ "issues": issues }));
        let streams: Vec<[&Value; 4]> = found["streams"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| [&row["id"], &row["primaryIssue"], &row["position"]["phase"], &row["position"]["groupPrimary"]])
            .collect();
        let wanted = [
            [json!("stream-99-t-b"), json!("99"), json!("PLAN"), json!("99")],
            [json!("stream-100-101"), json!("100"), json!("RESEARCH"), json!("100")],
        ];
        assert_eq!(streams, wanted.each_ref().map(|row| row.each_ref()), "{found}");
        assert_eq!(found["streams"][0]["position"]["convergence"]["met"], true);
        issues.reverse();
    }
    let found = hero.ok("detect_work_streams", json!({ "issues": issues }));
    assert_eq!(
        (&found["streams"][1]["id"], &found["streams"][1]["issues"]),
        (&json!("stream-100-101"), &json!(["100", "101"]))
    );
}

#[test]
fn a_document_with_comments_in_its_front_matter_is_linked() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let (id, _) = hero.mirrored("Research Needed", "");
    let url = research_document(&sandbox, &json!(id));
    let file = sandbox.root().join(&url[url.find("thoughts/").unwrap()..]);
    let text = std::fs::read_to_string(&file).unwrap();
    let named = format!("github_issue: {id}");
    let optional = format!("{named}        # optional - only if linked to an issue");
    std::fs::write(&file, text.replace(&format!("{named}\n"), &format!("{optional}\n"))).unwrap();
    hand_in(&mut hero, &json!(id), "Research Document", &url);
}

#[test]
fn a_child_that_another_session_holds_is_not_advanced() {
    let sandbox = Sandbox::new();
    let (mut one, mut other) = (Hero::new(&sandbox, &[]), Hero::new(&sandbox, &[]));
    let (epic, epic_number) = one.mirrored("Plan in Review", "");
    let (_, held) = one.mirrored("In Progress", &format!("parent = '{epic}'"));
    let (_, free) = one.mirrored("In Progress", &format!("parent = '{epic}'"));
    other.ok("update_workflow_state", json!({ "number": held, "state": "__LOCK__", "command": "ralph_impl" }));
    // Claiming one of two siblings makes them a group, which has one holder.
    let done = one.ok("advance_children", json!({ "number": epic_number, "targetState": "In Review" }));
    assert_eq!(done["advanced"], json!([]), "{done}");
    assert_eq!(done["skipped"].as_array().unwrap().len(), 2, "{done}");
    assert!(done["skipped"][0]["reason"].as_str().unwrap().contains("claimed by"), "{done}");
    let own = other.ok("advance_children", json!({ "number": epic_number, "targetState": "In Review" }));
    assert_eq!(own["advanced"].as_array().unwrap().len(), 2, "{free}: {own}");
}

/// The reasons of the issues that stay, by number.
fn reason(done: &Value, number: &Value) -> String {
    let rows = done["skipped"].as_array().unwrap();
    let row = rows.iter().find(|row| row["number"] == *number).unwrap_or_else(|| panic!("{number}: {done}"));
    row["reason"].as_str().unwrap().to_owned()
}

#[test]
fn an_issue_that_nobody_has_started_is_not_closed_with_its_siblings() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    for atomic in ["", "atomic = true"] {
        let (epic, epic_number) = hero.mirrored("Backlog", atomic);
        let more = format!("parent = '{epic}'\nestimate = 'XS'");
        let built = json!(hero.mirrored("In Review", &more).1);
        let idle = json!(hero.mirrored("Backlog", &more).1);
        let all = json!({ "parentNumber": epic_number, "targetState": "Done" });
        let named = json!({ "issues": [idle], "targetState": "Done" });
        for asked in [all, named] {
            let done = hero.ok("advance_children", asked);
            assert_eq!(reason(&done, &idle), "it has not reached In Review (Backlog)");
            let moved = done["advanced"].as_array().unwrap().iter().map(|row| &row["number"]);
            let stay = done["skipped"].as_array().unwrap().iter().map(|row| &row["number"]);
            let both: Vec<&Value> = moved.filter(|number| stay.clone().any(|other| other == *number)).collect();
            assert_eq!(both, [&Value::Null; 0], "{done}");
        }
        let expected = if atomic.is_empty() { "Done" } else { "In Review" };
        assert_eq!(states(&mut hero, &[built, idle]), [expected, "Backlog"]);
        sandbox.ralph(&["advance", &epic, "--children", "--to", "done"]).ok();
        assert_eq!(sandbox.ralph(&["task", "show", &epic, "--json"]).json()["state"], "Backlog");
    }
}

#[test]
fn members_wait_for_the_one_that_a_person_has_and_are_told_so() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let parts = members_in(&hero, "In Review");
    hero.state(&parts[0], "__ESCALATE__", "ralph_merge");
    for part in &parts[1..] {
        let (code, said) = hero.refused("update_workflow_state", json!({ "number": part, "state": "Done" }));
        assert_eq!(code, "not-converged", "{said}");
        assert!(said.contains("(Human Needed)") && said.contains("a person has to move or cancel"), "{said}");
    }
}

#[test]
fn a_late_child_is_named_as_the_one_that_the_group_waits_for() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let (epic, _) = hero.mirrored("Backlog", "atomic = true");
    let more = format!("parent = '{epic}'\nestimate = 'XS'");
    sandbox.write_task("late", format!("title = 'Late'\nstate = 'Ready for Plan'\n{more}\n"));
    let parts: Vec<Value> = (0..2).map(|_| json!(hero.mirrored("In Review", &more).1)).collect();
    for part in &parts {
        let (code, said) = hero.refused("update_workflow_state", json!({ "number": part, "state": "Done" }));
        assert_eq!(code, "not-converged", "{said}");
        assert!(said.contains("waits for late (Ready for Plan)"), "{said}");
    }
    // It follows the others, although it is not the primary, or although it is.
    assert_eq!(hero.state(&json!("late"), "__LOCK__", "ralph_plan")["newState"], "Plan in Progress");
}

#[test]
fn a_work_state_without_a_claim_is_not_called_claimed() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let (epic, epic_number) = hero.mirrored("Backlog", "");
    let left = json!(hero.mirrored("Research in Progress", &format!("parent = '{epic}'")).1);
    for asked in [
        json!({ "parentNumber": epic_number, "targetState": "Ready for Plan" }),
        json!({ "issues": [left], "targetState": "Ready for Plan" }),
    ] {
        let done = hero.ok("advance_children", asked);
        assert_eq!(reason(&done, &left), "it is in a work state, but not claimed (Research in Progress)");
    }
}

//! `ralph mcp --profile ralph-hero`: the calls that ralph-hero's skills make, on a local board.

mod answers;
mod groups;
mod reports;
mod skills;
mod tables;

use std::cell::Cell;

use serde_json::{Value, json};

use crate::mcp_client::Client;
use crate::sandbox::Sandbox;
use tables::{CALLS, FIELDS, MOVES, REFUSALS, TOOLS, rows};

struct Hero<'a> {
    sandbox: &'a Sandbox,
    client: Client,
    made: Cell<u64>,
}

impl<'a> Hero<'a> {
    fn new(sandbox: &'a Sandbox, args: &[&str]) -> Self {
        let all: Vec<&str> = ["--profile", "ralph-hero"].iter().chain(args).copied().collect();
        Self { sandbox, client: Client::start(sandbox, &all), made: Cell::new(100) }
    }

    /// A mirrored task: its id, and its number as the tools return it.
    fn mirrored(&self, state: &str, more: &str) -> (String, String) {
        let number = self.made.replace(self.made.get() + 1);
        let id = format!("m-{number}");
        let url = format!("https://github.com/o/r/issues/{number}");
        self.sandbox.write_task(
            &id,
            format!(
                "title = 'Task {number}'\nstate = '{state}'\ncreated = 2026-11-01T10:00:00Z\n{more}\n[github]\nnumber = {number}\nurl = '{url}'\n"
            ),
        );
        (id, number.to_string())
    }

    #[track_caller]
    fn ok(&mut self, tool: &str, arguments: Value) -> Value {
        let (refused, answer) = self.client.call(&format!("ralph_hero__{tool}"), arguments.clone());
        assert!(!refused, "{tool} {arguments}: {answer}");
        answer
    }

    /// The code, the message and the hints of a refusal.
    #[track_caller]
    fn refused(&mut self, tool: &str, arguments: Value) -> (String, String) {
        let (refused, answer) = self.client.call(&format!("ralph_hero__{tool}"), arguments.clone());
        assert!(refused, "{tool} {arguments} was accepted: {answer}");
        let said = answer["error"].as_str().unwrap_or_else(|| panic!("error is a text: {answer}"));
        assert!(said.contains(answer["message"].as_str().unwrap()), "{answer}");
        (answer["code"].as_str().unwrap().to_owned(), said.to_owned())
    }

    #[track_caller]
    fn state(&mut self, number: &Value, state: &str, command: &str) -> Value {
        self.ok("update_workflow_state", json!({ "number": number, "state": state, "command": command }))
    }
}

/// Replaces the placeholders in a value by tasks.
fn filled(value: &Value, names: &[(&str, Value)]) -> Value {
    match value {
        Value::String(text) => names.iter().find(|(name, _)| name == text).map_or(value.clone(), |(_, it)| it.clone()),
        Value::Array(list) => list.iter().map(|each| filled(each, names)).collect(),
        Value::Object(map) => map.iter().map(|(key, each)| (key.clone(), filled(each, names))).collect(),
        other => other.clone(),
    }
}

#[test]
fn every_call_that_the_skills_make_is_accepted_by_number_and_by_id() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    for row in rows(CALLS) {
        let [tool, state, arguments] = row[..] else { panic!("{row:?}") };
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        for by_number in [true, false] {
            let (blocker, blocker_number) = hero.mirrored("Done", "");
            let (other, other_number) = hero.mirrored("Backlog", "");
            let (id, number) =
                hero.mirrored(state, &format!("estimate = 'S'\nlabels = ['bug']\nblocked_by = ['{blocker}']"));
            let names = match by_number {
                true => {
                    let [number, other, blocker] =
                        [number, other_number, blocker_number].map(|text| text.parse::<u64>());
                    [("$N", json!(number.unwrap())), ("$O", json!(other.unwrap())), ("$P", json!(blocker.unwrap()))]
                }
                false => [("$N", json!(id)), ("$O", json!(other)), ("$P", json!(blocker))],
            };
            hero.ok(tool, filled(&arguments, &names));
        }
    }
}

#[test]
fn every_move_that_the_skills_make_is_accepted_and_says_where_it_went() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    for (from, asked, command, to) in MOVES {
        let (id, number) = hero.mirrored(from, "estimate = 'S'");
        let mut arguments = json!({ "owner": "o", "repo": "r", "number": number, "state": asked });
        if !command.is_empty() {
            arguments["command"] = json!(command);
        }
        let moved = hero.ok("update_workflow_state", arguments);
        assert_eq!(
            (&moved["number"], &moved["previousState"], &moved["newState"]),
            (&json!(number), &json!(from), &json!(to))
        );
        if !command.is_empty() {
            assert_eq!(moved["command"], command);
        }
        let intent = asked.starts_with("__").then_some(asked);
        assert_eq!(moved.get("resolvedFrom").and_then(Value::as_str), intent, "{moved}");
        assert!(
            sandbox.read_task(&id).contains(&format!("state = '{to}'"))
                || sandbox.read_task(&id).contains(&format!("state = \"{to}\""))
        );

        let (_, number) = hero.mirrored(from, "estimate = 'S'");
        let mut arguments = json!({ "number": number, "workflowState": asked });
        if !command.is_empty() {
            arguments["command"] = json!(command);
        }
        let saved = hero.ok("save_issue", arguments);
        assert_eq!((&saved["number"], &saved["changes"]["workflowState"]), (&json!(number), &json!(to)), "{saved}");
        let closes = ["Done", "Canceled"].contains(&to);
        assert_eq!(saved["changes"]["autoClose"] == true, closes, "{saved}");
    }
}

#[test]
fn the_tools_are_those_that_the_skills_name_and_few_enough_to_read() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let listed = hero.client.request("tools/list", json!({})).unwrap();
    let mut names: Vec<String> =
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    let mut wanted: Vec<String> = TOOLS.iter().map(|name| format!("ralph_hero__{name}")).collect();
    names.sort();
    wanted.sort();
    assert_eq!(names, wanted);
    // Annotations are for the host; the model does not read them.
    let mut read = listed.clone();
    for tool in read["tools"].as_array_mut().unwrap() {
        tool.as_object_mut().unwrap().remove("annotations");
    }
    let tokens = read.to_string().len() / 4;
    assert!(tokens < 5_700, "{tokens}");
    let text = listed.to_string();
    assert!(!text.contains("projectNumber") && !text.contains("\"owner\""), "arguments without a meaning are left out");
}

#[test]
fn every_documented_field_is_in_the_answer() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let (_, blocker) = hero.mirrored("Done", "");
    let (parent, parent_number) = hero.mirrored("Backlog", "atomic = true");
    let (free, _) = hero.mirrored("Research Needed", "");
    let (_, number) =
        hero.mirrored("Backlog", &format!("parent = '{parent}'\nblocked_by = ['m-{blocker}']\nestimate = 'XS'"));
    hero.ok("create_comment", json!({ "number": number, "body": "Hello" }));
    let names = [("$N", json!(number)), ("$O", json!(parent_number)), ("$P", json!(blocker)), ("$F", json!(free))];
    for row in rows(FIELDS) {
        let [tool, arguments, place, fields] = row[..] else { panic!("{row:?}") };
        let answer = hero.ok(tool, filled(&serde_json::from_str(arguments).unwrap(), &names));
        let there = answer.pointer(place.trim_matches('.')).unwrap_or_else(|| panic!("{tool}: no {place} in {answer}"));
        for field in fields.split_whitespace() {
            assert!(there.get(field).is_some(), "{tool}: no {field} at {place:?} in {answer}");
        }
    }
}

#[test]
fn a_task_lives_its_whole_life_through_these_tools() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let made = hero.ok(
        "create_issue",
        json!({ "title": "Sync drops labels", "body": "They differ in case.", "labels": ["bug"], "estimate": "S", "priority": "P1" }),
    );
    let id = made["number"].clone();
    assert_eq!((&made["id"], &made["projectItemId"]), (&id, &id), "without an issue, the id is the number");
    assert_eq!(made["url"], format!("ralph://task/{}", id.as_str().unwrap()));
    assert_eq!(made["fieldsSet"], json!({ "workflowState": "Backlog", "estimate": "S", "priority": "P1" }));
    let position = hero.ok("detect_pipeline_position", json!({ "number": id }));
    assert_eq!(position["phase"], "TRIAGE");
    assert_eq!(position["remainingPhases"], json!(["triage", "research", "plan", "review", "implement", "pr"]));
    assert_eq!(position["convergence"]["recommendation"], "proceed");
    assert_eq!((&position["isGroup"], &position["groupPrimary"]), (&json!(false), &id));

    hero.state(&id, "Research Needed", "ralph_triage");
    let picked = hero.ok("pick_actionable_issue", json!({ "workflowState": "Research Needed" }));
    assert_eq!((&picked["found"], &picked["issue"]["number"], &picked["alternatives"]), (&json!(true), &id, &json!(0)));
    assert_eq!(picked["issue"]["description"], "They differ in case.");
    hero.state(&id, "__LOCK__", "ralph_research");
    let comment = hero.ok("create_comment", json!({ "number": id, "body": "## Research Document\n\nnothing to link" }));
    assert_eq!(comment["issueNumber"], id);
    assert!(comment.get("artifact").is_none());
    let issue = hero.ok("get_issue", json!({ "number": id }));
    assert_eq!((&issue["workflowState"], &issue["state"]), (&json!("Research in Progress"), &json!("OPEN")));
    assert_eq!(issue["comments"][0]["id"], comment["commentId"]);
    assert_eq!(issue["assignees"][0], issue["claimedBy"], "the holder is assigned");
    hero.state(&id, "__COMPLETE__", "ralph_research");
    assert_eq!(hero.ok("get_issue", json!({ "number": id }))["assignees"], json!([]), "the task was moved on");
    assert_eq!(
        hero.ok("check_convergence", json!({ "number": id, "targetState": "Ready for Plan" }))["converged"],
        true
    );

    hero.state(&id, "__LOCK__", "ralph_plan");
    hero.state(&id, "__COMPLETE__", "ralph_plan");
    assert_eq!(hero.ok("detect_pipeline_position", json!({ "number": id }))["phase"], "HUMAN_GATE");
    hero.state(&id, "In Progress", "ralph_review");
    let resumed = hero.ok("pick_actionable_issue", json!({ "workflowState": "In Progress" }));
    assert_eq!((&resumed["issue"]["number"], &resumed["issue"]["resume"]), (&id, &json!(false)));
    hero.state(&id, "__LOCK__", "ralph_impl");
    let own = hero.ok("pick_actionable_issue", json!({ "workflowState": "In Progress" }));
    assert_eq!((&own["issue"]["number"], &own["issue"]["resume"]), (&id, &json!(true)), "its own claim is resumed");
    let saved = hero.ok(
        "save_issue",
        json!({ "number": id, "workflowState": "__COMPLETE__", "command": "ralph_impl", "title": "It" }),
    );
    assert_eq!(saved["changes"]["resolvedFrom"], "__COMPLETE__");
    let position = hero.ok("detect_pipeline_position", json!({ "number": id }));
    assert_eq!((&position["phase"], &position["remainingPhases"]), (&json!("TERMINAL"), &json!([])));
    hero.state(&id, "__COMPLETE__", "ralph_merge");

    closed_issues_are_listed_and_only_a_person_reopens_them(&sandbox, &mut hero, &id);
}

fn closed_issues_are_listed_and_only_a_person_reopens_them(sandbox: &Sandbox, hero: &mut Hero, id: &Value) {
    let closed = hero.ok("get_issue", json!({ "number": id, "includePipeline": true }));
    assert_eq!((&closed["state"], &closed["stateReason"]), (&json!("CLOSED"), &json!("COMPLETED")));
    assert_eq!((&closed["title"], &closed["pipeline"]["phase"]), (&json!("It"), &json!("TERMINAL")));
    assert!(closed["closedAt"].as_str().is_some_and(|at| at.ends_with('Z')), "{closed}");
    assert_eq!(hero.ok("list_issues", json!({}))["totalCount"], 0);
    assert_eq!(hero.ok("list_issues", json!({ "state": "CLOSED", "reason": "completed" }))["items"][0]["number"], *id);
    assert_eq!(hero.ok("list_issues", json!({ "reason": "reopened" }))["totalCount"], 0);
    let (code, said) = hero.refused("save_issue", json!({ "number": id, "issueState": "OPEN" }));
    assert_eq!(code, "needs-person", "{said}");
    sandbox.ralph(&["move", id.as_str().unwrap(), "Backlog"]).ok();
    let again = hero.ok("list_issues", json!({ "reason": "reopened" }));
    assert_eq!((&again["items"][0]["number"], &again["items"][0]["workflowState"]), (id, &json!("Backlog")));
}

#[test]
fn what_another_has_is_neither_picked_nor_locked_nor_half_changed() {
    let sandbox = Sandbox::new();
    let (mut anna, mut ben) = (Hero::new(&sandbox, &["--as", "anna"]), Hero::new(&sandbox, &["--as", "ben"]));
    let (id, number) = anna.mirrored("Research Needed", "");
    ben.made.set(500);
    let (_, second) = ben.mirrored("Research Needed", "");
    anna.state(&json!(number), "__LOCK__", "ralph_research");
    let picked = ben.ok("pick_actionable_issue", json!({ "workflowState": "Research Needed" }));
    assert_eq!((&picked["issue"]["number"], &picked["alternatives"]), (&json!(second), &json!(0)));
    assert_eq!(ben.ok("pick_actionable_issue", json!({ "workflowState": "Research in Progress" }))["found"], false);
    let lock = json!({ "number": number, "state": "__LOCK__", "command": "ralph_research" });
    let (code, said) = ben.refused("update_workflow_state", lock);
    assert_eq!(code, "held");
    assert!(said.contains("anna") && said.contains("ralph_hero__pick_actionable_issue"), "{said}");
    let (code, said) = ben.refused(
        "save_issue",
        json!({ "number": number, "title": "Mine", "workflowState": "__LOCK__", "command": "ralph_research", "force": true }),
    );
    assert_eq!(code, "held");
    assert!(said.contains("force has no effect here"), "{said}");
    assert!(!sandbox.read_task(&id).contains("Mine"), "a refused lock leaves the title alone");

    // In Progress without a holder is not locked: the first claim wins.
    let (_, loose) = anna.mirrored("In Progress", "");
    let lock = json!({ "number": loose, "state": "__LOCK__", "command": "ralph_impl" });
    ben.ok("update_workflow_state", lock.clone());
    assert_eq!(anna.refused("update_workflow_state", lock).0, "held");
}

#[test]
fn refusals_keep_their_code_and_name_the_next_call() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let (id, number) = hero.mirrored("Backlog", "");
    let (blocked, _) = hero.mirrored("Research Needed", &format!("blocked_by = ['{id}']"));
    let (child, _) = hero.mirrored("Backlog", &format!("parent = '{id}'"));
    let (other, _) = hero.mirrored("Backlog", "");
    let names = [("$N", json!(number)), ("$O", json!(other)), ("$B", json!(blocked)), ("$C", json!(child))];
    for row in rows(REFUSALS) {
        let [tool, arguments, code, word] = row[..] else { panic!("{row:?}") };
        let arguments = filled(&serde_json::from_str(arguments).unwrap(), &names);
        let (said_code, said) = hero.refused(tool, arguments.clone());
        assert_eq!(said_code, code, "{tool} {arguments}: {said}");
        assert!(said.contains(word), "{tool} {arguments}: {word} is not in {said}");
        for foreign in ["call list ", "call next", "call get ", "call claim", "call artifact", "--force"] {
            assert!(!said.contains(foreign), "{tool} {arguments}: {said}");
        }
    }
    assert!(sandbox.read_task(&other).contains(&format!("title = 'Task {}'", &other[2..])), "nothing was written");
}

#[test]
fn a_worker_with_a_role_hands_its_document_in_by_a_comment_as_the_skills_do() {
    let sandbox = Sandbox::new();
    let mut analyst = Hero::new(&sandbox, &["--as", "analyst"]);
    let (id, number) = analyst.mirrored("Research Needed", "estimate = 'S'");
    analyst.state(&json!(number), "__LOCK__", "ralph_research");
    let complete = json!({ "number": number, "state": "__COMPLETE__", "command": "ralph_research" });
    let (code, said) = analyst.refused("update_workflow_state", complete.clone());
    assert_eq!(code, "no-artifact");
    assert!(said.contains("ralph_hero__create_comment"), "{said}");
    let made = sandbox.ralph(&["artifact", "new", "research", &id, "--as", "analyst", "--json"]).json();
    let path = made["path"].as_str().unwrap();
    let body = format!("## Research Document\n\nhttps://github.com/o/r/blob/main/{path}\n\nKey findings: none");
    let unready = analyst.ok("create_comment", json!({ "number": number, "body": body }));
    assert_eq!(
        (&unready["artifact"]["linked"], &unready["artifact"]["code"]),
        (&json!(false), &json!("unready-document"))
    );
    sandbox.fill(path);
    let linked = analyst.ok("create_comment", json!({ "number": number, "body": body }));
    assert_eq!(linked["artifact"], json!({ "kind": "research", "path": path, "linked": true }));
    assert_eq!(analyst.ok("update_workflow_state", complete)["newState"], "Ready for Plan");
    assert_eq!(
        analyst
            .refused("update_workflow_state", json!({ "number": number, "state": "__LOCK__", "command": "ralph_plan" }))
            .0,
        "not-your-command"
    );
}

#[test]
fn an_analyst_splits_step_by_step_as_the_skill_does() {
    let sandbox = Sandbox::new();
    let mut analyst = Hero::new(&sandbox, &["--as", "analyst"]);
    let (_, large) = analyst.mirrored("Backlog", "estimate = 'L'");
    assert_eq!(analyst.ok("detect_pipeline_position", json!({ "number": large }))["phase"], "SPLIT");
    let mut parts = Vec::new();
    for title in ["First", "Second"] {
        let part = analyst.ok("create_issue", json!({ "title": title, "labels": ["bug"] }))["number"].clone();
        analyst.ok("add_sub_issue", json!({ "parentNumber": large, "childNumber": part }));
        analyst.ok("update_estimate", json!({ "number": part, "estimate": "XS" }));
        let stays = analyst.state(&part, "__COMPLETE__", "ralph_split");
        assert_eq!((&stays["previousState"], &stays["newState"]), (&json!("Backlog"), &json!("Backlog")));
        parts.push(part);
    }
    let link = json!({ "blockedNumber": parts[1], "blockingNumber": parts[0] });
    assert_eq!(analyst.ok("add_dependency", link.clone())["changed"], true);
    assert_eq!(analyst.ok("add_dependency", link)["changed"], false, "the answer says that there is nothing to do");
    let listed = analyst.ok("list_sub_issues", json!({ "number": large, "depth": 3 }));
    assert_eq!(listed["summary"], json!({ "total": 2, "completed": 0, "percentCompleted": 0 }));
    assert_eq!(analyst.ok("detect_pipeline_position", json!({ "number": large }))["phase"], "TRIAGE");
    for part in &parts {
        analyst.state(part, "Research Needed", "ralph_triage");
    }
    let free = analyst.ok("pick_actionable_issue", json!({ "workflowState": "Research Needed" }));
    assert_eq!(free["alternatives"], 1, "inside a group, blockers order its phases");
    let converged = analyst.ok("check_convergence", json!({ "number": large, "targetState": "Ready for Plan" }));
    assert_eq!(
        (&converged["converged"], &converged["total"], &converged["ready"]),
        (&json!(false), &json!(2), &json!(0))
    );
    assert_eq!(converged["blocking"][0]["distanceToTarget"], 2);
    assert_eq!(converged["recommendation"], "wait");
}

#[test]
fn children_are_advanced_and_those_that_stay_say_why() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let (epic, epic_number) = hero.mirrored("Backlog", "");
    let (_, behind) = hero.mirrored("Backlog", &format!("parent = '{epic}'"));
    let (_, there) = hero.mirrored("Ready for Plan", &format!("parent = '{epic}'"));
    let (_, human) = hero.mirrored("Human Needed", &format!("parent = '{epic}'"));
    let done = hero.ok("advance_children", json!({ "number": epic_number, "targetState": "Ready for Plan" }));
    assert_eq!(done["advanced"][0]["number"], behind);
    assert_eq!(
        (&done["advanced"][0]["fromState"], &done["advanced"][0]["toState"]),
        (&json!("Backlog"), &json!("Ready for Plan"))
    );
    let skipped = done["skipped"].as_array().unwrap();
    let reason = |number: &str| {
        let row = skipped.iter().find(|row| row["number"] == number).unwrap();
        row["reason"].as_str().unwrap().to_owned()
    };
    assert!(reason(&there).contains("already in Ready for Plan") && reason(&human).contains("Human Needed"), "{done}");
    assert_eq!(done["errors"], json!([]));
    let named =
        hero.ok("advance_children", json!({ "issues": [behind, human, 9999], "targetState": "Ready for Plan" }));
    assert_eq!(
        (named["advanced"].as_array().unwrap().len(), named["skipped"].as_array().unwrap().len()),
        (0, 2),
        "{named}"
    );
    assert_eq!(named["errors"][0]["code"], "unknown-task");
}

#[test]
fn a_group_is_the_same_whichever_member_is_asked() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let (epic, _) = hero.mirrored("Backlog", "atomic = true");
    let (second, second_number) = hero.mirrored("Ready for Plan", &format!("parent = '{epic}'"));
    let (first, first_number) = hero.mirrored("Research Needed", &format!("parent = '{epic}'"));
    hero.ok("add_dependency", json!({ "blockedNumber": second, "blockingNumber": first }));
    for asked in [&first_number, &second_number] {
        let group = hero.ok("detect_group", json!({ "number": asked }));
        let tickets = group["groupTickets"].as_array().unwrap();
        let order: Vec<(u64, &str)> =
            tickets.iter().map(|row| (row["order"].as_u64().unwrap(), row["number"].as_str().unwrap())).collect();
        assert_eq!(order, [(1, first_number.as_str()), (2, &second_number)]);
        assert_eq!((&group["groupPrimary"]["number"], &group["isGroup"]), (&json!(first_number), &json!(true)));
        let position = hero.ok("detect_pipeline_position", json!({ "number": asked }));
        assert_eq!((&position["phase"], &position["groupPrimary"]), (&json!("RESEARCH"), &json!(first_number)));
        assert_eq!(
            position["convergence"]["blocking"],
            json!([{ "number": first_number, "state": "Research Needed" }])
        );
    }
}

#[test]
fn filters_narrow_each_other_and_closed_issues_are_asked_for() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let (_, old) = hero.mirrored("Backlog", "estimate = 'XS'\npriority = 'P3'\nlabels = ['bug']");
    let (_, new) = hero.mirrored("In Progress", "estimate = 'M'\nowner = 'ben'");
    let (_, done) = hero.mirrored("Done", "labels = ['bug', 'old']");
    let (_, canceled) = hero.mirrored("Canceled", "description = 'about sorting'");
    let mut found = |arguments: Value| -> Vec<String> {
        let listed = hero.ok("list_issues", arguments);
        let items = listed["items"].as_array().unwrap();
        let mut numbers: Vec<String> = items.iter().map(|item| item["number"].as_str().unwrap().to_owned()).collect();
        numbers.sort_unstable();
        numbers
    };
    for (arguments, wanted) in [
        (json!({}), vec![&old, &new]),
        (json!({ "state": "CLOSED" }), vec![&done, &canceled]),
        (json!({ "state": "CLOSED", "label": "bug" }), vec![&done]),
        (json!({ "reason": "not_planned" }), vec![&canceled]),
        (json!({ "workflowState": "Done" }), vec![&done]),
        (json!({ "workflowState": "Backlog,In Progress", "estimate": "XS,S" }), vec![&old]),
        (json!({ "profile": "builder-active" }), vec![&new]),
        (json!({ "profile": "builder-active", "workflowState": "Backlog" }), vec![&old]),
        (json!({ "has": "priority" }), vec![&old]),
        (json!({ "no": ["labels"] }), vec![&new]),
        (json!({ "no": "assignees" }), vec![&old]),
        (json!({ "excludeWorkflowStates": ["Backlog"] }), vec![&new]),
        (json!({ "excludeEstimates": ["M", "L"] }), vec![&old]),
        (json!({ "excludePriorities": ["P3"] }), vec![&new]),
        (json!({ "excludeLabels": ["BUG"] }), vec![&new]),
        (json!({ "query": "sorting", "state": "CLOSED" }), vec![&canceled]),
        (json!({ "updatedBefore": "2001-01-01" }), vec![]),
        (json!({ "updatedSince": "2001-01-01" }), vec![&old, &new]),
        (json!({ "iteration": "@current" }), vec![]),
        (json!({ "priority": "P3", "estimate": "M" }), vec![]),
    ] {
        assert_eq!(found(arguments.clone()).iter().collect::<Vec<_>>(), wanted, "{arguments}");
    }
    let first = hero.ok("list_issues", json!({ "orderBy": "priority", "limit": 1 }));
    assert_eq!((&first["totalCount"], &first["filteredCount"]), (&json!(2), &json!(1)));
    assert_eq!(first["items"][0]["number"], old, "the one with a priority comes first");
    assert_eq!(hero.ok("list_project_items", json!({}))["totalCount"], 4);
}

#[test]
fn who_asks_for_created_at_gets_the_oldest_first() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    for (id, day) in [("t-b", 2), ("t-a", 3), ("t-c", 1)] {
        sandbox.write_task(id, format!("title = '{id}'\nstate = 'Backlog'\ncreated = 2026-11-0{day}T10:00:00Z\n"));
    }
    for (order, wanted) in [
        (json!("createdAt"), ["t-c", "t-b", "t-a"]),
        (json!("CREATED_AT"), ["t-c", "t-b", "t-a"]),
        (Value::Null, ["t-a", "t-b", "t-c"]),
    ] {
        let listed = hero.ok("list_issues", json!({ "profile": "analyst-triage", "orderBy": order, "limit": 250 }));
        let found: Vec<&str> =
            listed["items"].as_array().unwrap().iter().map(|item| item["number"].as_str().unwrap()).collect();
        assert_eq!(found, wanted, "{order}");
    }
}

#[test]
fn no_session_reopens_an_issue_or_cancels_it_with_a_command_that_cannot_end_there() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let commands = ["ralph_triage", "ralph_research", "ralph_plan", "ralph_impl", "ralph_review", "ralph_merge"];
    for command in commands {
        for state in ["Done", "Canceled"] {
            let (_, number) = hero.mirrored(state, "");
            let asked = json!({ "number": number, "state": "Backlog", "command": command });
            assert_eq!(hero.refused("update_workflow_state", asked).0, "needs-person", "{command}");
        }
        let (_, number) = hero.mirrored("Ready for Plan", "");
        let asked = json!({ "number": number, "state": "Canceled", "command": command });
        assert_eq!(hero.refused("update_workflow_state", asked).0, "not-allowed", "{command}");
    }
    let mut named = Hero::new(&sandbox, &["--as", "Ann"]);
    let (id, number) = hero.mirrored("Done", "");
    assert_eq!(named.refused("save_issue", json!({ "number": number, "issueState": "OPEN" })).0, "needs-person");
    sandbox.ralph(&["move", &id, "Backlog"]).ok();
}

#[test]
fn the_third_rejection_says_why_a_person_gets_the_issue() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let reject = |hero: &mut Hero<'_>, rejections: u32| {
        let (_, number) = hero.mirrored("Plan in Review", &format!("review.rejections = {rejections}"));
        hero.state(&json!(number), "Ready for Plan", "ralph_review")
    };
    let second = reject(&mut hero, 1);
    assert_eq!((&second["newState"], second.get("reason")), (&json!("Ready for Plan"), None), "{second}");
    let third = reject(&mut hero, 2);
    assert_eq!(third["newState"], "Human Needed");
    assert_eq!(third["reason"], "it was rejected 3 times, so a person has to decide");
}

#[test]
fn who_only_reads_is_offered_nothing_that_writes() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &["--read-only"]);
    let (_, number) = hero.mirrored("Backlog", "");
    assert_eq!(hero.refused("update_priority", json!({ "number": number, "priority": "P0" })).0, "read-only");
    hero.ok("get_issue", json!({ "number": number }));
    let listed = hero.client.request("tools/list", json!({})).unwrap().to_string();
    assert!(!listed.contains("save_issue") && listed.contains("pick_actionable_issue"));
}

#[test]
fn what_waits_for_a_person_is_not_moved_by_a_client_that_nobody_named() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let (id, number) = hero.mirrored("Human Needed", "");
    for state in ["Ready for Plan", "__CLOSE__"] {
        let (code, _) = hero.refused("update_workflow_state", json!({ "number": number, "state": state }));
        assert_eq!(code, "needs-person", "{state}");
    }
    assert_eq!(hero.refused("save_issue", json!({ "number": number, "issueState": "CLOSED" })).0, "needs-person");
    // A person's name does not make a program a person.
    let mut named = Hero::new(&sandbox, &["--as", "Ann"]);
    let asked = json!({ "number": id, "state": "Ready for Plan" });
    assert_eq!(named.refused("update_workflow_state", asked).0, "needs-person");
    sandbox.ralph(&["move", &id, "Ready for Plan"]).ok();
}

#[test]
fn nobody_calls_an_issue_done_whose_branch_main_does_not_have() {
    let sandbox = Sandbox::new();
    let (mut session, mut role) = (Hero::new(&sandbox, &[]), Hero::new(&sandbox, &["--as", "integrator"]));
    sandbox.git(&["commit", "--allow-empty", "-m", "root"]);
    let (_, one) = session.mirrored("In Review", "");
    let built = sandbox.git(&["commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "built"]);
    sandbox.git(&["branch", &format!("feature/GH-{one}"), built.trim()]);
    let done = json!({ "number": one, "state": "Done", "command": "ralph_merge" });
    for hero in [&mut session, &mut role] {
        let (code, said) = hero.refused("update_workflow_state", done.clone());
        assert_eq!(code, "unmerged");
        assert!(said.contains("pull the main branch"), "{said}");
    }
    sandbox.git(&["merge", "--ff-only", built.trim()]);
    assert_eq!(role.ok("update_workflow_state", done)["newState"], "Done");
}

#[test]
fn a_branch_with_a_name_that_the_skills_give_it_counts_wherever_the_issue_is_built() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    sandbox.git(&["commit", "--allow-empty", "-m", "root"]);
    let built = sandbox.git(&["commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "built"]);
    sandbox.write_task("t-solo", "title = 'Solo'\nstate = 'In Review'\n");
    let (epic, epic_number) = hero.mirrored("Plan in Review", "");
    let (child, child_number) = hero.mirrored("In Review", &format!("parent = '{epic}'"));
    let (_, other_number) = hero.mirrored("In Progress", &format!("parent = '{epic}'"));
    for (issue, branch) in [
        ("t-solo", "feature/GH-t-solo".to_owned()),
        ("t-solo", "feature/t-solo".to_owned()),
        (&child, format!("feature/GH-{child}")),
        (&child, format!("feature/GH-{child_number}")),
        (&child, format!("feature/GH-{epic_number}")),
        (&child, format!("feature/GH-{epic}")),
        (&child, format!("feature/GH-{epic_number}-stream-{child_number}-{other_number}")),
        (&child, format!("feature/GH-{epic}-stream-{child}-m-900")),
    ] {
        sandbox.git(&["branch", &branch, built.trim()]);
        let done = json!({ "number": issue, "state": "Done" });
        let (code, said) = hero.refused("update_workflow_state", done);
        assert_eq!((code.as_str(), said.contains(&branch)), ("unmerged", true), "{branch}: {said}");
        sandbox.git(&["branch", "-D", &branch]);
    }
    // The stream of other members does not matter to this one, and a duplicate can be closed at any time.
    sandbox.git(&["branch", &format!("feature/GH-{epic_number}-stream-{other_number}"), built.trim()]);
    assert_eq!(hero.ok("update_workflow_state", json!({ "number": child, "state": "Done" }))["newState"], "Done");
    sandbox.git(&["branch", &format!("feature/GH-{epic_number}"), built.trim()]);
    let (duplicate, _) = hero.mirrored("Backlog", &format!("parent = '{epic}'"));
    hero.state(&json!(duplicate), "Done", "ralph_triage");
    let (_, last) = hero.mirrored("In Review", &format!("parent = '{epic}'"));
    let advanced = hero.ok("advance_children", json!({ "number": epic_number, "targetState": "Done" }));
    let skipped = advanced["skipped"].as_array().unwrap();
    let row = skipped.iter().find(|row| row["number"] == last).unwrap_or_else(|| panic!("{advanced}"));
    assert!(row["reason"].as_str().unwrap().contains("that main lacks"), "{advanced}");
}

#[test]
fn a_lock_whose_fields_are_refused_is_not_taken() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &["--as", "builder"]);
    let (id, number) = hero.mirrored("In Progress", "estimate = 'S'\nartifacts.plan = 'p.md'");
    let asked = json!({ "number": number, "workflowState": "__LOCK__", "command": "ralph_impl", "priority": "P9" });
    assert_eq!(hero.refused("save_issue", asked).0, "bad-value");
    assert_eq!(sandbox.ralph(&["task", "show", &id, "--json"]).json()["claim"], Value::Null);
}

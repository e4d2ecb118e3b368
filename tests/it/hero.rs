//! `ralph mcp --profile ralph-hero`: the calls that ralph-hero's skills make, on a local board.

use std::cell::Cell;

use serde_json::{Value, json};

use crate::mcp_client::Client;
use crate::sandbox::Sandbox;

const TOOLS: [&str; 24] = [
    "list_issues",
    "get_issue",
    "create_issue",
    "update_issue",
    "update_workflow_state",
    "update_estimate",
    "update_priority",
    "create_comment",
    "detect_pipeline_position",
    "check_convergence",
    "pick_actionable_issue",
    "setup_project",
    "get_project",
    "list_project_items",
    "add_sub_issue",
    "list_sub_issues",
    "add_dependency",
    "remove_dependency",
    "list_dependencies",
    "detect_group",
    "advance_children",
    "list_views",
    "update_field_options",
    "save_issue",
];

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

    /// A task that an issue mirrors: its id and its number.
    fn mirrored(&self, state: &str, more: &str) -> (String, u64) {
        let number = self.made.replace(self.made.get() + 1);
        let id = format!("m-{number}");
        let url = format!("https://github.com/o/r/issues/{number}");
        self.sandbox.write_task(
            &id,
            format!(
                "title = 'Task {number}'\nstate = '{state}'\ncreated = 2026-11-01T10:00:00Z\n{more}\n[github]\nnumber = {number}\nurl = '{url}'\n"
            ),
        );
        (id, number)
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
        let error = &answer["error"];
        (error["code"].as_str().unwrap().to_owned(), format!("{} {}", error["message"], error["hints"]))
    }

    #[track_caller]
    fn state(&mut self, number: &Value, state: &str, command: &str) -> Value {
        self.ok("update_workflow_state", json!({ "number": number, "state": state, "command": command }))
    }
}

/// `$N`, `$O` and `$P` in what is said are the task, another one, and one that `$N` waits for.
fn filled(value: &Value, names: &[(&str, Value)]) -> Value {
    match value {
        Value::String(text) => names.iter().find(|(name, _)| name == text).map_or(value.clone(), |(_, it)| it.clone()),
        Value::Array(list) => list.iter().map(|each| filled(each, names)).collect(),
        Value::Object(map) => map.iter().map(|(key, each)| (key.clone(), filled(each, names))).collect(),
        other => other.clone(),
    }
}

/// Every move that the skills make: the state before, what is asked, and the state after.
const MOVES: [(&str, &str, &str, &str); 31] = [
    ("Backlog", "Research Needed", "ralph_triage", "Research Needed"),
    ("Backlog", "Ready for Plan", "ralph_triage", "Ready for Plan"),
    ("Backlog", "Done", "ralph_triage", "Done"),
    ("Backlog", "Canceled", "ralph_triage", "Canceled"),
    ("Backlog", "__CLOSE__", "triage", "Done"),
    ("Backlog", "__CANCEL__", "triage", "Canceled"),
    ("Backlog", "__ESCALATE__", "ralph_triage", "Human Needed"),
    ("Backlog", "__COMPLETE__", "ralph_split", "Backlog"),
    ("Research Needed", "__LOCK__", "ralph_research", "Research in Progress"),
    ("Research Needed", "Research in Progress", "research", "Research in Progress"),
    ("Research in Progress", "__LOCK__", "ralph_research", "Research in Progress"),
    ("Research in Progress", "__COMPLETE__", "ralph_research", "Ready for Plan"),
    ("Research in Progress", "__ESCALATE__", "ralph_research", "Human Needed"),
    ("Ready for Plan", "__LOCK__", "ralph_plan", "Plan in Progress"),
    ("Ready for Plan", "Plan in Progress", "iterate_plan", "Plan in Progress"),
    ("Plan in Progress", "__COMPLETE__", "ralph_plan", "Plan in Review"),
    ("Plan in Progress", "Plan in Review", "create_plan", "Plan in Review"),
    ("Plan in Review", "In Progress", "ralph_review", "In Progress"),
    ("Plan in Review", "__COMPLETE__", "ralph_review", "In Progress"),
    ("Plan in Review", "Ready for Plan", "ralph_review", "Ready for Plan"),
    ("Plan in Review", "__ESCALATE__", "ralph_review", "Human Needed"),
    ("Plan in Review", "__LOCK__", "ralph_impl", "In Progress"),
    ("Plan in Review", "In Progress", "implement_plan", "In Progress"),
    ("In Progress", "__LOCK__", "ralph_impl", "In Progress"),
    ("In Progress", "__COMPLETE__", "impl", "In Review"),
    ("In Progress", "In Review", "implement_plan", "In Review"),
    ("In Progress", "__ESCALATE__", "ralph_hero", "Human Needed"),
    ("In Review", "__COMPLETE__", "ralph_pr", "In Review"),
    ("In Review", "__COMPLETE__", "ralph_merge", "Done"),
    ("In Review", "Done", "ralph_merge", "Done"),
    ("In Review", "Done", "", "Done"),
];

/// Every other call that the skills make, with the state in which the task is.
fn calls() -> Vec<(&'static str, &'static str, Value)> {
    let mut calls = reads();
    calls.extend(writes());
    calls
}

fn reads() -> Vec<(&'static str, &'static str, Value)> {
    let mut reads = vec![
        ("get_issue", "Backlog", json!({ "owner": "o", "repo": "r", "number": "$N" })),
        ("get_issue", "Done", json!({ "number": "$N", "includeGroup": true, "includePipeline": true })),
        ("get_issue", "Backlog", json!({ "issueNumber": "$N", "includeGroup": false })),
        ("detect_pipeline_position", "In Review", json!({ "owner": "o", "repo": "r", "number": "$N" })),
        ("check_convergence", "Ready for Plan", json!({ "number": "$N", "targetState": "Ready for Plan" })),
        ("detect_group", "Backlog", json!({ "number": "$N" })),
        ("list_sub_issues", "Backlog", json!({ "number": "$N" })),
        ("list_sub_issues", "Backlog", json!({ "number": "$N", "depth": 2 })),
        ("list_dependencies", "Backlog", json!({ "number": "$N" })),
        ("setup_project", "Backlog", json!({ "owner": "o", "title": "Ralph Workflow" })),
        ("get_project", "Backlog", json!({ "owner": "o", "number": 3 })),
        ("list_views", "Backlog", json!({ "owner": "o", "number": 3 })),
        ("list_project_items", "Backlog", json!({ "owner": "o", "number": 3, "limit": 50 })),
        ("list_project_items", "Done", json!({ "workflowState": "Done", "estimate": "S", "priority": "P1" })),
        ("list_issues", "Backlog", json!({})),
        (
            "list_issues",
            "Backlog",
            json!({ "workflowState": "Backlog", "estimate": "M", "limit": 50, "projectNumber": 3 }),
        ),
        ("list_issues", "Backlog", json!({ "workflowState": "Backlog", "orderBy": "createdAt", "limit": 250 })),
        ("list_issues", "Backlog", json!({ "workflowState": "Backlog", "label": "ralph-triage", "limit": "250" })),
        (
            "list_issues",
            "Backlog",
            json!({ "workflowState": "In Progress", "estimate": "XS,S", "orderBy": "priority", "limit": 1 }),
        ),
        ("list_issues", "Backlog", json!({ "query": "labels that differ", "limit": 5 })),
        ("list_issues", "Backlog", json!({ "profile": "analyst-triage", "label": "ralph-triage" })),
        ("list_issues", "Backlog", json!({ "state": "CLOSED", "reason": "not_planned", "orderBy": "UPDATED_AT" })),
        ("list_issues", "Backlog", json!({ "reason": "reopened", "repoFilter": "r", "iteration": "@current" })),
        (
            "list_issues",
            "Backlog",
            json!({ "has": ["estimate", "workflowState"], "no": ["priority", "labels", "assignees"],
                    "excludeWorkflowStates": ["Done", "Canceled"], "excludeEstimates": ["XL"], "excludePriorities": ["P3"],
                    "excludeLabels": ["wontfix"], "updatedSince": "@today-7d", "updatedBefore": "@now+1h" }),
        ),
    ];
    for profile in [
        "analyst-triage",
        "analyst-research",
        "builder-active",
        "builder-planned",
        "review-queue",
        "validator-review",
        "integrator-merge",
    ] {
        reads.push(("list_issues", "Backlog", json!({ "owner": "o", "repo": "r", "profile": profile, "limit": 50 })));
    }
    for state in ["Backlog", "Research Needed", "Ready for Plan", "In Progress", "Plan in Review", "In Review"] {
        reads.push(("pick_actionable_issue", state, json!({ "workflowState": state })));
        reads.push(("pick_actionable_issue", state, json!({ "workflowState": state, "maxEstimate": "XL" })));
    }
    reads
}

fn writes() -> Vec<(&'static str, &'static str, Value)> {
    let priorities: Vec<Value> = ["P0", "P1", "P2", "P3"]
        .iter()
        .map(|name| json!({ "name": name, "color": "RED", "description": "…" }))
        .collect();
    vec![
        ("create_issue", "Backlog", json!({ "owner": "o", "repo": "r", "title": "A part" })),
        ("create_issue", "Backlog", json!({ "title": "A part", "body": "Scope", "labels": ["bug", "new"] })),
        (
            "create_issue",
            "Backlog",
            json!({ "title": "A", "workflowState": "Research Needed", "estimate": "XS", "priority": "P0", "assignees": ["@me"] }),
        ),
        ("update_issue", "Plan in Review", json!({ "number": "$N", "labels": ["bug", "needs-iteration"] })),
        ("update_issue", "Backlog", json!({ "number": "$N", "labels": ["ralph-triage"] })),
        (
            "update_issue",
            "Backlog",
            json!({ "number": "$N", "body": "## Split into Sub-Issues\n- #1", "title": "New" }),
        ),
        ("update_issue", "Backlog", json!({ "number": "$N", "assignees": [] })),
        ("update_estimate", "Backlog", json!({ "owner": "o", "repo": "r", "number": "$N", "estimate": "XS" })),
        ("update_priority", "Backlog", json!({ "owner": "o", "repo": "r", "number": "$N", "priority": "P0" })),
        ("create_comment", "Backlog", json!({ "number": "$N", "body": "@o Escalation: unclear" })),
        (
            "create_comment",
            "Backlog",
            json!({ "number": "$N", "body": "## Implementation Complete\n\nPR: https://x/1" }),
        ),
        (
            "create_comment",
            "Backlog",
            json!({ "number": "$N", "body": "## Implementation Plan\n\nhttps://github.com/o/r/blob/main/thoughts/shared/plans/x.md" }),
        ),
        ("add_sub_issue", "Backlog", json!({ "owner": "o", "repo": "r", "parentNumber": "$O", "childNumber": "$N" })),
        ("add_sub_issue", "Backlog", json!({ "parentNumber": "$O", "childNumber": "$N", "replaceParent": true })),
        ("add_dependency", "Backlog", json!({ "blockedNumber": "$N", "blockingNumber": "$O" })),
        ("remove_dependency", "Backlog", json!({ "blockedNumber": "$N", "blockingNumber": "$P" })),
        ("advance_children", "Backlog", json!({ "number": "$N", "targetState": "In Review" })),
        ("advance_children", "Backlog", json!({ "parentNumber": "$N", "targetState": "Done" })),
        ("advance_children", "Backlog", json!({ "issues": ["$N", "$O"], "targetState": "Ready for Plan" })),
        ("update_field_options", "Backlog", json!({ "number": 3, "fieldName": "Priority", "options": priorities })),
        ("save_issue", "Backlog", json!({ "number": "$N", "title": "New", "body": "Body", "labels": ["a"] })),
        ("save_issue", "Backlog", json!({ "number": "$N", "estimate": "S", "priority": "P2" })),
        ("save_issue", "Backlog", json!({ "number": "$N", "estimate": null, "priority": null, "iteration": null })),
        ("save_issue", "Backlog", json!({ "number": "$N", "issueState": "CLOSED" })),
        ("save_issue", "Backlog", json!({ "number": "$N", "issueState": "CLOSED_NOT_PLANNED" })),
        ("save_issue", "Done", json!({ "number": "$N", "issueState": "OPEN" })),
        (
            "save_issue",
            "In Review",
            json!({ "number": "$N", "workflowState": "Done", "issueState": "CLOSED", "command": "ralph_merge" }),
        ),
        (
            "save_issue",
            "Research Needed",
            json!({ "number": "$N", "workflowState": "__LOCK__", "command": "ralph_research", "force": true }),
        ),
    ]
}

#[test]
fn every_call_that_the_skills_make_is_accepted_by_number_and_by_id() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    for (tool, state, arguments) in calls() {
        for by_number in [true, false] {
            let (blocker, blocker_number) = hero.mirrored("Done", "");
            let (other, other_number) = hero.mirrored("Backlog", "");
            let (id, number) =
                hero.mirrored(state, &format!("estimate = 'S'\nlabels = ['bug']\nblocked_by = ['{blocker}']"));
            let names = match by_number {
                true => [("$N", json!(number)), ("$O", json!(other_number)), ("$P", json!(blocker_number))],
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
fn the_tools_are_those_that_the_seeds_name_and_few_enough_to_read() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let listed = hero.client.request("tools/list", json!({})).unwrap();
    let mut names: Vec<String> =
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    let mut wanted: Vec<String> = TOOLS.iter().map(|name| format!("ralph_hero__{name}")).collect();
    names.sort();
    wanted.sort();
    assert_eq!(names, wanted);
    let tokens = listed.to_string().len() / 4;
    assert!(tokens < 3_600, "{tokens}");
    let text = listed.to_string();
    assert!(!text.contains("projectNumber") && !text.contains("\"owner\""), "what means nothing is not told");
}

/// The fields of each answer, as the inventory of ralph-hero documents them.
fn documented() -> Vec<(&'static str, Value, &'static str, &'static str)> {
    let number = json!({ "number": "$N" });
    vec![
        ("list_issues", json!({}), "", "totalCount filteredCount items"),
        (
            "list_issues",
            json!({}),
            "/items/0",
            "number title state stateReason url updatedAt workflowState estimate priority iteration labels assignees",
        ),
        (
            "get_issue",
            json!({ "number": "$N", "includePipeline": true }),
            "",
            "number id title body state stateReason url createdAt updatedAt closedAt workflowState estimate priority labels assignees \
             parent subIssuesSummary subIssues blocking blockedBy comments group pipeline",
        ),
        ("get_issue", number.clone(), "/parent", "number title state"),
        ("get_issue", number.clone(), "/subIssuesSummary", "total completed percentCompleted"),
        ("get_issue", number.clone(), "/blockedBy/0", "number title state"),
        ("get_issue", number.clone(), "/comments/0", "id body author createdAt"),
        ("get_issue", number.clone(), "/group", "isGroup primary members totalTickets"),
        ("get_issue", number.clone(), "/group/members/0", "number title state order"),
        ("create_issue", json!({ "title": "A" }), "", "number id title url projectItemId fieldsSet"),
        ("create_issue", json!({ "title": "A" }), "/fieldsSet", "workflowState estimate priority"),
        ("update_issue", json!({ "number": "$N", "title": "B" }), "", "number title url"),
        ("update_estimate", json!({ "number": "$N", "estimate": "S" }), "", "number estimate"),
        ("update_priority", json!({ "number": "$N", "priority": "P1" }), "", "number priority"),
        ("create_comment", json!({ "number": "$N", "body": "b" }), "", "commentId issueNumber"),
        (
            "detect_pipeline_position",
            number.clone(),
            "",
            "phase reason remainingPhases issues convergence isGroup groupPrimary suggestedRoster",
        ),
        ("detect_pipeline_position", number.clone(), "/issues/0", "number title workflowState estimate subIssueCount"),
        ("detect_pipeline_position", number.clone(), "/convergence", "required met blocking recommendation"),
        ("detect_pipeline_position", number.clone(), "/suggestedRoster", "analyst builder validator integrator"),
        (
            "check_convergence",
            json!({ "number": "$N", "targetState": "In Review" }),
            "",
            "converged targetState total ready blocking recommendation",
        ),
        (
            "check_convergence",
            json!({ "number": "$N", "targetState": "In Review" }),
            "/blocking/0",
            "number title currentState distanceToTarget",
        ),
        ("pick_actionable_issue", json!({ "workflowState": "Research Needed" }), "", "found issue group alternatives"),
        (
            "pick_actionable_issue",
            json!({ "workflowState": "Research Needed" }),
            "/issue",
            "number title description workflowState estimate priority isLocked blockedBy",
        ),
        ("setup_project", json!({ "owner": "o", "title": "t" }), "", "project fields"),
        ("setup_project", json!({}), "/project", "id number url title"),
        ("get_project", json!({ "number": 3 }), "", "id title number url fields"),
        ("get_project", json!({}), "/fields/0", "id name dataType options"),
        ("list_project_items", json!({}), "", "totalCount filteredCount items"),
        (
            "list_project_items",
            json!({}),
            "/items/0",
            "itemId type number title state url workflowState estimate priority labels assignees",
        ),
        ("add_sub_issue", json!({ "parentNumber": "$O", "childNumber": "$F" }), "/parent", "id number title"),
        ("add_sub_issue", json!({ "parentNumber": "$O", "childNumber": "$F" }), "/child", "id number title"),
        ("list_sub_issues", json!({ "number": "$O" }), "", "parent subIssues summary hasMore"),
        ("list_sub_issues", json!({ "number": "$O" }), "/subIssues/0", "id number title state"),
        ("list_sub_issues", json!({ "number": "$O" }), "/summary", "total completed percentCompleted"),
        ("add_dependency", json!({ "blockedNumber": "$F", "blockingNumber": "$P" }), "/blocked", "id number title"),
        ("remove_dependency", json!({ "blockedNumber": "$F", "blockingNumber": "$P" }), "/blocking", "id number title"),
        ("list_dependencies", number.clone(), "", "issue blocking blockedBy summary"),
        ("list_dependencies", number.clone(), "/blockedBy/0", "id number title state"),
        ("list_dependencies", number.clone(), "/summary", "totalBlocking totalBlockedBy"),
        ("detect_group", number.clone(), "", "groupTickets groupPrimary isGroup totalTickets"),
        ("detect_group", number, "/groupTickets/0", "id number title state order"),
        ("advance_children", json!({ "number": "$O", "targetState": "Ready for Plan" }), "", "advanced skipped errors"),
        ("list_views", json!({}), "/views/0", "id name number layout"),
        (
            "update_field_options",
            json!({ "fieldName": "Estimate", "options": ["XS", "S", "M", "L", "XL"] }),
            "",
            "field options",
        ),
        ("save_issue", json!({ "number": "$F", "title": "B" }), "", "number url changes"),
        (
            "update_workflow_state",
            json!({ "number": "$F", "state": "__LOCK__", "command": "ralph_research" }),
            "",
            "number previousState newState command resolvedFrom",
        ),
    ]
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
    for (tool, arguments, place, fields) in documented() {
        let answer = hero.ok(tool, filled(&arguments, &names));
        let there = answer.pointer(place).unwrap_or_else(|| panic!("{tool}: no {place} in {answer}"));
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
    assert_eq!(position["remainingPhases"], json!(["triage", "research", "plan", "implement", "pr"]));
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
    assert_eq!(issue["assignees"][0], issue["claimedBy"], "who holds it is assigned");
    hero.state(&id, "__COMPLETE__", "ralph_research");
    assert_eq!(hero.ok("get_issue", json!({ "number": id }))["assignees"], json!([]), "it is handed on");
    assert_eq!(
        hero.ok("check_convergence", json!({ "number": id, "targetState": "Ready for Plan" }))["converged"],
        true
    );

    hero.state(&id, "__LOCK__", "ralph_plan");
    hero.state(&id, "__COMPLETE__", "ralph_plan");
    assert_eq!(hero.ok("detect_pipeline_position", json!({ "number": id }))["phase"], "REVIEW");
    hero.state(&id, "In Progress", "ralph_review");
    let resumed = hero.ok("pick_actionable_issue", json!({ "workflowState": "In Progress" }));
    assert_eq!((&resumed["issue"]["number"], &resumed["issue"]["resume"]), (&id, &json!(false)));
    hero.state(&id, "__LOCK__", "ralph_impl");
    let own = hero.ok("pick_actionable_issue", json!({ "workflowState": "In Progress" }));
    assert_eq!((&own["issue"]["number"], &own["issue"]["resume"]), (&id, &json!(true)), "one's own is gone on with");
    let saved = hero.ok(
        "save_issue",
        json!({ "number": id, "workflowState": "__COMPLETE__", "command": "ralph_impl", "title": "It" }),
    );
    assert_eq!(saved["changes"]["resolvedFrom"], "__COMPLETE__");
    assert_eq!(hero.ok("detect_pipeline_position", json!({ "number": id }))["remainingPhases"], json!(["integrate"]));
    hero.state(&id, "__COMPLETE__", "ralph_merge");

    let closed = hero.ok("get_issue", json!({ "number": id, "includePipeline": true }));
    assert_eq!((&closed["state"], &closed["stateReason"]), (&json!("CLOSED"), &json!("COMPLETED")));
    assert_eq!((&closed["title"], &closed["pipeline"]["phase"]), (&json!("It"), &json!("TERMINAL")));
    assert!(closed["closedAt"].as_str().is_some_and(|at| at.ends_with('Z')), "{closed}");
    assert_eq!(hero.ok("list_issues", json!({}))["totalCount"], 0);
    assert_eq!(hero.ok("list_issues", json!({ "state": "CLOSED", "reason": "completed" }))["items"][0]["number"], id);
    assert_eq!(hero.ok("list_issues", json!({ "reason": "reopened" }))["totalCount"], 0);
    hero.ok("save_issue", json!({ "number": id, "issueState": "OPEN" }));
    let again = hero.ok("list_issues", json!({ "reason": "reopened" }));
    assert_eq!((&again["items"][0]["number"], &again["items"][0]["workflowState"]), (&id, &json!("Backlog")));
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
    assert!(said.contains("`force` is not passed on"), "{said}");
    assert!(!sandbox.read_task(&id).contains("Mine"), "a refused lock leaves the title alone");

    // In Progress without a holder is a state, not a lock: the first claim wins.
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
    let table = [
        ("get_issue", json!({ "number": 9999 }), "unknown-task", "ralph_hero__list_issues"),
        ("get_issue", json!({}), "bad-arguments", "number"),
        ("get_issue", json!({ "number": [1] }), "bad-arguments", "number"),
        ("get_issue", json!({ "number": number, "includeGroup": "perhaps" }), "bad-arguments", "includeGroup"),
        (
            "update_workflow_state",
            json!({ "number": other, "state": "__COMPLETE__", "command": "ralph_impl" }),
            "not-allowed",
            "implement",
        ),
        (
            "update_workflow_state",
            json!({ "number": other, "state": "__LOCK__", "command": "ralph_triage" }),
            "no-intent",
            "__ESCALATE__",
        ),
        (
            "update_workflow_state",
            json!({ "number": other, "state": "__FOO__", "command": "ralph_plan" }),
            "no-intent",
            "__LOCK__",
        ),
        (
            "update_workflow_state",
            json!({ "number": other, "state": "Nowhere", "command": "ralph_plan" }),
            "unknown-state",
            "Backlog",
        ),
        (
            "update_workflow_state",
            json!({ "number": other, "state": "Done", "command": "ralph_foo" }),
            "unknown-state",
            "triage",
        ),
        (
            "update_workflow_state",
            json!({ "number": blocked, "state": "__LOCK__", "command": "ralph_research" }),
            "blocked",
            "ralph_hero__list_dependencies",
        ),
        ("update_estimate", json!({ "number": other, "estimate": "HUGE" }), "bad-value", "XL"),
        ("update_priority", json!({ "number": other, "priority": "" }), "bad-value", "ralph_hero__save_issue"),
        ("create_issue", json!({ "title": " " }), "no-title", "title"),
        ("create_issue", json!({ "title": "A", "assignees": ["a", "b"] }), "one-owner", "one"),
        ("create_comment", json!({ "number": other, "body": " " }), "empty-note", "text"),
        ("add_dependency", json!({ "blockedNumber": id, "blockingNumber": blocked }), "cycle", &blocked),
        ("add_sub_issue", json!({ "parentNumber": other, "childNumber": child }), "has-parent", "replaceParent"),
        ("advance_children", json!({ "number": id, "targetState": "In Progress" }), "not-a-gate", "Ready for Plan"),
        ("advance_children", json!({ "targetState": "Done" }), "bad-arguments", "parent"),
        ("pick_actionable_issue", json!({ "workflowState": "Nowhere" }), "unknown-state", "Backlog"),
        ("pick_actionable_issue", json!({ "workflowState": "Backlog", "maxEstimate": "Q" }), "bad-value", "XS"),
        ("list_issues", json!({ "profile": "nobody" }), "unknown-profile", "analyst-triage"),
        ("list_issues", json!({ "orderBy": "mood" }), "unknown-sort", "UPDATED_AT"),
        ("list_issues", json!({ "updatedSince": "lately" }), "bad-date", "@today-7d"),
        ("list_issues", json!({ "has": ["feelings"] }), "unknown-field", "assignees"),
        ("list_issues", json!({ "state": "AJAR" }), "bad-arguments", "CLOSED"),
        ("list_issues", json!({ "reason": "boredom" }), "bad-value", "not_planned"),
        ("list_issues", json!({ "limit": -1 }), "bad-arguments", "limit"),
        ("save_issue", json!({ "number": other }), "nothing-to-save", "field"),
        ("save_issue", json!({ "number": other, "iteration": "Sprint 1" }), "no-iterations", "iteration"),
        (
            "save_issue",
            json!({ "number": other, "workflowState": "Done", "issueState": "OPEN" }),
            "contradiction",
            "issueState",
        ),
        (
            "save_issue",
            json!({ "number": other, "title": "X", "workflowState": "In Review" }),
            "not-allowed",
            "In Review",
        ),
        (
            "update_field_options",
            json!({ "fieldName": "Workflow State", "options": ["Todo", "Done"] }),
            "fixed-options",
            "workflow",
        ),
        ("update_field_options", json!({ "fieldName": "Mood", "options": [] }), "unknown-field", "Estimate"),
    ];
    for (tool, arguments, code, word) in table {
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
        (&unready["artifact"]["linked"], &unready["artifact"]["error"]["code"]),
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
    assert_eq!(analyst.ok("add_dependency", link)["changed"], false, "nothing to do is said");
    let listed = analyst.ok("list_sub_issues", json!({ "number": large, "depth": 3 }));
    assert_eq!(listed["summary"], json!({ "total": 2, "completed": 0, "percentCompleted": 0 }));
    assert_eq!(analyst.ok("detect_pipeline_position", json!({ "number": large }))["phase"], "TRIAGE");
    for part in &parts {
        analyst.state(part, "Research Needed", "ralph_triage");
    }
    let free = analyst.ok("pick_actionable_issue", json!({ "workflowState": "Research Needed" }));
    assert_eq!((&free["issue"]["number"], &free["alternatives"]), (&parts[0], &json!(0)), "the other waits for it");
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
    let reason = |number: u64| {
        let row = skipped.iter().find(|row| row["number"] == number).unwrap();
        row["reason"].as_str().unwrap().to_owned()
    };
    assert!(reason(there).contains("there already") && reason(human).contains("person"), "{done}");
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
    for asked in [first_number, second_number] {
        let group = hero.ok("detect_group", json!({ "number": asked }));
        let tickets = group["groupTickets"].as_array().unwrap();
        let order: Vec<(u64, u64)> =
            tickets.iter().map(|row| (row["order"].as_u64().unwrap(), row["number"].as_u64().unwrap())).collect();
        assert_eq!(order, [(1, first_number), (2, second_number)]);
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
    let mut found = |arguments: Value| -> Vec<u64> {
        let listed = hero.ok("list_issues", arguments);
        let mut numbers: Vec<u64> =
            listed["items"].as_array().unwrap().iter().map(|item| item["number"].as_u64().unwrap()).collect();
        numbers.sort_unstable();
        numbers
    };
    for (arguments, wanted) in [
        (json!({}), vec![old, new]),
        (json!({ "state": "CLOSED" }), vec![done, canceled]),
        (json!({ "state": "CLOSED", "label": "bug" }), vec![done]),
        (json!({ "reason": "not_planned" }), vec![canceled]),
        (json!({ "workflowState": "Done" }), vec![done]),
        (json!({ "workflowState": "Backlog,In Progress", "estimate": "XS,S" }), vec![old]),
        (json!({ "profile": "builder-active" }), vec![new]),
        (json!({ "profile": "builder-active", "workflowState": "Backlog" }), vec![old]),
        (json!({ "has": "priority" }), vec![old]),
        (json!({ "no": ["labels"] }), vec![new]),
        (json!({ "no": "assignees" }), vec![old]),
        (json!({ "excludeWorkflowStates": ["Backlog"] }), vec![new]),
        (json!({ "excludeEstimates": ["M", "L"] }), vec![old]),
        (json!({ "excludePriorities": ["P3"] }), vec![new]),
        (json!({ "excludeLabels": ["BUG"] }), vec![new]),
        (json!({ "query": "sorting", "state": "CLOSED" }), vec![canceled]),
        (json!({ "updatedBefore": "2001-01-01" }), vec![]),
        (json!({ "updatedSince": "2001-01-01" }), vec![old, new]),
        (json!({ "iteration": "@current" }), vec![]),
        (json!({ "priority": "P3", "estimate": "M" }), vec![]),
    ] {
        assert_eq!(found(arguments.clone()), wanted, "{arguments}");
    }
    let first = hero.ok("list_issues", json!({ "orderBy": "priority", "limit": 1 }));
    assert_eq!((&first["totalCount"], &first["filteredCount"]), (&json!(2), &json!(1)));
    assert_eq!(first["items"][0]["number"], old, "the one with a priority comes first");
    assert_eq!(hero.ok("list_project_items", json!({}))["totalCount"], 4);
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

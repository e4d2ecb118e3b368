//! The calls of ralph-hero's skills, the answers of its tools, and its refusals: one row per line, columns between
//! bars. `$N` is the task, `$O` another one; the tests define the others.

pub const TOOLS: [&str; 36] = [
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
    "detect_work_streams",
    "advance_parent",
    "pipeline_dashboard",
    "create_status_update",
    "project_hygiene",
    "archive_item",
    "bulk_archive",
    "health_check",
    "configure_routing",
    "advance_issue",
    "archive_items",
    "detect_stream_positions",
];

/// The rows of a table and their columns.
pub fn rows(table: &str) -> impl Iterator<Item = Vec<&str>> {
    let lines = table.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| line.split(" | ").map(str::trim).collect())
}

/// Every move that the skills make: the state before, the request, and the state after.
pub const MOVES: [(&str, &str, &str, &str); 34] = [
    ("Backlog", "Research Needed", "ralph_triage", "Research Needed"),
    ("Backlog", "Ready for Plan", "ralph_triage", "Ready for Plan"),
    ("Backlog", "Done", "ralph_triage", "Done"),
    ("Backlog", "Canceled", "ralph_triage", "Canceled"),
    ("Backlog", "__CLOSE__", "triage", "Done"),
    ("Backlog", "__CANCEL__", "triage", "Canceled"),
    ("Backlog", "__ESCALATE__", "ralph_triage", "Human Needed"),
    ("Backlog", "__ESCALATE__", "ralph_research", "Human Needed"),
    ("Ready for Plan", "__ESCALATE__", "ralph_research", "Human Needed"),
    ("Research Needed", "__ESCALATE__", "ralph_plan", "Human Needed"),
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

/// Every other call: the tool, the state of the task, the arguments. `$P` is the blocker.
pub const CALLS: &str = r###"
get_issue | Backlog | {"owner": "o", "repo": "r", "number": "$N"}
get_issue | Done | {"number": "$N", "includeGroup": true, "includePipeline": true}
get_issue | Backlog | {"issueNumber": "$N", "includeGroup": false}
detect_pipeline_position | In Review | {"owner": "o", "repo": "r", "number": "$N"}
check_convergence | Ready for Plan | {"number": "$N", "targetState": "Ready for Plan"}
detect_group | Backlog | {"number": "$N"}
list_sub_issues | Backlog | {"number": "$N"}
list_sub_issues | Backlog | {"number": "$N", "depth": 2}
list_dependencies | Backlog | {"number": "$N"}
setup_project | Backlog | {"owner": "o", "title": "Ralph Workflow"}
get_project | Backlog | {"owner": "o", "number": 3}
list_views | Backlog | {"owner": "o", "number": 3}
list_project_items | Backlog | {"owner": "o", "number": 3, "limit": 50}
list_project_items | Done | {"workflowState": "Done", "estimate": "S", "priority": "P1"}
list_issues | Backlog | {}
list_issues | Backlog | {"workflowState": "Backlog", "estimate": "M", "limit": 50, "projectNumber": 3}
list_issues | Backlog | {"workflowState": "Backlog", "orderBy": "createdAt", "limit": 250}
list_issues | Backlog | {"workflowState": "Backlog", "label": "ralph-triage", "limit": "250"}
list_issues | Backlog | {"workflowState": "In Progress", "estimate": "XS,S", "orderBy": "priority", "limit": 1}
list_issues | Backlog | {"query": "labels that differ", "limit": 5}
list_issues | Backlog | {"profile": "analyst-triage", "label": "ralph-triage"}
list_issues | Backlog | {"owner": "o", "repo": "r", "profile": "analyst-research", "limit": 50}
list_issues | Backlog | {"owner": "o", "repo": "r", "profile": "builder-planned", "limit": 50}
list_issues | Backlog | {"profile": "builder-active"}
list_issues | Backlog | {"profile": "review-queue"}
list_issues | Backlog | {"profile": "validator-review"}
list_issues | Backlog | {"profile": "integrator-merge"}
list_issues | Backlog | {"state": "CLOSED", "reason": "not_planned", "orderBy": "UPDATED_AT"}
list_issues | Backlog | {"reason": "reopened", "repoFilter": "r", "iteration": "@current"}
list_issues | Backlog | {"has": ["estimate", "workflowState"], "no": ["priority", "labels", "assignees"]}
list_issues | Backlog | {"excludeWorkflowStates": ["Done"], "excludeEstimates": ["XL"], "excludePriorities": ["P3"], "excludeLabels": ["x"]}
list_issues | Backlog | {"updatedSince": "@today-7d", "updatedBefore": "@now+1h"}
pick_actionable_issue | Backlog | {"workflowState": "Backlog"}
pick_actionable_issue | Research Needed | {"workflowState": "Research Needed"}
pick_actionable_issue | Ready for Plan | {"workflowState": "Ready for Plan"}
pick_actionable_issue | In Progress | {"workflowState": "In Progress"}
pick_actionable_issue | Plan in Review | {"workflowState": "Plan in Review"}
pick_actionable_issue | In Review | {"workflowState": "In Review", "maxEstimate": "XL"}
create_issue | Backlog | {"owner": "o", "repo": "r", "title": "A part"}
create_issue | Backlog | {"title": "A part", "body": "Scope", "labels": ["bug", "new"]}
create_issue | Backlog | {"title": "A", "workflowState": "Research Needed", "estimate": "XS", "priority": "P0", "assignees": ["@me"]}
update_issue | Plan in Review | {"number": "$N", "labels": ["bug", "needs-iteration"]}
update_issue | Backlog | {"number": "$N", "labels": ["ralph-triage"]}
update_issue | Backlog | {"number": "$N", "body": "## Split into Sub-Issues\n- #1", "title": "New"}
update_issue | Backlog | {"number": "$N", "assignees": []}
update_estimate | Backlog | {"owner": "o", "repo": "r", "number": "$N", "estimate": "XS"}
update_priority | Backlog | {"owner": "o", "repo": "r", "number": "$N", "priority": "P0"}
create_comment | Backlog | {"number": "$N", "body": "@o Escalation: unclear"}
create_comment | Backlog | {"number": "$N", "body": "## Implementation Complete\n\nPR: https://example.org/1"}
create_comment | Backlog | {"number": "$N", "body": "## Implementation Plan\n\nhttps://example.org/blob/main/thoughts/shared/plans/x.md"}
add_sub_issue | Backlog | {"owner": "o", "repo": "r", "parentNumber": "$O", "childNumber": "$N"}
add_sub_issue | Backlog | {"parentNumber": "$O", "childNumber": "$N", "replaceParent": true}
add_dependency | Backlog | {"blockedNumber": "$N", "blockingNumber": "$O"}
remove_dependency | Backlog | {"blockedNumber": "$N", "blockingNumber": "$P"}
advance_children | Backlog | {"number": "$N", "targetState": "In Review"}
advance_children | Backlog | {"parentNumber": "$N", "targetState": "Done"}
advance_children | Backlog | {"issues": ["$N", "$O"], "targetState": "Ready for Plan"}
update_field_options | Backlog | {"number": 3, "fieldName": "Estimate", "options": ["XS", "S", "M", "L", "XL"]}
update_field_options | Backlog | {"fieldName": "Priority", "options": [{"name": "P0", "color": "RED", "description": ""}, {"name": "P1"}, {"name": "P2"}, {"name": "P3"}]}
save_issue | Backlog | {"number": "$N", "title": "New", "body": "Body", "labels": ["a"]}
save_issue | Backlog | {"number": "$N", "estimate": "S", "priority": "P2"}
save_issue | Backlog | {"number": "$N", "estimate": null, "priority": null, "iteration": null}
save_issue | Backlog | {"number": "$N", "issueState": "CLOSED"}
save_issue | Backlog | {"number": "$N", "issueState": "CLOSED_NOT_PLANNED"}
save_issue | Backlog | {"number": "$N", "issueState": "OPEN", "title": "New"}
save_issue | In Review | {"number": "$N", "workflowState": "Done", "issueState": "CLOSED", "command": "ralph_merge"}
save_issue | Research Needed | {"number": "$N", "workflowState": "__LOCK__", "command": "ralph_research", "force": true}
"###;

/// The fields of each answer, as the inventory of ralph-hero documents them: the tool, the arguments, the place in the
/// answer, and its fields. `$O` is the parent of `$N`, `$P` its blocker, `$F` an unrelated task.
pub const FIELDS: &str = r#"
list_issues | {} | . | totalCount filteredCount items
list_issues | {} | /items/0 | number title state stateReason url updatedAt workflowState estimate priority iteration labels assignees
get_issue | {"number": "$N", "includePipeline": true} | . | number id title body state stateReason url createdAt updatedAt closedAt
get_issue | {"number": "$N", "includePipeline": true} | . | workflowState estimate priority labels assignees parent subIssuesSummary
get_issue | {"number": "$N", "includePipeline": true} | . | subIssues blocking blockedBy comments group pipeline
get_issue | {"number": "$N"} | /parent | number title state estimate
get_issue | {"number": "$N"} | /subIssuesSummary | total completed percentCompleted
get_issue | {"number": "$N"} | /blockedBy/0 | number title state
get_issue | {"number": "$O"} | /subIssues/0 | number title state
get_issue | {"number": "$P"} | /blocking/0 | number title state
get_issue | {"number": "$N"} | /comments/0 | id body author createdAt
get_issue | {"number": "$N"} | /group | isGroup primary members totalTickets
get_issue | {"number": "$N"} | /group/members/0 | number title state order
create_issue | {"title": "A"} | . | number id title url projectItemId fieldsSet
create_issue | {"title": "A"} | /fieldsSet | workflowState estimate priority
update_issue | {"number": "$N", "title": "B"} | . | number title url
update_estimate | {"number": "$N", "estimate": "S"} | . | number estimate
update_priority | {"number": "$N", "priority": "P1"} | . | number priority
create_comment | {"number": "$N", "body": "b"} | . | commentId issueNumber
detect_pipeline_position | {"number": "$N"} | . | phase reason remainingPhases issues convergence isGroup groupPrimary suggestedRoster
detect_pipeline_position | {"number": "$N"} | /issues/0 | number title workflowState estimate subIssueCount
detect_pipeline_position | {"number": "$N"} | /convergence | required met blocking recommendation
detect_pipeline_position | {"number": "$N"} | /suggestedRoster | analyst builder validator integrator
check_convergence | {"number": "$N", "targetState": "In Review"} | . | converged targetState total ready blocking recommendation
check_convergence | {"number": "$N", "targetState": "In Review"} | /blocking/0 | number title currentState distanceToTarget
pick_actionable_issue | {"workflowState": "Research Needed"} | . | found issue group alternatives
pick_actionable_issue | {"workflowState": "Research Needed"} | /issue | number title description workflowState estimate priority isLocked blockedBy
pick_actionable_issue | {"workflowState": "Plan in Review"} | . | found issue group alternatives
setup_project | {"owner": "o", "title": "t"} | . | project fields
setup_project | {} | /project | id number url title
get_project | {"number": 3} | . | id title number url fields
get_project | {} | /fields/0 | id name dataType options
list_project_items | {} | . | totalCount filteredCount items
list_project_items | {} | /items/0 | itemId type number title state url workflowState estimate priority labels assignees
add_sub_issue | {"parentNumber": "$O", "childNumber": "$F"} | /parent | id number title
add_sub_issue | {"parentNumber": "$O", "childNumber": "$F"} | /child | id number title
list_sub_issues | {"number": "$O"} | . | parent subIssues summary hasMore
list_sub_issues | {"number": "$O"} | /subIssues/0 | id number title state
list_sub_issues | {"number": "$O", "depth": 2} | /subIssues/0 | subIssues subIssuesSummary
list_sub_issues | {"number": "$O"} | /summary | total completed percentCompleted
add_dependency | {"blockedNumber": "$F", "blockingNumber": "$P"} | /blocked | id number title
remove_dependency | {"blockedNumber": "$F", "blockingNumber": "$P"} | /blocking | id number title
list_dependencies | {"number": "$N"} | . | issue blocking blockedBy summary
list_dependencies | {"number": "$N"} | /blockedBy/0 | id number title state
list_dependencies | {"number": "$N"} | /summary | totalBlocking totalBlockedBy
detect_group | {"number": "$N"} | . | groupTickets groupPrimary isGroup totalTickets
detect_group | {"number": "$N"} | /groupTickets/0 | id number title state order
advance_children | {"number": "$O", "targetState": "Ready for Plan"} | . | advanced skipped errors
list_views | {} | /views/0 | id name number layout
update_field_options | {"fieldName": "Estimate", "options": ["XS", "S", "M", "L", "XL"]} | . | field options
save_issue | {"number": "$F", "title": "B"} | . | number url changes
update_workflow_state | {"number": "$F", "state": "__LOCK__", "command": "ralph_research"} | . | number previousState newState command resolvedFrom
"#;

/// Refusals: the tool, the arguments, the code, and a word of the hint. `$B` is blocked by `$N`, `$C` is its child.
pub const REFUSALS: &str = r#"
get_issue | {"number": 9999} | unknown-task | ralph_hero__list_issues
get_issue | {} | bad-arguments | number
get_issue | {"number": [1]} | bad-arguments | number
get_issue | {"number": "$O", "includeGroup": "perhaps"} | bad-arguments | includeGroup
update_workflow_state | {"number": "$O", "state": "__COMPLETE__", "command": "ralph_impl"} | not-allowed | implement
update_workflow_state | {"number": "$O", "state": "__LOCK__", "command": "ralph_triage"} | no-intent | __ESCALATE__
update_workflow_state | {"number": "$O", "state": "__FOO__", "command": "ralph_plan"} | no-intent | __LOCK__
update_workflow_state | {"number": "$O", "state": "Nowhere", "command": "ralph_plan"} | unknown-state | Backlog
update_workflow_state | {"number": "$O", "state": "Done", "command": "ralph_foo"} | unknown-command | triage
update_workflow_state | {"number": "$O", "state": 7, "command": "ralph_foo"} | bad-arguments | state
update_workflow_state | {"number": "$B", "state": "__LOCK__", "command": "ralph_research"} | blocked | ralph_hero__list_dependencies
update_estimate | {"number": "$O", "estimate": "HUGE"} | bad-value | XL
update_priority | {"number": "$O", "priority": ""} | bad-value | ralph_hero__save_issue
create_issue | {"title": " "} | no-title | title
create_issue | {"title": "A", "assignees": ["a", "b"]} | one-owner | one
create_comment | {"number": "$O", "body": " "} | empty-note | empty
add_dependency | {"blockedNumber": "$N", "blockingNumber": "$B"} | cycle | m-101
remove_dependency | {"blockedNumber": "$B", "blockingNumber": "t-none"} | unknown-task | ralph_hero__list_issues
remove_dependency | {"blockedNumber": "$B", "blockingNumber": 9999} | unknown-task | ralph_hero__list_issues
add_sub_issue | {"parentNumber": "$O", "childNumber": "$C"} | has-parent | replaceParent
advance_children | {"number": "$N", "targetState": "In Progress"} | not-a-gate | Ready for Plan
advance_children | {"targetState": "Done"} | bad-arguments | parent
pick_actionable_issue | {"workflowState": "Nowhere"} | unknown-state | Backlog
pick_actionable_issue | {"workflowState": "Backlog", "maxEstimate": "Q"} | bad-value | XS
list_issues | {"profile": "nobody"} | unknown-profile | analyst-triage
list_issues | {"orderBy": "mood"} | unknown-sort | UPDATED_AT
list_issues | {"updatedSince": "lately"} | bad-date | @today-7d
list_issues | {"has": ["feelings"]} | unknown-field | assignees
list_issues | {"state": "AJAR"} | bad-arguments | CLOSED
list_issues | {"reason": "boredom"} | bad-value | not_planned
list_issues | {"limit": -1} | bad-arguments | limit
save_issue | {"number": "$O"} | nothing-to-save | field
save_issue | {"number": "$O", "labels": {}} | bad-arguments | labels
save_issue | {"number": "$O", "iteration": "Sprint 1"} | no-iterations | iteration
save_issue | {"number": "$O", "workflowState": "Done", "issueState": "OPEN"} | contradiction | issueState
save_issue | {"number": "$O", "title": "X", "workflowState": "In Review"} | not-allowed | In Review
update_field_options | {"fieldName": "Workflow State", "options": ["Todo", "Done"]} | fixed-options | workflow
update_field_options | {"fieldName": "Mood", "options": []} | unknown-field | Estimate
configure_routing | {"operation": "add_rule", "rule": {"match": {"labels": ["bug"]}, "action": {"workflowState": "Backlog"}}} | no-routing | ralph_hero__create_issue
archive_item | {"number": "$O"} | not-finished | finished
archive_item | {"number": "$O", "unarchive": true} | not-finished | person
bulk_archive | {"workflowStates": ["Backlog"]} | not-finished | finished
bulk_archive | {"workflowStates": []} | bad-arguments | workflowStates
pipeline_dashboard | {"wipLimits": {"Nowhere": 1}} | unknown-state | Backlog
create_status_update | {"status": "FINE"} | bad-arguments | ON_TRACK
get_issue | {"number": "10"} | unknown-task | ralph_hero__list_issues
get_issue | {"number": "m-10"} | unknown-task | did you mean
"#;

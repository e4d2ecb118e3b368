//! The calls of ralph-hero's skills and agents of February 2026, in order, taken from its documents and not from our
//! code, with the answers that the skills expect. One board goes from setup to Done.

use serde_json::Value;

use super::Hero;
use super::groups::{critique, group_plan, research_document, single_plan};
use super::tables::rows;
use crate::sandbox::Sandbox;

/// The skill, the tool, its arguments, and the parts of the answer that the skill needs: `/pointer=value`, `$X` keeps
/// the number of a created issue, `refused=code`. The tool `write` stands for a document that the skill writes.
const CALLS: &str = r###"
setup | health_check | {} | /status=ok; /checks/auth/status=ok; /checks/requiredFields/status=ok
setup | setup_project | {"owner": "o", "title": "Ralph Workflow"} | /fields/Estimate/options/0=XS
setup | get_project | {"owner": "o", "number": 3} | /fields/0/name=Workflow State
setup | update_field_options | {"number": 3, "fieldName": "Priority", "options": [{"name": "P0", "color": "RED", "description": "x"}, {"name": "P1"}, {"name": "P2"}, {"name": "P3"}]} | /field=Priority
setup | list_views | {"owner": "o", "number": 3} | /views/0/layout=TABLE_LAYOUT
setup | configure_routing | {"operation": "list_rules"} | /rules=[]
form-idea | list_issues | {"query": "labels"} | /totalCount=0
form-idea | create_issue | {"owner": "o", "repo": "r", "title": "Labels are lost", "body": "## Summary"} | $E; /fieldsSet/workflowState=Backlog
form-idea | update_estimate | {"owner": "o", "repo": "r", "number": "$E", "estimate": "L"} | /estimate=L
form-idea | create_issue | {"title": "A typo in the manual", "body": "x"} | $S
form-idea | update_estimate | {"number": "$S", "estimate": "XS"} | /estimate=XS
form-idea | create_issue | {"title": "Obsolete", "body": "x"} | $O
team | get_issue | {"number": "$E"} | /workflowState=Backlog; /group/isGroup=false
team | detect_pipeline_position | {"number": "$E"} | /phase=SPLIT; /remainingPhases/0=split; /convergence/recommendation=proceed
triage | list_issues | {"owner": "o", "repo": "r", "profile": "analyst-triage", "label": "ralph-triage", "limit": 250} | /items=[]
triage | list_issues | {"owner": "o", "repo": "r", "profile": "analyst-triage", "orderBy": "createdAt", "limit": 250} | /totalCount=3
triage | get_issue | {"owner": "o", "repo": "r", "number": "$O"} | /comments=[]
triage | list_issues | {"query": "obsolete", "limit": 5} | /filteredCount=1
triage | update_workflow_state | {"number": "$O", "state": "Done", "command": "ralph_triage"} | /newState=Done
triage | create_comment | {"number": "$O", "body": "Closed: it exists."} | /issueNumber=$O
triage | update_issue | {"number": "$O", "labels": ["ralph-triage"]} | /number=$O
triage | list_issues | {"profile": "analyst-triage", "limit": 50} | /totalCount=2
triage | list_issues | {"profile": "analyst-research", "limit": 50} | /totalCount=0
triage | update_workflow_state | {"number": "$E", "state": "__COMPLETE__", "command": "ralph_triage"} | refused=no-intent
triage | update_workflow_state | {"number": "$E", "state": "__LOCK__", "command": "ralph_triage"} | refused=no-intent
split | list_issues | {"profile": "analyst-triage", "estimate": "M,L,XL", "limit": 50} | /items/0/number=$E
split | get_issue | {"owner": "o", "repo": "r", "number": "GH-$E"} | /estimate=L
split | list_sub_issues | {"owner": "o", "repo": "r", "number": "$E"} | /summary/total=0
split | create_issue | {"title": "Store labels", "body": "## Summary", "labels": ["bug"]} | $A
split | add_sub_issue | {"parentNumber": "$E", "childNumber": "$A"} | /child/number=$A
split | update_estimate | {"number": "$A", "estimate": "XS"} | /number=$A
split | update_workflow_state | {"number": "$A", "state": "__COMPLETE__", "command": "ralph_split"} | /newState=Backlog
split | create_issue | {"title": "Serve labels", "body": "## Summary", "labels": ["bug"]} | $B
split | add_sub_issue | {"parentNumber": "$E", "childNumber": "$B"} | /parent/number=$E
split | update_estimate | {"number": "$B", "estimate": "S"} | /estimate=S
split | update_workflow_state | {"number": "$B", "state": "__COMPLETE__", "command": "ralph_split"} | /newState=Backlog
split | create_issue | {"title": "Show labels", "body": "## Summary", "labels": ["bug"]} | $C
split | add_sub_issue | {"parentNumber": "$E", "childNumber": "$C"} | /child/number=$C
split | update_estimate | {"number": "$C", "estimate": "XS"} | /estimate=XS
split | update_workflow_state | {"number": "$C", "state": "__COMPLETE__", "command": "ralph_split"} | /newState=Backlog
split | add_dependency | {"owner": "o", "repo": "r", "blockedNumber": "$B", "blockingNumber": "$A"} | /blocked/number=$B
split | add_dependency | {"blockedNumber": "$C", "blockingNumber": "$B"} | /blocking/number=$B
split | create_comment | {"number": "$E", "body": "## Issue Split\n\n1. #$A"} | /issueNumber=$E
split | update_issue | {"number": "$E", "body": "## Split into Sub-Issues\n\nSee children."} | /number=$E
split | update_workflow_state | {"number": "$A", "state": "Research Needed", "command": "ralph_split"} | refused=not-allowed
triage | update_workflow_state | {"number": "$A", "state": "Research Needed", "command": "ralph_triage"} | /newState=Research Needed
triage | update_workflow_state | {"number": "$B", "state": "Research Needed", "command": "ralph_triage"} | /newState=Research Needed
triage | update_workflow_state | {"number": "$C", "state": "Research Needed", "command": "ralph_triage"} | /newState=Research Needed
triage | update_workflow_state | {"number": "$S", "state": "Research Needed", "command": "ralph_triage"} | /newState=Research Needed
hero | detect_pipeline_position | {"owner": "o", "repo": "r", "number": "$E"} | /phase=RESEARCH; /isGroup=true; /groupPrimary=$A; /convergence/met=false
hero | detect_group | {"number": "$C"} | /totalTickets=3; /groupPrimary/number=$A
research | list_issues | {"profile": "analyst-research", "limit": 50} | /totalCount=4
research | get_issue | {"owner": "o", "repo": "r", "number": "$B"} | /group/totalTickets=3; /blockedBy/0/number=$A
research | update_workflow_state | {"owner": "o", "repo": "r", "number": "$B", "state": "__LOCK__", "command": "ralph_research"} | /newState=Research in Progress; /resolvedFrom=__LOCK__; /groupDeclared/parent=$E
research | update_workflow_state | {"number": "$A", "state": "__LOCK__", "command": "ralph_research"} | /newState=Research in Progress
research | update_workflow_state | {"number": "$C", "state": "__LOCK__", "command": "ralph_research"} | /newState=Research in Progress
research | remove_dependency | {"blockedNumber": "$C", "blockingNumber": "$B"} | /blocked/number=$C
research | add_dependency | {"blockedNumber": "$C", "blockingNumber": "$B"} | /blocked/number=$C
research | write | research $A $B $C | $R
research | create_comment | {"number": "$A", "body": "## Research Document\n\n$RA\n\nKey findings: x"} | /artifact/linked=true
research | create_comment | {"number": "$B", "body": "## Research Document\n\n$RB\n\nKey findings: x"} | /artifact/linked=true
research | create_comment | {"number": "$C", "body": "## Research Document\n\n$RC\n\nKey findings: x"} | /artifact/linked=true
research | update_workflow_state | {"number": "$A", "state": "__COMPLETE__", "command": "ralph_research"} | /newState=Ready for Plan
research | update_workflow_state | {"number": "$B", "state": "__COMPLETE__", "command": "ralph_research"} | /newState=Ready for Plan
hero | check_convergence | {"number": "$A", "targetState": "Ready for Plan"} | /converged=false; /blocking/0/number=$C; /recommendation=wait
research | update_workflow_state | {"number": "$C", "state": "__COMPLETE__", "command": "ralph_research"} | /newState=Ready for Plan
hero | check_convergence | {"number": "$A", "targetState": "Ready for Plan"} | /converged=true; /recommendation=proceed
hero | detect_work_streams | {"issues": ["$A", "$B", "$C"]} | /totalStreams=1; /totalIssues=3; /streams/0/primaryIssue=$LEAST
hero | detect_work_streams | {"issues": [{"number": "$A", "files": ["a"], "blockedBy": []}, {"number": "$B", "files": ["b"], "blockedBy": []}]} | /totalStreams=2
plan | list_issues | {"owner": "o", "repo": "r", "profile": "builder-planned", "limit": 50} | /totalCount=3
plan | get_issue | {"number": "$A"} | /group/members/1/workflowState=Ready for Plan; /comments/0/body=*Research Document*
plan | update_workflow_state | {"number": "$A", "state": "__LOCK__", "command": "ralph_plan"} | /newState=Plan in Progress
plan | update_workflow_state | {"number": "$B", "state": "__LOCK__", "command": "ralph_plan"} | /newState=Plan in Progress
plan | update_workflow_state | {"number": "$C", "state": "__LOCK__", "command": "ralph_plan"} | /newState=Plan in Progress
hero | detect_pipeline_position | {"number": "$E"} | /phase=REVIEW; /remainingPhases/0=review
plan | write | plan $A $B $C | $P
plan | create_comment | {"number": "$A", "body": "## Implementation Plan\n\n$PLAN\n\nPhase 1 of 3."} | /artifact/linked=true
plan | create_comment | {"number": "$A", "body": "## Plan Created (Phase 1 of 3)\n- Phase 1: #$A"} | /issueNumber=$A
plan | update_workflow_state | {"number": "$A", "state": "__COMPLETE__", "command": "ralph_plan"} | /newState=Plan in Review
plan | create_comment | {"number": "$B", "body": "## Implementation Plan\n\n$PLAN\n\nPhase 2 of 3."} | /artifact/linked=true
plan | update_workflow_state | {"number": "$B", "state": "__COMPLETE__", "command": "ralph_plan"} | /newState=Plan in Review
plan | create_comment | {"number": "$C", "body": "## Group Implementation Plan\n\n$PLAN\n\nPhase 3 of 3."} | /artifact/linked=true
plan | update_workflow_state | {"number": "$C", "state": "__COMPLETE__", "command": "ralph_plan"} | /newState=Plan in Review
hero | detect_pipeline_position | {"number": "$A"} | /phase=HUMAN_GATE; /remainingPhases=[]; /convergence/recommendation=proceed
review | list_issues | {"profile": "validator-review", "orderBy": "priority", "limit": 1} | /totalCount=3; /filteredCount=1
review | get_issue | {"number": "$A"} | /workflowState=Plan in Review
review | update_workflow_state | {"number": "$A", "state": "__LOCK__", "command": "ralph_review"} | refused=no-intent
review | write | critique $A | $K
review | update_issue | {"number": "$A", "labels": ["bug", "needs-iteration"]} | /number=$A
review | update_workflow_state | {"number": "$A", "state": "Ready for Plan", "command": "ralph_review"} | /newState=Ready for Plan
review | create_comment | {"number": "$A", "body": "## Plan Review\n\nVERDICT: NEEDS_ITERATION\n\nFull critique: $CRITIQUE"} | /artifact/linked=true
plan | update_workflow_state | {"number": "$A", "state": "__LOCK__", "command": "ralph_plan"} | /newState=Plan in Progress
plan | update_workflow_state | {"number": "$A", "state": "__COMPLETE__", "command": "ralph_plan"} | /newState=Plan in Review
review | update_workflow_state | {"number": "$A", "state": "__COMPLETE__", "command": "ralph_review"} | /newState=In Progress
review | create_comment | {"number": "$A", "body": "## Plan Review\n\nVERDICT: APPROVED\n\nReady for implementation."} | /issueNumber=$A
impl | list_issues | {"profile": "builder-active", "orderBy": "priority", "limit": 1} | /filteredCount=1
impl | get_issue | {"number": "$B"} | /workflowState=In Progress; /parent/number=$E
impl | update_workflow_state | {"number": "$A", "state": "__LOCK__", "command": "ralph_impl"} | /newState=In Progress
impl | update_workflow_state | {"number": "$B", "state": "__LOCK__", "command": "ralph_impl"} | /newState=In Progress
impl | update_workflow_state | {"number": "$C", "state": "__LOCK__", "command": "ralph_impl"} | /newState=In Progress
impl | update_workflow_state | {"number": "$A", "state": "Done", "command": "ralph_impl"} | refused=not-allowed
impl | list_sub_issues | {"number": "$E"} | /summary/total=3; /subIssues/0/state=OPEN
impl | create_comment | {"number": "$A", "body": "## Implementation Complete\n\nPR: https://github.com/o/r/pull/7\nBranch: feature/GH-$A"} | /issueNumber=$A
impl | update_workflow_state | {"number": "$A", "state": "__COMPLETE__", "command": "ralph_impl"} | /newState=In Review
impl | update_workflow_state | {"number": "$B", "state": "__COMPLETE__", "command": "ralph_impl"} | /newState=In Review
impl | update_workflow_state | {"number": "$C", "state": "__COMPLETE__", "command": "ralph_impl"} | /newState=In Review
integrator | get_issue | {"number": "$A"} | /workflowState=In Review; /group/primary/number=$A
integrator | advance_children | {"number": "$E", "targetState": "In Review"} | /errors=[]
hero | detect_pipeline_position | {"number": "$E"} | /phase=TERMINAL; /remainingPhases=[]
integrator | update_workflow_state | {"number": "$A", "state": "Done"} | /newState=Done
integrator | update_workflow_state | {"number": "$B", "state": "Done"} | /newState=Done
integrator | update_workflow_state | {"number": "$C", "state": "Done"} | /newState=Done
integrator | advance_children | {"parentNumber": "$E"} | refused=bad-arguments
integrator | advance_parent | {"number": "$A"} | /advanced=false; /parent/currentState=Done; /childStates/0/workflowState=Done
integrator | create_comment | {"number": "$A", "body": "Merged."} | /issueNumber=$A
research-codebase | get_issue | {"number": "$S"} | /workflowState=Research Needed
escalation | update_workflow_state | {"number": "$S", "state": "__ESCALATE__", "command": "ralph_research"} | /newState=Human Needed
escalation | create_comment | {"number": "$S", "body": "@o Escalation: unclear"} | /issueNumber=$S
hero | detect_pipeline_position | {"number": "$S"} | /phase=TERMINAL
create-plan | create_issue | {"title": "A small thing", "body": "x"} | $D
create-plan | update_estimate | {"number": "$D", "estimate": "S"} | /estimate=S
triage | update_workflow_state | {"number": "$D", "state": "Ready for Plan", "command": "ralph_triage"} | /newState=Ready for Plan
iterate-plan | update_workflow_state | {"number": "$D", "state": "Plan in Progress", "command": "iterate_plan"} | /newState=Plan in Progress
create-plan | write | single $D | $Q
create-plan | create_comment | {"number": "#$D", "body": "## Implementation Plan\n\n$SINGLE\n\nSummary: x"} | /artifact/linked=true
create-plan | update_workflow_state | {"number": "$D", "state": "Plan in Review", "command": "create_plan"} | /newState=Plan in Review
implement-plan | update_workflow_state | {"number": "$D", "state": "In Progress", "command": "implement_plan"} | /newState=In Progress
implement-plan | create_comment | {"number": "$D", "body": "## Implementation Started"} | /issueNumber=$D
implement-plan | update_workflow_state | {"number": "$D", "state": "In Review", "command": "implement_plan"} | /newState=In Review
hygiene | pipeline_dashboard | {"format": "markdown", "includeHealth": true, "archiveThresholdDays": 14} | /archive/eligibleForArchive=0; /formatted=*Pipeline Status*
status | pipeline_dashboard | {"format": "ascii", "includeHealth": true} | /formatted=*Total: 7 issues*
report | pipeline_dashboard | {"format": "json", "includeHealth": true, "includeMetrics": true, "doneWindowDays": 7, "velocityWindowDays": 7} | /metrics/velocity=5; /metrics/status=ON_TRACK; /health/ok=true
report | create_status_update | {"status": "ON_TRACK", "body": "# Project Status Report\n\nFine."} | /status=ON_TRACK; /id=*thoughts/shared/reports*
hygiene | project_hygiene | {} | /summary/staleCount=0; /totalItems=7
hygiene | bulk_archive | {"workflowStates": ["Done", "Canceled"], "dryRun": true} | /wouldArchive=5
hygiene | bulk_archive | {"workflowStates": ["Done"], "updatedBefore": "2001-01-01"} | /archivedCount=0
hygiene | archive_item | {"number": "$O"} | /archived=true; /number=$O
any | update_workflow_state | {"number": "$D", "state": "Nowhere", "command": "ralph_merge"} | refused=unknown-state
any | update_workflow_state | {"number": "$D", "state": "Done", "command": "ralph_nobody"} | refused=unknown-command
any | get_issue | {"number": 9999} | refused=unknown-task
"###;

/// Numbers and documents by their names, the longest name first.
#[derive(Default)]
struct Names(Vec<(String, String)>);

impl Names {
    fn set(&mut self, name: &str, value: impl Into<String>) {
        self.0.push((name.to_owned(), value.into()));
        self.0.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    }

    /// The least of the issues of the group, which is the primary one of a stream.
    fn set_least(&mut self) {
        let group = self.0.iter().filter(|(name, _)| ["$A", "$B", "$C"].contains(&name.as_str()));
        let least = group.map(|(_, number)| number.clone()).min();
        self.set("$LEAST", least.unwrap_or_default());
    }

    fn filled(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name.as_str(), value))
    }
}

fn write(sandbox: &Sandbox, names: &mut Names, typed: &str) {
    let filled = names.filled(typed);
    let mut words = filled.split(' ');
    let kind = words.next().unwrap();
    let numbers: Vec<Value> = words.map(|number| Value::String(number.to_owned())).collect();
    match kind {
        "research" => {
            for (name, number) in ["$RA", "$RB", "$RC"].iter().zip(&numbers) {
                names.set(name, research_document(sandbox, number));
            }
        }
        "plan" => names.set("$PLAN", group_plan(sandbox, &numbers)),
        "single" => names.set("$SINGLE", single_plan(sandbox, &numbers[0])),
        _ => names.set("$CRITIQUE", critique(sandbox, &numbers[0])),
    }
}

fn holds(answer: &Value, expected: &str) -> bool {
    let (pointer, value) = expected.split_once('=').unwrap();
    let Some(found) = answer.pointer(pointer) else { return false };
    let found = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
    match value.strip_prefix('*').and_then(|value| value.strip_suffix('*')) {
        Some(part) => found.contains(part),
        None => found == value,
    }
}

#[test]
fn every_call_of_the_skills_is_answered_as_they_expect_in_their_order() {
    let sandbox = Sandbox::new();
    let mut hero = Hero::new(&sandbox, &[]);
    let mut names = Names::default();
    let (mut calls, mut wrong) = (0, Vec::new());
    for row in rows(CALLS) {
        let [skill, tool, arguments, expected] = row[..] else { panic!("{row:?}") };
        if tool == "detect_work_streams" {
            names.set_least();
        }
        if tool == "write" {
            write(&sandbox, &mut names, arguments);
            continue;
        }
        calls += 1;
        let arguments = names.filled(arguments);
        let (refused, answer) =
            hero.client.call(&format!("ralph_hero__{tool}"), serde_json::from_str(&arguments).unwrap());
        for wanted in expected.split("; ") {
            let wanted = if wanted.len() == 2 { wanted.to_owned() } else { names.filled(wanted) };
            let right = match wanted.strip_prefix("refused=") {
                Some(code) => refused && answer["code"] == code && answer["error"].is_string(),
                None if wanted.len() == 2 => {
                    names.set(&wanted, answer["number"].as_str().unwrap_or_default());
                    !refused
                }
                None => !refused && holds(&answer, &wanted),
            };
            if !right {
                wrong.push(format!("{skill}: {tool} {arguments}\n  expected {wanted}\n  {answer}"));
            }
        }
    }
    assert!(calls > 130, "{calls}");
    assert!(wrong.is_empty(), "{} of {calls} calls:\n{}", wrong.len(), wrong.join("\n"));
}

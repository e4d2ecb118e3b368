//! The template of a document: front matter, required sections, and a marker in each unfinished one.

use super::{DocumentKind, Member, Subject};

/// Marks every place that is still to be written; `check` refuses a document with it.
pub const MARKER: &str = "TO BE WRITTEN";

pub fn skeleton(kind: DocumentKind, date: &str, subject: &Subject) -> String {
    let body = match kind {
        DocumentKind::Research => research(subject),
        DocumentKind::Plan => plan(subject),
        DocumentKind::Review => review(subject),
        DocumentKind::Report => report(subject),
    };
    format!("---\n{}---\n\n{body}", front(kind, date, subject))
}

fn front(kind: DocumentKind, date: &str, subject: &Subject) -> String {
    let mut text = format!("date: {date}\ntask: {}\n", subject.task);
    if subject.is_group() {
        let ids: Vec<&str> = subject.members.iter().map(|member| member.id.as_str()).collect();
        text.push_str(&format!("tasks: [{}]\n", ids.join(", ")));
    }
    if let Some(issue) = subject.issue() {
        text.push_str(&format!("github_issue: {}\n", issue.number));
        text.push_str(&issue.url.as_ref().map(|url| format!("github_url: {url}\n")).unwrap_or_default());
        text.push_str(&issues(subject, issue.number));
    }
    if kind == DocumentKind::Review {
        text.push_str(&format!("plan_document: {}\n", subject.plan.as_deref().unwrap_or_default()));
        text.push_str(&format!("status: {MARKER}: approved or needs-iteration\n"));
    } else {
        text.push_str("status: draft\n");
    }
    text.push_str(&format!("type: {kind}\n"));
    text
}

/// The issues of the subject: one, or all of a group.
fn issues(subject: &Subject, primary: u64) -> String {
    if !subject.is_group() {
        return String::new();
    }
    let mirrored = subject.members.iter().filter_map(|member| member.issue.as_ref());
    let numbers: Vec<String> = mirrored.clone().map(|issue| issue.number.to_string()).collect();
    let urls: Vec<&str> = mirrored.filter_map(|issue| issue.url.as_deref()).collect();
    format!("github_issues: [{}]\ngithub_urls: [{}]\nprimary_issue: {primary}\n", numbers.join(", "), urls.join(", "))
}

/// The title on one line, because it may contain any text.
fn title(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn research(subject: &Subject) -> String {
    format!(
        "# Research: {} ({})

## Problem

{MARKER}: what is wrong or missing, for whom, and how it shows

## Analysis

{MARKER}: how it works today, with `file:line`, and what follows from it

## Files Affected

### Will Modify

- `{MARKER}`: a path from the root of the repository, in back-ticks, and why

### Will Read

- `{MARKER}`: likewise, or `none`

## Risks

{MARKER}: what could go wrong, and what it would break

## Next Steps

{MARKER}: what the plan should do, in order
",
        title(&subject.title),
        subject.members[0].label()
    )
}

fn plan(subject: &Subject) -> String {
    let mut text = format!(
        "# Plan: {}

## Overview

{MARKER}: what will be different in the end, and what is not done here
",
        title(&subject.title)
    );
    for (at, member) in subject.members.iter().enumerate() {
        text.push_str(&format!(
            "
## Phase {}: {} ({})

- **depends_on**: {}
- **files**: `{MARKER}`: the paths that it changes, in back-ticks

{MARKER}: what to change, and how

- [ ] {MARKER}: what must be true in the end, and the command that shows it
",
            at + 1,
            title(&member.title),
            member.label(),
            depends_on(&subject.members, member)
        ));
    }
    text
}

fn depends_on(members: &[Member], member: &Member) -> String {
    let earlier =
        |(at, other): (usize, &Member)| member.blocked_by.contains(&other.id).then(|| format!("phase-{}", at + 1));
    let phases: Vec<String> = members.iter().enumerate().filter_map(earlier).collect();
    if phases.is_empty() { "null".into() } else { format!("[{}]", phases.join(", ")) }
}

fn review(subject: &Subject) -> String {
    format!(
        "# Review {} of the plan: {} ({})

## Findings

{MARKER}: what is wrong or missing, where, and what to do about it; most important first

## Verdict

VERDICT: {MARKER}: APPROVED or NEEDS_ITERATION
",
        subject.round,
        title(&subject.title),
        subject.members[0].label()
    )
}

fn report(subject: &Subject) -> String {
    let mut text = format!("# Report: {} ({})\n", title(&subject.title), subject.members[0].label());
    for (section, what) in [
        ("Issues Processed", "each task, its final state, and the outcome"),
        ("Artifacts", "the documents, branches and pull requests"),
        ("Worker Summary", "who did what, and for how long"),
        ("Blockers", "what blocked the work, and what remains for a person"),
    ] {
        text.push_str(&format!("\n## {section}\n\n{MARKER}: {what}\n"));
    }
    text
}

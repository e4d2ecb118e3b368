//! Checks whether a document is complete: front matter, sections, no markers.

use std::fmt;

use serde::Serialize;

use super::markdown::{Section, lines, sections};
use super::{DocumentKind, FrontMatter, MARKER, Member, Phase, Status, Subject, Template, files_modified, phases};

/// What is wrong, where, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub line: u32,
    pub message: String,
}

impl Finding {
    fn new(line: u32, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.message)
    }
}

/// Finds all reasons why a document would be refused, in the order of its lines. A document from ralph-hero's template must
/// have the parts of that template; only one from ralph's own template must have the sections that ralph's prompts ask for.
pub fn check(kind: DocumentKind, text: &str, subject: &Subject) -> Vec<Finding> {
    let front = FrontMatter::read(text);
    let template = Template::of(&front);
    let mut found = about_front(kind, &front, subject, template);
    found.extend(unwritten(text));
    found.extend(match kind {
        DocumentKind::Research => about_research(text, template),
        DocumentKind::Plan => about_plan(text, subject, template),
        DocumentKind::Review => about_review(text, &front, subject, template),
        DocumentKind::Report => Vec::new(),
    });
    found.sort_by_key(|finding| finding.line);
    found
}

fn about_front(kind: DocumentKind, front: &FrontMatter, subject: &Subject, template: Template) -> Vec<Finding> {
    if front.end.is_none() {
        return vec![Finding::new(1, "no front matter: begin with `---`, lines of `key: value`, and `---`")];
    }
    let mut found = Vec::new();
    let typed = front.get("type");
    for key in ["date", "status", "type"] {
        let untyped = key == "type" && template.names(kind, None);
        if front.get(key).is_none() && !untyped {
            found.push(Finding::new(front.line(key), format!("the front matter has no `{key}`: add it")));
        }
    }
    if typed.is_some() && !template.names(kind, typed) {
        found.push(Finding::new(front.line("type"), format!("this is not a {kind}: write `type: {kind}`")));
    }
    let named = named_tasks(front);
    if !named.iter().any(|name| subject.members.iter().any(|member| member.is_called(name))) {
        let line = front.line(if front.get("task").is_some() { "task" } else { "github_issue" });
        let who = if named.is_empty() { "names no task".into() } else { format!("names {}", named.join(", ")) };
        found.push(Finding::new(line, format!("the document {who}: write `task: {}`", subject.task)));
    }
    found
}

/// The tasks that the front matter names.
fn named_tasks(front: &FrontMatter) -> Vec<&str> {
    let keys = ["task", "tasks", "github_issue", "primary_issue", "github_issues"];
    keys.iter().flat_map(|key| front.list(key)).collect()
}

fn unwritten(text: &str) -> impl Iterator<Item = Finding> {
    let marked = lines(text).into_iter().filter(|(_, line)| line.contains(MARKER));
    marked.map(|(line, _)| Finding::new(line, format!("unfinished: replace {MARKER} with your text")))
}

fn about_research(text: &str, template: Template) -> Vec<Finding> {
    let all = sections(text);
    let last = text.lines().count().max(1) as u32;
    let mut found = Vec::new();
    let titles: &[&str] = match template {
        Template::Own => &["Problem", "Analysis", "Files Affected", "Risks", "Next Steps"],
        Template::Hero => &["Files Affected"],
    };
    for title in titles {
        match all.iter().position(|section| section.is(2, title)) {
            None => found.push(Finding::new(last, format!("no section `## {title}`: add it"))),
            Some(at) if is_bare(&all, at) => {
                found.push(Finding::new(all[at].line, format!("`## {title}` is empty: write it")));
            }
            Some(_) => {}
        }
    }
    found.extend(about_files(&all, text, last));
    found
}

/// Whether a section and its subsections have no text.
fn is_bare(all: &[Section<'_>], at: usize) -> bool {
    super::markdown::within(all, at).iter().all(Section::is_empty)
}

/// Whether a line says `None`, with or without a reason after it.
fn says_none(line: &str) -> bool {
    let line = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    let word = line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    word.eq_ignore_ascii_case("none")
}

fn about_files(all: &[Section<'_>], text: &str, last: u32) -> Vec<Finding> {
    let Some(listed) = all.iter().find(|section| section.is(3, "Will Modify")) else {
        let message = "no `### Will Modify` under `## Files Affected`: list the files there, in backticks";
        return vec![Finding::new(last, message)];
    };
    let paths = files_modified(text);
    let none = listed.body.iter().any(|(_, line)| says_none(line));
    if paths.is_empty() && !none {
        let message =
            "no file is listed: write `- ` and the path from the root of the repository in backticks, or `none`";
        return vec![Finding::new(listed.line, message)];
    }
    let outside = paths.iter().filter(|path| path.starts_with(['/', '~']) || path.split('/').any(|part| part == ".."));
    outside
        .map(|path| Finding::new(listed.line, format!("{path:?} is not a path from the root of the repository")))
        .collect()
}

fn about_plan(text: &str, subject: &Subject, template: Template) -> Vec<Finding> {
    let last = text.lines().count().max(1) as u32;
    let phases = phases(text);
    if phases.is_empty() {
        return vec![Finding::new(last, "no phases: add `## Phase 1: title` with boxes `- [ ] …` to tick")];
    }
    let mut found = Vec::new();
    for (at, phase) in phases.iter().enumerate() {
        if phase.total == 0 {
            let message = format!("phase {} has no boxes to tick: add lines `- [ ] …`", phase.number);
            found.push(Finding::new(phase.line, message));
        }
        if phases[..at].iter().any(|other| other.number == phase.number) {
            let message = format!("there are two phases {}: number them consecutively", phase.number);
            found.push(Finding::new(phase.line, message));
        }
    }
    // ralph-hero's plan lists its issues in the front matter, and may cover only one stream of a group.
    if template == Template::Own {
        found.extend(unplanned(&phases, subject, last));
    }
    found
}

/// Members of a group that no phase names.
fn unplanned(phases: &[Phase], subject: &Subject, last: u32) -> Vec<Finding> {
    let is_named = |member: &&Member| phases.iter().flat_map(|phase| &phase.ids).any(|name| member.is_called(name));
    let missing = subject.members.iter().filter(|member| subject.is_group() && !is_named(member));
    missing
        .map(|member| {
            Finding::new(last, format!("no phase names {0}: write `## Phase N: title ({0})`", member.label()))
        })
        .collect()
}

fn about_review(text: &str, front: &FrontMatter, subject: &Subject, template: Template) -> Vec<Finding> {
    let last = text.lines().count().max(1) as u32;
    let status = front.get("status").and_then(Status::parse);
    let mut found = Vec::new();
    if front.end.is_some() && status.is_none() {
        let message = "the status is neither `approved` nor `needs-iteration`: write one of them";
        found.push(Finding::new(front.line("status"), message));
    }
    match (front.get("plan_document"), &subject.plan) {
        (None, _) if front.end.is_some() => {
            found.push(Finding::new(front.line("plan_document"), "the front matter has no `plan_document`: add it"));
        }
        (Some(named), Some(plan)) if !template.is_path(named, plan) => {
            let message = format!("this reviews {named}, but the plan of {} is {plan}", subject.task);
            found.push(Finding::new(front.line("plan_document"), message));
        }
        _ => {}
    }
    match (verdict(text), status) {
        // In ralph-hero the verdict is in the comment with which the critique is handed in.
        (None, Some(_)) if template == Template::Hero => {}
        (None, _) => {
            let message = "no verdict: write a line `VERDICT: APPROVED` or `VERDICT: NEEDS_ITERATION`";
            found.push(Finding::new(last, message));
        }
        (Some((line, verdict)), Some(status)) if verdict != status => {
            let message = format!("the verdict is {}, but the status is {}", verdict.verdict(), status.as_str());
            found.push(Finding::new(line, format!("{message}: make them agree")));
        }
        _ => {}
    }
    found
}

/// The last line that gives a verdict, and the verdict.
pub fn verdict(text: &str) -> Option<(u32, Status)> {
    let given = |(line, text): (u32, &str)| {
        let text = text.trim().trim_matches('*').strip_prefix("VERDICT:")?;
        Status::parse(text.trim().trim_matches('*')).map(|status| (line, status))
    };
    lines(text).into_iter().filter_map(given).next_back()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::document::skeleton;
    use crate::task::{GithubLink, TaskId};

    fn member(id: &str, number: Option<u64>) -> Member {
        let issue = number.map(|number| GithubLink { number, url: Some(format!("https://x/{number}")) });
        Member { id: TaskId::new(id).unwrap(), title: format!("Title of {id}"), issue, blocked_by: Vec::new() }
    }

    fn subject(members: Vec<Member>) -> Subject {
        let plan = Some("thoughts/shared/plans/2026-11-16-t-a-x.md".to_owned());
        Subject { task: members[0].id.clone(), title: members[0].title.clone(), members, round: 1, plan }
    }

    fn alone() -> Subject {
        subject(vec![member("t-a", None)])
    }

    /// A skeleton with all its markers replaced by text.
    fn filled(kind: DocumentKind, subject: &Subject) -> String {
        let text = skeleton(kind, "2026-11-16", subject);
        let lines = text.lines().map(|line| match line.split_once(MARKER) {
            Some((front, _)) if front.contains('`') => "- `src/a.rs`: it".to_owned(),
            Some((front, _)) if front.starts_with("VERDICT") => "VERDICT: APPROVED".to_owned(),
            Some((front, _)) if front.starts_with("status") => "status: approved".to_owned(),
            Some((front, _)) => format!("{front}done"),
            None => line.to_owned(),
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn messages(kind: DocumentKind, text: &str, subject: &Subject) -> Vec<String> {
        check(kind, text, subject).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_skeleton_is_refused_until_it_is_filled_in() {
        let group = subject(vec![member("t-a", Some(44)), member("t-b", Some(45))]);
        for subject in [alone(), group] {
            for kind in [DocumentKind::Research, DocumentKind::Plan, DocumentKind::Review] {
                assert_ne!(check(kind, &skeleton(kind, "2026-11-16", &subject), &subject), [], "{kind}");
                let text = filled(kind, &subject);
                assert_eq!(messages(kind, &text, &subject), Vec::<String>::new(), "{kind}\n{text}");
            }
        }
    }

    #[test]
    fn a_document_of_another_task_is_refused_even_if_its_number_begins_alike() {
        let mine = subject(vec![member("t-a", Some(14))]);
        let text = filled(DocumentKind::Research, &subject(vec![member("t-b", Some(147))]));
        assert!(messages(DocumentKind::Research, &text, &mine)[0].contains("the document names t-b, 147"), "{text}");
        let padded = text.replace("task: t-b", "").replace("github_issue: 147", "github_issue: GH-0014");
        assert_eq!(messages(DocumentKind::Research, &padded, &mine), Vec::<String>::new());
    }

    #[test]
    fn a_section_that_is_missing_or_empty_is_named_with_its_line() {
        let text = filled(DocumentKind::Research, &alone()).replace("## Risks", "## Hopes");
        assert!(messages(DocumentKind::Research, &text, &alone())[0].ends_with("no section `## Risks`: add it"));
        let text = "---\ndate: d\nstatus: s\ntype: research\ntask: t-a\n---\n## Problem\n\n## Analysis\nx\n";
        assert_eq!(messages(DocumentKind::Research, text, &alone())[0], "7: `## Problem` is empty: write it");
    }

    #[test]
    fn files_outside_the_repository_are_not_its_files() {
        let text = filled(DocumentKind::Research, &alone()).replace("`src/a.rs`", "`/etc/passwd`");
        assert!(messages(DocumentKind::Research, &text, &alone())[0].contains("\"/etc/passwd\" is not a path"));
    }

    #[test]
    fn every_member_of_a_group_has_a_phase_and_every_phase_a_box() {
        let group = subject(vec![member("t-a", Some(14)), member("t-b", Some(147))]);
        let text = filled(DocumentKind::Plan, &group).replace("(GH-147)", "(GH-14)");
        assert!(messages(DocumentKind::Plan, &text, &group)[0].contains("no phase names GH-147"));
        let text = filled(DocumentKind::Plan, &group).replace("- [ ]", "-");
        assert!(messages(DocumentKind::Plan, &text, &group)[0].contains("phase 1 has no boxes to tick"));
    }

    const FRONT: &str = "---\ndate: 2026-02-24\ngithub_issue: 44\ngithub_url: https://x/44\n";

    #[test]
    fn documents_from_the_templates_of_ralph_hero_are_complete_as_they_are() {
        let alone = subject(vec![member("t-a", Some(44))]);
        let group = subject(vec![member("t-a", Some(44)), member("t-b", Some(45))]);
        let files = "## Files Affected\n\n### Will Modify\n- `src/a.rs` - it\n\n### Will Read (Dependencies)\n- None\n";
        let research =
            format!("{FRONT}status: complete\ntype: research\n---\n\n# Labels\n\n## Problem Statement\nx\n\n{files}");
        assert_eq!(messages(DocumentKind::Research, &research, &alone), Vec::<String>::new());
        let plan = "---\ndate: 2026-02-24\nstatus: draft\ngithub_issues: [44, 45]\ngithub_urls:\n  - https://x/44\nprimary_issue: 44\n---\n\n\
                    # It - Atomic Implementation Plan\n\n## Phase 1: GH-44 First\n\n### Success Criteria\n- [ ] Automated: cargo test\n\n\
                    ## Phase 2: GH-45 Second\n\n- [ ] Manual: look\n";
        assert_eq!(messages(DocumentKind::Plan, plan, &group), Vec::<String>::new());
        let critique = format!(
            "{FRONT}plan_document: https://github.com/o/r/blob/main/thoughts/shared/plans/2026-11-16-t-a-x.md\nstatus: approved\ntype: critique\n---\n\nGood.\n"
        );
        assert_eq!(messages(DocumentKind::Review, &critique, &alone), Vec::<String>::new());
        for none in ["None", "- none.", "- **None** (research only)", "- None \u{2014} `src/a.rs` is complete"] {
            let research = research.replace("- `src/a.rs` - it", none);
            assert_eq!(messages(DocumentKind::Research, &research, &alone), Vec::<String>::new(), "{none}");
        }
        // The parts of ralph-hero's templates are still required.
        for (kind, text, said) in [
            (DocumentKind::Research, research.replace("### Will Modify", "### Files"), "no `### Will Modify`"),
            (DocumentKind::Research, research.replace("`src/a.rs` - it", "nonetheless all"), "no file is listed"),
            (DocumentKind::Research, research.replace("issue: 44", "issue: 46"), "names 46"),
            (DocumentKind::Plan, plan.replace("- [ ]", "-"), "no boxes to tick"),
            (DocumentKind::Review, critique.replace("approved", "fine"), "neither `approved`"),
            (DocumentKind::Review, critique.replace("critique", "plan"), "this is not a review"),
            (DocumentKind::Review, critique.replace("2026-11-16-t-a-x", "other"), "but the plan of t-a"),
        ] {
            let found = messages(kind, &text, &alone);
            assert!(found.iter().any(|message| message.contains(said)), "{said}: {found:?}");
        }
    }

    #[test]
    fn a_task_without_an_issue_is_named_by_its_id_in_those_templates() {
        for name in ["t-a", "GH-t-a", "#t-a"] {
            let text = format!(
                "---\ndate: d\ngithub_issue: {name}\nstatus: complete\ntype: research\n---\n## Files Affected\n### Will Modify\n- None\n"
            );
            assert_eq!(messages(DocumentKind::Research, &text, &alone()), Vec::<String>::new(), "{name}");
        }
    }

    #[test]
    fn a_verdict_agrees_with_the_status() {
        let text = filled(DocumentKind::Review, &alone()).replace("VERDICT: APPROVED", "VERDICT: NEEDS_ITERATION");
        assert!(messages(DocumentKind::Review, &text, &alone())[0].contains("but the status is approved"));
        let text = text.replace("VERDICT: NEEDS_ITERATION", "it is APPROVED");
        assert!(messages(DocumentKind::Review, &text, &alone())[0].contains("no verdict"));
    }
}

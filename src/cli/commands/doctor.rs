//! `ralph doctor`.

use crate::app::{self, DoctorFinding, RevisionCheck, RevisionFinding, Severity};
use crate::cli::args::DoctorArgs;
use crate::cli::style::{self, paint};
use crate::cli::table::clean;
use crate::cli::{Answer, Outcome, Session, markdown, words};

pub fn run(session: &Session<'_>, args: &DoctorArgs) -> Answer {
    if let Some(revision) = &args.at {
        return at(session, revision, args);
    }
    let diagnosis = session.with(|ws| app::doctor(ws, args.fix))?;
    // The findings contain these problems already.
    session.seen.borrow_mut().clear();
    let left = diagnosis.findings.iter().filter(|finding| !finding.fixed).count();
    if session.out.json {
        session.out.json(&diagnosis);
    } else {
        let mut text: String = diagnosis.findings.iter().map(entry).collect();
        let summary = if left == 0 { paint(style::READY, "no problems") } else { words::count(left, "finding") };
        text.push_str(&format!("checked {}: {summary}\n", words::count(diagnosis.tasks, "task")));
        text.extend(diagnosis.limits.iter().map(|limit| paint(style::DIM, format!("on this system: {limit}")) + "\n"));
        session.out.text(&text);
        if diagnosis.findings.iter().any(|finding| finding.fixable && !finding.fixed) {
            session.out.say("`ralph doctor --fix` fixes what is marked with *");
        }
    }
    Ok(if left == 0 { Outcome::Done } else { Outcome::Negative })
}

fn entry(finding: &DoctorFinding) -> String {
    let (mark, color) = match finding {
        found if found.fixed => ("fixed:", style::READY),
        found if found.fixable => ("*", style::WARN),
        _ => ("-", style::WARN),
    };
    let advice = if finding.fixed { String::new() } else { format!("\n    {}", paint(style::DIM, &finding.advice)) };
    format!("{} {} {}{advice}\n", paint(color, mark), finding.message, paint(style::DIM, format!("[{}]", finding.code)))
}

/// The board of a revision.
fn at(session: &Session<'_>, revision: &str, args: &DoctorArgs) -> Answer {
    let checked = session.with(|ws| app::check_revision(ws, revision, args.since.as_deref()));
    // Problems of the files on disk do not concern this revision.
    session.seen.borrow_mut().clear();
    let check = checked?;
    match (session.out.json, args.markdown) {
        (true, _) => session.out.json(&check),
        (false, true) => session.out.text(&as_markdown(&check)),
        (false, false) => session.out.text(&as_text(&check)),
    }
    let failed = check.errors > 0 || (args.strict && check.warnings > 0);
    Ok(if failed { Outcome::Negative } else { Outcome::Done })
}

fn as_text(check: &RevisionCheck) -> String {
    let mut text: String = check.findings.iter().map(revision_entry).collect();
    let tasks = words::count(check.tasks, "task");
    text.push_str(&format!("{tasks} checked at {}: {}\n", clean(&check.revision), counts(check)));
    text
}

fn counts(check: &RevisionCheck) -> String {
    match (check.errors, check.warnings) {
        (0, 0) => "no problems".into(),
        (errors, 0) => words::count(errors, "error"),
        (0, warnings) => words::count(warnings, "warning"),
        (errors, warnings) => format!("{}, {}", words::count(errors, "error"), words::count(warnings, "warning")),
    }
}

fn level(finding: &RevisionFinding) -> (&'static str, anstyle::Style) {
    match finding.severity {
        Severity::Error => ("error", style::BLOCKED),
        Severity::Warning => ("warning", style::WARN),
    }
}

/// The place of a finding, such as `.ralph/tasks/a.toml:3:1`, without unknown parts.
fn place(finding: &RevisionFinding) -> Option<String> {
    let numbers = [finding.line, finding.column].into_iter().flatten().map(|number| format!(":{number}"));
    finding.file.as_ref().map(|file| format!("{file}{}", numbers.collect::<String>()))
}

fn revision_entry(finding: &RevisionFinding) -> String {
    let (level, color) = level(finding);
    let place = place(finding).map(|place| format!("{place}: ")).unwrap_or_default();
    let code = paint(style::DIM, format!("[{}]", finding.code));
    let advice = paint(style::DIM, clean(&finding.advice));
    format!("{} {} {code}\n    {advice}\n", paint(color, level), clean(&format!("{place}{}", finding.message)))
}

fn as_markdown(check: &RevisionCheck) -> String {
    let tasks = words::count(check.tasks, "task");
    if check.findings.is_empty() {
        return format!("No problems found in {tasks}.\n");
    }
    let row = |finding: &RevisionFinding| {
        let what = format!("{} ({})", markdown::short(&finding.message, 300), markdown::short(&finding.advice, 200));
        vec![level(finding).0.to_owned(), markdown::short(&place(finding).unwrap_or_default(), 120), what]
    };
    let rows: Vec<Vec<String>> = check.findings.iter().map(row).collect();
    format!("{} in {tasks}\n\n{}", counts(check), markdown::table(&["", "Where", "What"], &rows, "findings"))
}

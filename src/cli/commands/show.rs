//! `ralph task show`.

use jiff::Timestamp;

use crate::app::{self, ClaimView, Shown};
use crate::cli::args::ShowOneArgs;
use crate::cli::style::{self, paint};
use crate::cli::table::clean;
use crate::cli::{Answer, Outcome, Session, words};
use crate::task::TaskId;

pub fn run(session: &Session<'_>, args: &ShowOneArgs) -> Answer {
    let show = if session.out.json { app::show } else { app::show_without_moves };
    let (shown, now) = session.at(&args.at).with(|ws| Ok((show(ws, &ws.find(&args.task)?)?, ws.now())))?;
    if session.out.json {
        session.out.json(&shown);
    } else {
        session.out.text(&page(&shown, now));
    }
    Ok(Outcome::Done)
}

fn page(shown: &Shown, now: Timestamp) -> String {
    let task = &shown.task;
    let (mark, color) = words::mark(task);
    let mut text = format!(
        "{} {}  {}\n\n",
        paint(color, mark),
        paint(style::ID, &task.id),
        paint(style::HEAD, clean(&task.title))
    );
    let mut row = |name: &str, value: String| {
        if !value.is_empty() {
            text.push_str(&format!("  {}  {value}\n", paint(style::DIM, format!("{name:<10}"))));
        }
    };
    row("state", format!("{}{}", paint(style::state(&task.state), &task.state), standing(shown)));
    row("kind", if task.kind == "issue" { String::new() } else { task.kind.into() });
    row("priority", task.priority.map(|p| paint(style::priority(p), p)).unwrap_or_default());
    row("size", task.estimate.unwrap_or_default().into());
    row("labels", paint_all(&task.labels));
    row("attention", task.attention.as_ref().map(|why| paint(style::WARN, clean(why))).unwrap_or_default());
    row("owner", task.owner.as_ref().map(|owner| paint(style::OWNER, clean(owner))).unwrap_or_default());
    row("claim", task.claim.as_ref().map(|claim| claim_line(claim, now)).unwrap_or_default());
    row("parent", task.parent.as_ref().map(|id| linked(shown, id)).unwrap_or_default());
    for (name, ids) in [("children", &task.children), ("blocked by", &task.blocked_by), ("blocks", &task.blocks)] {
        for (at, id) in ids.iter().enumerate() {
            row(if at == 0 { name } else { "" }, linked(shown, id));
        }
    }
    for (kind, path) in &task.artifacts {
        row(kind, path.clone());
    }
    let github = task.github.as_ref();
    row(
        "github",
        github.map(|g| format!("#{} {}", g.number, g.url.as_deref().unwrap_or_default())).unwrap_or_default(),
    );
    row("conflict", shown.conflicts.join(", "));
    row("created", when(task.created, now));
    row("updated", when(task.updated, now));
    row("file", format!("{}{}", shown.file, if shown.archived { " (archived)" } else { "" }));
    if !shown.description.trim().is_empty() {
        text.push_str(&format!("\n{}\n", indented(&shown.description)));
    }
    for (number, note) in shown.notes.iter().zip(1..).map(|(note, number)| (number, note)) {
        let line =
            note.facts.path.as_ref().zip(note.facts.line).map(|(path, line)| format!(" on {}:{line}", clean(path)));
        let head = format!(
            "{number}  {} {}{}",
            note.by.as_deref().unwrap_or("somebody"),
            when(note.at, now),
            line.unwrap_or_default()
        );
        text.push_str(&format!("\n  {}\n{}\n", paint(style::DIM, format!("— {head}")), indented(&note.text)));
    }
    text
}

fn standing(shown: &Shown) -> String {
    match &shown.task {
        task if task.blocked && task.open_blockers.is_empty() => {
            paint(style::BLOCKED, "  blocked, because its parent is blocked")
        }
        task if task.blocked => paint(style::BLOCKED, format!("  blocked by {}", task.open_blockers.len())),
        task if task.ready => paint(style::READY, "  ready"),
        _ => String::new(),
    }
}

fn paint_all(labels: &[String]) -> String {
    labels.iter().map(|label| paint(style::LABEL, clean(label))).collect::<Vec<_>>().join(" ")
}

fn linked(shown: &Shown, id: &TaskId) -> String {
    match shown.linked.iter().find(|(other, ..)| other == id) {
        Some((_, title, state)) => format!("{}  {}  {}", paint(style::ID, id), clean(title), paint(style::DIM, state)),
        None => format!("{}  {}", paint(style::ID, id), paint(style::DIM, "(archived or missing)")),
    }
}

fn claim_line(claim: &ClaimView, now: Timestamp) -> String {
    let left = if claim.held {
        "while its process runs".into()
    } else {
        format!("{} left", words::span(claim.until.duration_since(now)))
    };
    format!("{} since {}, {left}, on {}", paint(style::OWNER, &claim.by), words::ago(claim.since, now), claim.host)
}

fn when(at: Option<Timestamp>, now: Timestamp) -> String {
    at.map(|at| format!("{} ago  {}", words::ago(at, now), paint(style::DIM, at.strftime("%Y-%m-%d %H:%M"))))
        .unwrap_or_default()
}

fn indented(text: &str) -> String {
    text.trim_end()
        .lines()
        .map(|line| format!("  {}", clean(&line.replace('\t', "    "))).trim_end().to_owned())
        .collect::<Vec<_>>()
        .join("\n")
}

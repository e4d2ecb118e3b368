//! One card: id, priority and size; the title in two lines; the holder, the blockers and the labels.

use jiff::Timestamp;

use super::pen::{Row, piece, row_width, spread};
use super::text;
use crate::app::{self, Meaning, TaskView};
use crate::tui::model::{Said, SaidKind, Tone};
use crate::tui::words;

/// The maximum number of lines of a refusal on a card.
const MESSAGE: usize = 6;

pub fn rows(task: &TaskView, meaning: Meaning, width: usize, now: Timestamp, said: Option<&Said>) -> Vec<Row> {
    let mut rows = vec![spread(named(task, meaning), sized(task), width)];
    let tone = if matches!(meaning, Meaning::Done | Meaning::Canceled) { Tone::Dim } else { Tone::Plain };
    rows.extend(text::wrap_in(&text::clean(&task.title), width, 2).into_iter().map(|line| vec![(line, tone)]));
    rows.extend(below(task, meaning, width, now));
    rows.extend(said.map(|said| refusal(said, width)).unwrap_or_default());
    rows
}

fn named(task: &TaskView, meaning: Meaning) -> Row {
    let (mark, tone) = words::mark(task, meaning);
    let mut row = vec![piece(mark, tone), piece(" ", Tone::Plain), piece(task.id.as_str(), Tone::Id)];
    if task.kind == "epic" {
        row.push(piece(" ◆", Tone::Label));
    }
    row
}

fn sized(task: &TaskView) -> Row {
    let mut row: Row = task.priority.map(|priority| piece(priority, priority_tone(priority))).into_iter().collect();
    if let Some(estimate) = task.estimate {
        let gap = if row.is_empty() { "" } else { " " };
        row.push(piece(format!("{gap}{estimate}"), Tone::Dim));
    }
    row
}

pub fn priority_tone(priority: &str) -> Tone {
    match priority {
        "P0" => Tone::Urgent,
        "P1" => Tone::Warn,
        "P2" => Tone::Plain,
        _ => Tone::Dim,
    }
}

/// The holder or the owner, with the age of the claim.
pub fn holder(task: &TaskView, now: Timestamp) -> Option<(String, Tone)> {
    match (&task.claim, &task.owner) {
        (Some(claim), _) => Some(piece(format!("▶ {} {}", claim.by, app::ago(claim.since, now)), Tone::Work)),
        (None, Some(owner)) if task.stale => Some(piece(format!("▷ {owner}"), Tone::Warn)),
        (None, Some(owner)) => Some(piece(owner.clone(), Tone::Dim)),
        (None, None) => None,
    }
}

/// The number of blockers, or an arrow if only its parent is blocked.
pub fn waits(task: &TaskView) -> Option<(String, Tone)> {
    let many = if task.open_blockers.is_empty() { "↑".into() } else { task.open_blockers.len().to_string() };
    task.blocked.then(|| piece(format!("⊘ {many}"), Tone::Blocked))
}

/// The last line of a card. If the space is not enough, the last parts are left out.
fn below(task: &TaskView, meaning: Meaning, width: usize, now: Timestamp) -> Option<Row> {
    let open = !matches!(meaning, Meaning::Done | Meaning::Canceled);
    let problems = (!task.problems.is_empty()).then(|| piece(format!("‼ {}", task.problems.len()), Tone::Urgent));
    let labels = task.labels.iter().map(|label| piece(format!("#{label}"), Tone::Label));
    let waits = waits(task).filter(|_| open);
    let mut row = Row::new();
    let attention = task.attention.as_ref().map(|_| piece("! look".to_owned(), Tone::Warn));
    for part in problems.into_iter().chain(attention).chain(waits).chain(holder(task, now)).chain(labels) {
        let gap = if row.is_empty() { 0 } else { 2 };
        let left = width.saturating_sub(row_width(&row) + gap);
        if left < 4 {
            break;
        }
        row.push((" ".repeat(gap), Tone::Plain));
        row.push((text::cut(&part.0, left), part.1));
    }
    (!row.is_empty()).then_some(row)
}

/// The rows of a message with its hints.
pub fn refusal(said: &Said, width: usize) -> Vec<Row> {
    let (mark, tone) = match said.kind {
        SaidKind::Done => ("✓", Tone::Ready),
        SaidKind::Told => ("·", Tone::Plain),
        SaidKind::Refused => ("✗", Tone::Urgent),
    };
    let lines = |mark: &str, text: &str, tone: Tone, most: usize| -> Vec<Row> {
        let wrapped = text::wrap_in(&text::clean(text), width.saturating_sub(2), most);
        let lead = |at: usize| if at == 0 { format!("{mark} ") } else { "  ".to_owned() };
        wrapped.into_iter().enumerate().map(|(at, line)| vec![(format!("{}{line}", lead(at)), tone)]).collect()
    };
    let mut rows = lines(mark, &said.message, tone, MESSAGE);
    for hint in &said.hints {
        rows.extend(lines("→", hint, Tone::Accent, MESSAGE));
    }
    rows
}

//! The long part of a task's page: its description, notes and history, wrapped once for each width.

use jiff::Timestamp;

use super::pen::{Row, piece};
use super::{markdown, text};
use crate::app::LogLine;
use crate::tui::model::{TaskPage, Tone, Wrapped, age};
use crate::tui::words;

/// The wrapped text, wrapped again only if the width has changed.
pub fn kept(
    kept: &mut Option<Wrapped>,
    width: usize,
    wrap: impl FnOnce(usize) -> (Vec<Row>, Vec<usize>),
) -> &mut Wrapped {
    kept.take_if(|wrapped| wrapped.width != width);
    kept.get_or_insert_with(|| {
        let (rows, notes) = wrap(width);
        Wrapped { width, rows, notes }
    })
}

pub fn wrapped<'a>(before: &'a mut Option<Wrapped>, page: &TaskPage, width: usize, now: Timestamp) -> &'a Wrapped {
    let wrapped = kept(before, width, |width| wrap(page, width));
    for (note, row) in page.shown.notes.iter().zip(&wrapped.notes) {
        let by = note.by.as_deref().unwrap_or("somebody");
        let line = note.facts.path.as_ref().zip(note.facts.line).map(|(path, line)| format!(" on {path}:{line}"));
        let when = format!(" {}{}", age(note.at, now), line.unwrap_or_default());
        wrapped.rows[*row] = vec![piece(by, Tone::Work), piece(when, Tone::Dim)];
    }
    wrapped
}

/// Wraps the page; also returns the row of each note's header, which is filled when it is drawn.
fn wrap(page: &TaskPage, width: usize) -> (Vec<Row>, Vec<usize>) {
    let mut rows = match page.shown.description.trim() {
        "" => vec![vec![piece("no description: press e to write one", Tone::Dim)]],
        text => markdown::rows(text, width),
    };
    rows.push(Row::new());
    if !page.shown.notes.is_empty() {
        rows.push(section("notes", width));
    }
    let mut notes = Vec::new();
    for note in &page.shown.notes {
        notes.push(rows.len());
        rows.push(Row::new());
        rows.extend(markdown::rows(note.text.trim(), width));
        rows.push(Row::new());
    }
    rows.push(section("history", width));
    rows.extend(page.log.iter().flat_map(|line| history(line, page, width)));
    (rows, notes)
}

fn section(name: &str, width: usize) -> Row {
    let rule = "─".repeat(width.saturating_sub(text::width(name) + 1));
    vec![piece(format!("{name} "), Tone::Head), (rule, Tone::Dim)]
}

fn history(line: &LogLine, page: &TaskPage, width: usize) -> Vec<Row> {
    let at = line.line.at.strftime("%Y-%m-%d %H:%M");
    let undone = if line.undone { " (undone)" } else { "" };
    let here = line.fields.iter().filter(|change| change.task == page.shown.task.id).map(words::field);
    let what = here.collect::<Vec<_>>().join(", ");
    let head = format!("{at}  {}  {}{undone}  ", line.line.by, line.line.verb);
    let room = width.saturating_sub(text::width(&head));
    if text::width(&what) <= room {
        return vec![vec![piece(head, Tone::Dim), piece(what, Tone::Plain)]];
    }
    let below = text::wrap_in(&text::clean(&what), width.saturating_sub(4), 3);
    let below = below.into_iter().map(|line| vec![piece(format!("    {line}"), Tone::Plain)]);
    std::iter::once(vec![piece(head, Tone::Dim)]).chain(below).collect()
}

//! One task to decide on: the plan, the changes line by line, checks and runs.

use ratatui::layout::Rect;

use super::code::{Language, coloured, language_of};
use super::pen::{Pen, Row, fitted, piece, spread};
use super::{lists, markdown, text};
use crate::app::DiffLine;
use crate::tui::model::{Comments, Model, ReviewRow, ReviewScreen, ReviewTab, Spot, Tone};
use crate::tui::words;

/// From this width on, old and new lines are side by side.
const SPLIT: u16 = 150;
/// The width of a line number.
const NUMBER: usize = 6;

pub fn draw(pen: &mut Pen<'_>, model: &mut Model, screen: &mut ReviewScreen, area: Rect) {
    let split = area.width >= SPLIT;
    if screen.split != split {
        screen.split = split;
        screen.lay_out(model.comments.get(&screen.id).unwrap_or(&Comments::new()));
    }
    let area = heading(pen, model, screen, area);
    let (height, width) = (usize::from(area.height), usize::from(area.width));
    let mut drawn: Vec<(Row, usize)> = Vec::new();
    // Lines of a plan are wrapped, so their rows depend on the lines before; all other lines have one row.
    let wraps = screen.tab == ReviewTab::Plan;
    let at = screen.at();
    let first = if wraps { 0 } else { at.saturating_sub(height / 2).min(screen.rows.len().saturating_sub(height)) };
    let mut in_code = false;
    let most = if wraps { usize::MAX } else { height };
    for (place, row) in screen.rows.iter().enumerate().skip(first).take(most) {
        drawn.extend(rows(model, screen, row, width, &mut in_code).into_iter().map(|row| (row, place)));
    }
    let selected = drawn.iter().position(|(_, place)| *place == at).unwrap_or(0);
    let top = selected.saturating_sub(height / 2).min(drawn.len().saturating_sub(height));
    for (line, (row, place)) in drawn.iter().skip(top).take(height).enumerate() {
        let y = area.y + line as u16;
        pen.bar(area.x, y, area.width, row, *place == at);
        pen.spot(Rect { y, height: 1, ..area }, Spot::Row(*place));
    }
    model.drawn.page = height;
}

fn heading(pen: &mut Pen<'_>, model: &Model, screen: &ReviewScreen, area: Rect) -> Rect {
    let width = usize::from(area.width);
    let Some(page) = &screen.page else {
        pen.text(area.x + 1, area.y, area.width, &format!("{} …", screen.id), Tone::Dim);
        return Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    };
    let task = &page.task;
    let left = vec![piece(format!(" {}  ", task.id), Tone::Id), piece(task.title.clone(), Tone::Head)];
    let state = vec![piece(format!("{} ", task.state), words::of_meaning(task.meaning))];
    pen.row(area.x, area.y, area.width, &spread(left, state, width));
    let mut tabs = vec![piece(" ", Tone::Plain)];
    for tab in ReviewTab::ALL {
        let tone = if tab == screen.tab { Tone::Accent } else { Tone::Dim };
        let name = match tab {
            ReviewTab::Plan => "plan".to_owned(),
            ReviewTab::Changes => {
                let files = page.changes.as_ref().map_or(0, |changes| changes.files.len());
                format!("changes ({files})")
            }
            ReviewTab::Runs => format!("checks and runs ({})", page.runs.len()),
        };
        tabs.push(piece(if tab == screen.tab { format!("[{name}] ") } else { format!(" {name}  ") }, tone));
    }
    let written = model.comments.get(&screen.id).map_or(0, |comments| comments.len());
    let written = if written > 0 { format!("{} ", words::count(written, "comment")) } else { String::new() };
    pen.row(area.x, area.y + 1, area.width, &spread(tabs, vec![piece(written, Tone::Warn)], width));
    let mut used = 2;
    if let Some(question) = &page.question {
        for line in text::wrap_in(&text::clean(&question.text), width.saturating_sub(4), 3) {
            pen.text(area.x + 1, area.y + used, area.width, &format!("? {line}"), Tone::Warn);
            used += 1;
        }
    }
    pen.row(area.x, area.y + used, area.width, &vec![("─".repeat(width), Tone::Dim)]);
    Rect { y: area.y + used + 1, height: area.height.saturating_sub(used + 1), ..area }
}

fn rows(model: &Model, screen: &ReviewScreen, row: &ReviewRow, width: usize, in_code: &mut bool) -> Vec<Row> {
    let one = |row: Row| vec![row];
    match row {
        ReviewRow::Told(text) => one(vec![piece(format!(" {text}"), Tone::Dim)]),
        ReviewRow::Text { number, text } => plan_line(*number, text, width, in_code),
        ReviewRow::File { name, status, added, removed } => one(vec![
            piece(format!("{name} "), Tone::Head),
            piece(format!("+{added} "), Tone::Ready),
            piece(format!("-{removed}"), Tone::Blocked),
            piece(if *status == "modified" { String::new() } else { format!(" {status}") }, Tone::Dim),
        ]),
        ReviewRow::Hunk { first, section } => {
            let section = if section.is_empty() { String::new() } else { format!(" in {section}") };
            one(vec![piece(format!("  line {first}{section}"), Tone::Id)])
        }
        ReviewRow::Line { path, line } => code_lines(line, language_of(path), width),
        ReviewRow::Pair { path, old, new } => one(pair(old.as_ref(), new.as_ref(), language_of(path), width)),
        ReviewRow::Comment(said) => text::wrap(&text::clean(said), width.saturating_sub(NUMBER + 4))
            .into_iter()
            .map(|line| vec![piece(format!("{}┃ {line}", " ".repeat(NUMBER)), Tone::Warn)])
            .collect(),
        ReviewRow::Check { name, passed, outdated } => {
            let (mark, tone, how) = match passed {
                Some(true) => ("✓", Tone::Ready, "passed"),
                Some(false) => ("✗", Tone::Blocked, "failed"),
                None => ("○", Tone::Dim, "not run yet"),
            };
            let on = if *outdated { " on an earlier commit" } else { "" };
            one(vec![piece(format!(" {mark} {name} "), tone), piece(format!("{how}{on}"), Tone::Dim)])
        }
        ReviewRow::Run(at) => {
            let run = screen.page.as_ref().and_then(|page| page.runs.get(*at));
            run.map(|run| lists::run(run, model.now, width)).into_iter().collect()
        }
    }
}

/// A line of the plan, formatted, with its number.
fn plan_line(number: u32, line: &str, width: usize, in_code: &mut bool) -> Vec<Row> {
    let room = width.saturating_sub(NUMBER + 1);
    let fence = line.trim_start().starts_with("```");
    let body = match *in_code || fence {
        true => vec![vec![piece(line.replace('\t', "    "), Tone::Label)]],
        false => markdown::rows(line, room),
    };
    *in_code ^= fence;
    let body = if body.is_empty() { vec![Row::new()] } else { body };
    let numbered = |(at, row): (usize, Row)| {
        let lead = if at == 0 { format!("{number:>NUMBER$} ") } else { " ".repeat(NUMBER + 1) };
        std::iter::once((lead, Tone::Dim)).chain(row).collect()
    };
    body.into_iter().enumerate().map(numbered).collect()
}

fn tone_of(mark: char) -> Tone {
    match mark {
        '+' => Tone::Ready,
        '-' => Tone::Blocked,
        _ => Tone::Plain,
    }
}

/// The maximum number of rows of one line.
const MOST_ROWS: usize = 20;

fn code_lines(line: &DiffLine, language: Option<Language>, width: usize) -> Vec<Row> {
    let number = line.new.or(line.old).map(|number| number.to_string()).unwrap_or_default();
    let room = width.saturating_sub(NUMBER + 3).max(2);
    let text = text::clean(&line.text.replace('\t', "    "));
    let lead = |at: usize| match at {
        0 => [piece(format!("{number:>NUMBER$} "), Tone::Dim), piece(format!("{} ", line.mark), tone_of(line.mark))],
        _ => [piece(" ".repeat(NUMBER + 1), Tone::Dim), piece("  ", Tone::Dim)],
    };
    let rows = broken(coloured(&text, language, tone_of(line.mark)), room);
    rows.into_iter().take(MOST_ROWS).enumerate().map(|(at, row)| lead(at).into_iter().chain(row).collect()).collect()
}

/// Breaks a row into rows of this width.
fn broken(row: Row, room: usize) -> Vec<Row> {
    let mut rows = vec![Row::new()];
    let mut left = room;
    for (text, tone) in row {
        let mut rest = text.as_str();
        loop {
            let (start, after) = text::head(rest, left);
            left -= text::width(start).min(left);
            rows.last_mut().expect("there is one").push((start.to_owned(), tone));
            if after.is_empty() || rows.len() > MOST_ROWS {
                break;
            }
            (rest, left) = (after, room);
            rows.push(Row::new());
        }
    }
    rows
}

fn code(line: &DiffLine, language: Option<Language>, room: usize) -> Row {
    let shown = text::cut(&text::clean(&line.text.replace('\t', "    ")), room);
    coloured(&shown, language, tone_of(line.mark))
}

fn pair(old: Option<&DiffLine>, new: Option<&DiffLine>, language: Option<Language>, width: usize) -> Row {
    let half = width.saturating_sub(3) / 2;
    let side = |line: Option<&DiffLine>, number: fn(&DiffLine) -> Option<u32>| -> Row {
        let number = line.and_then(number).map(|number| number.to_string()).unwrap_or_default();
        let mark = line.map_or(' ', |line| line.mark);
        let mut row = vec![piece(format!("{number:>NUMBER$} "), Tone::Dim), piece(format!("{mark} "), tone_of(mark))];
        row.extend(line.map(|line| code(line, language, half.saturating_sub(NUMBER + 3))).unwrap_or_default());
        spread(fitted(row, half), Row::new(), half)
    };
    let mut row = side(old, |line| line.old);
    row.push((" │ ".into(), Tone::Dim));
    row.extend(side(new, |line| line.new));
    row
}

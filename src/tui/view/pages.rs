//! Screens with texts: a task with all its data, and a document.

use ratatui::layout::Rect;

use super::pen::{Pen, Row, piece, spread};
use super::{body, card, markdown, text};
use crate::app::{self, ClaimView};
use crate::tui::model::{DocumentPage, DocumentSource, Model, PageLink, Spot, TaskPage, TaskScreen, Tone, age};
use crate::tui::words;

/// From this width on, the fields of a task are beside its text.
const WIDE: u16 = 100;
const SIDE: u16 = 42;

/// A line, and the index of its link.
type PageLine = (Row, Option<usize>);

pub fn task(pen: &mut Pen<'_>, model: &mut Model, screen: &mut TaskScreen, area: Rect) {
    let Some(page) = &screen.page else {
        return pen.text(area.x + 1, area.y, area.width, &format!("{} …", screen.id), Tone::Dim);
    };
    let area = heading(pen, page, area);
    let wide = area.width >= WIDE;
    let text = if wide { Rect { width: area.width - SIDE - 2, ..area } } else { area };
    let body = body::wrapped(&mut screen.wrapped, page, inside(text), model.now);
    if !wide {
        let facts = facts(model, page, inside(area));
        if std::mem::take(&mut screen.reveal) {
            reveal(&facts, screen.link, &mut screen.scroll, area);
        }
        return scrolled(pen, model, Sheet(&facts, &body.rows), &mut screen.scroll, screen.link, area);
    }
    let side = Rect { x: text.right() + 2, width: SIDE, ..area };
    for y in side.top()..side.bottom() {
        pen.row(side.x - 2, y, 1, &vec![("│".into(), Tone::Dim)]);
    }
    let facts = facts(model, page, inside(side));
    let mut scroll = 0;
    reveal(&facts, screen.link, &mut scroll, side);
    scrolled(pen, model, Sheet(&facts, &[]), &mut scroll, screen.link, side);
    scrolled(pen, model, Sheet(&[], &body.rows), &mut screen.scroll, None, text);
}

/// The width without margins.
fn inside(area: Rect) -> usize {
    usize::from(area.width).saturating_sub(2)
}

fn heading(pen: &mut Pen<'_>, page: &TaskPage, area: Rect) -> Rect {
    let task = &page.shown.task;
    let meaning = task.meaning;
    let (mark, tone) = words::mark(task, meaning);
    let width = usize::from(area.width);
    let left = [piece(format!(" {mark} "), tone), piece(format!("{}  ", task.id), Tone::Id)];
    let state = vec![piece(task.state.to_string(), words::of_meaning(meaning)), piece(" ", Tone::Plain)];
    let indent = left.iter().map(|(text, _)| text::width(text)).sum::<usize>();
    let room = width.saturating_sub(indent + text::width(task.state.as_str()) + 3);
    let title = text::wrap_in(&text::clean(&task.title), room, 2);
    for (at, line) in title.iter().enumerate() {
        let title = piece(line.clone(), Tone::Head);
        let row = match at {
            0 => spread(left.iter().cloned().chain([title]).collect(), state.clone(), width),
            _ => vec![(" ".repeat(indent), Tone::Plain), title],
        };
        pen.row(area.x, area.y + at as u16, area.width, &row);
    }
    let used = title.len().max(1) as u16;
    pen.row(area.x, area.y + used, area.width, &vec![("─".repeat(width), Tone::Dim)]);
    Rect { y: area.y + used + 1, height: area.height.saturating_sub(used + 1), ..area }
}

/// Scrolls just far enough to make the link visible.
fn reveal(lines: &[PageLine], link: Option<usize>, scroll: &mut usize, area: Rect) {
    let height = usize::from(area.height).max(1);
    if let Some(at) = link.and_then(|link| lines.iter().position(|(_, place)| *place == Some(link))) {
        *scroll = (*scroll).clamp((at + 1).saturating_sub(height), at);
    }
}

/// Lines that may be links, followed by a text.
struct Sheet<'a>(&'a [PageLine], &'a [Row]);

impl Sheet<'_> {
    fn len(&self) -> usize {
        self.0.len() + self.1.len()
    }

    fn from(&self, top: usize) -> impl Iterator<Item = (&Row, Option<usize>)> {
        let text = self.1.iter().skip(top.saturating_sub(self.0.len())).map(|row| (row, None));
        self.0.iter().skip(top).map(|(row, place)| (row, *place)).chain(text)
    }
}

/// Draws a page from a scroll position, which is limited to its length.
fn scrolled(
    pen: &mut Pen<'_>,
    model: &mut Model,
    sheet: Sheet<'_>,
    scroll: &mut usize,
    link: Option<usize>,
    area: Rect,
) {
    let height = usize::from(area.height);
    let most = sheet.len().saturating_sub(height);
    *scroll = (*scroll).min(most);
    for (line, (row, place)) in sheet.from(*scroll).take(height).enumerate() {
        let y = area.y + line as u16;
        pen.bar(area.x + 1, y, area.width.saturating_sub(2), row, place.is_some() && place == link);
        if let Some(place) = place {
            pen.spot(Rect { y, height: 1, ..area }, Spot::Row(place));
        }
    }
    if *scroll < most && height > 0 {
        let more = format!("↓{}", most - *scroll);
        let x = area.right().saturating_sub(more.chars().count() as u16 + 1);
        pen.text(x, area.bottom() - 1, area.width, &more, Tone::Dim);
    }
    (model.drawn.page, model.drawn.most) = (height, most);
}

fn facts(model: &Model, page: &TaskPage, width: usize) -> Vec<PageLine> {
    let (task, now) = (&page.shown.task, model.now);
    let mut lines: Vec<PageLine> = Vec::new();
    for verdict in text::wrap(&page.verdict, width) {
        lines.push((vec![piece(verdict, if task.blocked { Tone::Blocked } else { Tone::Ready })], None));
    }
    let mut fact = |name: &str, value: String, tone: Tone| {
        let named = |at: usize| format!("{:<10}", if at == 0 { name } else { "" });
        for (at, line) in text::wrap(&text::clean(&value), width.saturating_sub(10)).into_iter().enumerate() {
            lines.push((vec![piece(named(at), Tone::Dim), piece(line, tone)], None));
        }
    };
    let priority = task.priority.unwrap_or_default();
    fact("priority", priority.into(), card::priority_tone(priority));
    fact("size", task.estimate.unwrap_or_default().into(), Tone::Plain);
    fact("kind", if task.kind == "issue" { String::new() } else { task.kind.into() }, Tone::Plain);
    fact("labels", task.labels.iter().map(|label| format!("#{label} ")).collect(), Tone::Label);
    match (&task.claim, &task.owner) {
        (Some(claim), _) => fact("claim", at_work(claim, now), Tone::Work),
        (None, Some(owner)) if task.stale => fact("owner", format!("{owner}, no claim"), Tone::Warn),
        (None, Some(owner)) => fact("owner", owner.clone(), Tone::Plain),
        (None, None) => {}
    }
    let github = task.github.as_ref();
    fact(
        "github",
        github.map(|g| format!("#{} {}", g.number, g.url.as_deref().unwrap_or_default())).unwrap_or_default(),
        Tone::Plain,
    );
    fact("conflict", page.shown.conflicts.join(", "), Tone::Urgent);
    fact("created", age(task.created, now), Tone::Plain);
    fact("updated", age(task.updated, now), Tone::Plain);
    fact("attention", task.attention.clone().unwrap_or_default(), Tone::Warn);
    for problem in &task.problems {
        fact("problem", format!("line {}: {}", problem.line, problem.message), Tone::Urgent);
    }
    lines.push((Row::new(), None));
    lines.extend(links(model, page, width));
    lines
}

fn at_work(claim: &ClaimView, now: jiff::Timestamp) -> String {
    let left = match claim.held {
        true => "while its process runs".to_owned(),
        false => format!("{} left", app::span(claim.until.duration_since(now))),
    };
    format!("▶ {} since {}, {left}, on {}", claim.by, app::ago(claim.since, now), claim.host)
}

fn links(model: &Model, page: &TaskPage, width: usize) -> Vec<PageLine> {
    let mut before = "";
    let mut lines: Vec<PageLine> = Vec::new();
    for (place, (name, link)) in page.links().into_iter().enumerate() {
        let mut row = vec![piece(format!("{:<10}", if name == before { "" } else { name }), Tone::Dim)];
        before = name;
        match link {
            PageLink::DocumentPage(path) => row.push(piece(path, Tone::Id)),
            PageLink::Task(id) => {
                let known = page.shown.linked.iter().find(|(other, ..)| *other == id);
                row.push(piece(format!("{id} "), Tone::Id));
                let (title, state) =
                    known.map_or(("archived or missing", ""), |(_, title, state)| (title, state.as_str()));
                row.push(piece(title, Tone::Plain));
                let state = vec![piece(state, words::of_meaning(model.board.meaning(state)))];
                row = if width < 50 { row } else { spread(row, state, width) };
            }
        }
        lines.push((row, Some(place)));
    }
    if !lines.is_empty() {
        lines.push((Row::new(), None));
    }
    lines
}

pub fn document(pen: &mut Pen<'_>, model: &mut Model, document: &mut DocumentPage, area: Rect) {
    pen.text(area.x + 1, area.y, area.width, &document.path, Tone::Id);
    pen.row(area.x, area.y + 1, area.width, &vec![("─".repeat(usize::from(area.width)), Tone::Dim)]);
    let area = Rect { y: area.y + 2, height: area.height.saturating_sub(2), ..area };
    let text = body::kept(&mut document.wrapped, inside(area), |width| {
        let text = document.text.as_deref().unwrap_or("…");
        let rows = match document.source {
            DocumentSource::File => markdown::rows(text, width),
            DocumentSource::Run { .. } => text.lines().flat_map(|line| said(line, width)).collect(),
        };
        (rows, Vec::new())
    });
    scrolled(pen, model, Sheet(&[], &text.rows), &mut document.scroll, None, area);
}

/// A line of a log, which keeps its indentation.
fn said(line: &str, width: usize) -> Vec<Row> {
    let line = text::clean(line);
    let indent = line.len() - line.trim_start().len();
    let wrapped = text::wrap(&line, width.saturating_sub(indent.min(width / 2)));
    let row = |line: String| vec![piece(format!("{}{line}", " ".repeat(indent.min(width / 2))), Tone::Plain)];
    if wrapped.is_empty() { vec![Row::new()] } else { wrapped.into_iter().map(row).collect() }
}

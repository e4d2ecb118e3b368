//! Draws the model: a header, the visible screen, the message, and the keys that have an effect.

mod board;
mod body;
mod card;
mod code;
mod layout;
mod lists;
mod markdown;
mod pages;
mod pen;
mod popup;
mod review;
#[cfg(test)]
mod tests;
pub(super) mod text;
mod theme;

use ratatui::Frame;
use ratatui::layout::Rect;

use super::keys;
use super::model::{Drawn, Model, Screen, Spot, Tone};
use super::words;
use pen::{Pen, Row, fitted, piece, row_width, spread};
pub use theme::Theme;

/// The minimum size for a readable screen.
const LEAST: (u16, u16) = (40, 10);

pub fn draw(frame: &mut Frame<'_>, model: &mut Model, theme: Theme) {
    let area = frame.area();
    let mut pen = Pen { buffer: frame.buffer_mut(), theme, spots: Vec::new(), cursor: None };
    if area.width < LEAST.0 || area.height < LEAST.1 {
        let words = format!(
            "the terminal is too small: the board needs {}×{}, this is {}×{}",
            LEAST.0, LEAST.1, area.width, area.height
        );
        for (at, line) in text::wrap(&words, usize::from(area.width)).iter().enumerate() {
            pen.text(area.x, area.y + at as u16, area.width, line, Tone::Warn);
        }
        // Positions of the previous frame are no longer valid.
        model.drawn = Drawn::default();
        return;
    }
    (model.drawn.page, model.drawn.most) = (usize::from(area.height) / 2, 0);
    let head = header(&mut pen, model, area);
    let board = Rect { y: area.y + head, height: area.height.saturating_sub(head + 2), ..area };
    model.drawn.on_card = model.screens.is_empty() && board::has_room_for_refusal(model, board);
    let below = status(model, area);
    let foot = below.len() as u16 + 1;
    let body = Rect { y: area.y + head, height: area.height.saturating_sub(head + foot), ..area };
    screen(&mut pen, model, body);
    for (at, row) in below.iter().enumerate() {
        pen.row(area.x, body.bottom() + at as u16, area.width, row);
    }
    footer(&mut pen, model, Rect { y: area.bottom() - 1, height: 1, ..area });
    if model.popup.is_some() {
        popup::draw(&mut pen, model, Rect { height: area.height - 1, ..area });
    }
    let Pen { spots, cursor, .. } = pen;
    model.drawn = Drawn { spots, ..std::mem::take(&mut model.drawn) };
    if let Some(cursor) = cursor {
        frame.set_cursor_position(cursor);
    }
}

fn screen(pen: &mut Pen<'_>, model: &mut Model, area: Rect) {
    // Taken out of the model, so that it can be changed while the rest of the model is read.
    let Some(mut screen) = model.screens.pop() else { return board::draw(pen, model, area) };
    match &mut screen {
        Screen::Task(screen) => pages::task(pen, model, screen, area),
        Screen::DocumentPage(document) => pages::document(pen, model, document, area),
        Screen::Graph(chain) => lists::graph(pen, model, chain, area),
        Screen::Workers(workers) => lists::workers(pen, model, workers, area),
        Screen::Inbox(inbox) => lists::inbox(pen, model, inbox, area),
        Screen::Review(screen) => review::draw(pen, model, screen, area),
        Screen::Problems { at } => lists::problems(pen, model, *at, area),
    }
    model.screens.push(screen);
}

/// Draws the header and returns its height.
fn header(pen: &mut Pen<'_>, model: &Model, area: Rect) -> u16 {
    let counts = model.board.counts;
    let problems = model.board.problems.len();
    let wide = area.width >= 76;
    let mut row: Row = vec![piece(" ralph ", Tone::Head), piece(text::cut(&model.board.name, 24), Tone::Accent)];
    let numbers = [
        ("●", counts.ready, "ready", Tone::Ready),
        ("▶", counts.at_work, "claimed", Tone::Work),
        ("⊘", counts.blocked, "blocked", Tone::Blocked),
        ("!", counts.for_person, "for you", Tone::Warn),
        ("‼", problems, if problems == 1 { "problem" } else { "problems" }, Tone::Urgent),
    ];
    for (mark, count, what, tone) in numbers {
        if count == 0 && matches!(mark, "‼" | "!") {
            continue;
        }
        row.push(piece(format!("   {mark} {count}"), tone));
        if wide {
            row.push(piece(format!(" {what}"), Tone::Plain));
        }
    }
    let filter = if model.filter.is_empty() {
        Row::new()
    } else {
        vec![piece("filter ", Tone::Dim), piece(&model.filter, Tone::Warn), piece(" ", Tone::Plain)]
    };
    let room = usize::from(area.width).saturating_sub(row_width(&row) + 1);
    pen.row(area.x, area.y, area.width, &spread(row, fitted(filter, room), usize::from(area.width)));
    let Some(first) = model.board.problems.first().filter(|_| model.screens.is_empty()) else { return 1 };
    let more = if problems > 1 { format!("{} more, ! shows them ", problems - 1) } else { "! shows it ".into() };
    let row =
        spread(vec![piece(format!(" ‼ {first}"), Tone::Urgent)], vec![piece(more, Tone::Dim)], usize::from(area.width));
    pen.row(area.x, area.y + 1, area.width, &row);
    2
}

/// The line above the keys: the last message, otherwise the filter and similar information.
fn status(model: &Model, area: Rect) -> Vec<Row> {
    let width = usize::from(area.width);
    if let Some(drag) = &model.drag
        && let Some(column) = drag.over.filter(|over| *over != drag.from).and_then(|at| model.board.columns.get(at))
    {
        return vec![vec![piece(format!(" move {} to {}", drag.task, column.state), Tone::Accent)]];
    }
    if let Some(notice) = model.notice.as_ref().filter(|_| !model.drawn.on_card) {
        let rows = card::refusal(&notice.said, width - 2);
        let indented = |row: Row| std::iter::once((" ".into(), Tone::Plain)).chain(row).collect();
        // On a low screen, the message must not hide everything else.
        return rows.into_iter().take(usize::from(area.height / 3).min(6)).map(indented).collect();
    }
    let all = model.board.all.len();
    let shown = match model.board.shown() {
        shown if shown == all => words::count(all, "task"),
        shown => format!("{shown} of {}", words::count(all, "task")),
    };
    let work = if model.busy > 0 { " · working …" } else { "" };
    let left = vec![piece(format!(" {shown}{work}"), Tone::Dim)];
    let me = if model.board.me.is_empty() { String::new() } else { format!("as {}", model.board.me) };
    let right = match &model.still {
        Some(why) => vec![piece(format!("not live: {why} "), Tone::Warn)],
        None => vec![piece(format!("{me} · live "), Tone::Dim)],
    };
    vec![spread(left, right, width)]
}

/// Draws as many keys as fit; the last two are always shown.
fn footer(pen: &mut Pen<'_>, model: &Model, area: Rect) {
    let keys = keys::offered(model);
    let width = |key: &keys::Offered| text::width(key.shown) + text::width(key.does) + 3;
    let kept = keys.len().saturating_sub(2);
    let always: usize = keys[kept..].iter().map(width).sum();
    let mut left = usize::from(area.width).saturating_sub(always + 1);
    let mut x = area.x + 1;
    for (at, key) in keys.iter().enumerate() {
        if at < kept {
            if width(key) > left {
                continue;
            }
            left -= width(key);
        }
        let cells = width(key) as u16;
        let row = vec![piece(key.shown, Tone::Accent), piece(format!(" {}", key.does), Tone::Dim)];
        pen.row(x, area.y, area.right().saturating_sub(x), &row);
        pen.spot(Rect { x, width: cells.saturating_sub(2), ..area }, Spot::Key(key.key));
        x += cells;
    }
}

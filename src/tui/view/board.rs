//! The board: columns side by side with the visible cards.

use ratatui::layout::Rect;

use super::layout::{ColumnPlan, ColumnSlot, plan};
use super::pen::{Pen, Row, piece, spread};
use super::{card, text};
use crate::app::{Column, Meaning, TaskView};
use crate::tui::model::{Model, Said, Spot, Tone};
use crate::tui::words;

/// The name and the rule below it.
const HEAD: u16 = 2;

pub fn draw(pen: &mut Pen<'_>, model: &mut Model, area: Rect) {
    if model.board.shown() == 0 {
        return empty(pen, model, area);
    }
    let plan = shown(model, area);
    model.cursor.first = plan.first;
    for placed in &plan.placed {
        let place = Rect { x: area.x + placed.x, width: placed.width, ..area };
        match &placed.slot {
            ColumnSlot::Open(column) => open(pen, model, *column, place),
            ColumnSlot::Folded(columns) => folded(pen, model, columns, place),
        }
    }
    marks(pen, area, plan.left, plan.right);
}

/// Whether the selected card has enough space for the whole refusal; otherwise, the status line shows it.
pub fn has_room_for_refusal(model: &Model, area: Rect) -> bool {
    let notice = model.notice.as_ref().filter(|notice| notice.said.is_refusal());
    let task = model.cursor.task(&model.board);
    let (Some(notice), Some(task)) = (notice, task) else { return false };
    let at = model.cursor.column;
    let placed = shown(model, area).placed.into_iter().find(|placed| placed.slot == ColumnSlot::Open(at));
    let Some(placed) = placed.filter(|_| notice.task.as_ref() == Some(&task.id)) else { return false };
    let list = Cards::new(model, at, placed.width.saturating_sub(1), Some(&notice.said));
    list.rows(task, true).len() + 2 <= usize::from(area.height.saturating_sub(HEAD))
}

fn shown(model: &Model, area: Rect) -> ColumnPlan {
    let filled: Vec<bool> = model.board.columns.iter().map(|column| !column.tasks.is_empty()).collect();
    // Tasks that were handed to a person are always visible.
    let person = model.board.columns.iter().rposition(|column| column.meaning == Meaning::Person);
    plan(&filled, model.cursor.column, model.cursor.first, area.width, person)
}

/// Draws the number of hidden columns on each side.
fn marks(pen: &mut Pen<'_>, area: Rect, left: usize, right: usize) {
    if left > 0 {
        pen.text(area.x, area.y + 1, 4, &format!("‹{left} "), Tone::Accent);
    }
    if right > 0 {
        let mark = format!(" {right}›");
        pen.text(area.right() - mark.chars().count() as u16, area.y + 1, 4, &mark, Tone::Accent);
    }
}

fn empty(pen: &mut Pen<'_>, model: &Model, area: Rect) {
    let lines = match (model.loaded, model.filter.is_empty()) {
        (false, _) => ["reading the board …".to_owned(), String::new()],
        (true, true) => ["no tasks yet".to_owned(), "press a to add one".to_owned()],
        (true, false) => {
            [format!("no task matches {:?}", model.filter), "press esc to clear the filter, f to change it".to_owned()]
        }
    };
    for (at, line) in lines.iter().enumerate() {
        let line = text::cut(line, usize::from(area.width));
        let x = area.x + (area.width.saturating_sub(text::width(&line) as u16)) / 2;
        pen.text(
            x,
            area.y + area.height / 3 + at as u16,
            area.width,
            &line,
            if at == 0 { Tone::Head } else { Tone::Dim },
        );
    }
}

/// Draws the names of empty columns vertically.
fn folded(pen: &mut Pen<'_>, model: &Model, columns: &[usize], area: Rect) {
    use unicode_segmentation::UnicodeSegmentation as _;
    let names: Vec<&str> = columns.iter().map(|&at| model.board.columns[at].state.as_str()).collect();
    let tone = match &model.drag {
        Some(drag) if columns.len() == 1 && drag.over == columns.first().copied() => Tone::Accent,
        _ => Tone::Dim,
    };
    let name = names.join(" · ");
    let room = usize::from(area.height);
    let letters: Vec<&str> = name.graphemes(true).collect();
    for (at, letter) in letters.iter().take(room).enumerate() {
        let shown = if at + 1 == room && letters.len() > room { "⋮" } else { letter };
        pen.text(area.x + 1, area.y + at as u16, 2, shown, tone);
    }
    match columns {
        [one] => pen.spot(area, Spot::Head(*one)),
        _ => pen.spot(area, Spot::Folded),
    }
}

fn open(pen: &mut Pen<'_>, model: &mut Model, at: usize, area: Rect) {
    let width = area.width.saturating_sub(1);
    let area = Rect { width, ..area };
    pen.spot(area, Spot::Column(at));
    let focused = model.cursor.column == at;
    let said = model.notice.as_ref().filter(|_| focused && model.drawn.on_card).map(|notice| &notice.said);
    let cards = Rect { y: area.y + HEAD, height: area.height.saturating_sub(HEAD), ..area };
    let column = &model.board.columns[at];
    let list = Cards::new(model, at, width, said);
    let (row, old_top) = (model.cursor.rows[at], model.cursor.tops[at]);
    let top = list.top(row, old_top, usize::from(cards.height));
    let below = list.draw(pen, at, focused.then_some(row), top, cards);
    let over = model.drag.as_ref().is_some_and(|drag| drag.over == Some(at) && drag.from != at);
    head(pen, column, at, area, Heading { focused, over, above: top, below });
    if focused {
        model.drawn.page = (usize::from(cards.height) / 4).max(1);
    }
    model.cursor.tops[at] = top;
}

struct Heading {
    focused: bool,
    /// A card is dragged over it.
    over: bool,
    above: usize,
    below: usize,
}

fn head(pen: &mut Pen<'_>, column: &Column, at: usize, area: Rect, heading: Heading) {
    let tone = words::of_meaning(column.meaning);
    let name = if heading.focused { Tone::Head } else { tone };
    let count = column.tasks.len();
    let width = usize::from(area.width);
    let points = format!("{count} · {}pt", column.points);
    let roomy = text::width(column.state.as_str()) + text::width(&points) < width;
    let points = if column.points > 0 && roomy { points } else { count.to_string() };
    let row = spread(vec![piece(column.state.as_str(), name)], vec![piece(points, Tone::Dim)], width);
    pen.bar(area.x, area.y, area.width, &row, heading.over);
    let up = (heading.above > 0).then(|| format!(" ↑{}", heading.above));
    let down = (heading.below > 0).then(|| format!(" ↓{}", heading.below));
    let more = format!("{}{}", up.unwrap_or_default(), down.unwrap_or_default());
    let line = if heading.focused { "━" } else { "─" };
    let rule = line.repeat(width.saturating_sub(text::width(&more)));
    let row: Row = vec![(rule, if heading.focused { tone } else { Tone::Dim }), piece(more, Tone::Dim)];
    pen.row(area.x, area.y + 1, area.width, &row);
    pen.spot(Rect { height: HEAD, ..area }, Spot::Head(at));
}

/// The cards of one column.
struct Cards<'a> {
    column: &'a Column,
    width: usize,
    now: jiff::Timestamp,
    /// The message for the selected card.
    said: Option<&'a Said>,
}

impl<'a> Cards<'a> {
    fn new(model: &'a Model, at: usize, width: u16, said: Option<&'a Said>) -> Self {
        Self { column: &model.board.columns[at], width: usize::from(width).saturating_sub(4), now: model.now, said }
    }

    fn rows(&self, task: &TaskView, selected: bool) -> Vec<Row> {
        card::rows(task, self.column.meaning, self.width, self.now, self.said.filter(|_| selected))
    }

    /// The height of a card, including the line above it.
    fn height(&self, at: usize, row: usize) -> usize {
        self.rows(&self.column.tasks[at], at == row).len() + 1
    }

    /// The first visible card, such that the selected card is visible and there is no free space below the last one.
    fn top(&self, row: usize, old: usize, room: usize) -> usize {
        let fitting = |last: usize| {
            let (mut first, mut used) = (last, self.height(last, row) + 1);
            while first > 0 {
                used += self.height(first - 1, row);
                if used > room {
                    break;
                }
                first -= 1;
            }
            first
        };
        let last = self.column.tasks.len().saturating_sub(1);
        old.clamp(fitting(row), row).min(fitting(last).max(fitting(row)))
    }

    /// Draws the cards and returns how many are hidden below.
    fn draw(&self, pen: &mut Pen<'_>, column: usize, row: Option<usize>, top: usize, area: Rect) -> usize {
        let mut y = area.y;
        for (at, task) in self.column.tasks.iter().enumerate().skip(top) {
            let rows = self.rows(task, row == Some(at));
            let end = y + 1 + rows.len() as u16;
            // A card that is higher than the column is cut.
            if end > area.bottom() && at > top {
                return self.column.tasks.len() - at;
            }
            let place = Rect { y, height: rows.len() as u16 + 2, ..area }.intersection(area);
            if row == Some(at) {
                pen.frame(place, "", Tone::Accent);
            }
            let (_, tone) = words::mark(task, self.column.meaning);
            for (line, content) in rows.iter().enumerate() {
                let y = y + 1 + line as u16;
                // The frame of the selected card covers its last line.
                if y + u16::from(row == Some(at)) >= place.bottom() {
                    break;
                }
                if row != Some(at) {
                    pen.row(area.x, y, 1, &vec![("▎".into(), tone)]);
                }
                pen.row(area.x + 2, y, area.width.saturating_sub(4), content);
            }
            pen.spot(place, Spot::Card(column, task.id.clone()));
            y = end;
        }
        0
    }
}

//! Draws rows of toned pieces on a frame, and records the areas that the mouse can hit.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};

use super::text;
use super::theme::Theme;
pub use crate::tui::model::Row;
use crate::tui::model::{Spot, Tone};

pub fn piece(text: impl Into<String>, tone: Tone) -> (String, Tone) {
    (text::clean(&text.into()), tone)
}

pub fn row_width(row: &Row) -> usize {
    row.iter().map(|(text, _)| text::width(text)).sum()
}

/// Combines two rows, the second at the right edge. If the space is not enough, the first one is cut.
pub fn spread(left: Row, right: Row, most: usize) -> Row {
    let room = most.saturating_sub(row_width(&right) + usize::from(!right.is_empty()));
    let mut row = fitted(left, room);
    let gap = most.saturating_sub(row_width(&row) + row_width(&right));
    row.push((" ".repeat(gap), Tone::Plain));
    row.extend(right);
    row
}

/// The part of a row that fits.
pub fn fitted(row: Row, most: usize) -> Row {
    let mut left = most;
    let mut kept = Row::new();
    for (piece, tone) in row {
        if left == 0 {
            break;
        }
        let shown = text::cut(&piece, left);
        left -= text::width(&shown).min(left);
        let missing = shown != piece;
        kept.push((shown, tone));
        if missing {
            break;
        }
    }
    kept
}

pub struct Pen<'a> {
    pub buffer: &'a mut Buffer,
    pub theme: Theme,
    pub spots: Vec<(Rect, Spot)>,
    pub cursor: Option<Position>,
}

impl Pen<'_> {
    pub fn row(&mut self, x: u16, y: u16, most: u16, row: &Row) {
        self.row_in(x, y, most, row, Style::new());
    }

    /// Draws a row with an additional style.
    fn row_in(&mut self, x: u16, y: u16, most: u16, row: &Row, over: Style) {
        if !self.buffer.area.contains(Position::new(x, y)) {
            return;
        }
        let end = x.saturating_add(most).min(self.buffer.area.right());
        let mut at = x;
        for (piece, tone) in row {
            let room = usize::from(end.saturating_sub(at));
            let style = self.theme.style(*tone).patch(over);
            at = self.buffer.set_stringn(at, y, text::cut(piece, room), room, style).0;
        }
    }

    /// Draws a row over the whole width; a selected one is drawn in reverse.
    pub fn bar(&mut self, x: u16, y: u16, most: u16, row: &Row, selected: bool) {
        let over = if selected { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
        let filled = spread(row.clone(), Row::new(), usize::from(most));
        self.row_in(x, y, most, &filled, over);
    }

    pub fn text(&mut self, x: u16, y: u16, most: u16, text: &str, tone: Tone) {
        self.row(x, y, most, &vec![piece(text, tone)]);
    }

    pub fn spot(&mut self, area: Rect, spot: Spot) {
        self.spots.push((area, spot));
    }

    pub fn clear(&mut self, area: Rect) {
        for y in area.top()..area.bottom().min(self.buffer.area.bottom()) {
            for x in area.left()..area.right().min(self.buffer.area.right()) {
                self.buffer[(x, y)].reset();
            }
        }
    }

    /// Draws a frame with a title in its upper edge.
    pub fn frame(&mut self, area: Rect, title: &str, tone: Tone) {
        if area.width < 2 || area.height < 2 {
            return;
        }
        let inside = usize::from(area.width - 2);
        let title = if title.is_empty() { String::new() } else { format!(" {} ", text::cut(title, inside.max(4) - 4)) };
        let rest = inside.saturating_sub(text::width(&title) + 1);
        let edge = if title.is_empty() { String::new() } else { "─".into() };
        let rest = if title.is_empty() { inside } else { rest };
        let top = vec![(format!("╭{edge}"), tone), piece(title, Tone::Head), (format!("{}╮", "─".repeat(rest)), tone)];
        self.row(area.x, area.y, area.width, &top);
        self.row(area.x, area.bottom() - 1, area.width, &vec![(format!("╰{}╯", "─".repeat(inside)), tone)]);
        for y in area.y + 1..area.bottom() - 1 {
            self.row(area.x, y, 1, &vec![("│".into(), tone)]);
            self.row(area.right() - 1, y, 1, &vec![("│".into(), tone)]);
        }
    }
}

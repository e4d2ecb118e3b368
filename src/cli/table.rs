//! Rows in aligned columns; one column is cut if the terminal is narrow.

use anstyle::Style;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::style::{self, paint};

pub struct Cell {
    text: String,
    style: Style,
}

pub fn cell(text: impl Into<String>, style: Style) -> Cell {
    Cell { text: clean(&text.into()), style }
}

/// Replaces control characters, which could move the cursor.
pub fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Renders rows. If they are wider than `width`, the column `flexible` is cut; if that is not enough, the columns in `spare`
/// are left out, in that order. Empty columns are left out.
pub fn render(heads: &[&str], flexible: usize, spare: &[usize], rows: &[Vec<Cell>], width: Option<usize>) -> String {
    let mut used: Vec<usize> = (0..heads.len()).filter(|&at| rows.iter().any(|row| !row[at].text.is_empty())).collect();
    let mut widths: Vec<usize> = heads.iter().map(|head| head.width()).collect();
    for row in rows {
        for &at in &used {
            widths[at] = widths[at].max(row[at].text.width());
        }
    }
    if let Some(width) = width {
        let others =
            |used: &[usize]| -> usize { used.iter().filter(|&&at| at != flexible).map(|&at| widths[at] + 2).sum() };
        let wanted = widths[flexible].min(24);
        for gone in spare {
            if others(&used) + wanted > width {
                used.retain(|at| at != gone);
            }
        }
        widths[flexible] = widths[flexible].min(width.saturating_sub(others(&used)).max(8));
    }
    let head: Vec<Cell> = heads.iter().map(|head| cell(*head, style::DIM)).collect();
    let mut text = String::new();
    for row in std::iter::once(&head).chain(rows) {
        text.push_str(&line(row, &used, &widths));
    }
    text
}

fn line(row: &[Cell], used: &[usize], widths: &[usize]) -> String {
    let mut text = String::new();
    for (place, &at) in used.iter().enumerate() {
        let shown = cut(&row[at].text, widths[at]);
        let last = place + 1 == used.len();
        let pad = if last { 0 } else { widths[at].saturating_sub(shown.width()) + 2 };
        if !shown.is_empty() {
            text.push_str(&paint(row[at].style, &shown));
        }
        text.extend(std::iter::repeat_n(' ', pad));
    }
    format!("{}\n", text.trim_end())
}

/// At most `width` columns of a text, with an ellipsis if it was cut.
pub fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut shown = String::new();
    let mut used = 0;
    for c in text.chars() {
        let wide = c.width().unwrap_or(0);
        if used + wide + 1 > width {
            break;
        }
        used += wide;
        shown.push(c);
    }
    shown.push('…');
    shown
}

#[cfg(test)]
mod tests {
    use super::super::door::shown;
    use super::*;

    #[test]
    fn wide_characters_take_two_columns_and_the_title_gives_way() {
        let rows = vec![
            vec![cell("a", style::PLAIN), cell("日本語のタイトル", style::PLAIN), cell("x", style::PLAIN)],
            vec![cell("bb", style::PLAIN), cell("short", style::PLAIN), cell("y", style::PLAIN)],
        ];
        let text = shown(&render(&["ID", "TITLE", "L"], 1, &[], &rows, Some(20)), false);
        assert_eq!(text, "ID  TITLE          L\na   日本語のタイ…  x\nbb  short          y\n");
        assert!(text.lines().all(|line| line.width() <= 20));
    }

    #[test]
    fn where_the_title_would_have_no_room_other_columns_go() {
        let rows = vec![vec![
            cell("a", style::PLAIN),
            cell("A title of some length", style::PLAIN),
            cell("somebody", style::PLAIN),
        ]];
        let text = |width| shown(&render(&["ID", "TITLE", "OWNER"], 1, &[2], &rows, Some(width)), false);
        assert!(text(60).contains("somebody"));
        assert!(!text(26).contains("somebody") && text(26).contains("A title of some length"));
    }

    #[test]
    fn a_column_that_nobody_fills_is_left_out_and_escapes_do_nothing() {
        let rows = vec![vec![cell("a\u{1b}[2J", style::PLAIN), cell("", style::PLAIN)]];
        assert_eq!(shown(&render(&["ID", "OWNER"], 0, &[], &rows, None), false), "ID\na [2J\n");
    }
}

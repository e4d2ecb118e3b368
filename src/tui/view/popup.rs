//! Popups: a frame over the screen with an input, entries to choose from, and a message.

use ratatui::layout::{Position, Rect};

use super::card;
use super::pen::{Pen, Row, piece, spread};
use super::text;
use crate::tui::keys;
use crate::tui::model::{Entry, Lines, Model, Popup, Purpose, Spot, Tone};

const WIDEST: u16 = 78;

pub fn draw(pen: &mut Pen<'_>, model: &Model, area: Rect) {
    let Some(popup) = &model.popup else { return };
    if popup.purpose == Purpose::Help {
        return help(pen, popup, area);
    }
    let width = area.width.saturating_sub(4).min(WIDEST);
    let inside = usize::from(width).saturating_sub(4);
    let said = said(popup, inside);
    let (typed, place) = typed(popup, inside, usize::from(area.height));
    let entries = listed(popup, inside, usize::from(area.height).saturating_sub(said.len() + typed.len() + 4));
    let height = (typed.len() + entries.len() + said.len()) as u16 + 2;
    let frame = centred(area, width, height.max(3));
    pen.clear(frame);
    pen.frame(frame, &popup.title, Tone::Accent);
    pen.spot(frame, Spot::Popup);
    if let Some((line, column)) = place {
        pen.cursor = Some(Position::new(frame.x + 2 + column as u16, frame.y + 1 + line as u16));
    }
    let plain = |row: Row| (row, None);
    let rows = typed.into_iter().map(plain).chain(entries).chain(said.into_iter().map(plain));
    // Lines that do not fit into the frame are left out, because the keys are below it.
    for ((row, place), y) in rows.zip(frame.y + 1..frame.bottom() - 1) {
        pen.bar(frame.x + 2, y, inside as u16, &row, place.is_some_and(|place| place == popup.at));
        if let Some(place) = place {
            pen.spot(Rect { x: frame.x + 1, y, width: width - 2, height: 1 }, Spot::Entry(place));
        }
    }
}

fn centred(area: Rect, width: u16, height: u16) -> Rect {
    let height = height.min(area.height);
    Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 3, width, height }
}

fn said(popup: &Popup, width: usize) -> Vec<Row> {
    let mut rows = popup.said.as_ref().map(|said| card::refusal(said, width)).unwrap_or_default();
    if popup.purpose == Purpose::Move && popup.said.is_none() {
        // Always two lines, so that the frame does not move.
        let against = popup.entries.get(popup.at).and_then(|entry| entry.against.as_deref());
        let lines = text::wrap_in(&text::clean(against.unwrap_or_default()), width, 2);
        rows = lines.into_iter().map(|line| vec![piece(line, Tone::Dim)]).collect();
        rows.resize(2, Row::new());
    }
    if popup.waits.is_some() {
        rows = vec![vec![piece("…", Tone::Dim)]];
    }
    if !rows.is_empty() {
        rows.insert(0, Row::new());
    }
    rows
}

type PopupPlace = Option<(usize, usize)>;

/// The input with a line below it, and the position of the cursor.
fn typed(popup: &Popup, width: usize, height: usize) -> (Vec<Row>, PopupPlace) {
    let Some(input) = &popup.input else { return (Vec::new(), None) };
    let (lines, (line, column)) = text::typed(input.text(), input.before(), width.saturating_sub(3));
    let room = if input.lines == Lines::Many { (height / 2).max(3) } else { 2 };
    let top = (line + 1).saturating_sub(room);
    let lead = |at: usize| if at == 0 { "› " } else { "  " };
    let row = |(at, line): (usize, &String)| vec![piece(lead(at), Tone::Accent), piece(line.clone(), Tone::Plain)];
    let mut rows: Vec<Row> = lines.iter().enumerate().skip(top).take(room).map(row).collect();
    if input.lines == Lines::Many {
        rows.resize(rows.len().max(4), Row::new());
    }
    let hint = match popup.purpose {
        Purpose::Filter => "state: label: owner: priority: estimate: parent: role: · ready blocked mine",
        Purpose::Search => "titles, labels, descriptions and notes",
        Purpose::Block => "part of its id or title",
        Purpose::Add => "the title of the new task",
        _ => "",
    };
    if !hint.is_empty() {
        rows.push(vec![piece(hint, Tone::Dim)]);
    }
    (rows, Some((line - top, column + 2)))
}

/// The entries around the selected one.
fn listed(popup: &Popup, width: usize, room: usize) -> Vec<(Row, Option<usize>)> {
    let none = match popup.purpose {
        Purpose::Move if popup.said.is_none() => "…",
        Purpose::Block => "no task matches",
        Purpose::Search if popup.input.as_ref().is_some_and(|input| !input.is_empty()) => "no task matches",
        _ => "",
    };
    if popup.entries.is_empty() {
        return if none.is_empty() { Vec::new() } else { vec![(vec![piece(none, Tone::Dim)], None)] };
    }
    let room = room.clamp(1, 14);
    let top = popup.at.saturating_sub(room / 2).min(popup.entries.len().saturating_sub(room));
    let names = popup.entries.iter().skip(top).take(room).map(|entry| text::width(&entry.name)).max().unwrap_or(0);
    let row = |(at, entry)| (entry_row(entry, names.min(24), width), Some(at));
    popup.entries.iter().enumerate().skip(top).take(room).map(row).collect()
}

fn entry_row(entry: &Entry, names: usize, width: usize) -> Row {
    let tone = |tone| if entry.against.is_some() { Tone::Dim } else { tone };
    let name = text::cut(&text::clean(&entry.name), names);
    let gap = " ".repeat(names.saturating_sub(text::width(&name)));
    let mut row = Row::new();
    if !entry.mark.is_empty() {
        row.push(piece(format!("{} ", entry.mark), tone(Tone::Accent)));
    }
    row.push(piece(format!("{name}{gap}  "), tone(if entry.tone == Tone::Plain { Tone::Head } else { entry.tone })));
    row.push(piece(entry.text.clone(), tone(Tone::Plain)));
    spread(row, vec![piece(entry.more.clone(), Tone::Dim)], width)
}

fn help(pen: &mut Pen<'_>, popup: &Popup, area: Rect) {
    let group = |(name, keys): &(&str, &[(&str, &str)])| -> Vec<Row> {
        let line = |(key, does): &(&str, &str)| {
            let gap = " ".repeat(16_usize.saturating_sub(text::width(key)));
            vec![piece(format!("{key}{gap}"), Tone::Accent), piece(*does, Tone::Plain)]
        };
        let head = vec![piece(*name, Tone::Head)];
        std::iter::once(head).chain(keys.iter().map(line)).chain(std::iter::once(Row::new())).collect()
    };
    let groups: Vec<Vec<Row>> = keys::HELP.iter().map(group).collect();
    let two = area.width >= 116;
    let columns: Vec<Vec<Row>> = match two {
        true => vec![groups[..2].concat(), groups[2..].concat()],
        false => vec![groups.concat()],
    };
    let longest = columns.iter().map(Vec::len).max().unwrap_or(0);
    let width = if two { 112 } else { area.width.saturating_sub(4).min(68) };
    let frame = centred(area, width, (longest as u16 + 2).min(area.height));
    pen.clear(frame);
    pen.frame(frame, &popup.title, Tone::Accent);
    pen.spot(frame, Spot::Popup);
    let room = usize::from(frame.height).saturating_sub(2);
    let top = popup.at.min(longest.saturating_sub(room));
    let each = (width - 4) / columns.len() as u16;
    for (place, rows) in columns.iter().enumerate() {
        for (at, row) in rows.iter().skip(top).take(room).enumerate() {
            pen.row(frame.x + 2 + each * place as u16, frame.y + 1 + at as u16, each, row);
        }
    }
    if longest > room + top {
        pen.text(frame.right() - 6, frame.bottom() - 1, 5, " ↓ j ", Tone::Accent);
    }
}

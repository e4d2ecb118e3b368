//! The mouse: clicks, the wheel, and dragging cards between columns.

use std::time::{Duration, Instant};

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

use super::{popup, screens};
use crate::task::TaskId;
use crate::tui::keys::Motion;
use crate::tui::model::{Drag, Model, Screen, Spot, Verb, Wish};

const DOUBLE: Duration = Duration::from_millis(400);

pub fn mouse(model: &mut Model, event: MouseEvent, at: Instant) -> Vec<Wish> {
    let here = Position::new(event.column, event.row);
    let spot = model.drawn.spot(here).cloned();
    match event.kind {
        MouseEventKind::Down(MouseButton::Left) => {
            let again = model.click.replace((at, here));
            let double = again.is_some_and(|(before, there)| there == here && at.duration_since(before) < DOUBLE);
            model.drag = None;
            press(model, spot, double, at)
        }
        MouseEventKind::Drag(MouseButton::Left) => {
            // A drag is not a click.
            model.click = None;
            let over = spot.and_then(column);
            if let Some(drag) = &mut model.drag {
                drag.over = over;
            }
            Vec::new()
        }
        MouseEventKind::Up(MouseButton::Left) => drop_card(model, spot),
        MouseEventKind::ScrollDown => wheel(model, spot, 1),
        MouseEventKind::ScrollUp => wheel(model, spot, -1),
        _ => Vec::new(),
    }
}

fn column(spot: Spot) -> Option<usize> {
    match spot {
        Spot::Card(column, _) | Spot::Column(column) | Spot::Head(column) => Some(column),
        _ => None,
    }
}

fn press(model: &mut Model, spot: Option<Spot>, double: bool, at: Instant) -> Vec<Wish> {
    match spot {
        Some(Spot::Key(key)) => super::key(model, key, at),
        Some(Spot::Entry(entry)) => {
            if let Some(popup) = &mut model.popup {
                popup.select(entry);
            }
            popup::choose(model)
        }
        Some(Spot::Popup) => Vec::new(),
        // A click outside of a popup closes it.
        _ if model.popup.is_some() => super::key(model, KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE), at),
        Some(Spot::Card(_, task)) => pick_card(model, task, double),
        Some(Spot::Head(column) | Spot::Column(column)) if is_filled(model, column) => {
            model.cursor.column = column;
            Vec::new()
        }
        Some(Spot::Head(_) | Spot::Column(_) | Spot::Folded) => super::say(model, "no task is in this state"),
        Some(Spot::Row(row)) => pick_row(model, row, double),
        None => Vec::new(),
    }
}

fn pick_card(model: &mut Model, task: TaskId, double: bool) -> Vec<Wish> {
    (model.notice, model.expected) = (None, None);
    let Some(place) = model.board.find(&task) else { return Vec::new() };
    model.cursor.put(place);
    if double {
        return screens::enter(model);
    }
    model.drag = Some(Drag { task, from: place.0, over: None });
    Vec::new()
}

fn is_filled(model: &Model, column: usize) -> bool {
    model.board.columns.get(column).is_some_and(|column| !column.tasks.is_empty())
}

fn pick_row(model: &mut Model, row: usize, double: bool) -> Vec<Wish> {
    let link = match model.screens.last_mut() {
        Some(Screen::Task(screen)) => {
            screen.link = Some(row);
            true
        }
        Some(Screen::Graph(chain)) => {
            chain.at = row;
            false
        }
        Some(Screen::Workers(workers)) => {
            workers.at = row;
            false
        }
        Some(Screen::Inbox(inbox)) => {
            inbox.at = row;
            false
        }
        Some(Screen::Review(review)) => {
            review.select(row);
            false
        }
        Some(Screen::Problems { at }) => {
            *at = row;
            false
        }
        _ => return Vec::new(),
    };
    if link || double { screens::enter(model) } else { Vec::new() }
}

fn drop_card(model: &mut Model, spot: Option<Spot>) -> Vec<Wish> {
    let Some(drag) = model.drag.take() else { return Vec::new() };
    if spot == Some(Spot::Folded) {
        return super::say(model, "this column contains several states: press m to choose one");
    }
    match spot.and_then(column).filter(|to| *to != drag.from).and_then(|to| model.board.columns.get(to)) {
        Some(column) => {
            vec![Wish::Do(Verb::Move { task: drag.task, to: column.state.to_string(), insist: false })]
        }
        None => Vec::new(),
    }
}

fn wheel(model: &mut Model, spot: Option<Spot>, by: isize) -> Vec<Wish> {
    if let Some(popup) = &mut model.popup {
        popup.step(by);
        return Vec::new();
    }
    let motion = if by > 0 { Motion::Down } else { Motion::Up };
    let text = matches!(model.screens.last(), Some(Screen::Task(_) | Screen::DocumentPage(_) | Screen::Review(_)));
    if let Some(column) = spot.and_then(column).filter(|at| is_filled(model, *at)) {
        model.cursor.column = column;
    }
    for _ in 0..if text { 3 } else { 1 } {
        screens::motion(model, motion);
    }
    Vec::new()
}

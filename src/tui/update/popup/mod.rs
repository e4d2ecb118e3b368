//! Popups: handles typing, and closes them without losing the text.

mod choose;
mod open;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::tui::keys::{HELP, Motion};
use crate::tui::model::{Lines, Model, Popup, Purpose, Read, Settle, Wish};
use choose::moved;
pub use choose::{EDIT_AGAIN, LEAVE, SAVE_ANYWAY, choose, found};
use open::fill;
pub use open::{answer, block, comment, move_menu, note, open, reject, unblock};

pub fn paste(model: &mut Model, text: &str) -> Vec<Wish> {
    let popup = model.popup.as_mut().filter(|popup| !popup.is_busy());
    let Some(input) = popup.and_then(|popup| popup.input.as_mut()) else { return Vec::new() };
    input.paste(text);
    typed(model)
}

pub fn key(model: &mut Model, key: KeyEvent) -> Vec<Wish> {
    let Some(popup) = model.popup.as_mut() else { return Vec::new() };
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let typing = popup.input.is_some();
    match key.code {
        KeyCode::Esc => return close(model),
        _ if popup.is_busy() => return Vec::new(),
        KeyCode::Char('q' | '?') if !typing => return close(model),
        KeyCode::Char('s') if control && popup.purpose == Purpose::Note => return choose(model),
        KeyCode::Char('e') if control && popup.purpose == Purpose::Note => return to_editor(model),
        KeyCode::Enter if popup.purpose != Purpose::Note => return choose(model),
        KeyCode::Char('F') if !typing && popup.said.as_ref().is_some_and(|said| said.insist) => {
            return moved(popup, true);
        }
        KeyCode::Down => popup.step(1),
        KeyCode::Up => popup.step(-1),
        KeyCode::PageDown => popup.step(8),
        KeyCode::PageUp => popup.step(-8),
        KeyCode::Char('n' | 'j') if control && popup.purpose != Purpose::Note => popup.step(1),
        KeyCode::Char('p' | 'k') if control => popup.step(-1),
        KeyCode::Char('j') if !typing => popup.step(1),
        KeyCode::Char('k') if !typing => popup.step(-1),
        KeyCode::Char('g') if !typing => popup.select(0),
        KeyCode::Char('G') if !typing => popup.step(isize::MAX / 2),
        _ => {}
    }
    if popup.purpose == Purpose::Help {
        scroll_help(popup, key);
    }
    if edit(popup, key, control) { typed(model) } else { Vec::new() }
}

/// Scrolls the help. It has no entries, so the position is the scroll offset.
fn scroll_help(popup: &mut Popup, key: KeyEvent) {
    let by = Motion::of(key).and_then(|motion| motion.lines(10)).unwrap_or(0);
    let lines: usize = HELP.iter().map(|(_, keys)| keys.len() + 2).sum();
    popup.at = popup.at.saturating_add_signed(by).min(lines);
}

/// Edits the text; returns whether it has changed.
fn edit(popup: &mut Popup, key: KeyEvent, control: bool) -> bool {
    let Some(input) = popup.input.as_mut() else { return false };
    let before = input.text().to_owned();
    match key.code {
        KeyCode::Char('a') if control => input.home(),
        KeyCode::Char('e') if control => input.end(),
        KeyCode::Char('u') if control => input.rub_line(),
        KeyCode::Char('w') if control => input.rub_word(),
        KeyCode::Char('j') if control && input.lines == Lines::Many => input.put('\n'),
        KeyCode::Char(_) if control => {}
        KeyCode::Char(c) => input.put(c),
        KeyCode::Enter if input.lines == Lines::Many => input.put('\n'),
        KeyCode::Backspace => input.backspace(),
        KeyCode::Delete => input.delete(),
        KeyCode::Left => input.left(),
        KeyCode::Right => input.right(),
        KeyCode::Home => input.home(),
        KeyCode::End => input.end(),
        KeyCode::Up if input.lines == Lines::Many => input.up(),
        KeyCode::Down if input.lines == Lines::Many => input.down(),
        _ => {}
    }
    input.text() != before
}

/// Handles a change of the text.
fn typed(model: &mut Model) -> Vec<Wish> {
    let Some(popup) = model.popup.as_mut() else { return Vec::new() };
    (popup.said, popup.waits) = (None, None);
    let text = popup.typed().to_owned();
    match popup.purpose {
        Purpose::Filter => {
            model.filter = text;
            vec![Wish::Read(Read::Board { filter: model.filter.clone() })]
        }
        Purpose::Search => {
            // The old results do not match the new text, and must not be chosen by mistake.
            popup.entries.clear();
            if text.trim().is_empty() { Vec::new() } else { vec![Wish::Read(Read::Search(text))] }
        }
        Purpose::Block => {
            fill(model);
            Vec::new()
        }
        _ => Vec::new(),
    }
}

/// Closes a popup but keeps an unfinished text: a note is shown again by its key, a file is kept.
fn close(model: &mut Model) -> Vec<Wish> {
    let Some(popup) = model.popup.take() else { return Vec::new() };
    match (popup.purpose, popup.task.clone()) {
        (Purpose::Note, Some(task)) if !popup.typed().trim().is_empty() => {
            model.unsaved.insert(task.clone(), popup.typed().to_owned());
            if popup.is_busy() {
                return Vec::new();
            }
            super::say(model, &format!("the note on {task} was not saved: press n to continue it"))
        }
        (Purpose::Edited, Some(task)) => vec![Wish::Settle(task, Settle::Leave)],
        (Purpose::Filter, _) if model.filter != popup.before => {
            model.filter = popup.before;
            model.reload()
        }
        _ => Vec::new(),
    }
}

fn to_editor(model: &mut Model) -> Vec<Wish> {
    let popup = model.popup.as_ref();
    let note = popup.and_then(|popup| Some((popup.task.clone()?, popup.typed().to_owned())));
    note.map(|(task, text)| Wish::Compose(task, text)).into_iter().collect()
}

//! Popups: opened, typed into, chosen from, closed.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::task::TaskId;
use crate::tui::model::{Entry, Lines, Model, Named, Popup, Purpose, Read, Screen, Settle, Verb, Wish};
use crate::tui::words;

/// As many as anybody looks through before they type another letter.
const MOST: usize = 200;

pub fn open(model: &mut Model, popup: Popup) -> Vec<Wish> {
    model.popup = Some(popup);
    Vec::new()
}

pub fn move_menu(model: &mut Model, task: TaskId) -> Vec<Wish> {
    model.popup = Some(Popup::new(Purpose::Move, format!("move {task}")).of(task.clone()));
    vec![Wish::Read(Read::Offers(task))]
}

pub fn note(model: &mut Model, task: TaskId) -> Vec<Wish> {
    let begun = model.unsaved.remove(&task).unwrap_or_default();
    open(model, Popup::new(Purpose::Note, format!("note on {task}")).of(task).typing(&begun, Lines::Many))
}

pub fn block(model: &mut Model, task: TaskId) -> Vec<Wish> {
    model.popup = Some(Popup::new(Purpose::Block, format!("{task} waits for …")).of(task).typing("", Lines::One));
    fill(model);
    Vec::new()
}

pub fn unblock(model: &mut Model, task: TaskId) -> Vec<Wish> {
    let place = model.board.find(&task);
    let shown = place.map(|(column, row)| model.board.columns[column].tasks[row].blocked_by.clone());
    let page = match model.screens.last() {
        Some(Screen::Task(screen)) => screen.page.as_ref().map(|page| page.shown.task.blocked_by.clone()),
        _ => None,
    };
    let blockers = page.or(shown).unwrap_or_default();
    if blockers.is_empty() {
        return super::say(model, &format!("{task} waits for nothing"));
    }
    let unknown = |id: &TaskId| Entry { mark: "?", name: id.to_string(), ..Entry::default() };
    let entry = |id: &TaskId| {
        model.board.all.iter().find(|named| named.id == *id).map_or_else(|| unknown(id), |named| picked(named))
    };
    let mut popup = Popup::new(Purpose::Unblock, format!("{task} waits no longer for …")).of(task);
    popup.entries = blockers.iter().map(entry).collect();
    open(model, popup)
}

fn picked(named: &Named) -> Entry {
    Entry {
        name: named.id.to_string(),
        text: named.title.clone(),
        more: named.state.to_string(),
        tone: words::of_meaning(named.meaning),
        ..Entry::default()
    }
}

/// What fits the words typed so far, in ids and titles.
fn fill(model: &mut Model) {
    let Some(popup) = model.popup.as_mut().filter(|popup| popup.purpose == Purpose::Block) else { return };
    let words: Vec<String> = popup.typed().to_lowercase().split_whitespace().map(str::to_owned).collect();
    let fits = |named: &&Named| {
        let text = format!("{} {}", named.id, named.title).to_lowercase();
        words.iter().all(|word| text.contains(word))
    };
    let others = model.board.all.iter().filter(|named| popup.task.as_ref() != Some(&named.id));
    popup.entries = others.filter(fits).take(MOST).map(picked).collect();
    popup.at = 0;
}

pub fn paste(model: &mut Model, text: &str) -> Vec<Wish> {
    let Some(input) = model.popup.as_mut().and_then(|popup| popup.input.as_mut()) else { return Vec::new() };
    input.paste(text);
    typed(model)
}

pub fn key(model: &mut Model, key: KeyEvent) -> Vec<Wish> {
    let Some(popup) = model.popup.as_mut() else { return Vec::new() };
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let typing = popup.input.is_some();
    match key.code {
        KeyCode::Esc => return close(model),
        KeyCode::Char('q' | '?') if !typing && popup.purpose == Purpose::Help => return close(model),
        KeyCode::Char('q') if !typing => return close(model),
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
        KeyCode::Char('g') if !typing => popup.at = 0,
        KeyCode::Char('G') if !typing => popup.step(isize::MAX / 2),
        _ => {}
    }
    if popup.purpose == Purpose::Help {
        scroll_help(popup, key);
    }
    if edit(popup, key, control) { typed(model) } else { Vec::new() }
}

/// The help has no entries: where it is says how far it is scrolled.
fn scroll_help(popup: &mut Popup, key: KeyEvent) {
    let by = crate::tui::keys::Motion::of(key).and_then(|motion| motion.lines(10)).unwrap_or(0);
    popup.at = popup.at.saturating_add_signed(by).min(60);
}

/// Whether the text has changed.
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

/// What follows from another letter.
fn typed(model: &mut Model) -> Vec<Wish> {
    let Some(popup) = model.popup.as_mut() else { return Vec::new() };
    (popup.said, popup.waits) = (None, false);
    let text = popup.typed().to_owned();
    match popup.purpose {
        Purpose::Filter => {
            model.filter = text;
            vec![Wish::Read(Read::Board { filter: model.filter.clone() })]
        }
        Purpose::Search if text.trim().is_empty() => {
            popup.entries.clear();
            Vec::new()
        }
        Purpose::Search => vec![Wish::Read(Read::Search(text))],
        Purpose::Block => {
            fill(model);
            Vec::new()
        }
        _ => Vec::new(),
    }
}

/// What was begun is kept: a note comes back with its key, a file stays where it is.
fn close(model: &mut Model) -> Vec<Wish> {
    let Some(popup) = model.popup.take() else { return Vec::new() };
    match (popup.purpose, popup.task.clone()) {
        (Purpose::Note, Some(task)) if !popup.typed().trim().is_empty() => {
            model.unsaved.insert(task.clone(), popup.typed().to_owned());
            super::say(model, &format!("the note on {task} is not saved: n goes on with it"))
        }
        (Purpose::Edited, _) => vec![Wish::Settle(Settle::Leave)],
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

pub fn choose(model: &mut Model) -> Vec<Wish> {
    let Some(popup) = model.popup.as_mut() else { return Vec::new() };
    if popup.waits {
        return Vec::new();
    }
    let chosen = popup.entries.get(popup.at).and_then(|entry| TaskId::new(entry.name.clone()).ok());
    match (popup.purpose, popup.task.clone(), chosen) {
        (Purpose::Move, ..) => moved(popup, false),
        (Purpose::Block, Some(task), Some(on)) => wait_for(popup, Verb::Block { task, on }),
        (Purpose::Unblock, Some(task), Some(from)) => wait_for(popup, Verb::Unblock { task, from }),
        (Purpose::Note, Some(task), _) => {
            let text = popup.typed().to_owned();
            wait_for(popup, Verb::Note { task, text })
        }
        (Purpose::Add, ..) => {
            let title = popup.typed().to_owned();
            wait_for(popup, Verb::Add { title })
        }
        (Purpose::Search, _, Some(id)) => {
            model.popup = None;
            if let Some(place) = model.board.find(&id) {
                model.cursor.put(place);
            }
            model.open_task(id)
        }
        (Purpose::Filter, ..) => {
            if model.filter == model.board.filter {
                model.popup = None;
            } else {
                popup.waits = true;
            }
            Vec::new()
        }
        (Purpose::Edited, ..) => settled(model),
        (Purpose::Help, ..) => close(model),
        _ => Vec::new(),
    }
}

fn wait_for(popup: &mut Popup, verb: Verb) -> Vec<Wish> {
    (popup.waits, popup.said) = (true, None);
    vec![Wish::Do(verb)]
}

fn moved(popup: &mut Popup, insist: bool) -> Vec<Wish> {
    let to = popup.entries.get(popup.at).map(|entry| entry.name.clone());
    match (popup.task.clone(), to) {
        (Some(task), Some(to)) => wait_for(popup, Verb::Move { task, to, insist }),
        _ => Vec::new(),
    }
}

fn settled(model: &mut Model) -> Vec<Wish> {
    let chosen = model.popup.take().and_then(|popup| popup.entries.get(popup.at).map(|entry| entry.name.clone()));
    let settle = match chosen.as_deref() {
        Some(EDIT_AGAIN) => Settle::EditAgain,
        Some(SAVE_ANYWAY) => Settle::SaveAnyway,
        _ => Settle::Leave,
    };
    vec![Wish::Settle(settle)]
}

pub const EDIT_AGAIN: &str = "edit again";
pub const SAVE_ANYWAY: &str = "save as it is";
pub const LEAVE: &str = "leave it";

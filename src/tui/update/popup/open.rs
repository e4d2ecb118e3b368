//! Popups as they are opened, with what there is to choose from.

use crate::task::TaskId;
use crate::tui::model::{Entry, Lines, Model, Named, Popup, Purpose, Read, Screen, Wish};
use crate::tui::words;

/// As many as anybody looks through before they type another letter.
const MOST: usize = 200;

pub fn open(model: &mut Model, popup: Popup) -> Vec<Wish> {
    model.popup = Some(popup);
    Vec::new()
}

pub fn move_menu(model: &mut Model, task: TaskId) -> Vec<Wish> {
    model.popup = Some(Popup::new(Purpose::Move, format!("move {task}")).of(task.clone()));
    vec![Wish::Read(Read::Targets(task))]
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
        return crate::tui::update::say(model, &format!("{task} waits for nothing"));
    }
    let unknown = |id: &TaskId| Entry { mark: "?", name: id.to_string(), ..Entry::default() };
    let entry = |id: &TaskId| model.board.all.iter().find(|named| named.id == *id).map_or_else(|| unknown(id), picked);
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
pub(super) fn fill(model: &mut Model) {
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

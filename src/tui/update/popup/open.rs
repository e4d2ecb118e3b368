//! Opens popups and fills their choices.

use crate::task::TaskId;
use crate::tui::model::{Entry, Lines, Model, Named, Popup, Purpose, Read, Screen, Wish};
use crate::tui::words;

/// The maximum number of entries; typing more letters narrows them.
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

/// Offers the choices of the question, and an input for another answer.
pub fn answer(model: &mut Model, task: TaskId) -> Vec<Wish> {
    let question = match model.screens.last() {
        Some(Screen::Inbox(inbox)) => inbox.selected().and_then(|item| item.question.clone()),
        Some(Screen::Review(review)) => review.page.as_ref().and_then(|page| page.question.clone()),
        _ => None,
    };
    let mut popup = Popup::new(Purpose::Answer, format!("answer {task}")).of(task).typing("", Lines::One);
    for option in question.iter().flat_map(|question| &question.options) {
        let recommended = question.as_ref().and_then(|question| question.recommend.as_ref()) == Some(option);
        let text = if recommended { "recommended".to_owned() } else { String::new() };
        popup.entries.push(Entry { mark: "→", name: option.clone(), text, ..Entry::default() });
    }
    popup.at = popup.entries.iter().position(|entry| !entry.text.is_empty()).unwrap_or(0);
    open(model, popup)
}

pub fn reject(model: &mut Model, task: TaskId) -> Vec<Wish> {
    let with = match model.comments.get(&task).map_or(0, |comments| comments.len()) {
        0 => String::new(),
        many => format!(" with {}", words::count(many, "comment")),
    };
    let title = format!("reject {task}{with}: what has to change?");
    open(model, Popup::new(Purpose::Reject, title).of(task).typing("", Lines::One))
}

/// Opens the comment on the selected line; an existing comment can be changed.
pub fn comment(model: &mut Model, task: TaskId) -> Vec<Wish> {
    let Some(Screen::Review(review)) = model.screens.last_mut() else { return Vec::new() };
    let Some(place) = review.place() else {
        return crate::tui::update::say(model, "select a line of the plan or of the changes first");
    };
    let before = model.comments.get(&task).and_then(|comments| comments.get(&place)).cloned().unwrap_or_default();
    let title = format!("comment on line {} of {}", place.1, place.0);
    review.commenting = Some(place);
    open(model, Popup::new(Purpose::Comment, title).of(task).typing(&before, Lines::One))
}

pub fn block(model: &mut Model, task: TaskId) -> Vec<Wish> {
    model.popup = Some(Popup::new(Purpose::Block, format!("add a blocker to {task}")).of(task).typing("", Lines::One));
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
        return crate::tui::update::say(model, &format!("{task} has no blockers"));
    }
    let unknown = |id: &TaskId| Entry { mark: "?", name: id.to_string(), ..Entry::default() };
    let entry = |id: &TaskId| model.board.all.iter().find(|named| named.id == *id).map_or_else(|| unknown(id), picked);
    let mut popup = Popup::new(Purpose::Unblock, format!("remove a blocker from {task}")).of(task);
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

/// The tasks whose id or title matches the typed words.
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

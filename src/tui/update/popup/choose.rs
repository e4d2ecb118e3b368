//! Turns a choice or a typed text into a wish.

use super::close;
use crate::task::TaskId;
use crate::tui::model::{Model, Popup, Purpose, Read, Said, Screen, Settle, Verb, Wish, line_comments};

pub fn choose(model: &mut Model) -> Vec<Wish> {
    let Some(popup) = model.popup.as_mut() else { return Vec::new() };
    if popup.waits.is_some() {
        return Vec::new();
    }
    let chosen = popup.entries.get(popup.at).and_then(|entry| TaskId::new(entry.name.clone()).ok());
    match (popup.purpose, popup.task.clone(), chosen) {
        (Purpose::Move, ..) => moved(popup, false),
        (Purpose::Block, Some(task), Some(on)) => wait_for(popup, Wish::Do(Verb::Block { task, on })),
        (Purpose::Unblock, Some(task), Some(from)) => wait_for(popup, Wish::Do(Verb::Unblock { task, from })),
        (Purpose::Note, Some(task), _) => {
            let text = popup.typed().to_owned();
            wait_for(popup, Wish::Do(Verb::Note { task, text }))
        }
        (Purpose::Answer, Some(task), _) => {
            let chosen = popup.entries.get(popup.at).map(|entry| entry.name.clone());
            let text = match popup.typed().trim() {
                "" => chosen.unwrap_or_default(),
                words => words.to_owned(),
            };
            wait_for(popup, Wish::Do(Verb::Answer { task, text }))
        }
        (Purpose::Reject, Some(task), _) => {
            let why = popup.typed().to_owned();
            let comments = model.comments.get(&task).map(line_comments).unwrap_or_default();
            wait_for(popup, Wish::Do(Verb::Reject { task, why, comments }))
        }
        (Purpose::Comment, Some(task), _) => {
            let text = popup.typed().trim().to_owned();
            commented(model, &task, text)
        }
        (Purpose::Add, ..) => {
            let title = popup.typed().to_owned();
            wait_for(popup, Wish::Do(Verb::Add { title }))
        }
        (Purpose::Search, _, Some(id)) => found(model, id),
        // If the results are not there yet, the first one is opened as soon as they are.
        (Purpose::Search, ..) if popup.typed().trim().is_empty() => Vec::new(),
        (Purpose::Search, ..) => {
            let read = Read::Search(popup.typed().to_owned());
            wait_for(popup, Wish::Read(read))
        }
        (Purpose::Filter, ..) if model.filter == model.board.filter => {
            model.popup = None;
            Vec::new()
        }
        (Purpose::Filter, ..) => wait_for(popup, Wish::Read(Read::Board { filter: model.filter.clone() })),
        (Purpose::Edited, ..) => settled(model),
        (Purpose::Help, ..) => close(model),
        _ => {
            popup.said = Some(Said::told("nothing is selected"));
            Vec::new()
        }
    }
}

/// Keeps a comment until the task is rejected; an empty comment is removed.
fn commented(model: &mut Model, task: &TaskId, text: String) -> Vec<Wish> {
    model.popup = None;
    let Some(Screen::Review(review)) = model.screens.last_mut() else { return Vec::new() };
    let Some(place) = review.commenting.take() else { return Vec::new() };
    let comments = model.comments.entry(task.clone()).or_default();
    match text.is_empty() {
        true => drop(comments.remove(&place)),
        false => drop(comments.insert(place, text)),
    }
    review.lay_out(comments);
    Vec::new()
}

/// Opens a task, and selects it on the board.
pub fn found(model: &mut Model, id: TaskId) -> Vec<Wish> {
    model.popup = None;
    if let Some(place) = model.board.find(&id) {
        model.cursor.put(place);
    }
    model.open_task(id)
}

fn wait_for(popup: &mut Popup, wish: Wish) -> Vec<Wish> {
    (popup.waits, popup.said) = (Some(wish.clone()), None);
    vec![wish]
}

pub(super) fn moved(popup: &mut Popup, insist: bool) -> Vec<Wish> {
    let to = popup.entries.get(popup.at).map(|entry| entry.name.clone());
    match (popup.task.clone(), to) {
        (Some(task), Some(to)) => wait_for(popup, Wish::Do(Verb::Move { task, to, insist })),
        _ => {
            popup.said = Some(Said::told("still loading: try again"));
            Vec::new()
        }
    }
}

fn settled(model: &mut Model) -> Vec<Wish> {
    let Some(popup) = model.popup.take() else { return Vec::new() };
    let settle = match popup.entries.get(popup.at).map(|entry| entry.name.as_str()) {
        Some(EDIT_AGAIN) => Settle::EditAgain,
        Some(SAVE_ANYWAY) => Settle::SaveAnyway,
        _ => Settle::Leave,
    };
    popup.task.map(|task| Wish::Settle(task, settle)).into_iter().collect()
}

pub const EDIT_AGAIN: &str = "edit again";
pub const SAVE_ANYWAY: &str = "save anyway";
pub const LEAVE: &str = "discard";

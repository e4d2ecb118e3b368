//! What was chosen or typed, as a wish.

use super::close;
use crate::task::TaskId;
use crate::tui::model::{Model, Popup, Purpose, Said, Settle, Verb, Wish};

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
        (Purpose::Search, _, Some(id)) => found(model, id),
        // Typed faster than it is read: the first one, as soon as it is there.
        (Purpose::Search, ..) => {
            popup.waits = !popup.typed().trim().is_empty();
            Vec::new()
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
        _ => {
            popup.said = Some(Said::told("nothing is selected"));
            Vec::new()
        }
    }
}

/// Opened, and selected on the board below.
pub fn found(model: &mut Model, id: TaskId) -> Vec<Wish> {
    model.popup = None;
    if let Some(place) = model.board.find(&id) {
        model.cursor.put(place);
    }
    model.open_task(id)
}

fn wait_for(popup: &mut Popup, verb: Verb) -> Vec<Wish> {
    (popup.waits, popup.said) = (true, None);
    vec![Wish::Do(verb)]
}

pub(super) fn moved(popup: &mut Popup, insist: bool) -> Vec<Wish> {
    let to = popup.entries.get(popup.at).map(|entry| entry.name.clone());
    match (popup.task.clone(), to) {
        (Some(task), Some(to)) => wait_for(popup, Verb::Move { task, to, insist }),
        _ => {
            popup.said = Some(Said::told("not read yet: try again"));
            Vec::new()
        }
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

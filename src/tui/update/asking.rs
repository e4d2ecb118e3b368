//! Questions about unsaved texts, which are asked once no popup is open.

use super::popup::{EDIT_AGAIN, LEAVE, SAVE_ANYWAY};
use crate::app::{Code, Failure};
use crate::task::TaskId;
use crate::tui::model::{Entry, Input, Lines, Model, Popup, Purpose, Said, Wish};

/// Opens the next question, but never over a popup, because keys for a text must not answer a question.
pub fn next(model: &mut Model) {
    if model.popup.is_none() {
        model.popup = model.questions.pop_front();
    }
}

/// Shows a refusal from before a verb was started.
pub fn refused(model: &mut Model, task: Option<TaskId>, failure: &Failure) {
    model.say(task, Said::refusal(failure));
}

/// Asks what to do with an edited file that was not saved.
pub fn unsaved(model: &mut Model, task: TaskId, failure: &Failure) {
    let choices: &[&str] = match failure.code {
        Code::BadValues => &[EDIT_AGAIN, SAVE_ANYWAY, LEAVE],
        _ => &[EDIT_AGAIN, LEAVE],
    };
    let text = |name: &str| match name {
        EDIT_AGAIN => "return to the editor with your text",
        SAVE_ANYWAY => "the board shows its problems",
        _ => "your text stays in a file; the task is unchanged",
    };
    let entry = |name: &&str| Entry { name: (*name).into(), text: text(name).into(), ..Entry::default() };
    let mut popup = Popup::new(Purpose::Edited, format!("{task} was not saved")).of(task);
    popup.said = Some(Said::refusal(failure));
    popup.entries = choices.iter().map(entry).collect();
    model.questions.push_back(popup);
    next(model);
}

/// Saves a note from the editor.
pub fn composed(model: &mut Model, task: TaskId, text: &str) -> Vec<Wish> {
    super::popup::note(model, task);
    if let Some(input) = model.popup.as_mut().and_then(|popup| popup.input.as_mut()) {
        *input = Input::new(text.trim_end(), Lines::Many);
    }
    if text.trim().is_empty() {
        model.popup = None;
        next(model);
        return super::say(model, "an empty note is not saved");
    }
    super::popup::choose(model)
}

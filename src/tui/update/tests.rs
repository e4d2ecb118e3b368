//! Keys and answers in every order: each answer comes to what asked for it, and nothing that was typed is lost.

use ratatui::crossterm::event::{KeyCode, KeyModifiers};

use super::{answer, unsaved};
use crate::app::{Doubts, Failure};
use crate::tui::made_up::{id, model, press, press_key};
use crate::tui::model::{Answer, Model, Purpose, Settle, Verb, Wish};

fn enter(model: &mut Model) -> Vec<Wish> {
    press_key(model, KeyCode::Enter, KeyModifiers::NONE)
}

fn esc(model: &mut Model) -> Vec<Wish> {
    press_key(model, KeyCode::Esc, KeyModifiers::NONE)
}

fn save(model: &mut Model) -> Vec<Wish> {
    press_key(model, KeyCode::Char('s'), KeyModifiers::CONTROL)
}

/// The one verb among the wishes.
fn verb(wishes: Vec<Wish>) -> Verb {
    let mut verbs = wishes.into_iter().filter_map(|wish| if let Wish::Do(verb) = wish { Some(verb) } else { None });
    verbs.next().expect("a verb is wished for")
}

fn done(model: &mut Model, verb: Verb) {
    let task = verb.task().cloned().unwrap_or_else(|| id("t-new"));
    answer(model, Answer::Done { verb, text: "done".into(), task });
}

fn refused(model: &mut Model, verb: Verb) {
    answer(model, Answer::Refused { verb, failure: Failure::refused("held", "somebody has it") });
}

fn typed(model: &Model) -> &str {
    model.popup.as_ref().map_or("", |popup| popup.typed())
}

#[test]
fn the_answer_to_a_claim_neither_closes_a_note_that_waits_nor_is_shown_in_it() {
    for end in [done, refused] {
        let mut model = model(&[2]);
        let claim = verb(press(&mut model, "c"));
        press(&mut model, "nhello");
        let note = verb(save(&mut model));
        end(&mut model, claim);
        assert_eq!(typed(&model), "hello");
        assert!(model.popup.as_ref().unwrap().said.is_none());
        assert_eq!(save(&mut model), [], "it is under way already");
        refused(&mut model, note);
        assert_eq!((typed(&model), model.popup.as_ref().unwrap().said.is_some()), ("hello", true));
        let note = verb(save(&mut model));
        done(&mut model, note);
        assert!(model.popup.is_none() && model.unsaved.is_empty());
    }
}

#[test]
fn what_is_typed_after_enter_does_not_add_a_second_task() {
    let mut model = model(&[1]);
    press(&mut model, "anew");
    let add = verb(enter(&mut model));
    press(&mut model, "x");
    assert_eq!(enter(&mut model), []);
    done(&mut model, add);
    assert!(model.popup.is_none());
}

#[test]
fn a_note_that_was_closed_while_it_was_saved_is_not_called_unsaved_afterwards() {
    let mut model = model(&[1]);
    press(&mut model, "nhello");
    let note = verb(save(&mut model));
    esc(&mut model);
    assert_eq!(model.unsaved.len(), 1, "it may still be refused");
    done(&mut model, note.clone());
    assert!(model.unsaved.is_empty());
    // The same, opened again meanwhile.
    press(&mut model, "nhello");
    save(&mut model);
    esc(&mut model);
    press(&mut model, "n");
    done(&mut model, note);
    assert!(model.popup.is_none() && model.unsaved.is_empty());
}

#[test]
fn a_question_waits_until_the_note_is_closed_and_is_about_its_own_task() {
    let mut model = model(&[3]);
    press(&mut model, "nhello");
    let save =
        |task: &str| Verb::Save { task: id(task), old: String::new(), new: String::new(), doubts: Doubts::Refuse };
    refused(&mut model, save("t-0x1"));
    refused(&mut model, save("t-0x2"));
    assert_eq!(typed(&model), "hello");
    esc(&mut model);
    assert_eq!(model.popup.as_ref().map(|popup| popup.purpose), Some(Purpose::Edited));
    assert_eq!(enter(&mut model), [Wish::Settle(id("t-0x1"), Settle::EditAgain)]);
    assert_eq!(esc(&mut model), [Wish::Settle(id("t-0x2"), Settle::Leave)]);
    assert!(model.popup.is_none());
}

#[test]
fn wrong_values_are_saved_after_a_yes_and_nothing_else_is() {
    let mut model = model(&[1]);
    let names = |model: &mut Model, code: &'static str| {
        unsaved(model, id("t-0x0"), &Failure::refused(code, "no"));
        model.popup.take().unwrap().entries.into_iter().map(|entry| entry.name).collect::<Vec<_>>()
    };
    assert_eq!(names(&mut model, crate::app::WRONG_VALUES), ["edit again", "save as it is", "leave it"]);
    assert_eq!(names(&mut model, "raced"), ["edit again", "leave it"]);
}

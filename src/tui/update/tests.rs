//! Keys and answers in any order: each answer is stored where it belongs, and no typed text is lost.

use ratatui::crossterm::event::{KeyCode, KeyModifiers};

use super::{answer, unsaved};
use crate::app::{Code, Doubts, Failure, Hint};
use crate::task::Problem;
use crate::tui::made_up::{id, model, press, press_key, task};
use crate::tui::model::{Answer, Model, Purpose, Read, Reading, Screen, SeenPage, Settle, Snapshot, Verb, Wish};

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
    answer(model, Answer::Refused { verb, failure: Failure::refused(Code::Held, "somebody has it") });
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
    // The same note is opened again meanwhile.
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
    let names = |model: &mut Model, code: Code| {
        unsaved(model, id("t-0x0"), &Failure::refused(code, "no"));
        model.popup.take().unwrap().entries.into_iter().map(|entry| entry.name).collect::<Vec<_>>()
    };
    assert_eq!(names(&mut model, Code::BadValues), ["edit again", "save anyway", "discard"]);
    assert_eq!(names(&mut model, Code::Raced), ["edit again", "discard"]);
}

#[test]
fn letters_with_control_or_alt_are_no_commands() {
    for letter in "creamnbuwqF".chars() {
        for modifiers in [KeyModifiers::CONTROL, KeyModifiers::ALT] {
            let mut model = model(&[2]);
            // Control-c quits; control-b and control-u scroll.
            if letter != 'c' || modifiers == KeyModifiers::ALT {
                assert_eq!(press_key(&mut model, KeyCode::Char(letter), modifiers), [], "{modifiers:?} {letter}");
                assert!(model.popup.is_none() && model.screens.is_empty(), "{modifiers:?} {letter}");
            }
        }
    }
}

fn board(model: &mut Model, edit: impl FnOnce(&mut Snapshot)) {
    let mut board = crate::tui::made_up::model(&[3, 3]).board;
    board.filter.clone_from(&model.filter);
    edit(&mut board);
    answer(model, Answer::Board(Box::new(board)));
}

#[test]
fn a_refused_filter_is_read_again_and_says_so_again() {
    let mut model = model(&[3, 3]);
    press(&mut model, "fno:such");
    let refuse = |model: &mut Model| {
        let read = Read::Board { filter: "no:such".into() };
        answer(model, Answer::Unread { read, failure: Failure::usage(Code::BadValue, "no such key") });
        assert!(model.popup.as_ref().unwrap().said.is_some());
    };
    refuse(&mut model);
    assert_eq!(enter(&mut model), [Wish::Read(Read::Board { filter: "no:such".into() })]);
    refuse(&mut model);
    assert_eq!(enter(&mut model).len(), 1, "and again");
}

#[test]
fn enter_after_nothing_was_found_searches_again() {
    let mut model = model(&[1]);
    press(&mut model, "/x");
    for _ in 0..2 {
        answer(&mut model, Answer::Read(Reading::Found { text: "x".into(), hits: Vec::new() }));
        assert_eq!(enter(&mut model), [Wish::Read(Read::Search("x".into()))]);
    }
}

#[test]
fn nobody_insists_on_another_move_than_the_one_that_was_refused() {
    let mut model = model(&[2]);
    press(&mut model, "m");
    let popup = model.popup.as_mut().unwrap();
    popup.entries =
        ["Doing", "Done"].map(|name| crate::tui::model::Entry { name: name.into(), ..Default::default() }).into();
    let refused = verb(enter(&mut model));
    let failure = Failure::refused(Code::NotAllowed, "no").hint(Hint::Force);
    answer(&mut model, Answer::Refused { verb: refused, failure });
    assert!(model.popup.as_ref().unwrap().said.as_ref().unwrap().insist);
    press(&mut model, "j");
    assert_eq!(press(&mut model, "F"), []);
}

#[test]
fn a_new_task_that_the_filter_hides_is_not_jumped_to_later() {
    let mut model = model(&[3, 3]);
    let hide = |board: &mut Snapshot| drop(board.columns[1].tasks.pop());
    press(&mut model, "a");
    let add = Verb::Add { title: "x".into() };
    answer(&mut model, Answer::Done { verb: add, text: String::new(), task: id("t-1x2") });
    board(&mut model, |board| board.all.retain(|named| named.id != id("t-1x2")));
    assert!(model.expected.is_some(), "what was read before it was added says nothing");
    board(&mut model, hide);
    board(&mut model, |_| {});
    assert_eq!(model.task(), Some(id("t-0x0")));
}

#[test]
fn a_key_right_after_a_task_was_added_is_about_the_new_one() {
    let mut model = model(&[3, 3]);
    done(&mut model, Verb::Add { title: "x".into() });
    assert_eq!(press(&mut model, "c"), [Wish::Do(Verb::Claim(id("t-new")))]);
    assert_eq!(press(&mut model, "jc"), [Wish::Do(Verb::Claim(id("t-0x1")))]);
}

#[test]
fn a_page_that_cannot_be_read_closes_itself_and_no_other() {
    let mut model = model(&[3]);
    let gone = |model: &mut Model, name: &str| {
        let failure = Failure::refused(Code::UnknownTask, "gone");
        answer(model, Answer::Unread { read: Read::Task(id(name)), failure });
    };
    model.open_task(id("t-0x0"));
    model.open_task(id("t-0x1"));
    gone(&mut model, "t-0x0");
    assert_eq!(model.screens.len(), 2);
    gone(&mut model, "t-0x1");
    assert_eq!(model.screens.len(), 1);
}

#[test]
fn what_is_selected_in_a_list_stays_selected_when_lines_come_and_go() {
    let mut model = model(&[3, 3]);
    let seen = |names: &[&str]| {
        let steps = names.iter().map(|name| task(name, "step")).collect();
        Answer::Read(Reading::Workers(SeenPage { claims: Vec::new(), roles: Vec::new(), steps, runs: Vec::new() }))
    };
    press(&mut model, "w");
    answer(&mut model, seen(&["t-a", "t-b", "t-c"]));
    press(&mut model, "j");
    answer(&mut model, seen(&["t-new", "t-a", "t-b", "t-c"]));
    assert_eq!(model.task(), Some(id("t-b")));
    answer(&mut model, seen(&["t-c"]));
    assert_eq!(model.task(), Some(id("t-c")));
    let broken = |names: &'static [&str]| {
        move |board: &mut Snapshot| {
            board.problems =
                names.iter().map(|name| Problem::whole(format!(".ralph/tasks/{name}.toml"), "bad")).collect();
        }
    };
    board(&mut model, broken(&["t-a", "t-b"]));
    press(&mut model, "!j");
    board(&mut model, broken(&["t-0", "t-a", "t-b"]));
    assert_eq!(model.task(), Some(id("t-b")));
    board(&mut model, broken(&["t-0"]));
    assert!(matches!(model.screens.last(), Some(Screen::Problems { at: 0 })));
}

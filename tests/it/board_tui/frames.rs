//! Frames of a real board without a terminal: any key at any size.

use ralph::app::{Options, Workspace};
use ralph::tui::Frames;
use ratatui::crossterm::event::KeyCode::{self, BackTab, Char, Down, Enter, Esc, PageDown, Tab};

use super::{demo, id_of};

fn frames<'a>(ws: &'a Workspace, size: (u16, u16), keys: &[KeyCode]) -> Frames<'a> {
    let mut frames = Frames::new(Some(ws), size.0, size.1);
    for key in keys {
        frames.press(*key);
        frames.draw();
    }
    frames
}

/// Every screen has content, and commands are refused with long messages.
#[test]
fn no_size_and_no_key_makes_a_full_board_panic() {
    let sandbox = demo();
    let ws = Workspace::open(&Options { dir: sandbox.root(), ..Options::default() }).unwrap();
    let saved = id_of(&sandbox, "saved card");
    let mut random = fastrand::Rng::with_seed(9);
    for size in [(40, 10), (41, 11), (60, 20), (99, 12), (130, 40)] {
        let search = std::iter::once(Char('/')).chain(saved.chars().map(Char));
        let page: Vec<KeyCode> = search.chain([Enter, Tab, Char('c')]).collect();
        let mut frames = frames(&ws, size, &page);
        assert!(frames.text().contains("read-only"), "{}", frames.text());
        for _ in 0..600 {
            let letter = char::from(*random.choice(b"jkhlGgmq/xf?abunwcrR!F ").unwrap());
            frames
                .press(random.choice([Char(letter), Char(letter), Enter, Tab, BackTab, Esc, Down, PageDown]).unwrap());
            if random.u8(..) < 64 {
                frames.rest();
            }
            frames.draw();
        }
    }
}

#[test]
fn a_selected_link_does_not_keep_the_page_from_scrolling() {
    let sandbox = demo();
    let ws = Workspace::open(&Options { dir: sandbox.root(), ..Options::default() }).unwrap();
    let saved = id_of(&sandbox, "saved card");
    let page: Vec<KeyCode> = std::iter::once(Char('/')).chain(saved.chars().map(Char)).chain([Enter, Tab]).collect();
    let mut frames = frames(&ws, (60, 12), &page);
    assert!(!frames.text().contains("history ──"), "{}", frames.text());
    frames.press(Char('G'));
    frames.draw();
    assert!(frames.text().contains("history ──"), "{}", frames.text());
    frames.press(BackTab);
    frames.press(Tab);
    frames.draw();
    assert!(frames.text().contains("blockers"), "{}", frames.text());
}

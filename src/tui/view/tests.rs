//! Frames of a made-up board: they are drawn correctly at any size, in any script, with and without color.

use std::time::Instant;

use jiff::Timestamp;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{Event, KeyCode, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::style::Color;

use super::{Theme, draw};
use crate::app::{ClaimView, Code, Column, Failure, Hint};
use crate::task::{Problem, Worker};
use crate::tui::made_up::{id, model, press, press_key, task};
use crate::tui::model::{Answer, ChainLine, Model, Read, Reading, Spot, Verb};
use crate::tui::update;

fn frame(model: &mut Model, width: u16, height: u16, color: bool) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, model, Theme { color })).unwrap();
    terminal.backend().buffer().clone()
}

/// The text as the terminal shows it: a wide character hides the cell after it.
fn text(buffer: &Buffer) -> Vec<String> {
    let line = |y: u16| {
        let mut line = String::new();
        let mut x = 0;
        while x < buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            line.push_str(symbol);
            x += (super::text::width(symbol) as u16).max(1);
        }
        line
    };
    (0..buffer.area.height).map(line).collect()
}

#[test]
fn as_many_columns_are_shown_as_fit_and_the_rest_is_counted() {
    for (width, height, shown, right) in [(60, 20, 2, "9›"), (80, 24, 3, "8›"), (120, 40, 5, "6›")] {
        let lines = text(&frame(&mut model(&[1; 11]), width, height, true));
        assert_eq!(lines[4].matches("t-").count(), shown, "{width}×{height}: {lines:#?}");
        assert!(lines[2].ends_with(right), "{width}×{height}: {lines:#?}");
    }
}

#[test]
fn the_selected_card_is_in_sight_wherever_it_is() {
    let mut model = model(&[40, 0, 40]);
    for step in 0..40 {
        let lines = text(&frame(&mut model, 80, 24, true));
        let framed = |line: &String| line.contains(&format!("│ ● t-0x{step} "));
        assert!(lines.iter().any(framed), "{step}: {lines:#?}");
        assert_eq!(lines.iter().filter(|line| line.contains('╰')).count(), 1, "{step}: {lines:#?}");
        press(&mut model, "j");
    }
    press(&mut model, "gg");
    assert!(text(&frame(&mut model, 80, 24, true)).iter().any(|line| line.contains("│ ● t-0x0 ")));
    press(&mut model, "Gl");
    assert!(text(&frame(&mut model, 80, 24, true)).iter().any(|line| line.contains("│ ! t-2x0 ")));
}

#[test]
fn wide_and_combined_characters_leave_the_frame_whole() {
    let mut model = model(&[3, 1]);
    for (row, title) in
        ["日本語のとても長いタイトルです、二行には入りません", "👩‍👩‍👧‍👦 e\u{301}a\u{308}x 한국어", "\u{202e}\x1b[31mred\t"]
            .iter()
            .enumerate()
    {
        model.board.columns[0].tasks[row].title = (*title).into();
    }
    for width in 60..90 {
        let lines = text(&frame(&mut model, width, 24, true));
        for line in &lines {
            assert_eq!(super::text::width(line), usize::from(width), "{width}: {line:?}");
            assert!(!line.contains(['\x1b', '\t', '\u{202e}']), "{line:?}");
        }
        let edge = |line: &String, c: char| line.find(c).map(|at| super::text::width(&line[..at]));
        let corner = lines.iter().find_map(|line| edge(line, '╮')).unwrap();
        let framed: Vec<&String> = lines.iter().filter(|line| line.starts_with('│')).collect();
        assert!(framed.len() >= 4, "{lines:#?}");
        for line in framed {
            let right = line.rmatch_indices('│').map(|(at, _)| super::text::width(&line[..at])).next();
            assert_eq!(right, Some(corner), "{width}: {lines:#?}");
        }
    }
}

#[test]
fn without_colour_no_cell_has_one_and_everything_is_still_there() {
    let mut plain = model(&[3, 2, 1]);
    let mut colored = model(&[3, 2, 1]);
    let (without, with) = (frame(&mut plain, 80, 24, false), frame(&mut colored, 80, 24, true));
    assert!(without.content.iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset));
    assert!(with.content.iter().any(|cell| cell.fg != Color::Reset));
    assert_eq!(text(&without), text(&with));
}

#[test]
fn a_card_tells_who_has_it_and_how_many_it_waits_for() {
    let mut model = model(&[1, 2]);
    let tasks = &mut model.board.columns[1].tasks;
    tasks[0].claim = Some(ClaimView {
        by: Worker::new("builder-1").unwrap(),
        host: "far".into(),
        since: Timestamp::from_second(-125).unwrap(),
        until: Timestamp::from_second(600).unwrap(),
        held: false,
    });
    (tasks[1].owner, tasks[1].stale) = (Some("bob".into()), true);
    (tasks[1].blocked, tasks[1].ready) = (true, false);
    tasks[1].open_blockers = vec![id("t-a"), id("t-b")];
    tasks[1].problems = vec![Problem::whole("f", "m")];
    let lines = text(&frame(&mut model, 80, 24, true)).join("\n");
    assert!(lines.contains("▶ builder-1 2m"), "{lines}");
    assert!(lines.contains("‼ 1  ⊘ 2  ▷ bob"), "{lines}");
}

#[test]
fn a_refusal_is_on_the_card_it_is_about_and_on_the_status_line_otherwise() {
    let mut model = model(&[2, 2]);
    let refuse = |model: &mut Model, task: &str| {
        let failure = Failure::refused(Code::Held, "somebody has it").hint(Hint::step("wait"));
        update::answer(model, Answer::Refused { verb: Verb::Claim(id(task)), failure });
        text(&frame(model, 80, 24, true))
    };
    let lines = refuse(&mut model, "t-0x0");
    assert!(lines.iter().any(|line| line.starts_with("│ ✗ somebody has it")), "{lines:#?}");
    let lines = refuse(&mut model, "t-1x1");
    assert!(lines.iter().any(|line| line.starts_with(" ✗ somebody has it")), "{lines:#?}");
    press(&mut model, "j");
    assert!(!text(&frame(&mut model, 80, 24, true)).concat().contains('✗'));
}

#[test]
fn a_board_that_changes_keeps_the_selected_task_or_the_place_of_one_that_is_gone() {
    let mut model = model(&[3, 3]);
    press(&mut model, "j");
    let selected = |model: &Model| model.task().map(|id| id.to_string()).unwrap_or_default();
    assert_eq!(selected(&model), "t-0x1");
    let change = |model: &mut Model, edit: &dyn Fn(&mut Vec<Column>)| {
        let mut board = crate::tui::made_up::model(&[3, 3]).board;
        edit(&mut board.columns);
        update::answer(model, Answer::Board(Box::new(board)));
    };
    change(&mut model, &|columns| {
        let moved = columns[0].tasks.remove(1);
        columns[1].tasks.push(moved);
    });
    assert_eq!((selected(&model), model.cursor.column), ("t-0x1".into(), 1));
    change(&mut model, &|columns| drop(columns[0].tasks.remove(1)));
    assert_eq!((selected(&model), model.cursor.column), ("t-1x2".into(), 1));
    change(&mut model, &|columns| columns[1].tasks.clear());
    assert_eq!(model.cursor.column, 0);
}

#[test]
fn a_refusal_that_a_card_has_no_room_for_is_on_the_status_line() {
    let mut model = model(&[2, 2]);
    let failure = Failure::refused(Code::Held, "somebody has it")
        .hint(Hint::step("wait until it is free"))
        .hint(Hint::step("or ask"));
    update::answer(&mut model, Answer::Refused { verb: Verb::Claim(id("t-0x0")), failure });
    let lines = text(&frame(&mut model, 40, 10, true));
    assert!(lines.iter().any(|line| line.starts_with(" ✗ somebody has it")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.starts_with(" → or ask")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("t-0x0")), "{lines:#?}");
}

#[test]
fn what_is_too_high_for_the_screen_ends_at_its_frame() {
    let mut model = model(&[1]);
    model.board.columns[0].tasks[0].title = "A title that takes two lines of its card".into();
    for height in 10..14 {
        let lines = text(&frame(&mut model, 40, height, true));
        let edges = lines.iter().filter(|line| line.contains(['╭', '╰'])).collect::<Vec<_>>();
        assert!(edges.len() == 2 && edges[1].starts_with("╰──────────"), "{lines:#?}");
    }
    press(&mut model, "f");
    let failure =
        Failure::usage(Code::UnknownTerm, "no such term").hint(Hint::step("one of very many words ".repeat(20)));
    update::answer(&mut model, Answer::Unread { read: Read::Board { filter: String::new() }, failure });
    let lines = text(&frame(&mut model, 40, 10, true));
    assert!(lines[8].contains("╰──────") && lines[9].contains("⏎ keep"), "{lines:#?}");
}

fn click(model: &mut Model, (column, row): (u16, u16)) {
    let kind = MouseEventKind::Down(MouseButton::Left);
    let event = MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE };
    update::event(model, Event::Mouse(event), Instant::now());
}

#[test]
fn a_click_is_on_the_card_that_was_seen_whatever_the_board_has_become() {
    let clicked = |edit: &dyn Fn(&mut Vec<Column>)| {
        let mut model = model(&[3, 3]);
        frame(&mut model, 80, 24, true);
        let seen = Spot::Card(1, id("t-1x1"));
        let area = model.drawn.spots.iter().find(|(_, spot)| *spot == seen).unwrap().0;
        let mut board = crate::tui::made_up::model(&[3, 3]).board;
        edit(&mut board.columns);
        update::answer(&mut model, Answer::Board(Box::new(board)));
        click(&mut model, (area.x + 1, area.y + 1));
        frame(&mut model, 80, 24, true);
        model.task()
    };
    assert_eq!(clicked(&|columns| drop(columns[1].tasks.remove(0))), Some(id("t-1x1")));
    assert_eq!(clicked(&|columns| columns.truncate(1)), Some(id("t-0x0")));
}

#[test]
fn what_is_not_drawn_any_more_cannot_be_clicked() {
    let mut model = model(&[3, 3]);
    frame(&mut model, 80, 24, true);
    frame(&mut model, 30, 8, true);
    assert!(model.drawn.spots.is_empty());
}

#[test]
fn a_chain_of_many_lanes_leaves_room_for_names() {
    let mut model = model(&[1]);
    press(&mut model, "g");
    update::beat(&mut model, Instant::now() + std::time::Duration::from_secs(1));
    let line = |at: usize| ChainLine {
        drawing: format!("{}o {}", "│ ".repeat(at), "│ ".repeat(39 - at)),
        task: Some(Box::new(task(&format!("t-lane{at}"), "One of many"))),
    };
    let lines = (0..40).map(line).collect();
    update::answer(&mut model, Answer::Read(Reading::Chain { id: id("t-0x0"), verdict: String::new(), lines }));
    for key in ["", "G"] {
        press(&mut model, key);
        let lines = text(&frame(&mut model, 80, 24, true));
        let named = lines.iter().filter(|line| line.contains("t-lane") && line.contains("One of many")).count();
        assert_eq!(named, 19, "{lines:#?}");
    }
}

#[test]
fn it_is_called_live_only_once_somebody_watches() {
    let mut model = model(&[1]);
    assert!(text(&frame(&mut model, 80, 24, true)).concat().contains("not live"));
    update::answer(&mut model, Answer::Live(Ok(())));
    assert!(text(&frame(&mut model, 80, 24, true)).concat().contains("· live"));
}

/// Any key at any size works on an empty board. The same is tested on a real board elsewhere, because screens have content
/// there.
#[test]
fn no_size_and_no_key_makes_it_panic() {
    let keys = "jklhGgmq/xf?abunwcreR!F";
    for (width, height) in [(1, 1), (2, 3), (40, 10), (41, 11), (60, 20), (80, 24), (300, 90)] {
        for cards in [vec![], vec![0, 0], vec![1], vec![30, 0, 0, 5, 1, 0, 7]] {
            let mut model = model(&cards);
            for key in keys.chars() {
                press(&mut model, &key.to_string());
                frame(&mut model, width, height, true);
                for code in [KeyCode::Tab, KeyCode::Enter, KeyCode::Down, KeyCode::Left, KeyCode::Backspace] {
                    press_key(&mut model, code, KeyModifiers::NONE);
                    frame(&mut model, width, height, true);
                }
                press_key(&mut model, KeyCode::Esc, KeyModifiers::NONE);
            }
        }
    }
}

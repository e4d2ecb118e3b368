//! Frames on a made-up board: what fits where, at any size, in any script, with and without colour.

use std::time::Instant;

use jiff::Timestamp;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Color;

use super::{Theme, draw};
use crate::app::{ClaimView, Column, Failure, Meaning, TaskView};
use crate::task::{Problem, StateName, TaskId, Worker};
use crate::tui::model::{Answer, Counts, Model, Named, Snapshot, Verb};
use crate::tui::update;

fn id(name: &str) -> TaskId {
    TaskId::new(name).unwrap()
}

fn task(name: &str, title: &str) -> TaskView {
    TaskView {
        id: id(name),
        kind: "issue",
        title: title.into(),
        state: String::new(),
        priority: Some("P1"),
        estimate: Some("S"),
        labels: vec!["ui".into(), "日本".into()],
        owner: None,
        parent: None,
        children: Vec::new(),
        blocked_by: Vec::new(),
        blocks: Vec::new(),
        blocked: false,
        ready: true,
        stale: false,
        claim: None,
        artifacts: Default::default(),
        github: None,
        created: None,
        updated: None,
        problems: Vec::new(),
        open_blockers: Vec::new(),
    }
}

/// So many cards in each of the columns.
fn model(cards: &[usize]) -> Model {
    let names = ["Todo", "Doing", "設計中です", "Waiting for somebody far away", "Done"];
    let meanings = [Meaning::Waiting, Meaning::Working, Meaning::Person, Meaning::Canceled, Meaning::Done];
    let columns: Vec<Column> = cards
        .iter()
        .enumerate()
        .map(|(at, count)| Column {
            state: StateName::new(format!("{}{}", names[at % 5], if at < 5 { "" } else { " again" })),
            meaning: meanings[at % 5],
            points: 3,
            tasks: (0..*count).map(|row| task(&format!("t-{at}x{row}"), &format!("Card {row} of {at}"))).collect(),
        })
        .collect();
    let named = |column: &Column| {
        let of = |task: &TaskView| Named {
            id: task.id.clone(),
            title: task.title.clone(),
            state: column.state.clone(),
            meaning: column.meaning,
        };
        column.tasks.iter().map(of).collect::<Vec<_>>()
    };
    let board = Snapshot {
        name: "made up".into(),
        me: "Ada".into(),
        all: columns.iter().flat_map(named).collect(),
        counts: Counts::of(&columns),
        columns,
        ..Snapshot::default()
    };
    let mut model = Model::new(String::new(), Timestamp::UNIX_EPOCH);
    update::answer(&mut model, Answer::Board(Box::new(board)));
    model
}

fn frame(model: &mut Model, width: u16, height: u16, color: bool) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, model, Theme { color })).unwrap();
    terminal.backend().buffer().clone()
}

/// As the terminal shows it: a wide character hides the cell after it.
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

fn press(model: &mut Model, keys: &str) {
    for key in keys.chars() {
        update::key(model, KeyEvent::new(KeyCode::Char(key), KeyModifiers::NONE), Instant::now());
    }
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
    (tasks[1].owner, tasks[1].blocked, tasks[1].ready) = (Some("bob".into()), true, false);
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
        let failure = Failure::refused("held", "somebody has it").advice("wait");
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
        let mut board = self::model(&[3, 3]).board;
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

/// Anything may be pressed at any size, and nothing is drawn where there is nothing.
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
                    update::key(&mut model, KeyEvent::new(code, KeyModifiers::NONE), Instant::now());
                    frame(&mut model, width, height, true);
                }
                update::key(&mut model, KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE), Instant::now());
            }
        }
    }
}

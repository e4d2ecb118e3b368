//! A made-up board and key presses, for tests without a terminal.

use std::time::Instant;

use jiff::Timestamp;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

use crate::app::{Column, Meaning, TaskView};
use crate::task::{StateName, TaskId};
use crate::tui::model::{Answer, Counts, Model, Named, Snapshot, Wish};
use crate::tui::update;

pub fn id(name: &str) -> TaskId {
    TaskId::new(name).unwrap()
}

pub fn task(name: &str, title: &str) -> TaskView {
    TaskView {
        id: id(name),
        kind: "issue",
        title: title.into(),
        state: StateName::new(""),
        meaning: Meaning::Waiting,
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
        attention: None,
        moves: None,
        artifacts: Default::default(),
        github: None,
        created: None,
        updated: None,
        problems: Vec::new(),
        open_blockers: Vec::new(),
    }
}

/// A board with this number of cards in each column.
pub fn model(cards: &[usize]) -> Model {
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

/// Presses a key for each letter.
pub fn press(model: &mut Model, keys: &str) -> Vec<Wish> {
    keys.chars().flat_map(|key| press_key(model, KeyCode::Char(key), KeyModifiers::NONE)).collect()
}

pub fn press_key(model: &mut Model, code: KeyCode, modifiers: KeyModifiers) -> Vec<Wish> {
    update::event(model, Event::Key(KeyEvent::new(code, modifiers)), Instant::now())
}

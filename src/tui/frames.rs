//! Frames without a terminal, to measure the time of a frame and to see frames as text.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{Event, KeyCode};

use super::model::{Answer, Model, Wish};
use super::view::{self, Theme};
use super::{desk, update};
use crate::app::{Code, Failure, Hint, Workspace};

pub struct Frames<'a> {
    ws: Option<&'a Workspace>,
    terminal: Terminal<TestBackend>,
    model: Model,
    theme: Theme,
}

impl<'a> Frames<'a> {
    /// Frames of a board in its current state, or of none.
    pub fn new(ws: Option<&'a Workspace>, width: u16, height: u16) -> Self {
        let now = ws.map_or(jiff::Timestamp::UNIX_EPOCH, Workspace::now);
        let model = Model::new(String::new(), now);
        let Ok(terminal) = Terminal::new(TestBackend::new(width, height));
        let mut frames = Self { ws, terminal, model, theme: Theme { color: true } };
        let first = frames.model.reload();
        frames.answer(first);
        frames
    }

    /// Presses a key; the data that it needs is read at once.
    pub fn press(&mut self, code: KeyCode) {
        let event = Event::Key(code.into());
        let wishes = update::event(&mut self.model, event, Instant::now());
        self.answer(wishes);
    }

    /// Lets time pass without a key.
    pub fn rest(&mut self) {
        let wishes = update::beat(&mut self.model, Instant::now() + Duration::from_secs(1));
        self.answer(wishes);
    }

    /// Answers wishes. Verbs are refused, because frames are read-only.
    fn answer(&mut self, wishes: Vec<Wish>) {
        let mut wishes = VecDeque::from(wishes);
        while let Some(wish) = wishes.pop_front() {
            let answer = match (wish, self.ws) {
                (Wish::Read(read), Some(ws)) => desk::answer(ws, read),
                (Wish::Do(verb), _) => Answer::Refused { verb, failure: nothing() },
                _ => continue,
            };
            wishes.extend(update::answer(&mut self.model, answer));
        }
    }

    /// Draws a frame and returns the time that it took.
    pub fn draw(&mut self) -> Duration {
        let begun = Instant::now();
        let (model, theme) = (&mut self.model, self.theme);
        let Ok(_) = self.terminal.draw(|frame| view::draw(frame, model, theme));
        begun.elapsed()
    }

    pub fn text(&self) -> String {
        self.terminal.backend().to_string()
    }
}

fn nothing() -> Failure {
    Failure::refused(Code::OnlyLooking, "frames are read-only")
        .hint(Hint::run("board", "to change the board in a terminal"))
        .hint(Hint::run("task ls", "to print it"))
}

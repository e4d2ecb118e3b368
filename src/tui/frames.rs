//! Frames without a terminal: for measuring how long one takes, and for looking at them as text.

use std::time::{Duration, Instant};

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::model::Model;
use super::view::{self, Theme};
use super::{desk, update};
use crate::app::{Failure, Workspace};

pub struct Frames {
    terminal: Terminal<TestBackend>,
    model: Model,
    theme: Theme,
}

impl Frames {
    /// Of a board as it is now, or of none.
    pub fn new(ws: Option<&Workspace>, width: u16, height: u16) -> Result<Self, Failure> {
        let now = ws.map_or(jiff::Timestamp::UNIX_EPOCH, Workspace::now);
        let mut model = Model::new(String::new(), now);
        if let Some(ws) = ws {
            update::answer(&mut model, desk::load(ws, "")?);
        }
        let Ok(terminal) = Terminal::new(TestBackend::new(width, height));
        Ok(Self { terminal, model, theme: Theme { color: true } })
    }

    /// A letter as if it had been pressed.
    pub fn press(&mut self, letter: char) {
        update::key(&mut self.model, KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE), Instant::now());
    }

    /// How long it took.
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

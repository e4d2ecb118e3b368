//! The styles of meanings: in the terminal's own colors, or without colors.

use ratatui::style::{Color, Modifier, Style};

use crate::tui::model::Tone;

#[derive(Debug, Clone, Copy)]
pub struct Theme {
    pub color: bool,
}

impl Theme {
    pub fn style(self, tone: Tone) -> Style {
        if self.color { colored(tone) } else { plain(tone) }
    }
}

/// Uses the sixteen standard colors, which every terminal theme keeps readable.
fn colored(tone: Tone) -> Style {
    let style = Style::new();
    match tone {
        Tone::Plain => style,
        Tone::Dim => style.add_modifier(Modifier::DIM),
        Tone::Head => style.add_modifier(Modifier::BOLD),
        Tone::Id => style.fg(Color::Cyan),
        Tone::Accent => style.fg(Color::Cyan).add_modifier(Modifier::BOLD),
        Tone::Ready => style.fg(Color::Green),
        Tone::Work => style.fg(Color::Magenta),
        Tone::Blocked => style.fg(Color::Red),
        Tone::Warn => style.fg(Color::Yellow).add_modifier(Modifier::BOLD),
        Tone::Label => style.fg(Color::Blue),
        Tone::Urgent => style.fg(Color::Red).add_modifier(Modifier::BOLD),
    }
}

fn plain(tone: Tone) -> Style {
    match tone {
        Tone::Head | Tone::Accent | Tone::Warn | Tone::Urgent => Style::new().add_modifier(Modifier::BOLD),
        _ => Style::new(),
    }
}

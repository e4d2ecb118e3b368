//! Colours, by what they mean.

use anstyle::{AnsiColor, Style};

const fn fg(color: AnsiColor) -> Style {
    Style::new().fg_color(Some(anstyle::Color::Ansi(color)))
}

pub const ERROR: Style = fg(AnsiColor::Red).bold();
pub const WARN: Style = fg(AnsiColor::Yellow).bold();
pub const HINT: Style = fg(AnsiColor::Cyan);
pub const HEAD: Style = Style::new().bold();
pub const DIM: Style = Style::new().dimmed();
pub const PLAIN: Style = Style::new();
pub const ID: Style = fg(AnsiColor::Cyan);
pub const READY: Style = fg(AnsiColor::Green);
pub const BLOCKED: Style = fg(AnsiColor::Red);
pub const LABEL: Style = fg(AnsiColor::Blue);
pub const OWNER: Style = fg(AnsiColor::Magenta);

pub fn paint(style: Style, text: impl std::fmt::Display) -> String {
    format!("{}{text}{}", style.render(), style.render_reset())
}

pub fn state(name: &str) -> Style {
    match name {
        "Done" | "Completed" => fg(AnsiColor::Green).dimmed(),
        "Canceled" => DIM,
        "Human Needed" => fg(AnsiColor::Yellow).bold(),
        name if name.contains("Progress") => fg(AnsiColor::Magenta),
        name if name.contains("Review") => fg(AnsiColor::Blue),
        _ => PLAIN,
    }
}

pub fn priority(name: &str) -> Style {
    match name {
        "P0" => fg(AnsiColor::Red).bold(),
        "P1" => fg(AnsiColor::Yellow),
        "P3" => DIM,
        _ => PLAIN,
    }
}

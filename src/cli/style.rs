//! Colors by their meaning.

use crate::app::{Meaning, State, Workflow};
use std::cell::RefCell;
use std::collections::HashMap;

use super::door::painted;
use crate::task::{Kind, StateName};
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
    painted(style, text)
}

thread_local! {
    /// The style of each state of the board's workflow; filled once the board is open.
    static STATES: RefCell<HashMap<StateName, Style>> = RefCell::default();
}

/// Sets the styles of a workflow's states by their meaning, because each board has its own names.
pub fn learn_states(flow: &Workflow) {
    let style = |state: &State| match flow.meaning(state) {
        Meaning::Done => fg(AnsiColor::Green).dimmed(),
        Meaning::Canceled => DIM,
        Meaning::Person => fg(AnsiColor::Yellow).bold(),
        Meaning::Working => fg(AnsiColor::Magenta),
        Meaning::Review => fg(AnsiColor::Blue),
        Meaning::Waiting => PLAIN,
    };
    let all = [Kind::Step, Kind::Issue].into_iter().flat_map(|kind| flow.states_of(kind));
    let styles = all.map(|state| (state.name.clone(), style(state))).collect();
    STATES.with(|states| states.replace(styles));
}

pub fn state(name: &StateName) -> Style {
    STATES.with(|states| states.borrow().get(name).copied().unwrap_or(PLAIN))
}

pub fn priority(name: &str) -> Style {
    match name {
        "P0" => fg(AnsiColor::Red).bold(),
        "P1" => fg(AnsiColor::Yellow),
        "P3" => DIM,
        _ => PLAIN,
    }
}

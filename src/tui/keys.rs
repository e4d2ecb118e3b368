//! Keys: those for motions, and those that each screen offers.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::model::{Model, Popup, Purpose, ReviewScreen, ReviewTab, Screen};
use crate::app::{InboxKind, RunOutcome};

/// A motion in a list or a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Motion {
    Up,
    Down,
    Left,
    Right,
    HalfUp,
    HalfDown,
    PageUp,
    PageDown,
    Top,
    Bottom,
    Next,
    Previous,
}

impl Motion {
    pub fn of(key: KeyEvent) -> Option<Self> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        Some(match key.code {
            KeyCode::Char('d') if control => Self::HalfDown,
            KeyCode::Char('u') if control => Self::HalfUp,
            KeyCode::Char('f') if control => Self::PageDown,
            KeyCode::Char('b') if control => Self::PageUp,
            _ if control => return None,
            KeyCode::Char('j') | KeyCode::Down => Self::Down,
            KeyCode::Char('k') | KeyCode::Up => Self::Up,
            KeyCode::Char('h') | KeyCode::Left => Self::Left,
            KeyCode::Char('l') | KeyCode::Right => Self::Right,
            KeyCode::PageDown | KeyCode::Char(' ') => Self::PageDown,
            KeyCode::PageUp => Self::PageUp,
            KeyCode::Home => Self::Top,
            KeyCode::Char('G') | KeyCode::End => Self::Bottom,
            KeyCode::Tab => Self::Next,
            KeyCode::BackTab => Self::Previous,
            _ => return None,
        })
    }

    /// The number of lines of a motion, if a page has `page` lines.
    pub fn lines(self, page: usize) -> Option<isize> {
        let page = page.max(2) as isize;
        Some(match self {
            Self::Up => -1,
            Self::Down => 1,
            Self::HalfUp => -page / 2,
            Self::HalfDown => page / 2,
            Self::PageUp => -page,
            Self::PageDown => page,
            Self::Top => isize::MIN / 2,
            Self::Bottom => isize::MAX / 2,
            Self::Left | Self::Right | Self::Next | Self::Previous => return None,
        })
    }
}

/// A key as the footer shows it.
pub struct Offered {
    pub key: KeyEvent,
    pub shown: &'static str,
    pub does: &'static str,
}

fn offer(code: KeyCode, shown: &'static str, does: &'static str) -> Offered {
    Offered { key: KeyEvent::new(code, KeyModifiers::NONE), shown, does }
}

fn letter(c: char, shown: &'static str, does: &'static str) -> Offered {
    offer(KeyCode::Char(c), shown, does)
}

fn control(c: char, shown: &'static str, does: &'static str) -> Offered {
    Offered { key: KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL), shown, does }
}

/// The keys that have an effect now, the most important first; the last two are always shown.
pub fn offered(model: &Model) -> Vec<Offered> {
    if let Some(popup) = &model.popup {
        return in_popup(popup);
    }
    if model.pending.is_some() {
        return vec![letter('g', "g", "top"), offer(KeyCode::Null, "…", "graph")];
    }
    let insist = model.notice.as_ref().is_some_and(|notice| notice.said.insist && notice.again.is_some());
    let mut keys: Vec<Offered> = insist.then(|| letter('F', "F", "force")).into_iter().collect();
    keys.extend(on_screen(model));
    let back = if model.screens.is_empty() { "quit" } else { "back" };
    keys.extend([letter('?', "?", "help"), letter('q', "q", back)]);
    keys
}

fn on_screen(model: &Model) -> Vec<Offered> {
    let open = || offer(KeyCode::Enter, "⏎", "open");
    let verbs =
        || [letter('m', "m", "move"), letter('c', "c", "claim"), letter('r', "r", "release"), letter('n', "n", "note")];
    let find = || [letter('a', "a", "new"), letter('/', "/", "search"), letter('f', "f", "filter")];
    let more = || [letter('e', "e", "edit"), letter('b', "b", "block"), letter('u', "u", "unblock")];
    let mut keys = Vec::new();
    match model.screens.last() {
        None if model.task().is_none() => keys.extend(find()),
        None => {
            keys.push(open());
            keys.extend(verbs());
            keys.extend(find());
            keys.extend(more());
        }
        Some(Screen::Task(screen)) => {
            if screen.page.as_ref().is_some_and(|page| !page.links().is_empty()) {
                keys.push(offer(KeyCode::Tab, "tab", "links"));
            }
            if screen.link.is_some() {
                keys.push(offer(KeyCode::Enter, "⏎", "open"));
            }
            keys.extend(verbs().into_iter().chain(more()));
        }
        Some(Screen::Graph(_) | Screen::Workers(_)) if model.task().is_some() => {
            keys.push(open());
            keys.extend(verbs());
        }
        Some(Screen::Inbox(inbox)) if inbox.selected().is_some_and(|item| item.task.is_some()) => {
            keys.push(open());
            keys.push(letter('d', "d", "review"));
            keys.extend(inbox.selected().map(|item| on_item(item.kind)).unwrap_or_default());
        }
        Some(Screen::Review(review)) => keys.extend(in_review(review)),
        Some(Screen::Problems { .. }) if model.task().is_some() => keys.push(letter('e', "e", "edit the file")),
        Some(_) => {}
    }
    if !matches!(model.screens.last(), Some(Screen::Graph(_) | Screen::Problems { .. })) && model.task().is_some() {
        keys.push(letter('g', "g", "graph"));
    }
    if !matches!(model.screens.last(), Some(Screen::Workers(_))) {
        keys.push(letter('w', "w", "workers"));
    }
    if !matches!(model.screens.last(), Some(Screen::Inbox(_))) {
        keys.push(letter('i', "i", "inbox"));
    }
    keys
}

/// The keys for an item of the inbox.
fn on_item(kind: InboxKind) -> Vec<Offered> {
    let back = letter('x', "x", "reject");
    match kind {
        InboxKind::Plan => vec![letter('y', "y", "approve"), back],
        InboxKind::Work | InboxKind::Merge => vec![letter('M', "M", "merge"), back],
        InboxKind::Question | InboxKind::HumanNeeded | InboxKind::Attention => vec![letter('s', "s", "answer")],
        InboxKind::Conflict | InboxKind::StaleClaim | InboxKind::Budget | InboxKind::Trust | InboxKind::Problem => {
            Vec::new()
        }
    }
}

fn in_review(review: &ReviewScreen) -> Vec<Offered> {
    let mut keys = vec![offer(KeyCode::Tab, "tab", "next page")];
    keys.extend(review.place().map(|_| letter('c', "c", "comment")));
    let Some(page) = &review.page else { return keys };
    if review.tab == ReviewTab::Runs && review.run().is_some() {
        keys.push(offer(KeyCode::Enter, "⏎", "log"));
    }
    keys.extend(page.question.is_some().then(|| letter('s', "s", "answer")));
    keys.extend(page.can.decide.approve.then(|| letter('y', "y", "approve")));
    keys.extend(page.can.decide.merge.then(|| letter('M', "M", "merge")));
    keys.extend(page.can.decide.reject.then(|| letter('x', "x", "reject")));
    let goes_on = review.run().is_some_and(|run| run.outcome == RunOutcome::Running);
    keys.extend(goes_on.then(|| letter('S', "S", "stop the run")));
    keys.extend(page.can.retry.then(|| letter('T', "T", "try again")));
    keys
}

fn in_popup(popup: &Popup) -> Vec<Offered> {
    let close = offer(KeyCode::Esc, "esc", "close");
    let enter = |does| offer(KeyCode::Enter, "⏎", does);
    match popup.purpose {
        Purpose::Move if popup.said.as_ref().is_some_and(|said| said.insist) => {
            vec![letter('F', "F", "force"), enter("move"), close]
        }
        Purpose::Move => vec![enter("move"), close],
        Purpose::Block => vec![enter("add blocker"), close],
        Purpose::Unblock => vec![enter("unblock"), close],
        Purpose::Answer => vec![enter("answer"), close],
        Purpose::Reject => vec![enter("reject"), close],
        Purpose::Comment => vec![enter("keep"), close],
        Purpose::Note => vec![control('s', "^s", "save"), control('e', "^e", "in your editor"), close],
        Purpose::Add => vec![enter("add"), close],
        Purpose::Search => vec![enter("open"), close],
        Purpose::Filter => vec![enter("keep"), control('u', "^u", "empty"), close],
        Purpose::Edited => vec![enter("choose"), close],
        Purpose::Help => vec![close],
    }
}

/// The help: groups of keys and their actions.
pub const HELP: [(&str, &[(&str, &str)]); 4] = [
    (
        "navigate",
        &[
            ("h j k l  arrows", "move"),
            ("gg  G  ^d  ^u", "top, bottom, half a page"),
            ("tab  shift-tab", "next column, next link"),
            ("enter", "open the selected item"),
            ("/", "search titles, descriptions, notes"),
            ("f", "filter: state: label: owner: priority: ready …"),
            ("esc  q", "back, then quit"),
        ],
    ),
    (
        "view",
        &[
            ("g", "its blockers, and what it blocks"),
            ("w", "workers: claims and runs"),
            ("i", "inbox: what needs your decision"),
            ("d", "review: plan, changes, runs"),
            ("!", "problems in the board's files"),
            ("R", "reload the board"),
        ],
    ),
    (
        "change",
        &[
            ("m", "move to another state; or drag the card"),
            ("c  r", "claim, release"),
            ("n", "note"),
            ("s  y  x  M", "answer, approve, reject, merge"),
            ("S  T", "stop its run, try again"),
            ("e", "edit the file in $EDITOR"),
            ("b  u", "add a blocker, remove one"),
            ("a", "add a task"),
            ("F", "force a refused move"),
        ],
    ),
    (
        "marks",
        &[
            ("●", "ready"),
            ("▶ name", "claimed"),
            ("▷ name", "has an owner, not claimed"),
            ("⊘ 2", "blocked by two open tasks"),
            ("⊘ ↑", "its parent is blocked"),
            ("!", "handed to a person"),
            ("○", "waiting"),
            ("‼", "its file has a problem"),
        ],
    ),
];

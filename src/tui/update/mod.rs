//! Turns events into changes of the model and into wishes; no rule about tasks is decided here.

mod answers;
mod asking;
mod mouse;
mod popup;
mod screens;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::keys::Motion;
use super::model::{Chain, InboxScreen, Lines, Model, Popup, Purpose, Said, Screen, Verb, Wish, Workers};
use crate::task::TaskId;

pub use answers::answer;
pub use asking::{composed, refused, unsaved};

/// How long a `g` waits for a second `g`.
const PATIENCE: Duration = Duration::from_millis(300);

pub fn event(model: &mut Model, event: Event, at: Instant) -> Vec<Wish> {
    let wishes = match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => self::key(model, key, at),
        Event::Mouse(event) => mouse::mouse(model, event, at),
        Event::Paste(text) => popup::paste(model, &text),
        _ => Vec::new(),
    };
    asking::next(model);
    wishes
}

/// Lets time pass. A single `g` takes effect after a while.
pub fn beat(model: &mut Model, at: Instant) -> Vec<Wish> {
    match model.pending {
        Some(since) if at.duration_since(since) >= PATIENCE => graph(model),
        _ => screens::follow_log(model, at),
    }
}

pub fn key(model: &mut Model, key: KeyEvent, at: Instant) -> Vec<Wish> {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        match key.code {
            KeyCode::Char('c') => return vec![Wish::Quit],
            KeyCode::Char('z') => return vec![Wish::Pause],
            _ => {}
        }
    }
    if model.popup.is_some() {
        return popup::key(model, key);
    }
    let mut wishes = Vec::new();
    if model.pending.is_some() {
        if key.code == KeyCode::Char('g') {
            model.pending = None;
            return screens::motion(model, Motion::Top);
        }
        wishes.extend(graph(model));
    }
    wishes.extend(plain(model, key, at));
    wishes
}

/// Handles a key when no popup is open. The last message disappears.
fn plain(model: &mut Model, key: KeyEvent, at: Instant) -> Vec<Wish> {
    let notice = model.notice.take();
    if let Some(motion) = Motion::of(key) {
        return screens::motion(model, motion);
    }
    // Otherwise, Control-r would release a claim.
    if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) {
        return Vec::new();
    }
    match key.code {
        KeyCode::Char('g') => {
            model.pending = Some(at);
            Vec::new()
        }
        KeyCode::Enter => screens::enter(model),
        KeyCode::Esc | KeyCode::Char('q') | KeyCode::Backspace => back(model, key.code),
        KeyCode::Char('F') => match notice.and_then(|notice| notice.again.filter(|_| notice.said.insist)) {
            Some(verb) => insist(verb),
            None => say(model, "there is no refused move to force"),
        },
        KeyCode::Char('?') => {
            model.popup = Some(Popup::new(Purpose::Help, "keys"));
            Vec::new()
        }
        KeyCode::Char('R') => {
            let wishes = model.reload();
            model.say(None, Said::done("read again"));
            wishes
        }
        KeyCode::Char(letter) => command(model, letter),
        _ => Vec::new(),
    }
}

fn command(model: &mut Model, letter: char) -> Vec<Wish> {
    match letter {
        '/' => popup::open(model, Popup::new(Purpose::Search, "search").typing("", Lines::One)),
        'f' => {
            let popup = Popup::new(Purpose::Filter, "filter").typing(&model.filter, Lines::One);
            popup::open(model, popup)
        }
        'a' => popup::open(model, Popup::new(Purpose::Add, "new task").typing("", Lines::One)),
        'w' if matches!(model.screens.last(), Some(Screen::Workers(_))) => Vec::new(),
        'w' => model.open(Screen::Workers(Workers::default())),
        'i' if matches!(model.screens.last(), Some(Screen::Inbox(_))) => Vec::new(),
        'i' => model.open(Screen::Inbox(InboxScreen::default())),
        '!' if model.board.problems.is_empty() => say(model, "nothing is wrong with the board's files"),
        '!' if matches!(model.screens.last(), Some(Screen::Problems { .. })) => Vec::new(),
        '!' => model.open(Screen::Problems { at: 0 }),
        'm' | 'c' | 'r' | 'n' | 'e' | 'b' | 'u' | 's' | 'y' | 'x' | 'd' | 'M' | 'S' | 'T' => match model.task() {
            Some(task) => on_task(model, letter, task),
            None => say(model, "no task is selected"),
        },
        other => say(model, &format!("{other} does nothing here: ? shows the keys")),
    }
}

fn on_task(model: &mut Model, letter: char, task: TaskId) -> Vec<Wish> {
    match letter {
        'm' => popup::move_menu(model, task),
        'c' if matches!(model.screens.last(), Some(Screen::Review(_))) => popup::comment(model, task),
        'c' => vec![Wish::Do(Verb::Claim(task))],
        'r' => vec![Wish::Do(Verb::Release(task))],
        'e' => vec![Wish::Edit(task)],
        'b' => popup::block(model, task),
        'u' => popup::unblock(model, task),
        's' => popup::answer(model, task),
        'd' => screens::review(model, task),
        'S' => stop_run(model, task),
        'T' => vec![Wish::Do(Verb::Retry(task))],
        'y' => decide(model, task, Verb::Approve),
        'M' => decide(model, task, Verb::Merge),
        'x' => popup::reject(model, task),
        _ => popup::note(model, task),
    }
}

/// Decides on a task unless there are unsent comments, which would be lost; then it mentions them.
fn decide(model: &mut Model, task: TaskId, verb: fn(TaskId) -> Verb) -> Vec<Wish> {
    match model.comments.get(&task).map_or(0, |comments| comments.len()) {
        0 => vec![Wish::Do(verb(task))],
        many => {
            let written = super::words::count(many, "comment");
            say(
                model,
                &format!("{written} not sent: x rejects the work with them; clear the text of a comment to delete it"),
            )
        }
    }
}

/// Stops the selected or the running run; on other screens, the last run of the task.
fn stop_run(model: &Model, task: TaskId) -> Vec<Wish> {
    let run = match model.screens.last() {
        Some(Screen::Review(review)) => review.run().map(|run| run.id.clone()),
        _ => None,
    };
    let run = run.unwrap_or_else(|| task.to_string());
    vec![Wish::Do(Verb::StopRun { task, run })]
}

fn graph(model: &mut Model) -> Vec<Wish> {
    model.pending = None;
    match (model.task(), model.screens.last()) {
        (_, Some(Screen::Graph(_))) => Vec::new(),
        (Some(id), _) => model.open(Screen::Graph(Chain { id, verdict: String::new(), lines: None, at: 0 })),
        (None, _) => say(model, "no task is selected"),
    }
}

fn back(model: &mut Model, key: KeyCode) -> Vec<Wish> {
    if model.screens.pop().is_some() {
        // The screen below may be out of date.
        return model.reload();
    }
    match key {
        KeyCode::Char('q') => vec![Wish::Quit],
        _ if !model.filter.is_empty() => {
            model.filter.clear();
            model.reload()
        }
        _ => say(model, "q quits"),
    }
}

/// Repeats a refused move with force.
fn insist(verb: Verb) -> Vec<Wish> {
    let Verb::Move { task, to, .. } = verb else { return Vec::new() };
    vec![Wish::Do(Verb::Move { task, to, insist: true })]
}

pub fn say(model: &mut Model, text: &str) -> Vec<Wish> {
    model.say(None, Said::told(text));
    Vec::new()
}

//! Navigation on the board, in a task, and in lists.

use std::time::{Duration, Instant};

use crate::app::RunOutcome;
use crate::task::TaskId;
use crate::tui::keys::Motion;
use crate::tui::model::{
    Comments, DocumentPage, DocumentSource, Model, PageLink, Read, ReviewScreen, ReviewTab, Screen, TaskScreen, Wish,
};

/// How often the log of a running run is read.
const LOG_AGAIN: Duration = Duration::from_secs(1);

pub fn motion(model: &mut Model, motion: Motion) -> Vec<Wish> {
    let (page, most) = (model.drawn.page, model.drawn.most);
    let scrolled = |scroll: usize| motion.lines(page).map(|by| scroll.saturating_add_signed(by).min(most));
    let stepped =
        |at: usize, count: usize| motion.lines(page).map(|by| at.saturating_add_signed(by).min(count.max(1) - 1));
    match model.screens.last_mut() {
        None => return on_board(model, motion),
        Some(Screen::Task(screen)) => match motion {
            Motion::Next => step_link(screen, 1),
            Motion::Previous => step_link(screen, -1),
            _ => screen.scroll = scrolled(screen.scroll).unwrap_or(screen.scroll),
        },
        Some(Screen::DocumentPage(document)) => document.scroll = scrolled(document.scroll).unwrap_or(document.scroll),
        Some(Screen::Graph(chain)) => chain.at = stepped(chain.at, chain.stops().len()).unwrap_or(chain.at),
        Some(Screen::Workers(workers)) => {
            let count = workers.seen.as_ref().map_or(0, |seen| seen.tasks().len());
            workers.at = stepped(workers.at, count).unwrap_or(workers.at);
        }
        Some(Screen::Inbox(inbox)) => {
            let count = inbox.items.as_ref().map_or(0, Vec::len);
            inbox.at = stepped(inbox.at, count).unwrap_or(inbox.at);
        }
        Some(Screen::Review(review)) => {
            let none = Comments::new();
            let comments = model.comments.get(&review.id).unwrap_or(&none);
            match motion {
                Motion::Next | Motion::Right => review.step_tab(1, comments),
                Motion::Previous | Motion::Left => review.step_tab(-1, comments),
                _ => {
                    let at = stepped(review.at(), review.rows.len()).unwrap_or(0);
                    review.select(at);
                }
            }
        }
        Some(Screen::Problems { at }) => *at = stepped(*at, model.board.problems.len()).unwrap_or(*at),
    }
    Vec::new()
}

fn on_board(model: &mut Model, motion: Motion) -> Vec<Wish> {
    // After a move, the cursor must not jump to a new task.
    model.expected = None;
    let (board, cursor) = (&model.board, &mut model.cursor);
    match motion {
        Motion::Left => drop(cursor.sideways(board, -1)),
        Motion::Right => drop(cursor.sideways(board, 1)),
        // From the last column to the first, and back.
        Motion::Next if !cursor.sideways(board, 1) => while cursor.sideways(board, -1) {},
        Motion::Previous if !cursor.sideways(board, -1) => while cursor.sideways(board, 1) {},
        _ => cursor.move_by(board, motion.lines(model.drawn.page).unwrap_or(0)),
    }
    Vec::new()
}

fn step_link(screen: &mut TaskScreen, by: isize) {
    let count = screen.page.as_ref().map_or(0, |page| page.links().len());
    screen.link = match (screen.link, count) {
        (_, 0) => None,
        (None, _) if by > 0 => Some(0),
        (None, count) => Some(count - 1),
        // After the last link, no link is selected; then the first one again.
        (Some(at), count) => at.checked_add_signed(by).filter(|at| *at < count),
    };
    screen.reveal = true;
}

pub fn enter(model: &mut Model) -> Vec<Wish> {
    match model.screens.last() {
        Some(Screen::Task(screen)) => {
            let links = screen.page.as_ref().map(|page| page.links()).unwrap_or_default();
            match screen.link.and_then(|at| links.into_iter().nth(at)) {
                Some((_, link)) => follow(model, link),
                None => super::say(model, "press tab to select a link first"),
            }
        }
        Some(Screen::Review(_)) => open_log(model),
        Some(Screen::DocumentPage(_)) => super::say(model, "j and k scroll, q returns"),
        Some(Screen::Problems { .. }) => match model.task() {
            Some(task) => vec![Wish::Edit(task)],
            None => super::say(model, "this is not the file of a task: fix it in an editor"),
        },
        _ => match model.task() {
            Some(task) => model.open_task(task),
            None => super::say(model, "no task is selected"),
        },
    }
}

pub fn review(model: &mut Model, id: TaskId) -> Vec<Wish> {
    match model.screens.last() {
        Some(Screen::Review(_)) => Vec::new(),
        _ => model.open(Screen::Review(ReviewScreen::new(id))),
    }
}

/// Opens the output of the selected run, which is updated while it runs.
fn open_log(model: &mut Model) -> Vec<Wish> {
    let Some(Screen::Review(review)) = model.screens.last() else { return Vec::new() };
    match review.run().filter(|_| review.tab == ReviewTab::Runs) {
        Some(run) => {
            let source = DocumentSource::Run { goes_on: run.outcome == RunOutcome::Running };
            let path = run.id.clone();
            model.open(Screen::DocumentPage(DocumentPage::new(path, source)))
        }
        None => super::say(model, "c comments on a line, y approves, x rejects"),
    }
}

/// Reads the visible log again while its run is running.
pub fn follow_log(model: &mut Model, at: Instant) -> Vec<Wish> {
    let goes_on = DocumentSource::Run { goes_on: true };
    let Some(Screen::DocumentPage(page)) = model.screens.last().filter(|screen| is_log(screen, goes_on)) else {
        return Vec::new();
    };
    if model.log_read.is_some_and(|before| at.duration_since(before) < LOG_AGAIN) {
        return Vec::new();
    }
    model.log_read = Some(at);
    vec![Wish::Read(Read::RunLog(page.path.clone()))]
}

fn is_log(screen: &Screen, source: DocumentSource) -> bool {
    matches!(screen, Screen::DocumentPage(page) if page.source == source)
}

pub fn follow(model: &mut Model, link: PageLink) -> Vec<Wish> {
    match link {
        PageLink::Task(id) => model.open_task(id),
        PageLink::DocumentPage(path) => model.open(Screen::DocumentPage(DocumentPage::new(path, DocumentSource::File))),
    }
}

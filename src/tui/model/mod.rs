//! Everything that is on the screen, as plain state: this module does not read, write or draw.

mod board;
mod input;
mod popup;
mod review;
mod screens;
mod wish;

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use jiff::Timestamp;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect};

use crate::task::TaskId;

pub use board::{Counts, Cursor, Named, Snapshot, age};
pub use input::{Input, Lines};
pub use popup::{Entry, Popup, Purpose, Said, SaidKind};
pub use review::{Comments, ReviewRow, ReviewScreen, ReviewTab, line_comments};
pub use screens::{
    Chain, ChainLine, DocumentPage, DocumentSource, InboxScreen, PageLink, Reading, RoleLine, Screen, SeenPage,
    TaskPage, TaskScreen, Workers, Wrapped, task_of,
};
pub use wish::{Answer, Read, Settle, Verb, Wish};

/// The meaning of a piece of text; the theme maps it to a style.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    #[default]
    Plain,
    Dim,
    Head,
    Id,
    Accent,
    Ready,
    Work,
    Blocked,
    Warn,
    Label,
    Urgent,
}

/// Pieces of text with their meaning, side by side.
pub type Row = Vec<(String, Tone)>;

#[derive(Debug)]
pub struct Model {
    pub board: Snapshot,
    pub cursor: Cursor,
    /// The filter as typed.
    pub filter: String,
    /// The screens above the board; the last one is visible.
    pub screens: Vec<Screen>,
    pub popup: Option<Popup>,
    /// The questions to ask when no popup is open.
    pub questions: VecDeque<Popup>,
    pub notice: Option<Notice>,
    /// Notes that were started but not saved.
    pub unsaved: BTreeMap<TaskId, String>,
    /// Comments on lines that were not sent yet.
    pub comments: BTreeMap<TaskId, Comments>,
    /// The time at which the visible log was last read.
    pub log_read: Option<Instant>,
    /// A new task, which is selected as soon as the board shows it; until then, keys already apply to it.
    pub expected: Option<TaskId>,
    pub now: Timestamp,
    /// The reason why changes of the board are not shown, if so.
    pub still: Option<String>,
    /// The board has been read once.
    pub loaded: bool,
    /// The number of running verbs.
    pub busy: usize,
    /// A `g` that may become `gg`.
    pub pending: Option<Instant>,
    pub click: Option<(Instant, Position)>,
    pub drag: Option<Drag>,
    pub drawn: Drawn,
}

/// The result of the last action, until the next key.
#[derive(Debug)]
pub struct Notice {
    pub task: Option<TaskId>,
    pub said: Said,
    /// The refused action that can be forced.
    pub again: Option<Verb>,
}

/// A card that is being dragged.
#[derive(Debug, Clone)]
pub struct Drag {
    pub task: TaskId,
    pub from: usize,
    pub over: Option<usize>,
}

/// The positions in the last frame, for the mouse and for scrolling.
#[derive(Debug, Default)]
pub struct Drawn {
    pub spots: Vec<(Rect, Spot)>,
    /// The number of rows of a page.
    pub page: usize,
    /// How far the visible screen can scroll.
    pub most: usize,
    /// The selected card has enough space for the message.
    pub on_card: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spot {
    /// A card in this column; the board may have changed since.
    Card(usize, TaskId),
    Column(usize),
    Head(usize),
    /// Several folded columns.
    Folded,
    Row(usize),
    Entry(usize),
    Key(KeyEvent),
    /// Inside the popup, where there is nothing to click.
    Popup,
}

impl Drawn {
    pub fn spot(&self, at: Position) -> Option<&Spot> {
        self.spots.iter().rev().find(|(area, _)| area.contains(at)).map(|(_, spot)| spot)
    }
}

impl Model {
    pub fn new(filter: String, now: Timestamp) -> Self {
        Self {
            board: Snapshot::default(),
            cursor: Cursor::default(),
            filter,
            screens: Vec::new(),
            popup: None,
            questions: VecDeque::new(),
            notice: None,
            unsaved: BTreeMap::new(),
            comments: BTreeMap::new(),
            log_read: None,
            expected: None,
            now,
            still: Some("starting".into()),
            loaded: false,
            busy: 0,
            pending: None,
            click: None,
            drag: None,
            drawn: Drawn::default(),
        }
    }

    /// The task that a key applies to.
    pub fn task(&self) -> Option<TaskId> {
        match self.screens.last() {
            None => self.expected.clone().or_else(|| self.cursor.task(&self.board).map(|task| task.id.clone())),
            Some(Screen::Task(screen)) => Some(screen.id.clone()),
            Some(Screen::Graph(chain)) => chain.selected().map(|task| task.id.clone()),
            Some(Screen::Workers(workers)) => {
                workers.seen.as_ref().and_then(|seen| seen.tasks().get(workers.at).map(|&id| id.clone()))
            }
            Some(Screen::Inbox(inbox)) => inbox.selected().and_then(|item| item.task.clone()),
            Some(Screen::Problems { at }) => self.board.problems.get(*at).and_then(task_of),
            Some(Screen::Review(review)) => Some(review.id.clone()),
            Some(Screen::DocumentPage(_)) => None,
        }
    }

    pub fn say(&mut self, task: Option<TaskId>, said: Said) {
        self.notice = Some(Notice { task, said, again: None });
    }

    /// Reads the board and the data of the visible screen again.
    pub fn reload(&self) -> Vec<Wish> {
        let mut wishes = vec![Wish::Read(Read::Board { filter: self.filter.clone() })];
        wishes.extend(self.screens.last().and_then(Self::reading).map(Wish::Read));
        wishes
    }

    pub fn reading(screen: &Screen) -> Option<Read> {
        match screen {
            Screen::Task(screen) => Some(Read::Task(screen.id.clone())),
            Screen::Graph(chain) => Some(Read::Chain(chain.id.clone())),
            Screen::Workers(_) => Some(Read::Workers),
            Screen::Inbox(_) => Some(Read::Inbox),
            Screen::Review(review) => Some(Read::Review(review.id.clone())),
            Screen::DocumentPage(document) => Some(match document.source {
                DocumentSource::File => Read::DocumentPage(document.path.clone()),
                DocumentSource::Run { .. } => Read::RunLog(document.path.clone()),
            }),
            Screen::Problems { .. } => None,
        }
    }

    /// Opens a screen above the others and reads its data.
    pub fn open(&mut self, screen: Screen) -> Vec<Wish> {
        let read = Self::reading(&screen).map(Wish::Read);
        self.screens.push(screen);
        read.into_iter().collect()
    }

    pub fn open_task(&mut self, id: TaskId) -> Vec<Wish> {
        self.open(Screen::Task(TaskScreen::new(id)))
    }
}

//! The board as it was last read, and the selected card.

use jiff::Timestamp;

use crate::app::{Column, Meaning, TaskView};
use crate::task::{Problem, StateName, TaskId};

/// The data of the board's screen.
#[derive(Debug, Default)]
pub struct Snapshot {
    pub name: String,
    /// The worker name of this person.
    pub me: String,
    pub filter: String,
    /// The tasks that match the filter.
    pub columns: Vec<Column>,
    /// All tasks, to choose from.
    pub all: Vec<Named>,
    pub counts: Counts,
    pub problems: Vec<Problem>,
}

#[derive(Debug, Clone)]
pub struct Named {
    pub id: TaskId,
    pub title: String,
    pub state: StateName,
    pub meaning: Meaning,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub ready: usize,
    pub at_work: usize,
    pub blocked: usize,
    /// The number of tasks that a person must decide on.
    pub for_person: usize,
}

impl Counts {
    pub fn of(columns: &[Column]) -> Self {
        let open = |column: &&Column| !matches!(column.meaning, Meaning::Done | Meaning::Canceled);
        let count = |is: fn(&TaskView) -> bool| {
            columns.iter().filter(open).flat_map(|column| &column.tasks).filter(|task| is(task)).count()
        };
        Self {
            ready: count(|task| task.ready),
            at_work: count(|task| task.claim.is_some()),
            blocked: count(|task| task.blocked),
            for_person: count(|task| task.meaning == Meaning::Person || task.attention.is_some()),
        }
    }
}

impl Snapshot {
    pub fn meaning(&self, state: &str) -> Meaning {
        let column = self.columns.iter().find(|column| column.state.as_str() == state);
        column.map_or(Meaning::Waiting, |column| column.meaning)
    }

    pub fn find(&self, id: &TaskId) -> Option<(usize, usize)> {
        let row = |column: &Column| column.tasks.iter().position(|task| task.id == *id);
        self.columns.iter().enumerate().find_map(|(at, column)| row(column).map(|row| (at, row)))
    }

    pub fn shown(&self) -> usize {
        self.columns.iter().map(|column| column.tasks.len()).sum()
    }
}

/// The selected card, and the visible part of the board.
#[derive(Debug, Clone, Default)]
pub struct Cursor {
    pub column: usize,
    /// The selected card of each column.
    pub rows: Vec<usize>,
    /// The first visible card of each column.
    pub tops: Vec<usize>,
    /// The first visible column, among those with cards.
    pub first: usize,
}

impl Cursor {
    pub fn task<'a>(&self, board: &'a Snapshot) -> Option<&'a TaskView> {
        board.columns.get(self.column)?.tasks.get(*self.rows.get(self.column)?)
    }

    pub fn put(&mut self, (column, row): (usize, usize)) {
        self.column = column;
        if let Some(at) = self.rows.get_mut(column) {
            *at = row;
        }
    }

    /// After a change of the board, the same task stays selected; if it was removed, the next one is selected.
    pub fn follow(&mut self, old: &Snapshot, new: &Snapshot) {
        let selected = self.task(old).map(|task| task.id.clone());
        let same = |state: &StateName| old.columns.iter().position(|column| column.state == *state);
        let kept = |list: &[usize], column: &Column| {
            same(&column.state).and_then(|at| list.get(at).copied()).unwrap_or(0).min(column.tasks.len().max(1) - 1)
        };
        let state = old.columns.get(self.column).map(|column| column.state.clone());
        self.rows = new.columns.iter().map(|column| kept(&self.rows, column)).collect();
        self.tops = new.columns.iter().map(|column| kept(&self.tops, column)).collect();
        self.column = state.and_then(|state| new.columns.iter().position(|column| column.state == state)).unwrap_or(0);
        match selected.and_then(|id| new.find(&id)) {
            Some(place) => self.put(place),
            None => self.settle(new),
        }
    }

    /// Moves to a column with cards: this one, otherwise the next, otherwise the previous one.
    fn settle(&mut self, board: &Snapshot) {
        let filled = |at: &usize| !board.columns[*at].tasks.is_empty();
        let here = self.column.min(board.columns.len());
        let next = (here..board.columns.len()).find(filled);
        self.column = next.or_else(|| (0..here).rev().find(filled)).unwrap_or(0);
    }

    /// Moves by this number of columns with cards; `false` if there are not so many.
    pub fn sideways(&mut self, board: &Snapshot, by: isize) -> bool {
        let filled: Vec<usize> = (0..board.columns.len()).filter(|&at| !board.columns[at].tasks.is_empty()).collect();
        let Some(here) = filled.iter().position(|&at| at == self.column) else { return false };
        let there = here.checked_add_signed(by).and_then(|at| filled.get(at));
        there.inspect(|&&column| self.column = column).is_some()
    }

    pub fn move_by(&mut self, board: &Snapshot, by: isize) {
        let Some(column) = board.columns.get(self.column) else { return };
        if let Some(row) = self.rows.get_mut(self.column) {
            *row = row.saturating_add_signed(by).min(column.tasks.len().saturating_sub(1));
        }
    }
}

/// How long ago a time is; empty if it is unknown.
pub fn age(at: Option<Timestamp>, now: Timestamp) -> String {
    at.map(|at| format!("{} ago", crate::app::ago(at, now))).unwrap_or_default()
}

//! The screen to decide on one task: its plan, changes, checks and runs in lines, so that each line can be commented on.

use std::collections::BTreeMap;

use crate::app::{DiffLine, FileDiff, LineComment, Review, RunOutcome};
use crate::task::TaskId;

/// A line of a file.
pub type LinePlace = (String, u32);

/// Comments that were not sent yet.
pub type Comments = BTreeMap<LinePlace, String>;

#[derive(Debug)]
pub struct ReviewScreen {
    pub id: TaskId,
    /// `None` until it is read.
    pub page: Option<Box<Review>>,
    pub tab: ReviewTab,
    /// The selected row of each tab.
    selected: [usize; 3],
    /// Old and new side by side.
    pub split: bool,
    /// The rows of the tab.
    pub rows: Vec<ReviewRow>,
    /// The line that a comment is being written for.
    pub commenting: Option<LinePlace>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewTab {
    Plan,
    Changes,
    Runs,
}

impl ReviewTab {
    pub const ALL: [Self; 3] = [Self::Plan, Self::Changes, Self::Runs];
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewRow {
    /// The text for an empty tab.
    Told(String),
    /// A line of the plan.
    Text {
        number: u32,
        text: String,
    },
    File {
        name: String,
        status: &'static str,
        added: usize,
        removed: usize,
    },
    Hunk {
        first: u32,
        section: String,
    },
    Line {
        path: String,
        line: DiffLine,
    },
    Pair {
        path: String,
        old: Option<DiffLine>,
        new: Option<DiffLine>,
    },
    Comment(String),
    Check {
        name: String,
        passed: Option<bool>,
        outdated: bool,
    },
    /// The index of a run.
    Run(usize),
}

impl ReviewScreen {
    pub fn new(id: TaskId) -> Self {
        let (tab, selected) = (ReviewTab::Plan, [0; 3]);
        Self { id, page: None, tab, selected, split: false, rows: Vec::new(), commenting: None }
    }

    /// Stores the page. The first time, it opens the tab that needs a decision.
    pub fn put(&mut self, page: Review, comments: &Comments) {
        if self.page.is_none() {
            let changed = page.changes.as_ref().is_some_and(|changes| !changes.files.is_empty());
            self.tab = match (&page.plan, changed) {
                (Some(_), _) if page.can.decide.approve => ReviewTab::Plan,
                (_, true) => ReviewTab::Changes,
                (Some(_), false) => ReviewTab::Plan,
                (None, false) => ReviewTab::Runs,
            };
        }
        self.page = Some(Box::new(page));
        self.lay_out(comments);
    }

    pub fn at(&self) -> usize {
        self.selected[self.tab as usize].min(self.rows.len().saturating_sub(1))
    }

    pub fn select(&mut self, row: usize) {
        self.selected[self.tab as usize] = row.min(self.rows.len().saturating_sub(1));
    }

    pub fn step_tab(&mut self, by: isize, comments: &Comments) {
        let count = ReviewTab::ALL.len() as isize;
        self.tab = ReviewTab::ALL[(self.tab as isize + by).rem_euclid(count) as usize];
        self.lay_out(comments);
    }

    /// The line to which a comment on the selected row belongs.
    pub fn place(&self) -> Option<LinePlace> {
        // A removed line has no number in the new file.
        let numbered = |path: &str, line: &DiffLine| Some((path.to_owned(), line.new?));
        match self.rows.get(self.at())? {
            ReviewRow::Text { number, .. } => Some((self.page.as_ref()?.plan.as_ref()?.path.clone(), *number)),
            ReviewRow::Line { path, line } => numbered(path, line),
            ReviewRow::Pair { path, new, .. } => numbered(path, new.as_ref()?),
            _ => None,
        }
    }

    /// The selected run, or the one that is running.
    pub fn run(&self) -> Option<&crate::app::Run> {
        let runs = &self.page.as_ref()?.runs;
        match self.rows.get(self.at()) {
            Some(ReviewRow::Run(at)) => runs.get(*at),
            _ => runs.iter().find(|run| run.outcome == RunOutcome::Running),
        }
    }

    /// The rows of the tab, with each comment below its line.
    pub fn lay_out(&mut self, comments: &Comments) {
        let Some(page) = &self.page else { return };
        self.rows = match self.tab {
            ReviewTab::Plan => plan(page, comments),
            ReviewTab::Changes => changes(page, comments, self.split),
            ReviewTab::Runs => runs(page),
        };
    }
}

fn commented(rows: &mut Vec<ReviewRow>, comments: &Comments, path: &str, line: Option<u32>) {
    let text = line.and_then(|line| comments.get(&(path.to_owned(), line)));
    rows.extend(text.map(|text| ReviewRow::Comment(text.clone())));
}

fn plan(page: &Review, comments: &Comments) -> Vec<ReviewRow> {
    let Some(plan) = &page.plan else { return vec![ReviewRow::Told(format!("{} has no plan", page.task.id))] };
    let mut rows = Vec::new();
    for (number, text) in (1..).zip(plan.text.lines()) {
        rows.push(ReviewRow::Text { number, text: text.to_owned() });
        commented(&mut rows, comments, &plan.path, Some(number));
    }
    rows
}

fn changes(page: &Review, comments: &Comments, split: bool) -> Vec<ReviewRow> {
    let told = |text: &str| vec![ReviewRow::Told(text.to_owned())];
    let Some(changes) = &page.changes else { return told(page.unchanged.as_deref().unwrap_or_default()) };
    if changes.files.is_empty() {
        return told("no changes yet");
    }
    let mut rows = Vec::new();
    for file in &changes.files {
        file_rows(&mut rows, file, comments, split);
    }
    rows
}

fn file_rows(rows: &mut Vec<ReviewRow>, file: &FileDiff, comments: &Comments, split: bool) {
    let name = file.old_path.as_ref().map_or_else(|| file.path.clone(), |old| format!("{old} → {}", file.path));
    let status = if file.binary { "binary" } else { file.status };
    rows.push(ReviewRow::File { name, status, added: file.added, removed: file.removed });
    let path = || file.path.clone();
    for hunk in &file.hunks {
        let first = hunk.lines.first().and_then(|line| line.new.or(line.old)).unwrap_or(0);
        rows.push(ReviewRow::Hunk { first, section: hunk.section.clone() });
        if split {
            for (old, new) in paired(&hunk.lines) {
                let line = new.as_ref().and_then(|line| line.new);
                rows.push(ReviewRow::Pair { path: path(), old, new });
                commented(rows, comments, &file.path, line);
            }
        } else {
            for line in &hunk.lines {
                rows.push(ReviewRow::Line { path: path(), line: line.clone() });
                commented(rows, comments, &file.path, line.new);
            }
        }
    }
}

/// Removed lines beside the added lines that replace them.
fn paired(lines: &[DiffLine]) -> Vec<(Option<DiffLine>, Option<DiffLine>)> {
    let mut rows: Vec<(Option<DiffLine>, Option<DiffLine>)> = Vec::new();
    // The first removed line that has no added line beside it yet.
    let mut open = 0;
    for line in lines {
        match line.mark {
            '-' => rows.push((Some(line.clone()), None)),
            '+' if open < rows.len() => {
                rows[open].1 = Some(line.clone());
                open += 1;
                continue;
            }
            '+' => rows.push((None, Some(line.clone()))),
            _ => rows.push((Some(line.clone()), Some(line.clone()))),
        }
        if line.mark != '-' {
            open = rows.len();
        }
    }
    rows
}

fn runs(page: &Review) -> Vec<ReviewRow> {
    let checks = page.checks.iter().map(|check| ReviewRow::Check {
        name: check.name.clone(),
        passed: check.last.as_ref().map(|last| last.passed),
        outdated: check.outdated,
    });
    let mut rows: Vec<ReviewRow> = checks.collect();
    if rows.is_empty() {
        rows.push(ReviewRow::Told("no checks: set merge.checks to programs that must succeed".into()));
    }
    if page.runs.is_empty() {
        rows.push(ReviewRow::Told("no runs on this machine".into()));
    }
    rows.extend((0..page.runs.len()).map(ReviewRow::Run));
    rows
}

/// The comments as arguments of the verb.
pub fn line_comments(comments: &Comments) -> Vec<LineComment> {
    let comment = |((path, line), text): (&LinePlace, &String)| LineComment {
        path: path.clone(),
        line: *line,
        text: text.clone(),
    };
    comments.iter().map(comment).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(mark: char, old: Option<u32>, new: Option<u32>) -> DiffLine {
        DiffLine { mark, old, new, text: String::new(), no_newline: false }
    }

    #[test]
    fn removed_lines_stand_beside_those_in_their_place() {
        let lines = [
            line(' ', Some(1), Some(1)),
            line('-', Some(2), None),
            line('-', Some(3), None),
            line('+', None, Some(2)),
            line(' ', Some(4), Some(3)),
            line('+', None, Some(4)),
        ];
        let numbers: Vec<_> = paired(&lines)
            .into_iter()
            .map(|(old, new)| (old.and_then(|line| line.old), new.and_then(|line| line.new)))
            .collect();
        let wanted = [(Some(1), Some(1)), (Some(2), Some(2)), (Some(3), None), (Some(4), Some(3)), (None, Some(4))];
        assert_eq!(numbers, wanted);
    }
}

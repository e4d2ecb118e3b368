//! The columns of the page: small cards, and of long columns only the requested number.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use super::api::Asked;
use crate::app::{self, Column, Failure, ListAsk, Meaning, TaskView, Workspace};
use crate::task::{StateName, TaskId};

/// All cards of one filter.
pub struct Drawn {
    /// The number of problems of files; the files of some tasks cannot be parsed, so that these have no card.
    problems: usize,
    columns: Vec<Stack>,
}

struct Stack {
    state: StateName,
    meaning: Meaning,
    points: u32,
    cards: Vec<Card>,
}

/// The data of a card; empty values are left out.
#[derive(Debug, Serialize)]
pub struct Card {
    pub id: TaskId,
    pub title: String,
    #[serde(skip_serializing_if = "is_issue")]
    pub kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The start of the claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// In progress, but without a live claim.
    #[serde(skip_serializing_if = "is_false")]
    pub stale: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub ready: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub blocked: bool,
    /// The number of its open blockers; zero if only its parent is blocked.
    #[serde(skip_serializing_if = "is_zero")]
    pub blockers: usize,
    #[serde(skip_serializing_if = "is_zero")]
    pub children: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub github: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attention: Option<String>,
    #[serde(skip_serializing_if = "is_zero")]
    pub problems: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated: Option<i64>,
}

fn is_issue(kind: &str) -> bool {
    kind == "issue"
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_zero(value: &usize) -> bool {
    *value == 0
}

impl From<TaskView> for Card {
    fn from(task: TaskView) -> Self {
        let (by, since) = task.claim.map(|claim| (claim.by.to_string(), claim.since)).unzip();
        Self {
            id: task.id,
            title: task.title,
            kind: task.kind,
            priority: task.priority,
            estimate: task.estimate,
            labels: task.labels,
            owner: by.or(task.owner),
            since,
            stale: task.stale,
            ready: task.ready,
            blocked: task.blocked,
            blockers: task.open_blockers.len(),
            children: task.children.len(),
            github: task.github.map(|issue| issue.number),
            attention: task.attention,
            problems: task.problems.len(),
            updated: task.updated.map(Timestamp::as_second),
        }
    }
}

/// The number of cards of a column that are sent before the page is scrolled.
const FIRST: usize = 60;
const MOST: usize = 10_000;

/// The columns in the order in which they are shown. Without a requested order, finished tasks are sorted by their last change,
/// newest first.
pub fn columns(ws: &Workspace, list: &ListAsk) -> Result<Vec<Column>, Failure> {
    let mut columns = app::columns(ws, &list.query(ws)?)?;
    let finished = |column: &&mut Column| matches!(column.meaning, Meaning::Done | Meaning::Canceled);
    for column in columns.iter_mut().filter(finished).filter(|_| list.sort.is_empty()) {
        column.tasks.sort_by_key(|task| std::cmp::Reverse(task.updated.map(Timestamp::as_second)));
    }
    Ok(columns)
}

impl Drawn {
    pub fn new(ws: &Workspace, asked: &Asked) -> Result<Self, Failure> {
        let stack = |column: Column| Stack {
            state: column.state,
            meaning: column.meaning,
            points: column.points,
            cards: column.tasks.into_iter().map(Card::from).collect(),
        };
        let columns = columns(ws, &asked.list())?.into_iter().map(stack).collect();
        Ok(Self { columns, problems: ws.problems().len() })
    }

    /// Builds the response. `more=2:180` requests that many cards of the third column.
    pub fn answer(&self, version: u64, asked: &Asked) -> Value {
        let more = |at: usize| {
            let wanted = asked.all("more").filter_map(|text| text.split_once(':'));
            let mine = wanted.filter(|(column, _)| column.parse() == Ok(at));
            mine.filter_map(|(_, count)| count.parse().ok()).max().unwrap_or(FIRST).min(MOST)
        };
        let columns = self.columns.iter().enumerate().map(|(at, stack)| {
            json!({
                "state": stack.state, "meaning": stack.meaning, "points": stack.points, "count": stack.cards.len(),
                "cards": stack.cards.iter().take(more(at)).collect::<Vec<_>>(),
            })
        });
        let total: usize = self.columns.iter().map(|stack| stack.cards.len()).sum();
        json!({ "version": version, "total": total, "problems": self.problems, "columns": columns.collect::<Vec<_>>() })
    }

    /// The labels and owners in use, the most frequent first.
    pub fn facets(&self) -> Value {
        let cards = || self.columns.iter().flat_map(|stack| &stack.cards);
        json!({
            "labels": counted(cards().flat_map(|card| &card.labels)),
            "owners": counted(cards().filter_map(|card| card.owner.as_ref())),
        })
    }
}

fn counted<'a>(names: impl Iterator<Item = &'a String>) -> Vec<(&'a str, usize)> {
    let mut counts = std::collections::BTreeMap::<&str, usize>::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.truncate(200);
    counts
}

//! Which tasks a list shows, and in what order.

use std::cmp::Ordering;
use std::str::FromStr;

use super::{Board, Rules, Standings};
use crate::task::{Estimate, Kind, Priority, StateName, Task, TaskId, Worker};

/// A task must match all filters, and one of the values of each filter.
#[derive(Debug, Clone, Default)]
pub struct Query {
    pub states: Vec<StateName>,
    pub role: Option<String>,
    pub ready: bool,
    pub blocked: bool,
    pub owners: Vec<Worker>,
    pub labels: Vec<String>,
    pub priorities: Vec<Priority>,
    pub estimates: Vec<Estimate>,
    pub parent: Option<TaskId>,
    pub kinds: Vec<Kind>,
    /// Includes finished tasks.
    pub all: bool,
    pub search: Option<String>,
    pub sort: Vec<SortKey>,
    pub limit: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SortKey {
    field: SortField,
    descending: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SortField {
    Priority,
    State,
    Estimate,
    Created,
    Updated,
    Title,
    Owner,
    Id,
}

const FIELDS: [(&str, SortField); 8] = [
    ("priority", SortField::Priority),
    ("state", SortField::State),
    ("estimate", SortField::Estimate),
    ("created", SortField::Created),
    ("updated", SortField::Updated),
    ("title", SortField::Title),
    ("owner", SortField::Owner),
    ("id", SortField::Id),
];

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot sort by {0:?}: use {names}, with a leading `-` to reverse", names = FIELDS.map(|(name, _)| name).join(", "))]
pub struct UnknownSort(String);

impl SortKey {
    pub const NAMES: [&'static str; 8] =
        ["priority", "state", "estimate", "created", "updated", "title", "owner", "id"];
}

impl FromStr for SortKey {
    type Err = UnknownSort;
    fn from_str(text: &str) -> Result<Self, UnknownSort> {
        let (name, descending) = text.strip_prefix('-').map_or((text, false), |rest| (rest, true));
        let found = FIELDS.iter().find(|(field, _)| *field == name.to_ascii_lowercase());
        found.map(|(_, field)| Self { field: *field, descending }).ok_or_else(|| UnknownSort(text.to_owned()))
    }
}

/// A task and the position of its state in the workflow.
type Ranked<'a> = (&'a Task, usize);

impl Query {
    /// The places of the tasks that match, in order, and the number of matches before the limit.
    pub fn run(&self, board: &Board, rules: &Rules, standings: &Standings) -> (Vec<usize>, usize) {
        let tasks = board.tasks();
        let needle = self.search.as_ref().map(|text| text.to_lowercase());
        let mut places: Vec<usize> = (0..tasks.len())
            // Finished tasks are shown if their state is named.
            .filter(|&at| self.all || !self.states.is_empty() || !standings.is_finished(at))
            .filter(|&at| self.admits(&tasks[at], rules, needle.as_deref()))
            .filter(|&at| !self.ready || standings.is_ready(at))
            .filter(|&at| !self.blocked || standings.is_blocked(at))
            .collect();
        places.sort_by(|&a, &b| self.order((&tasks[a], standings.rank(a)), (&tasks[b], standings.rank(b))));
        let total = places.len();
        places.truncate(self.limit.unwrap_or(usize::MAX));
        (places, total)
    }

    fn admits(&self, task: &Task, rules: &Rules, needle: Option<&str>) -> bool {
        let kinds: &[Kind] = if self.kinds.is_empty() { &[Kind::Issue, Kind::Epic] } else { &self.kinds };
        kinds.contains(&task.kind)
            && (self.states.is_empty() || self.states.contains(&task.state))
            && self.role.as_ref().is_none_or(|role| takes(rules, task, role))
            && (self.owners.is_empty() || task.owner.as_ref().is_some_and(|o| self.owners.contains(o)))
            && self.labels.iter().all(|want| task.labels.iter().any(|label| label.eq_ignore_ascii_case(want)))
            && (self.priorities.is_empty() || task.priority.is_some_and(|p| self.priorities.contains(&p)))
            && (self.estimates.is_empty() || task.estimate.is_some_and(|e| self.estimates.contains(&e)))
            && self.parent.as_ref().is_none_or(|parent| task.parent.as_ref() == Some(parent))
            && needle.is_none_or(|needle| mentions(task, needle))
    }

    fn order(&self, a: Ranked<'_>, b: Ranked<'_>) -> Ordering {
        let chosen = self.sort.iter().map(|key| key.compare(a, b)).find(|o| o.is_ne());
        chosen.unwrap_or_else(|| usual_order(a, b))
    }
}

/// By priority, then by progress, then the oldest first.
fn usual_order((a, a_rank): Ranked<'_>, (b, b_rank): Ranked<'_>) -> Ordering {
    none_last(a.priority, b.priority)
        .then_with(|| b_rank.cmp(&a_rank))
        .then_with(|| none_last(a.created, b.created))
        .then_with(|| a.id.cmp(&b.id))
}

impl SortKey {
    fn compare(self, (a, a_rank): Ranked<'_>, (b, b_rank): Ranked<'_>) -> Ordering {
        let turn = |order: Ordering| if self.descending { order.reverse() } else { order };
        match self.field {
            SortField::Priority => missing_last(a.priority, b.priority, turn),
            SortField::Estimate => missing_last(a.estimate, b.estimate, turn),
            SortField::Created => missing_last(a.created, b.created, turn),
            SortField::Updated => missing_last(a.updated, b.updated, turn),
            SortField::Owner => missing_last(a.owner.as_ref(), b.owner.as_ref(), turn),
            SortField::State => turn(a_rank.cmp(&b_rank)),
            SortField::Title => turn(a.title.to_lowercase().cmp(&b.title.to_lowercase())),
            SortField::Id => turn(a.id.cmp(&b.id)),
        }
    }
}

fn none_last<T: Ord>(a: Option<T>, b: Option<T>) -> Ordering {
    missing_last(a, b, |order| order)
}

/// Puts missing values last in either direction.
fn missing_last<T: Ord>(a: Option<T>, b: Option<T>, turn: impl Fn(Ordering) -> Ordering) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => turn(a.cmp(&b)),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}

fn takes(rules: &Rules, task: &Task, role: &str) -> bool {
    rules.flow.state(task.kind, &task.state).is_some_and(|state| rules.flow.takes(role, state, rules.mode))
}

fn mentions(task: &Task, needle: &str) -> bool {
    task.title.to_lowercase().contains(needle)
        || task.id.as_str().to_lowercase().contains(needle)
        || task.labels.iter().any(|label| label.to_lowercase().contains(needle))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::testing::{Sample, hour, id, rules, state, worker};

    fn sample() -> Sample {
        Sample::board()
            .task("a", "Backlog")
            .priority(Priority::P2)
            .estimate(Estimate::S)
            .created(3)
            .task("b", "In Review")
            .labels(&["Bug", "ui"])
            .titled("Draw the board")
            .owner("anna")
            .task("c", "Done")
            .priority(Priority::P0)
            .task("d", "Backlog")
            .blocked_by(&["a"])
            .parent("e")
            .task("e", "Ready for Plan")
            .priority(Priority::P2)
            .estimate(Estimate::L)
            .owner("ben")
            .step("s", "Pending", "e", "plan", &["e"])
    }

    fn listed_of(sample: Sample, query: &Query) -> (String, usize) {
        let (board, rules) = (sample.build(), rules());
        let standings = Standings::new(&board, &rules);
        let (places, total) = query.run(&board, &rules, &standings);
        (places.iter().map(|&at| board.tasks()[at].id.as_str()).collect(), total)
    }

    fn listed(query: &Query) -> String {
        listed_of(sample(), query).0
    }

    #[test]
    fn each_filter_narrows() {
        let query = Query::default;
        for (query, expected) in [
            (query(), "eabd"),
            (Query { all: true, ..query() }, "ceabd"),
            (Query { states: vec![state("Done")], ..query() }, "c"),
            (Query { states: vec![state("Done"), state("In Review")], ..query() }, "cb"),
            (Query { ready: true, ..query() }, "a"),
            (Query { blocked: true, ..query() }, "d"),
            (Query { owners: vec![worker("anna"), worker("ben")], ..query() }, "eb"),
            (Query { owners: vec![worker("carl")], ..query() }, ""),
            (Query { labels: vec!["bug".into()], ..query() }, "b"),
            (Query { labels: vec!["bug".into(), "UI".into()], ..query() }, "b"),
            (Query { labels: vec!["bug".into(), "x".into()], ..query() }, ""),
            (Query { priorities: vec![Priority::P2, Priority::P0], ..query() }, "ea"),
            (Query { estimates: vec![Estimate::L], ..query() }, "e"),
            (Query { parent: Some(id("e")), ..query() }, "d"),
            (Query { role: Some("builder".into()), ..query() }, "e"),
            (Query { role: Some("integrator".into()), ..query() }, "b"),
            (Query { kinds: vec![Kind::Step], ..query() }, "s"),
            (Query { kinds: vec![Kind::Epic], ..query() }, ""),
            (Query { search: Some("THE Board".into()), ..query() }, "b"),
            (Query { search: Some("BUG".into()), ..query() }, "b"),
            (Query { search: Some("E".into()), labels: vec!["ui".into()], ..query() }, "b"),
            (Query { search: Some("D".into()), priorities: vec![Priority::P2], ..query() }, ""),
        ] {
            assert_eq!(listed(&query), expected, "{query:?}");
        }
    }

    #[test]
    fn a_limit_shows_the_first_and_counts_all() {
        assert_eq!(listed_of(sample(), &Query { limit: Some(1), ..Query::default() }), ("e".into(), 4));
        assert_eq!(listed_of(sample(), &Query { limit: Some(0), ..Query::default() }), (String::new(), 4));
    }

    #[test]
    fn the_usual_order_is_priority_then_progress_then_age_then_id() {
        let tasks = Sample::board()
            .tasks(&[("a", "Backlog"), ("b", "Backlog")])
            .task("c", "Backlog")
            .created(2)
            .task("d", "Backlog")
            .created(1)
            .task("e", "In Review")
            .task("f", "Backlog")
            .priority(Priority::P3);
        assert_eq!(listed_of(tasks, &Query::default()).0, "fedcab");
    }

    #[test]
    fn a_sort_key_comes_before_the_usual_order_and_missing_values_come_last_both_ways() {
        let sort = |keys: &[&str]| Query {
            sort: keys.iter().map(|key| key.parse().unwrap()).collect(),
            all: true,
            ..Query::default()
        };
        for (keys, expected) in [
            (vec!["priority"], "ceabd"),
            (vec!["-priority"], "eacbd"),
            (vec!["estimate"], "aecbd"),
            (vec!["-estimate"], "eacbd"),
            (vec!["owner"], "becad"),
            (vec!["-owner"], "ebcad"),
            (vec!["created"], "acebd"),
            (vec!["state"], "adebc"),
            (vec!["-state"], "cbead"),
            (vec!["title"], "acdbe"),
            (vec!["-TITLE"], "ebdca"),
            (vec!["id"], "abcde"),
            (vec!["-id"], "edcba"),
            (vec!["state", "-id"], "daebc"),
        ] {
            assert_eq!(listed(&sort(&keys)), expected, "{keys:?}");
        }
        let changed =
            |name: &str, at: i64, sample: Sample| sample.task(name, "Backlog").with(|t| t.updated = Some(hour(at)));
        let tasks = changed("b", 1, changed("a", 2, Sample::board())).task("c", "Backlog");
        assert_eq!(listed_of(tasks, &sort(&["updated"])).0, "bac");
    }

    #[test]
    fn every_sort_key_that_is_offered_is_understood() {
        for name in SortKey::NAMES {
            assert!(name.parse::<SortKey>().is_ok() && format!("-{name}").parse::<SortKey>().is_ok(), "{name}");
        }
        assert_eq!(SortKey::NAMES, FIELDS.map(|(name, _)| name));
        let error = "colour".parse::<SortKey>().unwrap_err().to_string();
        assert!(error.starts_with(r#"cannot sort by "colour": use priority, state,"#), "{error}");
    }
}

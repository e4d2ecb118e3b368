//! Which tasks a list shows, and in what order.

use std::cmp::Ordering;
use std::str::FromStr;

use super::{Board, Rules, Standings};
use crate::task::{Estimate, Kind, Priority, StateName, Task, TaskId, Worker};

/// Filters narrow each other; the values of one filter widen it.
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
    /// With finished ones.
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
#[error("cannot sort by {0:?}: use {names}, with a leading `-` to turn it round", names = FIELDS.map(|(name, _)| name).join(", "))]
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

/// A task and where its state stands in the workflow.
type Ranked<'a> = (&'a Task, usize);

impl Query {
    /// The places of the tasks that match, in order, and how many there were before the limit.
    pub fn run(&self, board: &Board, rules: &Rules, standings: &Standings) -> (Vec<usize>, usize) {
        let tasks = board.tasks();
        let needle = self.search.as_ref().map(|text| text.to_lowercase());
        let mut places: Vec<usize> = (0..tasks.len())
            // A state that is asked for by name is shown, finished or not.
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

/// Priority, then what is further along, then the oldest.
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

/// What has no value comes last whichever way the rest is turned.
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

    fn board() -> Board {
        let task = |id: &str, state: &str, edit: &dyn Fn(&mut Task)| {
            let mut task = Task::new(TaskId::new(id).unwrap(), format!("Task {id}"), StateName::new(state));
            edit(&mut task);
            task
        };
        let tasks = vec![
            task("a", "Backlog", &|t| t.priority = Some(Priority::P2)),
            task("b", "In Review", &|t| t.labels = vec!["Bug".into()]),
            task("c", "Done", &|t| t.priority = Some(Priority::P0)),
            task("d", "Backlog", &|t| t.blocked_by = vec![TaskId::new("a").unwrap()]),
            task("e", "Ready for Plan", &|t| t.priority = Some(Priority::P2)),
            task("s", "Pending", &|t| t.kind = Kind::Step),
        ];
        Board::new(tasks, Vec::new(), Vec::new())
    }

    fn listed(query: &Query) -> String {
        let (board, rules) = (board(), Rules::of(crate::workflow::Workflow::builtin()));
        let standings = Standings::new(&board, &rules);
        query.run(&board, &rules, &standings).0.iter().map(|&at| board.tasks()[at].id.as_str()).collect()
    }

    #[test]
    fn the_usual_order_is_priority_then_progress() {
        assert_eq!(listed(&Query::default()), "eabd");
    }

    #[test]
    fn each_filter_narrows() {
        let state = |name: &str| vec![StateName::new(name)];
        assert_eq!(listed(&Query { all: true, ..Query::default() }), "ceabd");
        assert_eq!(listed(&Query { states: state("Done"), ..Query::default() }), "c");
        assert_eq!(listed(&Query { ready: true, ..Query::default() }), "eab");
        assert_eq!(listed(&Query { blocked: true, ..Query::default() }), "d");
        assert_eq!(listed(&Query { labels: vec!["bug".into()], ..Query::default() }), "b");
        assert_eq!(listed(&Query { role: Some("builder".into()), ..Query::default() }), "e");
        assert_eq!(listed(&Query { kinds: vec![Kind::Step], ..Query::default() }), "s");
        assert_eq!(listed(&Query { search: Some("TASK D".into()), ..Query::default() }), "d");
        assert_eq!(listed(&Query { limit: Some(1), ..Query::default() }), "e");
    }

    #[test]
    fn what_has_no_priority_comes_last_both_ways() {
        let sort = |text: &str| Query { sort: vec![text.parse().unwrap()], all: true, ..Query::default() };
        assert_eq!(listed(&sort("priority")), "ceabd");
        assert_eq!(listed(&sort("-priority")), "eacbd");
        assert_eq!(listed(&sort("-id")), "edcba");
        assert!("colour".parse::<SortKey>().is_err());
    }
}

//! The board on past days: the journal is undone day by day, from today's tasks backwards.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::{Board, Rules, Standings};
use crate::task::{Key, Kind, StateName, Task, TaskId, Value};

/// The undo of a past change.
#[derive(Debug, Clone, PartialEq)]
pub struct TrendPast {
    pub at: Timestamp,
    pub task: TaskId,
    pub undo: Undo,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Undo {
    /// Gives a key its previous value.
    Put(Key, Option<Value>),
    /// Restores the previous content of the file.
    Replace(Box<Task>),
    /// Removes a file that did not exist.
    Remove,
}

/// The numbers of tasks at the end of a day; for the last day, now.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Day {
    pub at: Timestamp,
    pub open: usize,
    pub ready: usize,
    pub blocked: usize,
    /// The number of tasks in each state that has any.
    pub states: BTreeMap<StateName, usize>,
}

/// The last `days` days, oldest first. `past` is oldest first, too.
pub fn days_of(tasks: Vec<Task>, past: &[TrendPast], rules: &Rules, now: Timestamp, days: usize) -> Vec<Day> {
    let mut tasks: BTreeMap<TaskId, Task> = tasks.into_iter().map(|task| (task.id.clone(), task)).collect();
    let mut left = past.iter().rev().peekable();
    let mut found: Vec<Day> = Vec::with_capacity(days);
    let mut counted = None;
    for back in 0..days {
        let ago = SignedDuration::from_hours(24 * i64::try_from(back).unwrap_or(i64::MAX / 24));
        let at = now.checked_sub(ago).unwrap_or(Timestamp::MIN);
        while let Some(change) = left.next_if(|change| change.at > at) {
            take_back(&mut tasks, change);
            counted = None;
        }
        // A day without changes is the same as the day after it.
        let there = tasks.values().filter(|task| was_there(task, at)).count();
        let same = found.last().filter(|_| counted == Some(there)).cloned();
        found.push(same.map_or_else(|| count(&tasks, rules, at), |day| Day { at, ..day }));
        counted = Some(there);
    }
    found.reverse();
    found
}

fn take_back(tasks: &mut BTreeMap<TaskId, Task>, change: &TrendPast) {
    match &change.undo {
        Undo::Put(key, old) => {
            if let Some(task) = tasks.get_mut(&change.task) {
                task.put(key, old.as_ref());
            }
        }
        Undo::Replace(task) => drop(tasks.insert(change.task.clone(), (**task).clone())),
        Undo::Remove => drop(tasks.remove(&change.task)),
    }
}

/// Whether the task existed then. The journal does not contain a file made by hand, so the creation time decides, too.
fn was_there(task: &Task, at: Timestamp) -> bool {
    task.kind != Kind::Step && task.created.is_none_or(|created| created <= at)
}

fn count(tasks: &BTreeMap<TaskId, Task>, rules: &Rules, at: Timestamp) -> Day {
    let there = tasks.values().filter(|task| was_there(task, at));
    let board = Board::new(there.cloned().collect(), Vec::new(), Vec::new());
    let standings = Standings::new(&board, rules);
    let all = || 0..board.tasks().len();
    let mut states = BTreeMap::new();
    for task in board.tasks() {
        *states.entry(task.state.clone()).or_insert(0) += 1;
    }
    Day {
        at,
        open: all().filter(|&at| !standings.is_finished(at)).count(),
        ready: all().filter(|&at| standings.is_ready(at)).count(),
        blocked: all().filter(|&at| standings.is_blocked(at)).count(),
        states,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::testing::{Sample, hour, id, rules, state};

    fn counts(days: &[Day]) -> Vec<[usize; 3]> {
        days.iter().map(|day| [day.open, day.ready, day.blocked]).collect()
    }

    fn was(state: &str) -> Undo {
        Undo::Put(Key::new("state"), Some(Value::text(state)))
    }

    #[test]
    fn each_day_counts_what_was_true_then() {
        let board = Sample::board().task("a", "Done").created(-72).task("b", "Backlog").created(-72).blocked_by(&["a"]);
        let by_hand = board.task("c", "Backlog").created(-1);
        let past = [
            TrendPast { at: hour(-30), task: id("b"), undo: Undo::Remove },
            TrendPast { at: hour(-1), task: id("a"), undo: was("Backlog") },
        ];
        let days = days_of(by_hand.build().into_tasks(), &past, &rules(), hour(0), 3);
        // Two days ago there was only a; a day ago a blocked b; now a is done, and c was added.
        assert_eq!(counts(&days), [[1, 1, 0], [2, 1, 1], [2, 2, 0]]);
        assert_eq!(days[2].states[&state("Done")], 1);
    }

    #[test]
    fn what_was_changed_or_removed_since_counts_as_it_was() {
        let removed = Sample::board().task("c", "In Review").created(-100).build().into_tasks().remove(0);
        let past = [
            TrendPast { at: hour(-24), task: id("c"), undo: Undo::Replace(Box::new(removed)) },
            TrendPast { at: hour(-20), task: id("a"), undo: was("Backlog") },
            TrendPast { at: hour(-19), task: id("a"), undo: Undo::Put(Key::new("blocked_by"), None) },
            TrendPast { at: hour(-18), task: id("nobody"), undo: Undo::Put(Key::new("owner"), None) },
        ];
        let tasks =
            Sample::board().task("b", "Human Needed").created(-100).task("a", "Ready for Plan").blocked_by(&["b"]);
        let tasks = tasks.step("s", "Pending", "a", "plan", &["a"]).build().into_tasks();
        let days = days_of(tasks, &past, &rules(), hour(0), 3);
        // A change exactly a day ago counts for that day; the step is not counted.
        assert_eq!(counts(&days), [[3, 2, 0], [2, 1, 0], [2, 0, 1]]);
        assert_eq!(days.iter().map(|day| day.at).collect::<Vec<_>>(), [hour(-48), hour(-24), hour(0)]);
        let states: Vec<(&str, usize)> = days[0].states.iter().map(|(state, count)| (state.as_str(), *count)).collect();
        assert_eq!(states, [("Backlog", 1), ("Human Needed", 1), ("In Review", 1)]);
    }
}

//! How the board stood on the days before: today's tasks, with the journal turned back day by day.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::{Board, Rules, Standings};
use crate::task::{Key, Kind, StateName, Task, TaskId, Value};

/// A change of the past, as what takes it back.
#[derive(Debug, Clone, PartialEq)]
pub struct Past {
    pub at: Timestamp,
    pub task: TaskId,
    pub undo: Undo,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Undo {
    /// A key said this before.
    Put(Key, Option<Value>),
    /// The whole file did.
    Replace(Box<Task>),
    /// It was not there.
    Remove,
}

/// How many tasks stood how at the end of a day; the last one is now.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Day {
    pub at: Timestamp,
    pub open: usize,
    pub ready: usize,
    pub blocked: usize,
    /// In each state that somebody was in.
    pub states: BTreeMap<StateName, usize>,
}

/// The last `days` days, oldest first. `past` is oldest first, too.
pub fn days_of(tasks: Vec<Task>, past: &[Past], rules: &Rules, now: Timestamp, days: usize) -> Vec<Day> {
    let mut tasks: BTreeMap<TaskId, Task> = tasks.into_iter().map(|task| (task.id.clone(), task)).collect();
    let mut left = past.iter().rev().peekable();
    let mut found = Vec::with_capacity(days);
    for back in 0..days {
        let ago = SignedDuration::from_hours(24 * i64::try_from(back).unwrap_or(i64::MAX / 24));
        let at = now.checked_sub(ago).unwrap_or(Timestamp::MIN);
        while let Some(change) = left.next_if(|change| change.at > at) {
            take_back(&mut tasks, change);
        }
        found.push(count(&tasks, rules, at));
    }
    found.reverse();
    found
}

fn take_back(tasks: &mut BTreeMap<TaskId, Task>, change: &Past) {
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

fn count(tasks: &BTreeMap<TaskId, Task>, rules: &Rules, at: Timestamp) -> Day {
    // A file that somebody made by hand is in no journal.
    let there = |task: &&Task| task.kind != Kind::Step && task.created.is_none_or(|created| created <= at);
    let board = Board::new(tasks.values().filter(there).cloned().collect(), Vec::new(), Vec::new());
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
    use crate::workflow::Workflow;

    fn at(hour: i64) -> Timestamp {
        Timestamp::from_second(1_794_823_200 + hour * 3_600).unwrap()
    }

    fn id(text: &str) -> TaskId {
        TaskId::new(text).unwrap()
    }

    #[test]
    fn each_day_counts_what_was_true_then() {
        let mut one = Task::new(id("a"), "a", StateName::new("Done"));
        one.created = Some(at(-72));
        let mut two = Task::new(id("b"), "b", StateName::new("Backlog"));
        two.blocked_by = vec![id("a")];
        two.created = Some(at(-72));
        let mut by_hand = Task::new(id("c"), "c", StateName::new("Backlog"));
        by_hand.created = Some(at(-1));
        let was = |state: &str| Undo::Put(Key::new("state"), Some(Value::text(state)));
        let past = [
            Past { at: at(-30), task: id("b"), undo: Undo::Remove },
            Past { at: at(-1), task: id("a"), undo: was("Backlog") },
        ];
        let days = days_of(vec![one, two, by_hand], &past, &Rules::of(Workflow::builtin()), at(0), 3);
        let counts: Vec<[usize; 3]> = days.iter().map(|day| [day.open, day.ready, day.blocked]).collect();
        // Two days ago only a; a day ago b waited for it; now a is done, and c was made.
        assert_eq!(counts, [[1, 1, 0], [2, 1, 1], [2, 2, 0]]);
        assert_eq!(days[2].states[&StateName::new("Done")], 1);
    }

    #[test]
    fn what_was_changed_or_removed_since_counts_as_it_was() {
        let file = |name: &str, state: &str| {
            let mut task = Task::new(id(name), name, StateName::new(state));
            task.created = Some(at(-100));
            task
        };
        let gone = |key: &str| Undo::Put(Key::new(key), None);
        let past = [
            Past { at: at(-24), task: id("c"), undo: Undo::Replace(Box::new(file("c", "In Review"))) },
            Past { at: at(-20), task: id("a"), undo: Undo::Put(Key::new("state"), Some(Value::text("Backlog"))) },
            Past { at: at(-19), task: id("a"), undo: gone("blocked_by") },
            Past { at: at(-18), task: id("nobody"), undo: gone("owner") },
        ];
        let mut one = file("a", "Ready for Plan");
        one.blocked_by = vec![id("b")];
        let mut step = file("s", "Pending");
        step.kind = Kind::Step;
        let days =
            days_of(vec![one, file("b", "Human Needed"), step], &past, &Rules::of(Workflow::builtin()), at(0), 3);
        let counts: Vec<[usize; 3]> = days.iter().map(|day| [day.open, day.ready, day.blocked]).collect();
        // What happened exactly a day ago was true by the end of that day; the step is nobody's work.
        assert_eq!(counts, [[3, 2, 0], [2, 1, 0], [2, 0, 1]]);
        assert_eq!(days.iter().map(|day| day.at).collect::<Vec<_>>(), [at(-48), at(-24), at(0)]);
        let states: Vec<(&str, usize)> = days[0].states.iter().map(|(state, count)| (state.as_str(), *count)).collect();
        assert_eq!(states, [("Backlog", 1), ("Human Needed", 1), ("In Review", 1)]);
    }
}

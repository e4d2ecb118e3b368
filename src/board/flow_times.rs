//! Times from the journal: how long a task has been in its state, how long states take, how many tasks are finished.

use std::collections::{BTreeMap, HashMap};

use jiff::{SignedDuration, Timestamp};

use crate::task::{StateName, TaskId};

/// One change of state. `from` is empty for a new task, `to` for a removed one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateStep {
    pub at: Timestamp,
    pub task: TaskId,
    pub from: Option<StateName>,
    pub to: Option<StateName>,
}

/// Computed from the steps in one pass, oldest first.
#[derive(Debug, Default)]
pub struct FlowTimes {
    since: HashMap<TaskId, (StateName, Timestamp)>,
    spent: BTreeMap<StateName, Vec<SignedDuration>>,
    /// The last time that each task entered a state, so that a task that was closed twice counts once.
    arrivals: HashMap<(TaskId, StateName), Timestamp>,
}

impl FlowTimes {
    pub fn new(steps: &[StateStep]) -> Self {
        let mut times = Self::default();
        for step in steps {
            if let Some((state, since)) = times.since.remove(&step.task) {
                times.spent.entry(state).or_default().push(step.at.duration_since(since));
            }
            if let Some(to) = &step.to {
                times.since.insert(step.task.clone(), (to.clone(), step.at));
                times.arrivals.insert((step.task.clone(), to.clone()), step.at);
            }
        }
        times
    }

    /// The time at which a task entered its current state; `None` if the journal does not contain it.
    pub fn since(&self, task: &TaskId, state: &StateName) -> Option<Timestamp> {
        self.since.get(task).filter(|(known, _)| known == state).map(|(_, at)| *at)
    }

    /// The median time that tasks spent in a state before they left it, and the number of these tasks.
    pub fn median(&self, state: &StateName) -> Option<(SignedDuration, usize)> {
        let spent = self.sorted(state)?;
        Some((spent[spent.len() / 2], spent.len()))
    }

    /// The time within which nine of ten tasks had left it.
    pub fn most(&self, state: &StateName) -> Option<SignedDuration> {
        let spent = self.sorted(state)?;
        Some(spent[(spent.len() * 9).div_ceil(10) - 1])
    }

    fn sorted(&self, state: &StateName) -> Option<Vec<SignedDuration>> {
        let mut spent = self.spent.get(state)?.clone();
        spent.sort();
        Some(spent)
    }

    /// How many tasks entered a state on each of the last `days` days, oldest first.
    pub fn arrivals(&self, state: &StateName, now: Timestamp, days: usize) -> Vec<usize> {
        let mut counts = vec![0; days];
        for (_, at) in self.arrivals.iter().filter(|((_, to), _)| to == state) {
            let age = usize::try_from(now.duration_since(*at).as_hours() / 24).unwrap_or(usize::MAX);
            if let Some(place) = days.checked_sub(age.saturating_add(1)) {
                counts[place] += 1;
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::testing::{hour, id, state};

    fn step(at: i64, task: &str, from: Option<&str>, to: Option<&str>) -> StateStep {
        StateStep { at: hour(at), task: id(task), from: from.map(state), to: to.map(state) }
    }

    #[test]
    fn time_in_a_state_counts_from_entering_to_leaving() {
        let steps = [
            step(0, "a", None, Some("Backlog")),
            step(1, "b", None, Some("Backlog")),
            step(4, "a", Some("Backlog"), Some("Done")),
            step(50, "b", Some("Backlog"), Some("Done")),
            step(51, "b", Some("Done"), None),
        ];
        let times = FlowTimes::new(&steps);
        let (backlog, done) = (state("Backlog"), state("Done"));
        assert_eq!(times.median(&backlog).map(|(time, n)| (time.as_hours(), n)), Some((49, 2)));
        assert_eq!(times.median(&done).map(|(time, n)| (time.as_hours(), n)), Some((1, 1)));
        assert_eq!((times.median(&state("In Review")), times.most(&state("In Review"))), (None, None));
        assert_eq!(times.since(&id("a"), &done), Some(hour(4)));
        assert_eq!(times.since(&id("a"), &backlog), None, "it is there no more");
        assert_eq!(times.since(&id("b"), &done), None);
    }

    #[test]
    fn the_median_is_in_the_middle_and_most_leaves_one_of_ten_out() {
        for (count, median, most) in [(1, 1, 1), (2, 2, 2), (3, 2, 3), (9, 5, 9), (10, 6, 9), (20, 11, 18)] {
            // Each task stays one hour longer than the previous one; the order in which they leave does not matter.
            let stay =
                |n: i64| [step(0, &format!("t{n}"), None, Some("X")), step(n, &format!("t{n}"), Some("X"), None)];
            let times = FlowTimes::new(&(1..=count).rev().flat_map(stay).collect::<Vec<_>>());
            let got = times.median(&state("X")).map(|(time, n)| (time.as_hours(), n as i64));
            assert_eq!(got, Some((median, count)), "{count}");
            assert_eq!(times.most(&state("X")).map(|time| time.as_hours()), Some(most), "{count}");
        }
    }

    #[test]
    fn arrivals_are_counted_by_days_back_from_now() {
        let times = FlowTimes::new(&[
            step(0, "a", None, Some("Done")),
            step(24, "b", None, Some("Done")),
            step(25, "c", None, Some("Done")),
            step(47, "d", None, Some("Backlog")),
            step(47, "e", None, Some("Done")),
            step(49, "f", None, Some("Done")),
        ]);
        let done = |now: i64, days: usize| times.arrivals(&state("Done"), hour(now), days);
        assert_eq!(done(48, 3), [1, 1, 3], "what is to come counts as today");
        assert_eq!(done(48, 2), [1, 3]);
        assert_eq!(done(72, 2), [2, 1]);
        assert_eq!(done(48, 0), [0; 0]);
    }
}

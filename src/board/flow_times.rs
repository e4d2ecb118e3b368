//! What the journal tells about time: since when a task is where it is, how long states take, how much gets done.

use std::collections::{BTreeMap, HashMap};

use jiff::{SignedDuration, Timestamp};

use crate::task::{StateName, TaskId};

/// One change of state: when, which task, from where (nothing when it was made), to where (nothing when it went).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub at: Timestamp,
    pub task: TaskId,
    pub from: Option<StateName>,
    pub to: Option<StateName>,
}

/// Computed in one pass over the steps, oldest first.
#[derive(Debug, Default)]
pub struct FlowTimes {
    since: HashMap<TaskId, (StateName, Timestamp)>,
    spent: BTreeMap<StateName, Vec<SignedDuration>>,
    arrivals: Vec<(Timestamp, StateName)>,
}

impl FlowTimes {
    pub fn new(steps: &[Step]) -> Self {
        let mut times = Self::default();
        for step in steps {
            if let Some((state, since)) = times.since.remove(&step.task) {
                times.spent.entry(state).or_default().push(step.at.duration_since(since));
            }
            if let Some(to) = &step.to {
                times.since.insert(step.task.clone(), (to.clone(), step.at));
                times.arrivals.push((step.at, to.clone()));
            }
        }
        times
    }

    /// Since when a task is in the state that it is in; `None` where the journal does not know.
    pub fn since(&self, task: &TaskId, state: &StateName) -> Option<Timestamp> {
        self.since.get(task).filter(|(known, _)| known == state).map(|(_, at)| *at)
    }

    /// The median time that tasks spent in a state before they left it, and how many did.
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

    /// How many arrived in a state on each of the last `days` days, oldest first.
    pub fn arrivals(&self, state: &StateName, now: Timestamp, days: usize) -> Vec<usize> {
        let mut counts = vec![0; days];
        for (at, _) in self.arrivals.iter().filter(|(_, to)| to == state) {
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

    fn step(hour: i64, task: &str, from: Option<&str>, to: Option<&str>) -> Step {
        let at = Timestamp::from_second(1_794_823_200 + hour * 3_600).unwrap();
        Step { at, task: TaskId::new(task).unwrap(), from: from.map(StateName::new), to: to.map(StateName::new) }
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
        let (backlog, done) = (StateName::new("Backlog"), StateName::new("Done"));
        assert_eq!(times.median(&backlog).map(|(time, n)| (time.as_hours(), n)), Some((49, 2)));
        assert_eq!(times.most(&backlog).map(|time| time.as_hours()), Some(49));
        assert_eq!(times.since(&TaskId::new("a").unwrap(), &done), Some(steps[2].at));
        assert_eq!(times.since(&TaskId::new("b").unwrap(), &done), None);
        assert_eq!(times.arrivals(&done, steps[4].at, 3), [0, 1, 1]);
    }
}

//! `upkeep`: finished tasks to archive, stale tasks, missing fields and possible duplicates.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::app::read::list::list;
use crate::app::view::task::TaskView;
use crate::app::{Failure, Workspace};
use crate::board::Query;
use crate::task::{Kind, StateName};

/// After how many days a task is reported, and how many tasks a state should contain at most.
#[derive(Debug, Clone)]
pub struct UpkeepAsk {
    pub archive_days: i64,
    pub stale_days: i64,
    pub orphan_days: i64,
    pub limits: BTreeMap<StateName, usize>,
    /// The similarity from which two titles count as duplicates; 1 means equal.
    pub similarity: f64,
}

impl Default for UpkeepAsk {
    fn default() -> Self {
        Self { archive_days: 14, stale_days: 7, orphan_days: 14, limits: BTreeMap::new(), similarity: 0.8 }
    }
}

#[derive(Debug)]
pub struct Upkeep {
    pub now: Timestamp,
    /// Every issue on the board.
    pub tasks: Vec<TaskView>,
    pub to_archive: Vec<TaskView>,
    pub stale: Vec<TaskView>,
    /// In the initial state for long, and without an owner.
    pub orphaned: Vec<TaskView>,
    pub without_estimate: Vec<TaskView>,
    pub without_priority: Vec<TaskView>,
    /// States with more tasks than their limit: the state, the limit, the tasks.
    pub over_limit: Vec<(StateName, usize, Vec<TaskView>)>,
    pub doubles: Vec<(TaskView, TaskView, f64)>,
}

/// The time since the last change of a task.
pub fn untouched(task: &TaskView, now: Timestamp) -> SignedDuration {
    task.updated.or(task.created).map_or(SignedDuration::ZERO, |at| now.duration_since(at).max(SignedDuration::ZERO))
}

pub fn upkeep(ws: &Workspace, asked: &UpkeepAsk) -> Result<Upkeep, Failure> {
    let (now, flow) = (ws.now(), ws.flow());
    let mut tasks = list(ws, &Query { all: true, ..Query::default() })?.tasks;
    tasks.retain(|task| task.kind != Kind::Step.as_str());
    let over = |task: &TaskView| flow.is_terminal(Kind::Issue, &task.state);
    let older = |task: &TaskView, days: i64| untouched(task, now) > SignedDuration::from_hours(24 * days.max(0));
    let all = |keep: &dyn Fn(&TaskView) -> bool| -> Vec<TaskView> {
        tasks.iter().filter(|task| keep(task)).cloned().collect()
    };
    let over_limit = asked.limits.iter().filter_map(|(state, limit)| {
        let here = all(&|task| task.state == *state);
        (here.len() > *limit).then(|| (state.clone(), *limit, here))
    });
    let open = all(&|task| !over(task));
    Ok(Upkeep {
        now,
        to_archive: all(&|task| over(task) && older(task, asked.archive_days)),
        stale: all(&|task| !over(task) && older(task, asked.stale_days)),
        orphaned: all(&|task| {
            task.state == *flow.initial(Kind::Issue) && task.owner.is_none() && older(task, asked.orphan_days)
        }),
        without_estimate: all(&|task| !over(task) && task.estimate.is_none()),
        without_priority: all(&|task| !over(task) && task.priority.is_none()),
        over_limit: over_limit.collect(),
        doubles: doubles(&open, asked.similarity),
        tasks,
    })
}

/// Open tasks with nearly equal titles; common verbs are ignored.
fn doubles(open: &[TaskView], similarity: f64) -> Vec<(TaskView, TaskView, f64)> {
    let titles: Vec<String> = open.iter().map(|task| plain(&task.title)).collect();
    let mut found = Vec::new();
    for (at, one) in open.iter().enumerate() {
        for (other, title) in open.iter().zip(&titles).skip(at + 1) {
            let alike = strsim::normalized_levenshtein(&titles[at], title);
            if alike >= similarity && !title.is_empty() {
                found.push((one.clone(), other.clone(), alike));
            }
        }
    }
    found
}

fn plain(title: &str) -> String {
    const VERBS: [&str; 7] = ["add", "create", "fix", "update", "remove", "implement", "refactor"];
    let lower = title.to_lowercase();
    lower.split_whitespace().filter(|word| !VERBS.contains(word)).collect::<Vec<_>>().join(" ")
}

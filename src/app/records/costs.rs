//! `costs`: what agents used on this machine, in total and by task, role or model. Values that a program did not report
//! count as unknown, not as zero.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use crate::app::records::runs::{Run, RunOutcome, list_runs};
use crate::app::{Failure, Workspace};
use crate::config::Budget;
use crate::task::TaskId;

/// The total usage of some runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Spent {
    pub runs: usize,
    /// What the programs reported; `None` if no run reported any.
    pub input_tokens: Option<u64>,
    pub cached_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
    pub cost_usd: Option<f64>,
    /// Finished runs that reported no tokens.
    pub without_tokens: usize,
    /// Finished runs that reported no cost.
    pub without_cost: usize,
    pub seconds: i64,
}

impl Spent {
    pub fn of<'r>(runs: impl IntoIterator<Item = &'r Run>) -> Self {
        let mut spent = Self::default();
        runs.into_iter().for_each(|run| spent.add(run));
        spent
    }

    pub(in crate::app) fn add(&mut self, run: &Run) {
        if !run.is_agents() {
            return;
        }
        self.runs += 1;
        self.seconds += run.took().unwrap_or_default().as_secs();
        let over = run.outcome != RunOutcome::Running;
        match &run.usage {
            Some(usage) => {
                let more = |sum: &mut Option<u64>, count: u64| *sum = Some(sum.unwrap_or_default() + count);
                more(&mut self.input_tokens, usage.input_tokens);
                more(&mut self.cached_tokens, usage.cached_tokens);
                more(&mut self.output_tokens, usage.output_tokens);
            }
            None => self.without_tokens += usize::from(over),
        }
        match run.usage.as_ref().and_then(|usage| usage.cost_usd) {
            Some(cost) => self.cost_usd = Some(self.cost_usd.unwrap_or_default() + cost),
            None => self.without_cost += usize::from(over),
        }
    }

    /// The sum of all tokens; `None` if no run reported any.
    pub fn tokens(&self) -> Option<u64> {
        Some(self.input_tokens? + self.cached_tokens? + self.output_tokens?)
    }

    /// Whether a budget is used up.
    pub fn reaches(&self, budget: Budget) -> bool {
        match budget {
            Budget::Usd(most) => self.cost_usd.unwrap_or_default() >= most,
            Budget::Tokens(most) => self.tokens().unwrap_or_default() >= most,
            Budget::Runs(most) => self.runs as u64 >= most,
        }
    }

    /// The usage, in the unit of a budget.
    pub fn shown_as(&self, budget: Budget) -> Budget {
        match budget {
            Budget::Usd(_) => Budget::Usd(self.cost_usd.unwrap_or_default()),
            Budget::Tokens(_) => Budget::Tokens(self.tokens().unwrap_or_default()),
            Budget::Runs(_) => Budget::Runs(self.runs as u64),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CostsBy {
    Task,
    Role,
    Model,
}

#[derive(Debug, Serialize)]
pub struct Costs {
    pub by: CostsBy,
    pub since: Option<Timestamp>,
    /// The most expensive first.
    pub rows: Vec<CostRow>,
    pub total: Spent,
    pub merged: MergedCosts,
}

#[derive(Debug, Serialize)]
pub struct CostRow {
    /// The task's id, the role, or the model; `unknown` if the program did not name its model.
    pub key: String,
    pub title: Option<String>,
    #[serde(flatten)]
    pub spent: Spent,
}

/// The usage of tasks that are done.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct MergedCosts {
    pub tasks: usize,
    /// `None` if a run of one of these tasks reported no cost.
    pub cost_per_task: Option<f64>,
    pub tokens_per_task: Option<u64>,
}

pub fn costs(ws: &Workspace, since: Option<Timestamp>, by: CostsBy) -> Result<Costs, Failure> {
    let mut runs = list_runs(ws, None, usize::MAX)?;
    runs.retain(|run| run.is_agents() && since.is_none_or(|since| run.started >= since));
    let board = ws.board()?;
    let mut groups: BTreeMap<String, Vec<&Run>> = BTreeMap::new();
    for run in &runs {
        let key = match by {
            CostsBy::Task => Some(run.task.to_string()),
            CostsBy::Role => ws.rules().role_of(&run.worker).map(str::to_owned),
            CostsBy::Model => run.model.clone(),
        };
        groups.entry(key.unwrap_or_else(|| "unknown".into())).or_default().push(run);
    }
    let title = |key: &str| Some(board.get(&TaskId::new(key).ok()?)?.title.clone());
    let row = |(key, runs): (String, Vec<&Run>)| CostRow {
        title: if by == CostsBy::Task { title(&key) } else { None },
        spent: Spent::of(runs),
        key,
    };
    let mut rows: Vec<CostRow> = groups.into_iter().map(row).collect();
    let weight = |row: &CostRow| (row.spent.cost_usd.unwrap_or_default(), row.spent.tokens());
    rows.sort_by(|a, b| weight(b).partial_cmp(&weight(a)).unwrap_or(std::cmp::Ordering::Equal));
    Ok(Costs { by, since, rows, total: Spent::of(&runs), merged: merged_costs(ws, &runs)? })
}

/// The costs of the last `days` days, by task.
pub fn costs_of_days(ws: &Workspace, days: usize) -> Result<Costs, Failure> {
    let age = jiff::SignedDuration::from_hours(24 * i64::try_from(days).unwrap_or(366));
    costs(ws, Timestamp::now().checked_sub(age).ok(), CostsBy::Task)
}

/// The average usage of all runs per done task.
pub(in crate::app) fn merged_costs(ws: &Workspace, runs: &[Run]) -> Result<MergedCosts, Failure> {
    let board = ws.board()?;
    let is_done = |id: &TaskId| board.get(id).is_some_and(|task| ws.flow().closing() == Some(&task.state));
    let of_done: Vec<&Run> = runs.iter().filter(|run| run.is_agents() && is_done(&run.task)).collect();
    let tasks = of_done.iter().map(|run| &run.task).collect::<std::collections::BTreeSet<_>>().len();
    let spent = Spent::of(of_done);
    if tasks == 0 {
        return Ok(MergedCosts::default());
    }
    #[allow(clippy::cast_precision_loss, reason = "tasks are few")]
    let cost = spent.cost_usd.filter(|_| spent.without_cost == 0).map(|cost| cost / tasks as f64);
    let tokens = spent.tokens().filter(|_| spent.without_tokens == 0).map(|count| count / tasks as u64);
    Ok(MergedCosts { tasks, cost_per_task: cost, tokens_per_task: tokens })
}

//! `ralph costs`: what agents used.

use crate::app::{self, CostRow, Costs, MergedCosts, Spent};
use crate::cli::args::{CostsArgs, CostsBy};
use crate::cli::style;
use crate::cli::table::{Cell, cell, render};
use crate::cli::words::{self, dollars, tokens};
use crate::cli::{Answer, Outcome, Session};

pub fn run(session: &Session<'_>, args: &CostsArgs) -> Answer {
    let by = match args.by {
        CostsBy::Task => app::CostsBy::Task,
        CostsBy::Role => app::CostsBy::Role,
        CostsBy::Model => app::CostsBy::Model,
    };
    let since = args.since.and_then(|age| jiff::Timestamp::now().checked_sub(age).ok());
    let found = session.with(|ws| app::costs(ws, since, by))?;
    let out = session.out;
    if out.json {
        out.json(&found);
    } else if found.rows.is_empty() {
        out.say(if since.is_some() { "no runs in this period" } else { "no runs yet" });
    } else {
        out.text(&table(&found, out.width()));
        out.text(&format!("\n{}\n", merged_line(&found.merged)));
    }
    Ok(Outcome::Done)
}

fn table(found: &Costs, width: Option<usize>) -> String {
    let key = match found.by {
        app::CostsBy::Task => "TASK",
        app::CostsBy::Role => "ROLE",
        app::CostsBy::Model => "MODEL",
    };
    let mut rows: Vec<Vec<Cell>> = found.rows.iter().map(row).collect();
    rows.push(cells("total", style::HEAD, &found.total, ""));
    render(&[key, "RUNS", "INPUT", "CACHED", "OUTPUT", "COST", "TIME", "TITLE"], 7, &[3, 6], &rows, width)
}

fn row(row: &CostRow) -> Vec<Cell> {
    cells(&row.key, style::ID, &row.spent, row.title.as_deref().unwrap_or_default())
}

fn cells(key: &str, color: anstyle::Style, spent: &Spent, title: &str) -> Vec<Cell> {
    let known = |sum: Option<u64>| unless_unknown(sum.map(tokens), spent.without_tokens);
    vec![
        cell(key, color),
        cell(spent.runs.to_string(), style::PLAIN),
        cell(known(spent.input_tokens), style::PLAIN),
        cell(known(spent.cached_tokens), style::PLAIN),
        cell(known(spent.output_tokens), style::PLAIN),
        cell(cost(spent), style::PLAIN),
        cell(words::span(jiff::SignedDuration::from_secs(spent.seconds)), style::PLAIN),
        cell(title, style::PLAIN),
    ]
}

/// A sum, with a note if some runs reported nothing.
fn unless_unknown(sum: Option<String>, missing: usize) -> String {
    match sum {
        None => "unknown".into(),
        Some(sum) if missing > 0 => format!("≥ {sum}"),
        Some(sum) => sum,
    }
}

/// The cost of some runs, for people.
pub fn cost(spent: &Spent) -> String {
    unless_unknown(spent.cost_usd.map(dollars), spent.without_cost)
}

/// The average cost of a merged task.
pub fn merged_line(merged: &MergedCosts) -> String {
    let tasks = match merged.tasks {
        0 => return "no task with runs is done yet".into(),
        1 => "1 task done".to_owned(),
        many => format!("{many} tasks done"),
    };
    let cost = merged.cost_per_task.map_or_else(|| "unknown".into(), dollars);
    let used = merged.tokens_per_task.map(|count| format!(", {} tokens", tokens(count))).unwrap_or_default();
    format!("{tasks}, cost per task: {cost}{used}")
}

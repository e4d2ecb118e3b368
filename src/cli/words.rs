//! Words, numbers and table rows for the results of commands.

use super::style::{self, paint};
use super::table::{self, Cell, cell, clean, cut};
use crate::app::{FieldChange, Hint, Meaning, TaskView};
use crate::task::Value;

pub use crate::app::{ago, span};

/// The next step as commands of this program.
pub fn hint(hint: &Hint) -> Vec<String> {
    match hint {
        Hint::DidYouMean { candidates } => {
            candidates.iter().map(|found| format!("did you mean {} ({})?", found.id, cut(&found.title, 60))).collect()
        }
        other => other.for_shell(),
    }
}

/// A number of tokens in at most five characters: `950`, `12.3k`, `1.2M`.
pub fn tokens(count: u64) -> String {
    #[allow(clippy::cast_precision_loss, reason = "it is rounded anyway")]
    let (count, exact) = (count as f64, count);
    match exact {
        0..1_000 => exact.to_string(),
        1_000..99_950 => format!("{:.1}k", count / 1e3),
        99_950..999_500 => format!("{:.0}k", count / 1e3),
        _ => format!("{:.1}M", count / 1e6),
    }
}

/// An amount of money; fractions of a cent only for amounts below one cent.
pub fn dollars(amount: f64) -> String {
    if amount > 0.0 && amount < 0.01 { format!("${amount:.4}") } else { format!("${amount:.2}") }
}

/// A character and a color for the status of a task.
pub fn mark(task: &TaskView) -> (&'static str, anstyle::Style) {
    match task.meaning {
        Meaning::Done => ("✓", style::DIM),
        Meaning::Canceled => ("✗", style::DIM),
        Meaning::Person => ("!", style::WARN),
        _ if task.claim.is_some() => ("▶", style::OWNER),
        _ if task.blocked => ("⊘", style::BLOCKED),
        _ if task.ready => ("●", style::READY),
        _ if task.owner.is_some() => ("▷", style::OWNER),
        _ => ("○", style::DIM),
    }
}

pub const LEGEND: &str = "● ready  ▶ claimed  ▷ has an owner  ⊘ blocked  ! handed to a person  ○ waiting";

pub fn task_table(tasks: &[TaskView], width: Option<usize>) -> String {
    let heads = ["", "ID", "STATE", "PRI", "SIZE", "TITLE", "BLOCKED BY", "LABELS", "OWNER"];
    let rows: Vec<Vec<Cell>> = tasks.iter().map(task_row).collect();
    table::render(&heads, 5, &[7, 4, 8, 6], &rows, width)
}

fn task_row(task: &TaskView) -> Vec<Cell> {
    let (mark, color) = mark(task);
    let title = if task.kind == "epic" { format!("◆ {}", task.title) } else { task.title.clone() };
    vec![
        cell(mark, color),
        cell(task.id.as_str(), style::ID),
        cell(task.state.as_str(), style::state(&task.state)),
        cell(task.priority.unwrap_or_default(), style::priority(task.priority.unwrap_or_default())),
        cell(task.estimate.unwrap_or_default(), style::PLAIN),
        cell(title, style::PLAIN),
        cell(if task.blocked { waits_for(task) } else { String::new() }, style::BLOCKED),
        cell(cut(&task.labels.join(" "), 24), style::LABEL),
        cell(task.owner.as_deref().unwrap_or_default(), style::OWNER),
    ]
}

/// Its open blockers, the first two by id; or its blocked parent, marked with an arrow.
fn waits_for(task: &TaskView) -> String {
    let named: Vec<&str> = task.open_blockers.iter().map(|id| id.as_str()).take(2).collect();
    match (task.open_blockers.len(), &task.parent) {
        (0, Some(parent)) => format!("↑ {parent}"),
        (0..3, _) => named.join(" "),
        (all, _) => format!("{} +{}", named.join(" "), all - 2),
    }
}

/// A task in about fifty bytes: id, status, priority, state, title.
pub fn compact(task: &TaskView) -> String {
    let standing = if task.blocked {
        "blocked"
    } else if task.ready {
        "ready"
    } else {
        "-"
    };
    let state = task.state.as_str().to_lowercase().replace(' ', "-");
    let priority = task.priority.unwrap_or("-");
    let title = clean(&task.title);
    format!("{} {priority} {state} {standing} {}\n", task.id, cut(&title, 60))
}

/// A changed field, such as `priority P2 → P1`.
pub fn field(change: &FieldChange) -> String {
    let shown = |value: &Option<Value>| match value {
        None => paint(style::DIM, "none"),
        Some(value) => cut(&clean(&value.to_string().split_whitespace().collect::<Vec<_>>().join(" ")), 50),
    };
    match (change.key.as_str(), &change.old, &change.new) {
        ("task" | "archive", None, Some(title)) => clean(&title.to_string()),
        ("task" | "archive", Some(title), None) => clean(&title.to_string()),
        ("note", None, Some(text)) => format!("“{}”", cut(&clean(&text.to_string()), 60)),
        (key, old, new) => format!("{key} {} → {}", shown(old), shown(new)),
    }
}

/// A number with its noun: `1 task`, `2 tasks`.
pub fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::Parser as _;

    use crate::cli::args::Cli;

    /// The text of the first literal after each `Hint::run(`, with `x` for each placeholder.
    fn commands(source: &str) -> Vec<String> {
        let literals = source.split("Hint::run(").skip(1).filter_map(|rest| rest.split('"').nth(1));
        literals
            .map(|text| {
                text.split(['{', '}']).enumerate().map(|(at, part)| if at % 2 == 0 { part } else { "x" }).collect()
            })
            .collect()
    }

    #[test]
    fn every_command_that_a_hint_names_can_be_typed() {
        let mut found = Vec::new();
        for entry in walkdir::WalkDir::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
            let path = entry.unwrap().into_path();
            if path.extension().is_some_and(|ending| ending == "rs") && !path.ends_with("cli/words.rs") {
                found.extend(commands(&crate::fs::read_text(&path).unwrap().unwrap()));
            }
        }
        assert!(found.len() > 25, "{found:?}");
        for command in found {
            let words = std::iter::once("ralph").chain(command.split_whitespace());
            let parsed = Cli::try_parse_from(words);
            let help = parsed.as_ref().err().is_some_and(|error| !error.use_stderr());
            assert!(help || parsed.is_ok(), "{command}: {}", parsed.unwrap_err());
        }
    }
}

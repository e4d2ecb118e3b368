//! `ralph status`: the dashboard.

use std::fmt::Write as _;

use crate::app::{self, Status};
use crate::cli::args;
use crate::cli::style::{self, paint};
use crate::cli::table::cut;
use crate::cli::{Answer, Outcome, Session, words};

pub fn run(session: &Session<'_>, args: &args::StatusArgs) -> Answer {
    let status = session.at(&args.at).with(app::status)?;
    if session.out.json {
        session.out.json(&status);
    } else if args.markdown {
        session.out.text(&markdown(&status));
    } else {
        session.out.text(&screen(&status, session.out.width().unwrap_or(100)));
    }
    Ok(Outcome::Done)
}

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A bar chart with one character per day.
fn spark(counts: &[usize]) -> String {
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    counts.iter().map(|&count| if count == 0 { '·' } else { BARS[(count * 7).div_ceil(most).min(7)] }).collect()
}

fn hours(hours: f64) -> String {
    if hours < 1.0 {
        format!("{:.0}m", hours * 60.0)
    } else if hours >= 48.0 {
        format!("{:.1}d", hours / 24.0)
    } else {
        format!("{hours:.1}h")
    }
}

fn screen(status: &Status, width: usize) -> String {
    let mut text = String::new();
    let open: usize = status.states.iter().map(|s| s.count).sum();
    let _ = writeln!(text, "{}  {}", paint(style::HEAD, &status.name), paint(style::DIM, words::count(open, "task")));
    states(status, width, &mut text);
    work(status, width, &mut text);
    trouble(status, width, &mut text);
    let finished: usize = status.throughput.iter().sum();
    let _ = writeln!(
        text,
        "\n{}  {}  {finished} done in {} days",
        head("throughput"),
        spark(&status.throughput),
        status.throughput.len()
    );
    text
}

fn head(name: &str) -> String {
    paint(style::HEAD, name)
}

fn states(status: &Status, width: usize, text: &mut String) {
    let most = status.states.iter().map(|s| s.count).max().unwrap_or(0).max(1);
    let room = width.saturating_sub(60).clamp(8, 30);
    text.push('\n');
    for state in status.states.iter().filter(|s| s.count > 0 || s.left > 0) {
        let name = state.state.as_str();
        let filled = (state.count * room).div_ceil(most).min(room);
        let points = if state.points > 0 { format!("{} pt", state.points) } else { String::new() };
        let gap = " ".repeat(22_usize.saturating_sub(name.len()));
        let mut row = format!("  {}{gap} {:>4}  {points:>6}", paint(style::state(&state.state), name), state.count);
        if filled > 0 {
            let _ = write!(row, "  {}", paint(style::state(&state.state), "█".repeat(filled)));
        }
        if let Some(median) = state.median_hours.filter(|median| *median > 0.0) {
            let gap = " ".repeat(if filled > 0 { room - filled } else { room + 2 });
            let _ = write!(row, "{gap} {}", paint(style::DIM, format!("median {}", hours(median))));
        }
        let _ = writeln!(text, "{}", row.trim_end());
    }
}

fn work(status: &Status, width: usize, text: &mut String) {
    let _ = writeln!(text, "\n{}", head("active workers"));
    if status.claims.is_empty() {
        let _ = writeln!(text, "  {}", paint(style::DIM, "none"));
    }
    for held in &status.claims {
        let until = if held.claim.held {
            "process runs".into()
        } else {
            format!("{} left", words::span(held.claim.until.duration_since(status.now)))
        };
        let command = held.command.as_deref().unwrap_or("-");
        let _ = writeln!(
            text,
            "  {} {}  {command} for {}, {until}  {}",
            paint(style::OWNER, format!("{:<12}", held.claim.by)),
            paint(style::ID, &held.task),
            words::ago(held.claim.since, status.now),
            cut(&held.title, width.saturating_sub(60).max(12))
        );
    }
    let _ = writeln!(text, "\n{}", head("ready"));
    for queue in &status.ready {
        let limit = queue.limit.map(|limit| format!("{} of {limit} claimed", queue.at_work)).unwrap_or_default();
        let first: Vec<String> = queue.first.iter().map(|brief| paint(style::ID, &brief.task)).collect();
        let more = if queue.count > queue.first.len() { " …" } else { "" };
        let row = format!("  {:<12} {:>4}  {limit:<14}  {}{more}", queue.role, queue.count, first.join(" "));
        let _ = writeln!(text, "{}", row.trim_end());
    }
}

fn trouble(status: &Status, width: usize, text: &mut String) {
    let room = width.saturating_sub(44).max(16);
    let mut section = |name: &str, lines: Vec<String>| {
        if lines.is_empty() {
            return;
        }
        let _ = writeln!(text, "\n{}", head(name));
        for line in lines.iter().take(6) {
            let _ = writeln!(text, "  {line}");
        }
        if lines.len() > 6 {
            let _ = writeln!(text, "  and {} more", lines.len() - 6);
        }
    };
    let named = |brief: &app::Brief| format!("{}  {}", paint(style::ID, &brief.task), cut(&brief.title, room));
    let roots = status.roots.iter().map(|root| {
        let by = root.by.as_ref().map(|by| format!(" @{by}")).unwrap_or_default();
        format!(
            "{}  {}{by}  unblocks {}",
            named(&root.task),
            paint(style::state(&root.task.state), &root.task.state),
            root.frees
        )
    });
    section("blockers", roots.collect());
    let stuck = status.stuck.iter().map(|stuck| {
        let color = if stuck.critical { style::BLOCKED } else { style::WARN };
        format!("{}  {} for {}", named(&stuck.task), stuck.task.state, paint(color, hours(stuck.hours as f64)))
    });
    section("stuck", stuck.collect());
    section("handed to a person", status.waiting_for_person.iter().map(named).collect());
    section("too large", status.oversized.iter().map(named).collect());
    if status.problems > 0 {
        section("problems", vec![format!("{}: `ralph doctor` lists them", words::count(status.problems, "problem"))]);
    }
}

fn markdown(status: &Status) -> String {
    let mut text = format!("# {}\n\n| state | tasks | points | median |\n|---|---:|---:|---:|\n", status.name);
    for state in &status.states {
        let median = state.median_hours.map(hours).unwrap_or_default();
        let _ = writeln!(text, "| {} | {} | {} | {median} |", state.state, state.count, state.points);
    }
    let mut section = |name: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            let _ = write!(
                text,
                "\n## {name}\n\n{}\n",
                lines.iter().map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n")
            );
        }
    };
    let named = |brief: &app::Brief| format!("`{}` {} ({})", brief.task, brief.title, brief.state);
    let held = status.claims.iter().map(|held| format!("{}: `{}` {}", held.claim.by, held.task, held.title));
    section("Active workers", held.collect());
    let ready = status.ready.iter().map(|queue| format!("{}: {}", queue.role, queue.count));
    section("Ready", ready.collect());
    section(
        "Blockers",
        status.roots.iter().map(|root| format!("{}, unblocks {}", named(&root.task), root.frees)).collect(),
    );
    section(
        "Stuck",
        status.stuck.iter().map(|stuck| format!("{}, {} hours", named(&stuck.task), stuck.hours)).collect(),
    );
    section("Handed to a person", status.waiting_for_person.iter().map(named).collect());
    section("Too large", status.oversized.iter().map(named).collect());
    let finished: usize = status.throughput.iter().sum();
    let _ = write!(text, "\n{finished} done in the last {} days.\n", status.throughput.len());
    text
}

//! The live view of a team on the terminal: workers, their tasks, and the progress of the steps.

use std::io::Write as _;
use std::time::{Duration, Instant};

use super::out::Out;
use super::style::{self, paint};
use super::table::{clean, cut};
use super::words;
use crate::app::{CrewView, StepView, TeamView};
use crate::task::TaskId;

/// How often the view is drawn without events, to update its clocks.
const AGAIN: Duration = Duration::from_millis(500);

#[derive(Default)]
pub struct Live {
    /// The number of lines that are on the screen.
    lines: usize,
    drawn: Option<Instant>,
}

impl Live {
    /// Draws the view again, below a permanent line if there is one.
    pub fn draw(&mut self, out: &Out, view: &TeamView, line: Option<&str>) {
        if line.is_none() && self.drawn.is_some_and(|drawn| drawn.elapsed() < AGAIN) {
            return;
        }
        let (width, height) =
            terminal_size::terminal_size().map_or((80, 24), |(w, h)| (usize::from(w.0), usize::from(h.0)));
        let picture = picture(view, width, height.saturating_sub(2));
        // Overwrites the old view in one write, so that nothing flickers.
        let mut text = if self.lines > 0 { format!("\x1b[{}F", self.lines) } else { String::new() };
        for line in line.into_iter().chain(picture.iter().map(String::as_str)) {
            text.push_str(&format!("{}\x1b[K\n", out.fitted(line, width)));
        }
        text.push_str("\x1b[J");
        write_out(&text);
        (self.lines, self.drawn) = (picture.len(), Some(Instant::now()));
    }

    pub fn clear(&mut self) {
        if self.lines > 0 {
            write_out(&format!("\x1b[{}F\x1b[J", self.lines));
        }
        self.lines = 0;
    }
}

fn write_out(text: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}

fn picture(view: &TeamView, width: usize, height: usize) -> Vec<String> {
    let done = view.steps.iter().filter(|step| step.completed).count();
    let took = words::span(jiff::Timestamp::now().duration_since(view.started));
    let cost = view.spent.cost_usd.map(|cost| format!(", {}", words::dollars(cost))).unwrap_or_default();
    let mut lines = vec![format!("{} {done} of {} steps, {took}{cost}", paint(style::HEAD, "team"), view.steps.len())];
    lines.extend(view.ending.map(|ending| format!("  {}", paint(style::WARN, ending))));
    lines.extend(view.workers.iter().map(|seen| crew_line(seen, width)));
    lines.push(String::new());
    let rows = rows(&view.steps);
    let room = height.saturating_sub(lines.len() + 1).max(3);
    let order = |row: &LiveRow<'_>| (row.is_done(), !row.is_at_work(), !row.is_active());
    let mut sorted: Vec<&LiveRow<'_>> = rows.iter().collect();
    sorted.sort_by_key(|row| order(row));
    lines.extend(sorted.iter().take(room).map(|row| row.line(width)));
    if sorted.len() > room {
        lines.push(paint(style::DIM, format!("  … and {} more", sorted.len() - room)));
    }
    lines
}

fn crew_line(seen: &CrewView, width: usize) -> String {
    let name = paint(style::OWNER, format!("  {:<12}", seen.worker));
    match (&seen.doing, &seen.gone) {
        (Some(doing), _) => {
            let since = words::span(jiff::Timestamp::now().duration_since(doing.since));
            let room = width.saturating_sub(2 + 12 + 10 + 12 + 8);
            let title = cut(&clean(&doing.title), room);
            format!("{name} {:<9} {} {:>4}  {title}", doing.command, paint(style::ID, &doing.task), since)
        }
        (None, Some(gone)) => format!("{name} {}", paint(style::BLOCKED, cut(&clean(gone), width.saturating_sub(16)))),
        (None, None) => format!("{name} {}", paint(style::DIM, format!("idle, {} done", seen.turns))),
    }
}

/// The steps of the same tasks.
struct LiveRow<'a> {
    of: &'a [TaskId],
    steps: Vec<&'a StepView>,
}

fn rows(steps: &[StepView]) -> Vec<LiveRow<'_>> {
    let mut rows: Vec<LiveRow<'_>> = Vec::new();
    for step in steps {
        match rows.iter_mut().find(|row| row.of == step.of.as_slice()) {
            Some(row) => row.steps.push(step),
            None => rows.push(LiveRow { of: &step.of, steps: vec![step] }),
        }
    }
    rows
}

impl LiveRow<'_> {
    fn is_done(&self) -> bool {
        self.steps.iter().all(|step| step.completed)
    }

    fn is_at_work(&self) -> bool {
        self.steps.iter().any(|step| step.working)
    }

    fn is_active(&self) -> bool {
        self.steps.iter().any(|step| !step.completed && !step.blocked)
    }

    fn line(&self, width: usize) -> String {
        let mut name = self.of.first().map(ToString::to_string).unwrap_or_default();
        if self.of.len() > 1 {
            name = format!("{name} +{}", self.of.len() - 1);
        }
        let mut text = format!("  {} ", paint(style::ID, format!("{name:<10}")));
        let mut used = 14;
        for step in &self.steps {
            used += step.command.len() + 3;
            if used > width {
                text.push('…');
                break;
            }
            let (mark, style) = mark(step);
            text.push_str(&format!("{} ", paint(style, format!("{mark} {}", step.command))));
        }
        text.trim_end().to_owned()
    }
}

fn mark(step: &StepView) -> (&'static str, anstyle::Style) {
    match step {
        step if step.completed => ("●", style::READY),
        step if step.human => ("!", style::WARN),
        step if step.working => ("◐", style::OWNER),
        step if step.blocked => ("○", style::DIM),
        _ => ("○", style::PLAIN),
    }
}

/// The steps that a dry run would create.
pub fn plan(steps: &[StepView], width: Option<usize>) -> String {
    rows(steps).iter().map(|row| format!("{}\n", row.line(width.unwrap_or(usize::MAX)).trim_start())).collect()
}

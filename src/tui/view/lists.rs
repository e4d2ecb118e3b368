//! Screens with lists: a graph of blockers, the workers, the inbox, problems.

use ratatui::layout::Rect;

use super::card;
use super::pen::{Pen, Row, piece, row_width, spread};
use super::text;
use crate::app::{self, ClaimLine, Run, RunOutcome, TaskView};
use crate::tui::model::{Chain, InboxScreen, Model, SeenPage, Spot, Tone, Workers};
use crate::tui::words;

/// A line, and its index among the lines that can be selected.
type ListLine = (Row, Option<usize>);

/// Draws the lines around the selected one.
fn list(pen: &mut Pen<'_>, model: &mut Model, lines: &[ListLine], at: usize, area: Rect) {
    let height = usize::from(area.height);
    let selected = lines.iter().position(|(_, place)| *place == Some(at)).unwrap_or(0);
    let top = selected.saturating_sub(height / 2).min(lines.len().saturating_sub(height));
    for (line, (row, place)) in lines.iter().skip(top).take(height).enumerate() {
        let y = area.y + line as u16;
        pen.bar(area.x, y, area.width, row, *place == Some(at));
        if let Some(place) = place {
            pen.spot(Rect { y, height: 1, ..area }, Spot::Row(*place));
        }
    }
    model.drawn.page = height;
}

fn title(pen: &mut Pen<'_>, area: Rect, left: Row, right: &str) -> Rect {
    let width = usize::from(area.width);
    let right = text::cut(right, width.saturating_sub(row_width(&left) + 3));
    pen.row(area.x, area.y, area.width, &spread(left, vec![piece(right, Tone::Dim)], width.saturating_sub(1)));
    pen.row(area.x, area.y + 1, area.width, &vec![("─".repeat(width), Tone::Dim)]);
    Rect { y: area.y + 2, height: area.height.saturating_sub(2), ..area }
}

/// Ready tasks are at the top; lines lead down to the tasks that they unblock.
pub fn graph(pen: &mut Pen<'_>, model: &mut Model, chain: &Chain, area: Rect) {
    let head = vec![piece(" blockers of ", Tone::Head), piece(chain.id.as_str(), Tone::Id)];
    let area = title(pen, area, head, &chain.verdict);
    let Some(drawn) = &chain.lines else { return };
    let widest = drawn.iter().map(|line| text::width(&line.drawing)).max().unwrap_or(0);
    // Many lanes must not leave too little space for the titles.
    let widest = widest.min(usize::from(area.width) / 2);
    let mut stops = 0;
    let mut lines: Vec<ListLine> = Vec::new();
    for line in drawn {
        let place = line.task.as_ref().map(|_| stops);
        stops += usize::from(place.is_some());
        lines.push((chain_row(model, chain, line, widest), place));
    }
    if stops == 1 {
        lines.push((vec![piece("   no blockers, and it blocks no task", Tone::Dim)], None));
    }
    list(pen, model, &lines, chain.at, area);
}

fn chain_row(model: &Model, chain: &Chain, line: &crate::tui::model::ChainLine, widest: usize) -> Row {
    let Some(task) = &line.task else {
        return vec![piece(format!(" {}", text::cut(&line.drawing, widest)), Tone::Dim)];
    };
    let meaning = task.meaning;
    let (mark, tone) = words::mark(task, meaning);
    let (before, after) = line.drawing.split_once('o').unwrap_or((&line.drawing, ""));
    let before = text::cut(before, widest.saturating_sub(1));
    let after = text::cut(after, widest.saturating_sub(text::width(&before) + 1));
    let gap = widest.saturating_sub(text::width(&before) + 1 + text::width(&after));
    let mut row = vec![
        piece(format!(" {before}"), Tone::Dim),
        piece(mark, tone),
        piece(format!("{after}{} ", " ".repeat(gap)), Tone::Dim),
        piece(task.id.as_str(), Tone::Id),
        piece(format!(" {}", task.title), if task.id == chain.id { Tone::Head } else { Tone::Plain }),
        piece(format!(" · {}", task.state), words::of_meaning(meaning)),
    ];
    row.extend(card::holder(task, model.now).map(|(text, tone)| (format!("  {text}"), tone)));
    row
}

pub fn workers(pen: &mut Pen<'_>, model: &mut Model, workers: &Workers, area: Rect) {
    let area = title(pen, area, vec![piece(" workers", Tone::Head)], "");
    let Some(seen) = &workers.seen else { return };
    let width = usize::from(area.width);
    let mut lines: Vec<ListLine> = vec![(roles(seen), None), (Row::new(), None)];
    let mut place = 0;
    let mut section = |name: &str, none: &str, rows: Vec<Row>| {
        lines.push((vec![piece(format!(" {name}"), Tone::Head)], None));
        if rows.is_empty() {
            lines.push((vec![piece(format!("   {none}"), Tone::Dim)], None));
        }
        for row in rows {
            lines.push((row, Some(place)));
            place += 1;
        }
        lines.push((Row::new(), None));
    };
    let now = model.now;
    section("active workers", "no claims", seen.claims.iter().map(|line| claim(line, now, width)).collect());
    if !seen.steps.is_empty() {
        section("steps of teams", "", seen.steps.iter().map(|step| step_row(step, now)).collect());
    }
    section("runs", "no runs yet", seen.runs.iter().map(|line| run(line, now, width)).collect());
    list(pen, model, &lines, workers.at, area);
}

/// The roles, such as `analyst 1/3 · 4 ready`.
fn roles(seen: &SeenPage) -> Row {
    let mut row = vec![piece(" ", Tone::Plain)];
    for role in &seen.roles {
        let limit = role.limit.map(|limit| format!("/{limit}")).unwrap_or_default();
        let tone = if role.at_work > 0 { Tone::Work } else { Tone::Dim };
        row.push(piece(format!("{} ", role.role), Tone::Plain));
        row.push(piece(format!("{}{limit}", role.at_work), tone));
        row.push(piece(format!(" ●{}   ", role.ready), if role.ready > 0 { Tone::Ready } else { Tone::Dim }));
    }
    row
}

fn column(text: &str, width: usize) -> String {
    let text = text::cut(&text::clean(text), width);
    format!("{text}{} ", " ".repeat(width - text::width(&text).min(width)))
}

fn claim(line: &ClaimLine, now: jiff::Timestamp, width: usize) -> Row {
    let (mark, tone) = if line.live { ("▶", Tone::Work) } else { ("▷", Tone::Dim) };
    let left = match (line.live, line.held) {
        (false, _) => "ended".to_owned(),
        (true, true) => "while its process runs".to_owned(),
        (true, false) => format!("{} left", app::span(line.until.duration_since(now))),
    };
    let place = if line.place == "here" { String::new() } else { format!(", {} on {}", line.place, line.host) };
    let row = vec![
        piece(format!("   {mark} "), tone),
        piece(column(line.worker.as_str(), 14), tone),
        piece(column(line.command.as_deref().unwrap_or("-"), 9), Tone::Plain),
        piece(format!("{} ", line.task), Tone::Id),
        piece(line.title.clone(), Tone::Plain),
    ];
    let since = format!("  {} · {left}{place} ", app::ago(line.since, now));
    spread(row, vec![piece(since, Tone::Dim)], width)
}

fn step_row(step: &TaskView, now: jiff::Timestamp) -> Row {
    let (mark, tone) = words::mark(step, app::Meaning::Waiting);
    let mut row = vec![
        piece(format!("   {mark} "), tone),
        piece(format!("{} ", step.id), Tone::Id),
        piece(step.title.clone(), Tone::Plain),
        piece(format!(" · {}", step.state), Tone::Dim),
    ];
    row.extend(card::holder(step, now).map(|(text, tone)| (format!("  {text}"), tone)));
    row
}

pub(super) fn run(run: &Run, now: jiff::Timestamp, width: usize) -> Row {
    let (mark, tone) = match run.outcome {
        RunOutcome::Running => ("◐", Tone::Work),
        RunOutcome::Done | RunOutcome::Advanced => ("✓", Tone::Ready),
        RunOutcome::Iterated | RunOutcome::Waiting | RunOutcome::Returned | RunOutcome::Raced => ("○", Tone::Plain),
        RunOutcome::Escalated => ("!", Tone::Warn),
        _ => ("✗", Tone::Blocked),
    };
    let end = run.ended.or((run.outcome == RunOutcome::Running).then_some(now));
    let took = end.map(|end| format!("took {}, ", app::span(end.duration_since(run.started)))).unwrap_or_default();
    let row = vec![
        piece(format!("   {mark} "), tone),
        piece(column(run.worker.as_str(), 14), Tone::Plain),
        piece(column(&run.command, 9), Tone::Plain),
        piece(format!("{} ", run.task), Tone::Id),
        piece(run.outcome.words(), tone),
        piece(run.message.as_ref().map(|why| format!(": {why}")).unwrap_or_default(), Tone::Dim),
    ];
    spread(row, vec![piece(format!("  {took}{} ago ", app::ago(run.started, now)), Tone::Dim)], width)
}

pub fn inbox(pen: &mut Pen<'_>, model: &mut Model, inbox: &InboxScreen, area: Rect) {
    let area = title(pen, area, vec![piece(" inbox", Tone::Head)], "");
    let Some(items) = &inbox.items else { return };
    let width = usize::from(area.width);
    let mut lines: Vec<ListLine> = Vec::new();
    if items.is_empty() {
        lines.push((vec![piece("   your inbox is empty", Tone::Dim)], None));
    }
    for (place, item) in items.iter().enumerate() {
        let id = item.task.as_ref().map(|id| format!("{id} ")).unwrap_or_default();
        let head = vec![
            piece(format!(" {} ", column(item.kind.name(), 15)), Tone::Warn),
            piece(id, Tone::Id),
            piece(item.title.clone().unwrap_or_default(), Tone::Plain),
        ];
        let blocks = if item.blocks > 0 { format!("blocks {} · ", item.blocks) } else { String::new() };
        let since = item.since.map(|since| app::ago(since, model.now)).unwrap_or_default();
        lines.push((spread(head, vec![piece(format!("  {blocks}{since} "), Tone::Dim)], width), Some(place)));
        let why = item.question.as_ref().map_or(&item.why, |question| &question.text);
        for text in text::wrap(&text::clean(why), width.saturating_sub(6)) {
            lines.push((vec![piece(format!("     {text}"), Tone::Plain)], None));
        }
        for option in item.question.iter().flat_map(|question| &question.options) {
            lines.push((vec![piece(format!("     · {}", text::clean(option)), Tone::Accent)], None));
        }
    }
    list(pen, model, &lines, inbox.at, area);
}

pub fn problems(pen: &mut Pen<'_>, model: &mut Model, at: usize, area: Rect) {
    let head = vec![piece(" problems", Tone::Head)];
    let area = title(pen, area, head, "`ralph doctor` shows details");
    let mut lines: Vec<ListLine> = Vec::new();
    for (place, problem) in model.board.problems.iter().enumerate() {
        let line = if problem.line > 0 { format!(":{}", problem.line) } else { String::new() };
        lines.push((vec![piece(" ‼ ", Tone::Urgent), piece(format!("{}{line}", problem.file), Tone::Id)], Some(place)));
        for text in text::wrap(&text::clean(&problem.message), usize::from(area.width).saturating_sub(4)) {
            lines.push((vec![piece(format!("   {text}"), Tone::Plain)], None));
        }
        lines.extend(problem.hint.iter().map(|hint| (vec![piece(format!("   → {hint}"), Tone::Accent)], None)));
    }
    list(pen, model, &lines, at, area);
}

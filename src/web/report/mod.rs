//! The board as one HTML file without scripts or external resources, which opens from disk and can be printed.

mod cards;
mod panels;
mod sheet;

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

use base64::Engine as _;
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use super::assets::text_of;
use super::graph::{self, Frame};
use super::markdown::escape;
use super::{board, chains, charts};
use crate::app::{self, Change, Column, Failure, ListAsk, LogLine, LogQuery, Trends, Workspace};
use crate::task::TaskId;
use sheet::Past;

/// The whole document.
pub fn report(ws: &Workspace) -> Result<String, Failure> {
    let columns = board::columns(ws, &ListAsk { all: true, ..ListAsk::default() })?;
    let (trends, status) = (app::trends(ws, 30)?, app::status(ws)?);
    let mut out = head(&ws.board_name());
    top(&mut out, &ws.board_name(), &trends, status.problems);
    cards::write(&mut out, &columns);
    graphs(&mut out, ws)?;
    panels::write(
        &mut out,
        &status,
        &app::list_runs(ws, None, RUNS)?,
        &charts::all(&trends),
        &app::costs_of_days(ws, 30)?,
    );
    sheets(&mut out, ws, columns, trends.now)?;
    out.push_str("</main></body></html>\n");
    Ok(out)
}

/// The same numbers as on the page.
const RUNS: usize = 20;
const LINES: usize = 100;
const DRAWINGS: usize = 25;

fn top(out: &mut String, name: &str, trends: &Trends, count: usize) {
    let open = trends.days.last();
    let _ = write!(
        out,
        "<header class=\"top\"><h1>{}</h1><p class=\"dim\">{} open, {} ready, {} blocked{} · {}</p>\
         <nav aria-label=\"Parts\"><a href=\"#board\">Board</a><a href=\"#graph\">Graph</a>\
         <a href=\"#dashboard\">Dashboard</a></nav></header><main>",
        escape(name),
        open.map_or(0, |day| day.open),
        open.map_or(0, |day| day.ready),
        open.map_or(0, |day| day.blocked),
        problems(count),
        trends.now.strftime("%Y-%m-%d %H:%M UTC"),
    );
}

/// Writes the graph, in a limited number of drawings.
fn graphs(out: &mut String, ws: &Workspace) -> Result<(), Failure> {
    let graphed = app::graph(ws, &[], false)?;
    let parts = chains::parts(&graphed);
    if parts.is_empty() {
        return Ok(());
    }
    out.push_str("<section id=\"graph\"><h2>Graph</h2>");
    for part in parts.iter().take(DRAWINGS).cloned() {
        let drawing = graph::draw(part, &Frame { page: "#", ..Frame::default() });
        let _ = write!(out, "<div class=\"scroll\">{drawing}</div>");
    }
    let left: usize = parts.iter().skip(DRAWINGS).map(Vec::len).sum();
    if left > 0 {
        let _ = write!(
            out,
            "<p class=\"dim\">{left} more linked tasks are not drawn; each task below names its links.</p>"
        );
    }
    out.push_str("</section>");
    Ok(())
}

fn sheets(out: &mut String, ws: &Workspace, columns: Vec<Column>, now: Timestamp) -> Result<(), Failure> {
    let timelines = app::timelines(ws)?;
    let journal = app::log(ws, &LogQuery::default())?;
    let mut lines: HashMap<&TaskId, Vec<&LogLine>> = HashMap::new();
    for line in &journal {
        let touched: BTreeSet<&TaskId> = line.line.changes.iter().map(Change::task).collect();
        for task in touched {
            let known = lines.entry(task).or_default();
            if known.len() < LINES {
                known.push(line);
            }
        }
    }
    out.push_str("<section id=\"tasks\"><h2>Tasks</h2>");
    for task in columns.into_iter().flat_map(|column| column.tasks) {
        let stays = timelines.get(&task.id).map(Vec::as_slice).unwrap_or_default();
        let lines = lines.get(&task.id).map(Vec::as_slice).unwrap_or_default();
        sheet::write(out, &app::show_listed(ws, task)?, &Past { stays, lines, now });
    }
    out.push_str("</section>");
    Ok(())
}

fn problems(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => ", <a href=\"#dashboard\">1 problem</a>".into(),
        count => format!(", <a href=\"#dashboard\">{count} problems</a>"),
    }
}

/// The head of the document. Its security policy allows only this style sheet, by its hash.
fn head(name: &str) -> String {
    let sheets = ["base.css", "board.css", "dialog.css", "drawing.css", "report.css", "print.css"];
    let style: String = sheets.into_iter().filter_map(text_of).collect();
    let hash = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(&style));
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{hash}'; \
         img-src data:; base-uri 'none'; form-action 'none'\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>{}</title>\
         <link rel=\"icon\" href=\"data:,\"><style>{style}</style></head><body class=\"report\">",
        escape(name)
    )
}

//! The board as one file: no server, no script, nothing that is fetched; it opens from disk and prints.

mod cards;
mod panels;
mod sheet;

use std::fmt::Write as _;

use base64::Engine as _;
use sha2::{Digest as _, Sha256};

use super::assets::text_of;
use super::markdown::escape;
use super::{charts, graph};
use crate::app::{self, Failure, ListAsk, Workspace};

/// The whole document.
pub fn report(ws: &Workspace) -> Result<String, Failure> {
    let query = ListAsk { all: true, ..ListAsk::default() }.query(ws)?;
    let columns = app::columns(ws, &query)?;
    let timelines = app::timelines(ws)?;
    let trends = app::trends(ws, 30)?;
    let status = app::status(ws)?;
    let mut out = head(&ws.board_name());
    let open = trends.days.last();
    let _ = write!(
        out,
        "<header class=\"top\"><h1>{}</h1><p class=\"dim\">{} open, {} ready, {} blocked{} · {}</p>\
         <nav aria-label=\"Parts\"><a href=\"#board\">Board</a><a href=\"#graph\">Graph</a>\
         <a href=\"#dashboard\">Dashboard</a></nav></header><main>",
        escape(&ws.board_name()),
        open.map_or(0, |day| day.open),
        open.map_or(0, |day| day.ready),
        open.map_or(0, |day| day.blocked),
        problems(status.problems),
        trends.now.strftime("%Y-%m-%d %H:%M UTC"),
    );
    cards::write(&mut out, &columns);
    let graphed = app::graph(ws, &[], false)?;
    if !graphed.nodes.is_empty() {
        let drawing = graph::draw(ws, &graphed, None, "#");
        let _ = write!(out, "<section id=\"graph\"><h2>Graph</h2><div class=\"scroll\">{drawing}</div></section>");
    }
    panels::write(&mut out, &status, &charts::all(&trends));
    out.push_str("<section id=\"tasks\"><h2>Tasks</h2>");
    for task in columns.iter().flat_map(|column| &column.tasks) {
        let stays = timelines.get(&task.id).map(Vec::as_slice).unwrap_or_default();
        sheet::write(&mut out, &app::show(ws, &task.id)?, stays, trends.now);
    }
    out.push_str("</section></main></body></html>\n");
    Ok(out)
}

fn problems(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => ", <a href=\"#dashboard\">1 problem</a>".into(),
        count => format!(", <a href=\"#dashboard\">{count} problems</a>"),
    }
}

/// Only this style sheet is allowed, by what it says.
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

//! The board as one file: no server, no script, nothing that is fetched; it opens from disk and prints.

mod cards;
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
        "<header class=\"top\"><h1>{}</h1><p class=\"dim\">{} open, {} ready, {} blocked · {}</p>\
         <nav aria-label=\"Parts\"><a href=\"#board\">Board</a><a href=\"#graph\">Graph</a>\
         <a href=\"#dashboard\">Dashboard</a></nav></header><main>",
        escape(&ws.board_name()),
        open.map_or(0, |day| day.open),
        open.map_or(0, |day| day.ready),
        open.map_or(0, |day| day.blocked),
        trends.now.strftime("%Y-%m-%d %H:%M UTC"),
    );
    cards::write(&mut out, &columns);
    let graphed = app::graph(ws, &[], false)?;
    if !graphed.nodes.is_empty() {
        let drawing = graph::draw(ws, &graphed, None, "#");
        let _ = write!(out, "<section id=\"graph\"><h2>Graph</h2><div class=\"scroll\">{drawing}</div></section>");
    }
    dashboard(&mut out, &status, &charts::all(&trends));
    out.push_str("<section id=\"tasks\"><h2>Tasks</h2>");
    for task in columns.iter().flat_map(|column| &column.tasks) {
        let stays = timelines.get(&task.id).map(Vec::as_slice).unwrap_or_default();
        sheet::write(&mut out, &app::show(ws, &task.id)?, stays, trends.now);
    }
    out.push_str("</section></main></body></html>\n");
    Ok(out)
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

const LEGEND: &str = "<ul class=\"legend\"><li class=\"open\"><span class=\"swatch\"></span>open</li>\
     <li class=\"ready\"><span class=\"swatch\"></span>ready</li>\
     <li class=\"blocked\"><span class=\"swatch\"></span>blocked</li></ul>";

fn dashboard(out: &mut String, status: &app::Status, charts: &charts::Charts) {
    out.push_str("<section id=\"dashboard\"><h2>Dashboard</h2><div class=\"panels\">");
    let panels = [
        ("Finished per day", &charts.finished, ""),
        ("Open, ready and blocked", &charts.standing, LEGEND),
        (
            "Time in state",
            &charts.times,
            "<p class=\"dim\">dark: half of the tasks left within; light: nine of ten</p>",
        ),
    ];
    for (title, drawing, below) in panels {
        let _ = write!(out, "<section class=\"panel\"><h3>{title}</h3>{drawing}{below}</section>");
    }
    out.push_str("<section class=\"panel\"><h3>At work</h3><ul class=\"plain\">");
    for held in &status.claims {
        let _ = write!(
            out,
            "<li><a href=\"#{id}\"><span class=\"id\">{id}</span> {}</a> <span class=\"owner live\">{}</span></li>",
            escape(&held.title),
            escape(held.claim.by.as_str()),
            id = held.task,
        );
    }
    if status.claims.is_empty() {
        out.push_str("<li class=\"dim\">nobody</li>");
    }
    out.push_str("</ul></section></div></section>");
}

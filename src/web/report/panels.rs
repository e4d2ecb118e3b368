//! The dashboard of the report: charts, and lists of what needs somebody.

use std::fmt::Write as _;

use super::super::charts::Charts;
use super::super::markdown::escape;
use crate::app::Status;
use crate::task::{Problem, TaskId};

const LEGEND: &str = "<ul class=\"legend\"><li class=\"open\"><span class=\"swatch\"></span>open</li>\
     <li class=\"ready\"><span class=\"swatch\"></span>ready</li>\
     <li class=\"blocked\"><span class=\"swatch\"></span>blocked</li></ul>";
const TIMES: &str = "<p class=\"dim\">dark: half of the tasks left within; light: nine of ten</p>";

pub fn write(out: &mut String, status: &Status, charts: &Charts) {
    out.push_str("<section id=\"dashboard\"><h2>Dashboard</h2><div class=\"panels\">");
    list(out, "Problems", status.problem_list.iter().map(problem));
    panel(out, "Finished per day", &charts.finished);
    panel(out, "Open, ready and blocked", &format!("{}{LEGEND}", charts.standing));
    panel(out, "Time in state", &format!("{}{TIMES}", charts.times));
    let at_work = status.claims.iter().map(|held| {
        format!(
            "{} <span class=\"owner live\">{}</span>",
            link(&held.task, &held.title),
            escape(held.claim.by.as_str())
        )
    });
    match status.claims.is_empty() {
        true => panel(out, "At work", "<p class=\"dim\">nobody</p>"),
        false => list(out, "At work", at_work),
    }
    out.push_str("</div></section>");
}

fn panel(out: &mut String, title: &str, html: &str) {
    let _ = write!(out, "<section class=\"panel\"><h3>{title}</h3>{html}</section>");
}

/// Nothing where there is nothing to list.
fn list(out: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let lines: String = lines.map(|line| format!("<li>{line}</li>")).collect();
    if !lines.is_empty() {
        panel(out, title, &format!("<ul class=\"plain\">{lines}</ul>"));
    }
}

fn problem(problem: &Problem) -> String {
    let line = if problem.line > 0 { format!(":{}", problem.line) } else { String::new() };
    format!("<span class=\"id\">{}{line}</span> {}", escape(&problem.file), escape(&problem.message))
}

fn link(id: &TaskId, title: &str) -> String {
    format!("<a href=\"#{id}\"><span class=\"id\">{id}</span> {}</a>", escape(title))
}

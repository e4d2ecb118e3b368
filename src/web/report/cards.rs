//! The columns of the report.

use std::fmt::Write as _;

use super::super::markdown::escape;
use crate::app::{Column, Meaning, TaskView};

/// Writes the columns. Empty ones are left out, because nothing can be dropped there.
pub fn write(out: &mut String, columns: &[Column]) {
    out.push_str("<section id=\"board\"><h2 class=\"hidden\">Board</h2><div class=\"columns\">");
    for column in columns.iter().filter(|column| !column.tasks.is_empty()) {
        let _ = write!(
            out,
            "<section class=\"column {}\"><h3 class=\"column-head\"><span class=\"name\">{}</span> \
             <span class=\"count\">{}</span></h3><ul class=\"cards\">",
            class(column.meaning),
            escape(column.state.as_str()),
            column.tasks.len(),
        );
        for task in &column.tasks {
            card(out, task);
        }
        out.push_str("</ul></section>");
    }
    out.push_str("</div></section>");
}

pub fn class(meaning: Meaning) -> &'static str {
    match meaning {
        Meaning::Waiting => "waiting",
        Meaning::Review => "review",
        Meaning::Working => "working",
        Meaning::Person => "person",
        Meaning::Done => "done",
        Meaning::Canceled => "canceled",
    }
}

fn card(out: &mut String, task: &TaskView) {
    let _ = write!(
        out,
        "<li class=\"card{}\"><div class=\"card-top\"><span class=\"id\">{}</span>",
        if task.blocked { " blocked" } else { "" },
        task.id
    );
    chips(out, task);
    let _ = write!(out, "</div><a class=\"card-title\" href=\"#{}\">{}</a>", task.id, escape(&task.title));
    let labels: String =
        task.labels.iter().map(|label| format!("<span class=\"label\">{}</span>", escape(label))).collect();
    let _ = write!(out, "<div class=\"card-foot\">{labels}");
    if task.blocked {
        let _ = match task.open_blockers.len() {
            0 => write!(out, "<span class=\"mark blocked\">⊘ blocked, because its parent is blocked</span>"),
            count => write!(out, "<span class=\"mark blocked\">⊘ blocked by {count}</span>"),
        };
    }
    if let Some(owner) = &task.owner {
        let kind = match (&task.claim, task.stale) {
            (Some(_), _) => " live",
            (None, true) => " stale",
            (None, false) => "",
        };
        let _ = write!(out, "<span class=\"owner{kind}\">{}</span>", escape(owner));
    }
    out.push_str("</div></li>");
}

pub fn chips(out: &mut String, task: &TaskView) {
    if task.kind != "issue" {
        let _ = write!(out, "<span class=\"chip kind\">{}</span>", task.kind);
    }
    for (name, value) in [("priority", task.priority), ("estimate", task.estimate)] {
        if let Some(value) = value {
            let _ = write!(out, "<span class=\"chip {name} {value}\">{value}</span>");
        }
    }
}

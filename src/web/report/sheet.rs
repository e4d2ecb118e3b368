//! One task of the report: shown when its link is followed; on paper, all tasks are shown.

use std::fmt::Write as _;

use jiff::Timestamp;

use super::super::markdown::{escape, render};
use super::super::svg::cut;
use super::cards::chips;
use crate::app::{LogLine, Shown, Stay};
use crate::task::{TaskId, Value};

/// The maximum number of links of one kind.
const LINKS: usize = 25;

/// The past of a task: its states and changes.
pub struct Past<'a> {
    pub stays: &'a [Stay],
    /// Newest first.
    pub lines: &'a [&'a LogLine],
    pub now: Timestamp,
}

pub fn write(out: &mut String, shown: &Shown, past: &Past<'_>) {
    let task = &shown.task;
    let _ = write!(
        out,
        "<article class=\"sheet\" id=\"{id}\" aria-label=\"{id}\"><a class=\"close\" href=\"#board\">Close</a>\
         <div class=\"card-top\"><span class=\"id\">{id}</span><span class=\"chip\">{}</span>",
        escape(task.state.as_str()),
        id = task.id
    );
    chips(out, task);
    let _ = write!(out, "</div><h3>{}</h3><dl class=\"facts\">", escape(&task.title));
    fact(out, "Owner", task.owner.as_deref().map(escape));
    fact(out, "Labels", (!task.labels.is_empty()).then(|| escape(&task.labels.join(", "))));
    fact(out, "Parent", task.parent.as_ref().map(link));
    fact(out, "Children", links(&task.children));
    fact(out, "Blocked by", links(&task.blocked_by));
    fact(out, "Blocks", links(&task.blocks));
    fact(out, "Issue", task.github.as_ref().map(|issue| format!("#{}", issue.number)));
    let documents: Vec<String> = task.artifacts.iter().map(|(kind, path)| escape(&format!("{kind}: {path}"))).collect();
    fact(out, "Documents", (!documents.is_empty()).then(|| documents.join("<br>")));
    let _ = write!(out, "</dl><div class=\"markdown\">{}</div>", render(&shown.description));
    timeline(out, past.stays, past.now);
    for note in &shown.notes {
        let by = escape(note.by.as_deref().unwrap_or("somebody"));
        let at = note.at.map(|at| at.strftime("%Y-%m-%d %H:%M").to_string()).unwrap_or_default();
        let text = render(&note.text);
        let _ = write!(
            out,
            "<section class=\"note\"><h4>{by} <span class=\"dim\">{at}</span></h4>\
             <div class=\"markdown\">{text}</div></section>"
        );
    }
    history(out, &task.id, past.lines);
    out.push_str("</article>");
}

fn fact(out: &mut String, name: &str, html: Option<String>) {
    if let Some(html) = html {
        let _ = write!(out, "<dt>{name}</dt><dd>{html}</dd>");
    }
}

fn link(id: &TaskId) -> String {
    format!("<a class=\"id\" href=\"#{id}\">{id}</a>")
}

fn links(ids: &[TaskId]) -> Option<String> {
    let mut shown = String::new();
    for (at, id) in ids.iter().take(LINKS).enumerate() {
        let _ = write!(shown, "{}<a class=\"id\" href=\"#{id}\">{id}</a>", if at > 0 { " " } else { "" });
    }
    if ids.len() > LINKS {
        let _ = write!(shown, " <span class=\"dim\">and {} more</span>", ids.len() - LINKS);
    }
    (!ids.is_empty()).then_some(shown)
}

fn timeline(out: &mut String, stays: &[Stay], now: Timestamp) {
    if stays.is_empty() {
        return;
    }
    out.push_str("<ol class=\"timeline\">");
    for stay in stays {
        let hours = stay.until.unwrap_or(now).duration_since(stay.since).as_secs_f64() / 3600.0;
        let _ = write!(
            out,
            "<li><span class=\"name\">{}</span> <span class=\"dim\">{} · {} · {hours:.1} h</span></li>",
            escape(stay.state.as_str()),
            stay.since.strftime("%Y-%m-%d %H:%M"),
            escape(stay.by.as_str()),
        );
    }
    out.push_str("</ol>");
}

/// The history, folded, because it is long and rarely needed.
fn history(out: &mut String, id: &TaskId, lines: &[&LogLine]) {
    if lines.is_empty() {
        return;
    }
    let _ = write!(out, "<details><summary>Journal ({})</summary><ol class=\"history\">", lines.len());
    for entry in lines {
        let _ = write!(
            out,
            "<li{}><strong>{}</strong> {} <span class=\"dim\">{}</span>",
            if entry.undone { " class=\"undone\"" } else { "" },
            escape(entry.line.by.as_str()),
            escape(&entry.line.verb),
            entry.line.at.strftime("%Y-%m-%d %H:%M"),
        );
        for field in entry.fields.iter().filter(|field| field.task == *id) {
            let change = format!("{}: {} → {}", field.key, said(field.old.as_ref()), said(field.new.as_ref()));
            let _ = write!(out, "<div class=\"dim\">{}</div>", escape(&change));
        }
        out.push_str("</li>");
    }
    out.push_str("</ol></details>");
}

fn said(value: Option<&Value>) -> String {
    value.map_or_else(|| "none".into(), |value| cut(&value.to_string(), 80))
}

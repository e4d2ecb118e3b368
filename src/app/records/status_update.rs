//! `post_status`: writes a status report of the project into the repository.

use jiff::Timestamp;
use serde::Serialize;

use crate::agent::document::DocumentKind;
use crate::app::{Code, Failure, Workspace};
use crate::fs;

#[derive(Debug, Clone, Serialize)]
pub struct StatusUpdate {
    pub status: String,
    pub body: String,
    pub start_date: Option<String>,
    pub target_date: Option<String>,
    /// Relative to the root of the repository.
    pub path: String,
    pub at: Timestamp,
}

/// Writes the report into the folder of team reports. `status` is one word; the body is Markdown.
pub fn post_status(
    ws: &Workspace,
    status: &str,
    body: &str,
    dates: (Option<String>, Option<String>),
) -> Result<StatusUpdate, Failure> {
    let at = ws.now();
    let _lock = ws.lock()?;
    let mut text = format!("---\ndate: {}\nstatus: {status}\n", at.strftime("%Y-%m-%d"));
    for (key, date) in [("start_date", &dates.0), ("target_date", &dates.1)] {
        text.push_str(&date.as_ref().map(|date| format!("{key}: {}\n", one_line(date))).unwrap_or_default());
    }
    text.push_str(&format!("type: status-update\n---\n\n{}\n", body.trim_end()));
    let stem = format!("{}/{}-status", DocumentKind::Report.folder(), at.strftime("%Y-%m-%d-%H%M%S"));
    // A second report in the same second gets a number.
    for number in 1..100 {
        let path = if number == 1 { format!("{stem}.md") } else { format!("{stem}-{number}.md") };
        let place = ws.store.inside(ws.store.root().join(&path))?;
        fs::make_dir(place.parent().unwrap_or(&place))?;
        if fs::create(&place, text.as_bytes(), true)? {
            let (start_date, target_date) = dates;
            let (status, body) = (status.to_owned(), body.to_owned());
            return Ok(StatusUpdate { status, body, start_date, target_date, path, at });
        }
    }
    Err(Failure::broken(Code::Io, format!("cannot create {stem}.md: a hundred of them exist")))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

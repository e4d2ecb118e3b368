//! `ralph task diff`.

use crate::app::{self, TaskDiff};
use crate::cli::args::DiffArgs;
use crate::cli::style::{self, paint};
use crate::cli::table::clean;
use crate::cli::{Answer, Outcome, Session, words};

pub fn run(session: &Session<'_>, args: &DiffArgs) -> Answer {
    let found = session.with(|ws| app::diff(ws, &args.from, args.to.as_deref()))?;
    if session.out.json {
        session.out.json(&found);
    } else if found.is_empty() {
        session.out.say("the boards are the same");
    } else {
        session.out.text(&found.iter().map(entry).collect::<String>());
    }
    Ok(Outcome::Done)
}

fn entry(diff: &TaskDiff) -> String {
    let (mark, color) = match diff.what {
        "added" => ("+", style::READY),
        "removed" => ("-", style::BLOCKED),
        _ => ("~", style::WARN),
    };
    let mut text = format!("{} {} {}\n", paint(color, mark), paint(style::ID, &diff.task), clean(&diff.title));
    if diff.what == "changed" {
        for change in &diff.changes {
            text.push_str(&format!("    {}\n", words::field(change)));
        }
        if diff.changes.is_empty() {
            text.push_str("    comments or layout\n");
        }
    }
    text
}

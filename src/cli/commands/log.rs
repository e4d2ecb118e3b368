//! `ralph log` and `ralph undo`.

use jiff::Timestamp;

use crate::app::{self, LogLine, LogQuery};
use crate::cli::args::{LogArgs, UndoArgs};
use crate::cli::style::{self, paint};
use crate::cli::{Answer, Outcome, Session, words};
use crate::task::Worker;

pub fn log(session: &Session<'_>, args: &LogArgs) -> Answer {
    let lines = session.with(|ws| {
        let query = LogQuery {
            task: args.task.as_ref().map(|typed| ws.find(typed)).transpose()?,
            by: args.by.as_ref().map(Worker::new).transpose()?,
            verb: args.verb.clone(),
            since: args.since.map(|age| ws.now().checked_sub(age).unwrap_or(Timestamp::MIN)),
            limit: Some(args.limit),
            bookkeeping: session.out.json,
        };
        app::log(ws, &query)
    })?;
    if session.out.json {
        session.out.json(&lines);
    } else if lines.is_empty() {
        session.out.say("no changes match");
    } else {
        session.out.text(&lines.iter().map(entry).collect::<String>());
    }
    Ok(Outcome::Done)
}

pub fn undo(session: &Session<'_>, args: &UndoArgs) -> Answer {
    let undone = session.with(|ws| app::undo(ws, args.id.as_deref(), args.force))?;
    if session.out.json {
        session.out.json(&undone);
    } else {
        session.out.text(&format!("undone:\n{}", entry(&undone.undone)));
    }
    Ok(Outcome::Done)
}

fn entry(line: &LogLine) -> String {
    const MOST: usize = 8;
    let at = line.line.at.strftime("%Y-%m-%d %H:%M");
    let head = format!(
        "{}  {}  {}",
        paint(style::DIM, &line.line.id),
        paint(style::DIM, at),
        paint(style::OWNER, &line.line.by)
    );
    let undone = if line.undone { paint(style::DIM, " (undone)") } else { String::new() };
    let mut text = format!("{head}  {}{undone}\n", paint(style::HEAD, &line.line.verb));
    for change in line.fields.iter().take(MOST) {
        text.push_str(&format!("    {} {}\n", paint(style::ID, &change.task), words::field(change)));
    }
    if line.fields.len() > MOST {
        text.push_str(&format!("    and {} more\n", line.fields.len() - MOST));
    }
    text
}

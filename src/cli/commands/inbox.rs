//! `ralph inbox`.

use crate::app::{self, InboxItem};
use crate::cli::style::{self, paint};
use crate::cli::table::clean;
use crate::cli::{Answer, Outcome, Session, words};

pub fn run(session: &Session<'_>) -> Answer {
    let inbox = session.with(app::inbox)?;
    // The items contain these problems already.
    session.seen.borrow_mut().clear();
    if session.out.json {
        session.out.json(&inbox);
        return Ok(Outcome::Done);
    }
    if inbox.items.is_empty() {
        session.out.say("your inbox is empty");
        return Ok(Outcome::Done);
    }
    let things: Vec<String> = inbox.items.iter().map(|item| shown(item, inbox.now)).collect();
    session.out.text(&format!("{}\n", things.join("\n")));
    Ok(Outcome::Done)
}

fn shown(item: &InboxItem, now: jiff::Timestamp) -> String {
    let mut head = vec![paint(style::WARN, item.kind.name())];
    if let (Some(task), Some(title)) = (&item.task, &item.title) {
        head.push(format!("{} {}", paint(style::ID, task), paint(style::HEAD, clean(title))));
    }
    let state = item.state.as_ref().map(|state| paint(style::state(state), state));
    let waits = item.since.map(|since| paint(style::DIM, app::ago(since, now)));
    let blocks = (item.blocks > 0).then(|| paint(style::WARN, format!("blocks {}", item.blocks)));
    head.extend(state.into_iter().chain(waits).chain(blocks));
    let mut text = format!("{}\n", head.join("  "));
    match &item.question {
        Some(question) => {
            let by = question.by.as_ref().map(|by| format!("{} asks: ", clean(by))).unwrap_or_default();
            for (at, line) in question.text.lines().enumerate() {
                text.push_str(&format!("    {}{}\n", if at == 0 { by.as_str() } else { "" }, clean(line)));
            }
            for (at, option) in question.options.iter().enumerate() {
                let mark = if Some(option) == question.recommend.as_ref() {
                    paint(style::READY, "  recommended")
                } else {
                    String::new()
                };
                text.push_str(&format!("      {}  {}{mark}\n", at + 1, clean(option)));
            }
        }
        None => text.push_str(&format!("    {}\n", clean(&item.why))),
    }
    for line in item.hints.iter().flat_map(words::hint) {
        text.push_str(&format!("    {}\n", paint(style::DIM, line)));
    }
    text
}

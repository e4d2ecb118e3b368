//! `ralph move`, `done`, `cancel` and `escalate`.

use crate::app::{self, Failure, Moved};
use crate::cli::args::{CloseArgs, MoveArgs};
use crate::cli::input::confirm;
use crate::cli::style::{self, paint};
use crate::cli::{Answer, Outcome, Session};
use crate::task::TaskId;

pub fn run(session: &Session<'_>, args: &MoveArgs) -> Answer {
    let moved = or_ask(session, args.force, |force| {
        session.with(|ws| app::move_task(ws, &ws.find(&args.task)?, &args.to, args.acting.command.as_deref(), force))
    })?;
    tell(session, &moved)
}

pub fn to(session: &Session<'_>, args: &CloseArgs, intent: &str) -> Answer {
    tell(session, &moved_to(session, args, intent)?)
}

pub fn cancel(session: &Session<'_>, args: &CloseArgs) -> Answer {
    tell_decision(session, moved_to(session, args, "__CANCEL__")?)
}

fn moved_to(session: &Session<'_>, args: &CloseArgs, intent: &str) -> Result<Moved, Failure> {
    or_ask(session, args.force, |force| {
        session.with(|ws| app::move_task(ws, &ws.find(&args.task)?, intent, args.acting.command.as_deref(), force))
    })
}

/// Tells of a person's decision, without the command that the workflow found for it: "(merge)" after a rejection would
/// read as if the work had been merged.
pub fn tell_decision(session: &Session<'_>, moved: Moved) -> Answer {
    match session.out.json {
        true => tell(session, &moved),
        false => tell(session, &Moved { command: None, ..moved }),
    }
}

/// Asks for confirmation on a terminal where only a person can decide.
pub fn or_ask<T>(session: &Session<'_>, force: bool, verb: impl Fn(bool) -> Result<T, Failure>) -> Result<T, Failure> {
    match verb(force) {
        Err(failure) if !force && failure.is_question() => {
            let question = format!("{}. Do it anyway?", failure.message);
            if confirm(session.out, &question) == Some(true) { verb(true) } else { Err(failure) }
        }
        other => other,
    }
}

/// Lines on what a move skipped in the workflow, and which tasks it unblocked.
pub fn consequences(outside: Option<&str>, unblocked: &[TaskId]) -> String {
    let mut text =
        outside.map(|skipped| paint(style::WARN, format!("outside the workflow: {skipped}\n"))).unwrap_or_default();
    if !unblocked.is_empty() {
        let ids: Vec<String> = unblocked.iter().map(|id| paint(style::ID, id)).collect();
        text.push_str(&format!("unblocks {}\n", ids.join(" ")));
    }
    text
}

pub fn tell(session: &Session<'_>, moved: &Moved) -> Answer {
    if session.out.json {
        session.out.json(moved);
        return Ok(Outcome::Done);
    }
    if !moved.changed {
        session.out.say(&format!("nothing to do: {} is already {}", moved.task, moved.to));
        return Ok(Outcome::Done);
    }
    let state = |name: &crate::task::StateName| paint(style::state(name), name);
    let how = moved.command.as_ref().map(|command| paint(style::DIM, format!("  ({command})"))).unwrap_or_default();
    let forced = match (&moved.taken_from, moved.forced) {
        (Some(worker), _) => paint(style::WARN, format!("  forced, although {worker} had claimed it")),
        (None, true) => paint(style::WARN, "  forced"),
        (None, false) => String::new(),
    };
    if moved.from == moved.to && moved.flagged {
        session.out.text(&format!("{} handed to a person\n", paint(style::ID, &moved.task)));
        return Ok(Outcome::Done);
    }
    let mut text = format!("{} {} → {}{how}{forced}\n", paint(style::ID, &moved.task), moved.from, state(&moved.to));
    text.push_str(&consequences(moved.outside.as_deref(), &moved.unblocked));
    if !moved.out_of_scope.is_empty() {
        let files = moved.out_of_scope.join(", ");
        text.push_str(&paint(style::WARN, format!("outside the scope of the plan: {files}\n")));
    }
    for along in &moved.along {
        text.push_str(&format!(
            "{} → {}  {}\n",
            paint(style::ID, &along.task),
            state(&along.to),
            paint(style::DIM, "moved with it")
        ));
    }
    session.out.text(&text);
    Ok(Outcome::Done)
}

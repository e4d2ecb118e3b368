//! `ralph next`.

use crate::app::{self, NextAsk};
use crate::cli::args::NextArgs;
use crate::cli::style::{self, paint};
use crate::cli::{Answer, Outcome, Session};

pub fn run(session: &Session<'_>, args: &NextArgs) -> Answer {
    let asked = NextAsk { role: args.role.clone(), claim: args.claim, reach: args.reach.reach() };
    let chosen = session.with(|ws| match args.wait {
        Some(limit) => app::next_or_wait(ws, &asked, limit, &app::Stop::default()),
        None => app::next(ws, &asked),
    })?;
    for reaped in &chosen.reaped {
        session.out.say(super::claim::reaped_line(reaped).trim_end());
    }
    if session.out.json {
        session.out.json(&chosen);
        return Ok(Outcome::Done);
    }
    let resume = if chosen.resume { paint(style::DIM, "  continue it") } else { String::new() };
    let command =
        chosen.command.as_ref().map(|command| format!(" as {}", paint(style::HEAD, command))).unwrap_or_default();
    let mut text = format!(
        "{} {}  {}{command}{resume}\n",
        paint(style::ID, &chosen.task),
        chosen.title,
        paint(style::state(&chosen.state), &chosen.state)
    );
    text.push_str(&chosen.claim.as_ref().map(super::claim::line).unwrap_or_default());
    session.out.text(&text);
    Ok(Outcome::Done)
}

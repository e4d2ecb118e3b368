//! `ralph move`, `done`, `cancel` and `escalate`.

use crate::app::{self, Moved};
use crate::cli::args::{CloseArgs, MoveArgs};
use crate::cli::style::{self, paint};
use crate::cli::{Answer, Outcome, Session};

pub fn run(session: &Session<'_>, args: &MoveArgs) -> Answer {
    let moved = session
        .with(|ws| app::move_task(ws, &ws.find(&args.task)?, &args.to, args.acting.command.as_deref(), args.force))?;
    tell(session, &moved)
}

pub fn to(session: &Session<'_>, args: &CloseArgs, intent: &str) -> Answer {
    let moved = session
        .with(|ws| app::move_task(ws, &ws.find(&args.task)?, intent, args.acting.command.as_deref(), args.force))?;
    tell(session, &moved)
}

fn tell(session: &Session<'_>, moved: &Moved) -> Answer {
    if session.out.json {
        session.out.json(moved);
        return Ok(Outcome::Done);
    }
    if !moved.changed {
        session.out.say(&format!("nothing to do: {} is {} already", moved.task, moved.to));
        return Ok(Outcome::Done);
    }
    let state = |name: &crate::task::StateName| paint(style::state(name), name);
    let how = moved.command.as_ref().map(|command| paint(style::DIM, format!("  ({command})"))).unwrap_or_default();
    let forced = if moved.forced { paint(style::WARN, "  forced") } else { String::new() };
    let mut text = format!("{} {} → {}{how}{forced}\n", paint(style::ID, &moved.task), moved.from, state(&moved.to));
    for along in &moved.along {
        text.push_str(&format!(
            "{} → {}  {}\n",
            paint(style::ID, &along.task),
            state(&along.to),
            paint(style::DIM, "along with it")
        ));
    }
    session.out.text(&text);
    Ok(Outcome::Done)
}

//! `ralph split` and `ralph plan sync`.

use crate::app;
use crate::cli::args::{PlanCommand, SplitArgs};
use crate::cli::style::{self, paint};
use crate::cli::{Answer, Outcome, Session, input};

pub fn run(session: &Session<'_>, args: &SplitArgs) -> Answer {
    let text = input::read(&args.into)?;
    let rows = app::parse_batch(&args.into.display().to_string(), &text)?;
    let done = session.with(|ws| app::split(ws, &ws.find(&args.task)?, &rows, args.atomic))?;
    if session.out.json {
        session.out.json(&done);
        return Ok(Outcome::Done);
    }
    let mut text = String::new();
    for child in &done.children {
        let how = if child.created { "" } else { "  already exists" };
        text.push_str(&format!("{} {}{}\n", paint(style::ID, &child.task), child.title, paint(style::DIM, how)));
    }
    let together = if done.atomic { ", whose tasks are planned, built and merged together" } else { "" };
    text.push_str(&format!("{} is now an epic{together}  {}\n", paint(style::ID, &done.task), done.to));
    session.out.text(&text);
    Ok(Outcome::Done)
}

pub fn plan(session: &Session<'_>, command: &PlanCommand) -> Answer {
    let (task, dry_run) = match command {
        PlanCommand::Show { task } => return super::artifact::show(session, "plan", task),
        PlanCommand::Sync { task, dry_run } => (task, dry_run),
    };
    let done = session.with(|ws| app::plan_sync(ws, &ws.find(task)?, *dry_run))?;
    if session.out.json {
        session.out.json(&done);
        return Ok(Outcome::Done);
    }
    if done.added.is_empty() && done.removed.is_empty() {
        session.out.say(&format!("nothing to do: the blockers already match {}", done.path));
        return Ok(Outcome::Done);
    }
    let line = |edge: &app::Edge, how: &str| {
        format!("{} {how} {}\n", paint(style::ID, &edge.task), paint(style::ID, &edge.on))
    };
    let mut text: String = done.added.iter().map(|edge| line(edge, "is now blocked by")).collect();
    text.extend(done.removed.iter().map(|edge| line(edge, "is no longer blocked by")));
    session.out.text(&text);
    if done.dry_run {
        session.out.say("nothing was changed");
    }
    Ok(Outcome::Done)
}

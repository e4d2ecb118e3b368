//! `ralph init`.

use crate::app::{self, InitOptions};
use crate::cli::args::InitArgs;
use crate::cli::input::choose;
use crate::cli::style::{self, paint};
use crate::cli::words::count;
use crate::cli::{Answer, Outcome, Session};

/// Asks for the workflow of a new board, on a terminal only.
fn asked(session: &Session<'_>) -> Option<String> {
    if app::has_board(&session.options) {
        return None;
    }
    let choices: Vec<(&str, &str)> = app::WORKFLOWS.iter().map(|(name, what, _)| (*name, *what)).collect();
    choose(session.out, "Which workflow?", &choices, "full")
}

pub fn run(session: &Session<'_>, args: &InitArgs) -> Answer {
    let workflow = args.workflow.clone().or_else(|| asked(session));
    let done = app::init(&session.options, &InitOptions { demo: args.demo, git: args.git, workflow })?;
    if session.out.json {
        session.out.json(&done);
        return Ok(Outcome::Done);
    }
    let mut text = if done.done.is_empty() {
        format!("nothing to do: the board in {} is already set up\n", done.root)
    } else {
        format!("created a board in {}\n", done.root)
    };
    for line in &done.done {
        text.push_str(&format!("  {} {line}\n", paint(style::READY, "+")));
    }
    if !done.done.is_empty() {
        for line in &done.kept {
            text.push_str(&format!("  {} {line} (unchanged)\n", paint(style::DIM, "=")));
        }
    }
    if done.tasks > 0 {
        text.push_str(&format!("  {} {}\n", paint(style::READY, "+"), count(done.tasks, "task")));
    }
    session.out.text(&text);
    session.out.notices(&done.notices);
    if done.done.is_empty() && done.tasks == 0 {
        return Ok(Outcome::Done);
    }
    let next =
        if done.tasks + done.found > 0 { "`ralph task ls` shows them" } else { "add a task with `ralph add \"…\"`" };
    session.out.say(&format!("next: {next}"));
    Ok(Outcome::Done)
}

//! `ralph agent`: the agent programs, and a test of one.

use super::worker::{guard, stop_on_signals};
use crate::app::{self, AgentProgram, AgentTest, Code, Failure, Launch};
use crate::cli::args::AgentCommand;
use crate::cli::style::{self, paint};
use crate::cli::table::{Cell, cell, clean, render};
use crate::cli::{Answer, Outcome, Session};

pub fn run(session: &Session<'_>, command: &AgentCommand) -> Answer {
    match command {
        AgentCommand::Ls => list(session),
        AgentCommand::Test { profile } => test(session, profile.as_deref()),
    }
}

fn list(session: &Session<'_>) -> Answer {
    let found = session.with(|ws| Ok(app::list_agents(ws)))?;
    let out = session.out;
    if out.json {
        out.json(&found);
        return Ok(Outcome::Done);
    }
    let rows: Vec<Vec<Cell>> = found.iter().map(row).collect();
    out.text(&render(&["PROFILE", "PROGRAM", "VERSION", "STATUS"], 3, &[], &rows, out.width()));
    if !found.iter().any(|agent| agent.profile) {
        out.say("no profile is set; set one with `ralph config set agent.profile NAME`");
    }
    Ok(Outcome::Done)
}

fn row(agent: &AgentProgram) -> Vec<Cell> {
    let (status, how) = match (&agent.path, agent.missing.is_empty()) {
        (None, _) => (format!("not installed: {}", agent.install), style::DIM),
        (Some(_), false) => (format!("too old, lacks {}: {}", agent.missing.join(", "), agent.install), style::WARN),
        (Some(_), true) if agent.profile => ("the profile of this board".to_owned(), style::READY),
        (Some(_), true) => ("installed".to_owned(), style::PLAIN),
    };
    vec![
        cell(agent.name, style::ID),
        cell(agent.title, style::PLAIN),
        cell(agent.version.clone().unwrap_or_default(), style::DIM),
        cell(status, how),
    ]
}

fn test(session: &Session<'_>, profile: Option<&str>) -> Answer {
    let stop = stop_on_signals(true)?;
    let guard = || guard();
    let alone = |_: &str, _: &crate::task::Worker, _: &[crate::task::TaskId]| {
        Err(Failure::broken(Code::NoCrew, "a test starts no workers"))
    };
    let launch = Launch { guard: &guard, worker: &alone };
    session.out.say("the agent does a small task in a throw-away repository; this can take a minute");
    let tested = app::test_agent(&session.options, profile, &launch, &stop)?;
    if session.out.json {
        session.out.json(&tested);
    } else {
        session.out.text(&words(&tested));
    }
    Ok(if tested.passed { Outcome::Done } else { Outcome::Negative })
}

fn words(tested: &AgentTest) -> String {
    let mut text = String::new();
    for check in &tested.checks {
        let mark = if check.ok { paint(style::READY, "✓") } else { paint(style::BLOCKED, "✗") };
        text.push_str(&format!("{mark} {}\n", check.what));
    }
    for (tool, why) in &tested.refused {
        let why = clean(why.split(". ").next().unwrap_or_default());
        text.push_str(&format!("{} {tool}: {why}\n", paint(style::BLOCKED, "refused by the program:")));
    }
    for path in &tested.denied {
        let hint = "if the agent needs it, allow it with `agent.write`";
        text.push_str(&format!("{} {}; {hint}\n", paint(style::BLOCKED, "denied by the sandbox:"), clean(path)));
    }
    if !tested.said.trim().is_empty() {
        text.push_str(&format!("\n{}\n", paint(style::HEAD, "Its last actions")));
        text.extend(tested.said.lines().map(|line| format!("  {}\n", clean(line))));
    }
    let sandbox = if tested.confined { "confined" } else { "not confined" };
    let result = if tested.passed { "can work here" } else { "cannot work here with this setup" };
    text.push_str(&format!("{} {result} ({sandbox}, {:.0} s)\n", clean(&tested.profile), tested.seconds));
    text
}

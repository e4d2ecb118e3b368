//! `ralph runs`: the runs of agents.

use std::time::Duration;

use super::worker::outcome;
use crate::app::{self, Run, RunOutcome as Ended, Usage};
use crate::cli::args::RunsCommand as Args;
use crate::cli::style::{self, paint};
use crate::cli::table::{cell, clean, render};
use crate::cli::words::{dollars, tokens};
use crate::cli::{Answer, Outcome, Session, words};

pub fn run(session: &Session<'_>, args: &Args) -> Answer {
    match args {
        Args::Ls { task, limit } => list(session, task.as_deref(), *limit),
        Args::Show { run } => show(session, run),
        Args::Tail { run, follow } => tail(session, run, *follow),
        Args::Stop { run } => stop(session, run),
        Args::Retry { task } => retry(session, task),
    }
}

fn list(session: &Session<'_>, task: Option<&str>, limit: usize) -> Answer {
    let runs = session.with(|ws| {
        let task = task.map(|task| ws.find(task)).transpose()?;
        app::list_runs(ws, task.as_ref(), limit)
    })?;
    let out = session.out;
    if out.json {
        out.json(&runs);
    } else if runs.is_empty() {
        out.say("no runs yet");
    } else {
        let now = jiff::Timestamp::now();
        let rows: Vec<_> = runs.iter().map(|run| row(run, now)).collect();
        let heads = ["RUN", "TASK", "COMMAND", "WORKER", "OUTCOME", "TOOK", "TOKENS", "COST", "AGO", "WHY"];
        out.text(&render(&heads, 9, &[0, 8, 6], &rows, out.width()));
    }
    Ok(Outcome::Done)
}

fn row(run: &Run, now: jiff::Timestamp) -> Vec<crate::cli::table::Cell> {
    let over = run.ended.or((run.outcome == Ended::Running).then_some(now));
    let took = over.map(|over| words::span(over.duration_since(run.started))).unwrap_or_default();
    vec![
        cell(&run.id, style::DIM),
        cell(run.task.as_str(), style::ID),
        cell(&run.command, style::PLAIN),
        cell(run.worker.as_str(), style::OWNER),
        cell(run.outcome.words(), outcome(run.outcome)),
        cell(took, style::PLAIN),
        cell(receipt(run, run.usage.as_ref().map(|usage| tokens(usage.tokens()))), style::PLAIN),
        cell(receipt(run, run.usage.as_ref().and_then(|usage| usage.cost_usd).map(dollars)), style::PLAIN),
        cell(words::ago(run.started, now), style::DIM),
        cell(run.message.clone().unwrap_or_default(), style::DIM),
    ]
}

fn show(session: &Session<'_>, typed: &str) -> Answer {
    let shown = session.with(|ws| app::show_run(ws, app::find_run(ws, typed)?))?;
    let out = session.out;
    if out.json {
        out.json(&shown);
        return Ok(Outcome::Done);
    }
    let run = &shown.run;
    let mut text = format!("{}\n", paint(style::HEAD, &run.id));
    let states = format!("{} → {}", run.from, run.to.as_ref().map_or("…", |to| to.as_str()));
    let rows = [
        ("task", run.task.to_string()),
        ("command", run.command.clone()),
        ("worker", run.worker.to_string()),
        ("attempt", run.attempt.to_string()),
        ("outcome", paint(outcome(run.outcome), run.outcome.words())),
        ("why", run.message.as_deref().map(clean).unwrap_or_default()),
        ("state", states),
        ("started", run.started.strftime("%Y-%m-%d %H:%M:%SZ").to_string()),
        ("took", run.ended.map(|end| words::span(end.duration_since(run.started))).unwrap_or_default()),
        ("exit", run.code.map(|code| code.to_string()).unwrap_or_default()),
        ("program", clean(&run.program.join(" "))),
        ("sandbox", if run.confined { "on".into() } else { String::new() }),
        ("session", run.session.clone().unwrap_or_default()),
        ("model", run.model.clone().unwrap_or_default()),
        ("usage", receipt(run, run.usage.as_ref().map(usage))),
        ("in", run.dir.display().to_string()),
        ("prompt", shown.prompt.display().to_string()),
        ("log", shown.log.display().to_string()),
    ];
    for (name, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
        text.push_str(&format!("  {} {value}\n", paint(style::DIM, format!("{name:<8}"))));
    }
    if !shown.events.is_empty() {
        text.push_str(&format!("\n{}\n", paint(style::HEAD, "Actions")));
        text.extend(shown.events.iter().filter_map(event_line).map(|line| format!("  {line}\n")));
    } else if !shown.tail.trim().is_empty() {
        text.push_str(&format!("\n{}\n", paint(style::HEAD, "End of its output")));
        text.extend(shown.tail.lines().map(|line| format!("  {}\n", clean(line))));
    }
    out.text(&text);
    Ok(Outcome::Done)
}

/// The reported usage of a run; `unknown` if it has ended and its program reported none.
fn receipt(run: &Run, known: Option<String>) -> String {
    let over = run.is_agents() && run.outcome != Ended::Running;
    known.unwrap_or_else(|| if over { "unknown".into() } else { String::new() })
}

fn usage(usage: &Usage) -> String {
    let Usage { input_tokens, cached_tokens, output_tokens, cost_usd, turns } = usage;
    let cost = cost_usd.map_or_else(|| "unknown".into(), dollars);
    let turns = turns.map(|turns| format!("{turns} turns, ")).unwrap_or_default();
    format!("{turns}{input_tokens} tokens in, {cached_tokens} cached, {output_tokens} out, cost {cost}")
}

fn event_line(event: &app::AgentEvent) -> Option<String> {
    let line = clean(&event.line()?);
    Some(match event {
        app::AgentEvent::Tool { .. } => paint(style::ID, line),
        app::AgentEvent::Answer { .. } | app::AgentEvent::Text { .. } => paint(style::DIM, line),
        app::AgentEvent::Refused { .. } | app::AgentEvent::Failed { .. } => paint(style::BLOCKED, line),
        _ => line,
    })
}

fn tail(session: &Session<'_>, typed: &str, follow: bool) -> Answer {
    session.with(|ws| {
        let run = app::find_run(ws, typed)?;
        let mut at = 0;
        loop {
            let (mut bytes, runs) = app::follow_run(ws, &run, at)?;
            if run.host.is_some() && runs {
                // Events are whole lines; an incomplete line is read the next time.
                bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1));
            }
            at += bytes.len() as u64;
            let log = String::from_utf8_lossy(&bytes);
            let events = run.events_in(&log).filter(|_| !session.out.json);
            let text = match &events {
                Some(events) => events.iter().filter_map(event_line).map(|line| format!("{line}\n")).collect(),
                None => log.into_owned(),
            };
            if !session.out.part(&text) || !follow || !runs {
                return Ok(Outcome::Done);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    })
}

fn stop(session: &Session<'_>, typed: &str) -> Answer {
    let asked = session.with(|ws| app::stop_run(ws, &app::find_run(ws, typed)?))?;
    let out = session.out;
    if out.json {
        out.json(&asked);
    } else {
        out.say(&format!("stopping {}; {} is handed to a person and will be in the inbox", asked.run, asked.task));
    }
    Ok(Outcome::Done)
}

fn retry(session: &Session<'_>, typed: &str) -> Answer {
    let done = session.with(|ws| app::retry(ws, &ws.find(typed)?))?;
    let out = session.out;
    if out.json {
        out.json(&done);
    } else {
        out.say(&format!("{} is in {} and will be tried again", done.task, done.state));
        out.say(&format!("if no workers are running, start them with `ralph team {}`", done.task));
    }
    Ok(Outcome::Done)
}

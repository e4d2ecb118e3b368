//! `ralph position`, `group` and `advance`.

use crate::app;
use crate::cli::args::{AdvanceArgs, OneArgs};
use crate::cli::style::{self, paint};
use crate::cli::{Answer, Outcome, Session};

fn kebab(value: impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|json| json.as_str().map(str::to_owned)).unwrap_or_default()
}

pub fn position(session: &Session<'_>, args: &OneArgs) -> Answer {
    let view = session.with(|ws| app::position(ws, &ws.find(&args.task)?, app::Grouping::Declared))?;
    if session.out.json {
        session.out.json(&view);
        return Ok(Outcome::Done);
    }
    let position = &view.position;
    let ids = |list: &[crate::task::TaskId]| list.iter().map(|id| paint(style::ID, id)).collect::<Vec<_>>().join(" ");
    let phases: Vec<String> = position.remaining.iter().map(kebab).collect();
    let roster = position.roster;
    let mut text = format!(
        "{} {}: {}\n",
        paint(style::ID, &view.task),
        paint(style::HEAD, kebab(position.phase)),
        position.reason
    );
    let mut row = |name: &str, value: String| {
        if !value.is_empty() {
            text.push_str(&format!("  {}  {value}\n", paint(style::DIM, format!("{name:<12}"))));
        }
    };
    row("members", ids(&position.members));
    row("remaining", phases.join(" → "));
    row("waiting for", ids(&position.convergence.waiting_for));
    row("next", position.convergence.recommendation.into());
    let counts = [
        ("analyst", roster.analyst),
        ("builder", roster.builder),
        ("validator", roster.validator),
        ("integrator", roster.integrator),
    ];
    let wanted: Vec<String> =
        counts.iter().filter(|(_, count)| *count > 0).map(|(role, count)| format!("{count} {role}")).collect();
    row("roster", wanted.join(", "));
    session.out.text(&text);
    Ok(Outcome::Done)
}

pub fn group(session: &Session<'_>, args: &OneArgs) -> Answer {
    let group = session.with(|ws| app::group(ws, &ws.find(&args.task)?, app::Grouping::Declared))?;
    if session.out.json {
        session.out.json(&group);
        return Ok(Outcome::Done);
    }
    let lines = group.members.iter().enumerate().map(|(at, member)| {
        let first = if at == 0 && group.members.len() > 1 { "  primary" } else { "" };
        let state = paint(style::state(&member.state), &member.state);
        format!(
            "{} {}  {} · {state}{}\n",
            at + 1,
            paint(style::ID, &member.task),
            member.title,
            paint(style::DIM, first)
        )
    });
    session.out.text(&lines.collect::<String>());
    Ok(Outcome::Done)
}

pub fn advance(session: &Session<'_>, args: &AdvanceArgs) -> Answer {
    let done = session.with(|ws| app::advance(ws, &ws.find(&args.task)?, &args.to, args.force))?;
    if session.out.json {
        session.out.json(&done);
        return Ok(Outcome::Done);
    }
    let moved = done.moved.iter().map(|id| format!("{} → {}\n", paint(style::ID, id), done.to));
    let stayed =
        done.skipped.iter().map(|skipped| format!("{} stays: {}\n", paint(style::ID, &skipped.task), skipped.reason));
    session.out.text(&moved.chain(stayed).collect::<String>());
    Ok(Outcome::Done)
}

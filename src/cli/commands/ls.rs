//! `ralph task ls`.

use crate::app::{self, Failure, Listed, Workspace};
use crate::board::Query;
use crate::cli::args::Ls;
use crate::cli::style::{self, paint};
use crate::cli::{Answer, Outcome, Session, words};
use crate::task::{Kind, Worker};

pub fn run(session: &Session<'_>, args: &Ls) -> Answer {
    let listed = session.at(&args.at).with(|ws| {
        if args.archived { app::list_archived(ws, &query(ws, args)?) } else { app::list(ws, &query(ws, args)?) }
    })?;
    if session.out.json {
        session.out.json(&listed.tasks);
    } else if args.compact {
        session.out.text(&listed.tasks.iter().map(words::compact).collect::<String>());
        if listed.total > listed.tasks.len() {
            session.out.say(&format!("{} more", listed.total - listed.tasks.len()));
        }
    } else if listed.tasks.is_empty() {
        session.out.say("no tasks match");
    } else {
        session.out.text(&format!(
            "{}{}",
            words::task_table(&listed.tasks, session.out.width()),
            foot(session, &listed)
        ));
    }
    Ok(Outcome::Done)
}

/// For people at a terminal; a pipe gets the rows alone.
fn foot(session: &Session<'_>, listed: &Listed) -> String {
    if !session.out.terminal {
        return String::new();
    }
    let ready = listed.tasks.iter().filter(|task| task.ready).count();
    let blocked = listed.tasks.iter().filter(|task| task.blocked).count();
    let of = if listed.total > listed.tasks.len() { format!(" of {}", listed.total) } else { String::new() };
    let counts = format!("{}{of} · {ready} ready · {blocked} blocked", words::count(listed.tasks.len(), "task"));
    format!("\n{}\n{}\n", paint(style::HEAD, counts), paint(style::DIM, words::LEGEND))
}

fn query(ws: &Workspace, args: &Ls) -> Result<Query, Failure> {
    let kinds: Vec<Kind> = parse_all(&args.kind)?;
    let state_kind = if kinds == [Kind::Step] { Kind::Step } else { Kind::Issue };
    let mut states = Vec::new();
    for typed in &args.state {
        states.push(ws.flow().find_state(state_kind, typed)?.name.clone());
    }
    let mut owners: Vec<Worker> = args.owner.iter().map(Worker::new).collect::<Result<_, _>>()?;
    if args.mine {
        owners.push(ws.me()?);
    }
    Ok(Query {
        states,
        role: args.role.as_ref().map(|name| role(ws, name)).transpose()?,
        ready: args.ready,
        blocked: args.blocked,
        owners,
        labels: args.label.clone(),
        priorities: parse_all(&args.priority)?,
        estimates: parse_all(&args.estimate)?,
        parent: args.parent.as_ref().map(|typed| ws.find(typed)).transpose()?,
        kinds,
        all: args.all || args.archived,
        search: args.search.clone(),
        sort: args.sort.iter().map(|text| text.parse()).collect::<Result<_, _>>().map_err(unknown_sort)?,
        limit: args.limit,
    })
}

fn unknown_sort(error: crate::board::UnknownSort) -> Failure {
    Failure::usage("unknown-sort", error.to_string())
}

fn role(ws: &Workspace, name: &str) -> Result<String, Failure> {
    match ws.flow().role(name) {
        Some(role) => Ok(role.name.clone()),
        None => {
            let names: Vec<&str> = ws.flow().roles().iter().map(|role| role.name.as_str()).collect();
            Err(Failure::usage("unknown-role", format!("{name:?} is not a role: use {}", names.join(", "))))
        }
    }
}

fn parse_all<T: std::str::FromStr<Err = crate::task::ParseError>>(typed: &[String]) -> Result<Vec<T>, Failure> {
    Ok(typed.iter().map(|text| text.parse()).collect::<Result<_, _>>()?)
}

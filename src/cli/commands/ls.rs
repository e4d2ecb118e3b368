//! `ralph task ls`.

use crate::app::{self, ListAsk, Listed};
use crate::cli::args::LsArgs;
use crate::cli::style::{self, paint};
use crate::cli::{Answer, Outcome, Session, words};

pub fn run(session: &Session<'_>, args: &LsArgs) -> Answer {
    let listed = session.at(&args.at).with(|ws| {
        let query = asked(args).query(ws)?;
        if args.archived { app::list_archived(ws, &query) } else { app::list(ws, &query) }
    })?;
    if session.out.json {
        session.out.json(&listed.tasks);
    } else if args.compact {
        session.out.text(&listed.tasks.iter().map(words::compact).collect::<String>());
        if listed.total > listed.tasks.len() {
            session.out.say(&format!("{} more", listed.total - listed.tasks.len()));
        }
    } else if listed.tasks.is_empty() {
        session.out.say(nothing(args));
    } else {
        session.out.text(&format!(
            "{}{}",
            words::task_table(&listed.tasks, session.out.width()),
            foot(session, &listed)
        ));
    }
    Ok(Outcome::Done)
}

fn nothing(args: &LsArgs) -> &'static str {
    match (args.archived, is_filtered(args), args.all) {
        (_, true, _) => "no tasks match",
        (true, ..) => "no archived tasks",
        (_, _, true) => "no tasks; `ralph add TITLE` adds one",
        _ => "no open tasks; `ralph ls --all` shows finished ones",
    }
}

/// Whether an option selects some of the tasks.
fn is_filtered(args: &LsArgs) -> bool {
    let given = ListAsk { all: false, sort: Vec::new(), limit: None, ..asked(args) };
    given != ListAsk::default()
}

/// A summary below the rows, on a terminal only.
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

fn asked(args: &LsArgs) -> ListAsk {
    ListAsk {
        state: args.state.clone(),
        role: args.role.clone(),
        ready: args.ready,
        blocked: args.blocked,
        owner: args.owner.clone(),
        mine: args.mine,
        label: args.label.clone(),
        priority: args.priority.clone(),
        estimate: args.estimate.clone(),
        parent: args.parent.clone(),
        kind: args.kind.clone(),
        all: args.all || args.archived,
        search: args.search.clone(),
        sort: args.sort.clone(),
        limit: args.limit,
    }
}

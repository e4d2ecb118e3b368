//! `ralph task add`.

use std::io::IsTerminal as _;

use crate::app::{self, Failure, NewTask};
use crate::cli::args::Add;
use crate::cli::style::{self, paint};
use crate::cli::{Answer, Outcome, Session, editor, input};

pub fn run(session: &Session<'_>, args: Add) -> Answer {
    let wanted = match &args.from {
        Some(path) => app::parse_batch(&path.display().to_string(), &input::read(path)?)?,
        None => vec![one(args)?],
    };
    let added = session.with(|ws| app::add(ws, &wanted))?;
    if session.out.json {
        session.out.json(&added);
        return Ok(Outcome::Done);
    }
    let lines = added.tasks.iter().map(|task| {
        let title = crate::cli::table::cut(&task.title, 100);
        format!("{} {} {}\n", paint(style::ID, &task.id), title, paint(style::DIM, format!("({})", task.state)))
    });
    session.out.text(&lines.collect::<String>());
    if added.tasks.is_empty() {
        session.out.say("nothing to add");
    }
    Ok(Outcome::Done)
}

fn one(args: Add) -> Result<NewTask, Failure> {
    let (title, description) = texts(&args)?;
    Ok(NewTask {
        title,
        description,
        kind: args.kind.map(|text| text.parse()).transpose()?,
        state: args.state,
        priority: args.priority.map(|text| text.parse()).transpose()?,
        estimate: args.estimate.map(|text| text.parse()).transpose()?,
        labels: args.label,
        owner: args.owner,
        parent: args.parent,
        blocked_by: args.blocked_by,
        atomic: args.atomic,
        ..NewTask::default()
    })
}

/// Without a title: the first line of the text, from standard input or the editor, as in a commit message.
fn texts(args: &Add) -> Result<(String, String), Failure> {
    let given = args.text.given()?;
    if !args.title.is_empty() {
        return Ok((args.title.join(" "), given.unwrap_or_default()));
    }
    let text = match given {
        Some(text) => text,
        None if std::io::stdin().is_terminal() => {
            editor::compose("The first line is the title, the rest the description.")?
        }
        None => input::read("-".as_ref())?,
    };
    let (title, rest) = text.trim().split_once('\n').unwrap_or((text.trim(), ""));
    if title.trim().is_empty() {
        return Err(Failure::usage("no-title", "a task needs a title").advice("`ralph task add \"Fix the login\"`"));
    }
    Ok((title.trim().to_owned(), rest.trim().to_owned()))
}

//! `ralph task add`.

use std::io::IsTerminal as _;

use crate::app::{self, Code, Failure, Hint, NewTask};
use crate::cli::args::AddArgs;
use crate::cli::editor::{self, Typed};
use crate::cli::style::{self, paint};
use crate::cli::{Answer, Outcome, Session, input};

pub fn run(session: &Session<'_>, args: AddArgs) -> Answer {
    let (wanted, typed) = match &args.from {
        Some(path) => (app::parse_batch(&path.display().to_string(), &input::read(path)?)?, None),
        None => one(args).map(|(new, typed)| (vec![new], Some(typed)))?,
    };
    let added = session.with(|ws| app::add(ws, &wanted));
    let added = match typed {
        Some(typed) => typed.used(added)?,
        None => added?,
    };
    if session.out.json {
        session.out.json(&added);
        return Ok(Outcome::Done);
    }
    let lines = added.tasks.iter().map(|task| {
        let title = crate::cli::table::cut(&task.title, 100);
        format!("{} added: {title}  {}\n", paint(style::ID, &task.id), paint(style::DIM, &task.state))
    });
    session.out.text(&lines.collect::<String>());
    if added.tasks.is_empty() {
        session.out.say("nothing to add");
    }
    Ok(Outcome::Done)
}

fn one(args: AddArgs) -> Result<(NewTask, Typed), Failure> {
    let (title, description, typed) = texts(&args)?;
    let new = NewTask {
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
    };
    Ok((new, typed))
}

/// Without a title, the first line of the text is the title, as in a commit message.
fn texts(args: &AddArgs) -> Result<(String, String, Typed), Failure> {
    let given = args.text.given()?;
    if !args.title.is_empty() {
        return Ok((args.title.join(" "), given.unwrap_or_default(), Typed::plain(String::new())));
    }
    let typed = match given {
        Some(text) => Typed::plain(text),
        None if std::io::stdin().is_terminal() => {
            editor::compose("The first line is the title, the rest the description.", "")?
        }
        None => Typed::plain(input::read("-".as_ref())?),
    };
    let (title, rest) = typed.text.trim().split_once('\n').unwrap_or((typed.text.trim(), ""));
    if title.trim().is_empty() {
        return Err(Failure::usage(Code::NoTitle, "a task needs a title").hint(Hint::Run {
            command: ["task", "add", "Fix the login"].map(str::to_owned).to_vec(),
            purpose: "as an example".into(),
        }));
    }
    Ok((title.trim().to_owned(), rest.trim().to_owned(), typed))
}

//! `ralph task set`.

use crate::app::{self, Code, Failure, Hint};
use crate::cli::args::SetArgs;
use crate::cli::style::{self, paint};
use crate::cli::{Answer, Outcome, Session, words};

pub fn run(session: &Session<'_>, args: &SetArgs) -> Answer {
    let (mut typed, tasks): (Vec<String>, Vec<String>) =
        args.words.iter().cloned().partition(|word| word.contains('='));
    if let Some(text) = args.text.given()? {
        if typed.iter().any(|word| word.starts_with("description=") || word.starts_with("body=")) {
            return Err(Failure::usage(
                Code::TwoTexts,
                "the description is given twice: as description=, and with --body or --body-file",
            ));
        }
        typed.push(format!("description={text}"));
    }
    if tasks.is_empty() || typed.is_empty() {
        let missing = if tasks.is_empty() { "no task was given" } else { "no KEY=VALUE was given" };
        return Err(Failure::usage(Code::Incomplete, missing)
            .hint(Hint::run("task set t-x7kq priority=P1 labels+=bug", "as an example")));
    }
    let done = session.with(|ws| app::set(ws, &ws.find_all(&tasks)?, &typed, args.custom))?;
    if session.out.json {
        session.out.json(&done);
    } else if done.changes.is_empty() {
        session.out.say("nothing to do: this changes no field");
    } else {
        let lines =
            done.changes.iter().map(|change| format!("{} {}\n", paint(style::ID, &change.task), words::field(change)));
        session.out.text(&lines.collect::<String>());
    }
    Ok(Outcome::Done)
}

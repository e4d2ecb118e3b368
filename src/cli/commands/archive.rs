//! `ralph task archive`.

use crate::app;
use crate::cli::args::ArchiveArgs;
use crate::cli::style::{self, paint};
use crate::cli::{Answer, Outcome, Session};

pub fn run(session: &Session<'_>, args: &ArchiveArgs) -> Answer {
    let done = session.with(|ws| app::archive(ws, &ws.find_all(&args.tasks)?, args.older))?;
    if session.out.json {
        session.out.json(&done);
    } else if done.tasks.is_empty() {
        session.out.say("nothing to do: no finished task is old enough");
    } else {
        session
            .out
            .text(&done.tasks.iter().map(|id| format!("{} archived\n", paint(style::ID, id))).collect::<String>());
    }
    Ok(Outcome::Done)
}

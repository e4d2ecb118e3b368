//! `ralph commit`.

use crate::app;
use crate::cli::args::CommitArgs;
use crate::cli::style::{self, paint};
use crate::cli::{Answer, Outcome, Session};

pub fn run(session: &Session<'_>, args: &CommitArgs) -> Answer {
    let done = session.with(|ws| app::commit(ws, args.message.as_deref()))?;
    if session.out.json {
        session.out.json(&done);
        return Ok(Outcome::Done);
    }
    let Some(id) = &done.commit else {
        session.out.say("nothing to commit: the board has no uncommitted changes");
        return Ok(Outcome::Done);
    };
    let files = if done.paths.len() == 1 { "1 file".to_owned() } else { format!("{} files", done.paths.len()) };
    session.out.text(&format!("{} {}  {}\n", paint(style::ID, &id[..8]), done.message, paint(style::DIM, files)));
    Ok(Outcome::Done)
}

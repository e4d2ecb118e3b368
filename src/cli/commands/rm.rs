//! `ralph task rm`.

use crate::app;
use crate::cli::args::RmArgs;
use crate::cli::style::{self, paint};
use crate::cli::{Answer, Outcome, Session};

pub fn run(session: &Session<'_>, args: &RmArgs) -> Answer {
    let done = session.with(|ws| app::remove(ws, &ws.find_all(&args.tasks)?, args.force))?;
    if session.out.json {
        session.out.json(&done);
        return Ok(Outcome::Done);
    }
    let removed = done.removed.iter().map(|id| format!("{} removed\n", paint(style::ID, id)));
    let unlinked = done.unlinked.iter().map(|id| format!("{} unlinked\n", paint(style::ID, id)));
    session.out.text(&removed.chain(unlinked).collect::<String>());
    session.out.say("`ralph undo` restores it");
    Ok(Outcome::Done)
}

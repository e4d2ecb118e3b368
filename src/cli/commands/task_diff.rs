//! `ralph diff`.

use crate::app;
use crate::cli::args::TaskDiffArgs;
use crate::cli::{Answer, Outcome, Session};

pub fn run(session: &Session<'_>, args: &TaskDiffArgs) -> Answer {
    if session.out.json {
        let changes = session.with(|ws| app::task_changes(ws, &ws.find(&args.task)?))?;
        session.out.json(&changes);
        return Ok(Outcome::Done);
    }
    session.with(|ws| app::show_changes(ws, &ws.find(&args.task)?, args.stat))?;
    Ok(Outcome::Done)
}

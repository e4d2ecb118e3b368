//! `ralph wait`.

use crate::app;
use crate::cli::args::WaitArgs;
use crate::cli::style::{self, paint};
use crate::cli::{Answer, Outcome, Session};

pub fn run(session: &Session<'_>, args: &WaitArgs) -> Answer {
    let waited = session.with(|ws| {
        let id = ws.find(&args.task)?;
        let wanted = app::wait_for(ws, &id, &args.until)?;
        app::wait(ws, &id, &wanted, args.timeout)
    })?;
    if session.out.json {
        session.out.json(&waited);
    } else {
        session.out.text(&format!(
            "{} {}\n",
            paint(style::ID, &waited.task),
            paint(style::state(&waited.state), &waited.state)
        ));
    }
    Ok(Outcome::Done)
}

//! `ralph board`: the board on the terminal, or its columns for programs.

use crate::app::{self, ListAsk, Query};
use crate::cli::args::BoardArgs;
use crate::cli::{Answer, Outcome, Session};

pub fn run(session: &Session<'_>, args: &BoardArgs) -> Answer {
    // The shell has removed the quotes around a value with spaces, so they are added again for the filter.
    let words = args.filter.iter().map(String::as_str);
    let filter = shlex::try_join(words).unwrap_or_else(|_| args.filter.join(" "));
    if session.out.json {
        let columns = session.with(|ws| {
            let query = ListAsk::typed(&filter)?.query(ws)?;
            app::columns(ws, &Query { all: true, ..query })
        })?;
        session.out.json(&columns);
        return Ok(Outcome::Done);
    }
    session.with(|_| Ok(()))?;
    show(session, filter)
}

#[cfg(feature = "tui")]
fn show(session: &Session<'_>, filter: String) -> Answer {
    use crate::tui::{self, Wanted};
    tui::run(&session.options, &Wanted { color: session.out.color(), filter })?;
    Ok(Outcome::Done)
}

#[cfg(not(feature = "tui"))]
fn show(_: &Session<'_>, _: String) -> Answer {
    super::faces::not_built("tui")
}

//! `ralph task search`.

use crate::app;
use crate::cli::args::SearchArgs;
use crate::cli::style::{self, paint};
use crate::cli::{Answer, Outcome, Session, table, words};

pub fn run(session: &Session<'_>, args: &SearchArgs) -> Answer {
    let hits = session.with(|ws| app::search(ws, &args.words.join(" "), args.all, args.limit))?;
    if session.out.json {
        session.out.json(&hits);
    } else if args.compact {
        session.out.text(&hits.iter().map(|hit| words::compact(&hit.task)).collect::<String>());
    } else if hits.is_empty() {
        session.out.say("no tasks match");
    } else {
        let width = session.out.width().unwrap_or(100).saturating_sub(4);
        let lines = hits.iter().map(|hit| {
            let excerpt = hit
                .excerpt
                .as_ref()
                .map(|text| format!("    {}\n", paint(style::DIM, table::cut(&table::clean(text), width))));
            format!("{}\n{}", super::tree::line(&hit.task, session.out.width()), excerpt.unwrap_or_default())
        });
        session.out.text(&lines.collect::<String>());
    }
    Ok(Outcome::Done)
}

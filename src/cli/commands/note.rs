//! `ralph note`.

use crate::app;
use crate::cli::args::NoteArgs;
use crate::cli::style::{self, paint};
use crate::cli::{Answer, Outcome, Session, input};

pub fn run(session: &Session<'_>, args: &NoteArgs) -> Answer {
    let noted = session.with(|ws| {
        let id = ws.find(&args.task)?;
        let text = input::text_or_editor(&args.words, &args.text, &format!("A note on {id}."))?;
        let noted = app::note(ws, &id, &text.text);
        text.used(noted)
    })?;
    if session.out.json {
        session.out.json(&noted);
    } else {
        session.out.text(&format!("{} noted\n", paint(style::ID, &noted.task)));
    }
    Ok(Outcome::Done)
}

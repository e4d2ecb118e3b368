//! `ralph note`.

use crate::app;
use crate::cli::args::NoteArgs;
use crate::cli::style::{self, paint};
use crate::cli::{Answer, Outcome, Session, input};

pub fn run(session: &Session<'_>, args: &NoteArgs) -> Answer {
    if let Some(number) = args.rm {
        let noted = session.with(|ws| app::remove_note(ws, &ws.find(&args.task)?, number))?;
        return tell(session, &noted, "note removed");
    }
    let noted = session.with(|ws| {
        let id = ws.find(&args.task)?;
        let before = args.edit.map_or_else(|| Ok(String::new()), |number| app::note_text(ws, &id, number))?;
        let text = input::text_or_editor(&args.words, &args.text, &format!("Write a note on {id}."), &before)?;
        let noted = match args.edit {
            Some(number) => app::edit_note(ws, &id, number, &text.text),
            None => app::note(ws, &id, &text.text),
        };
        text.used(noted)
    })?;
    tell(session, &noted, if args.edit.is_some() { "note changed" } else { "note added" })
}

fn tell(session: &Session<'_>, noted: &app::Noted, what: &str) -> Answer {
    if session.out.json {
        session.out.json(noted);
    } else {
        session.out.text(&format!("{} {what}\n", paint(style::ID, &noted.task)));
    }
    Ok(Outcome::Done)
}

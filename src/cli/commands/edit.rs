//! `ralph task edit`.

use crate::app::{self, Code, Doubts, Draft, Edited, Editing, Failure, Workspace};
use crate::cli::args::OneArgs;
use crate::cli::editor;
use crate::cli::{Answer, Outcome, Session, words};

pub fn run(session: &Session<'_>, args: &OneArgs) -> Answer {
    let edited = session.with(|ws| {
        let editing = app::begin_edit(ws, &ws.find(&args.task)?)?;
        let draft = Draft::new(&format!("{}.toml", editing.id), &editing.text)?;
        until_good(session, ws, &editing, draft)
    })?;
    let Some(edited) = edited else {
        if session.out.json {
            session.out.json(&serde_json::json!({ "changed": false }));
        }
        session.out.say("nothing changed");
        return Ok(Outcome::Done);
    };
    if session.out.json {
        session.out.json(&edited);
    } else if edited.changed {
        let lines = edited.changes.iter().map(|change| format!("{} {}\n", edited.task, words::field(change)));
        let text = lines.collect::<String>();
        session.out.text(if text.is_empty() { "saved (comments or layout)\n" } else { &text });
    } else {
        session.out.say("nothing changed");
    }
    Ok(Outcome::Done)
}

/// Opens the editor until the text is accepted; `None` if the person discards it. On every error, the text is kept.
fn until_good(
    session: &Session<'_>,
    ws: &Workspace,
    editing: &Editing,
    draft: Draft,
) -> Result<Option<Edited>, Failure> {
    loop {
        let text = match draft.edit() {
            Ok(text) => text,
            Err(failure) => return Err(draft.kept(failure)),
        };
        let refused = match app::finish_edit(ws, editing, &text, Doubts::Refuse) {
            Ok(edited) => return Ok(Some(edited)),
            Err(failure) => failure,
        };
        match ask(session, &refused) {
            EditChoice::Again => {}
            EditChoice::Save => {
                let saved = app::finish_edit(ws, editing, &text, Doubts::Accept);
                return saved.map(Some).map_err(|failure| draft.kept(failure));
            }
            EditChoice::Drop => return Ok(None),
            // The problems have been printed.
            EditChoice::Nobody => return Err(draft.kept(Failure { causes: Vec::new(), ..refused })),
            EditChoice::Nothing => return Err(draft.kept(refused)),
        }
    }
}

enum EditChoice {
    Again,
    Save,
    Drop,
    /// Standard input is not a terminal.
    Nobody,
    /// Editing the text again would not help.
    Nothing,
}

fn ask(session: &Session<'_>, refused: &Failure) -> EditChoice {
    let question = match refused.code {
        Code::BadValues => {
            refused.causes.iter().for_each(|problem| session.out.say(&format!("problem: {problem}")));
            "[e]dit again, [s]ave it anyway, or [d]iscard the changes?"
        }
        Code::UnreadableFile => {
            session.out.say(&format!("error: {}", refused.message));
            "[e]dit again or [d]iscard the changes?"
        }
        _ => return EditChoice::Nothing,
    };
    match editor::ask(question) {
        Some('s') if refused.code == Code::BadValues => EditChoice::Save,
        Some('d') => EditChoice::Drop,
        Some(_) => EditChoice::Again,
        None => EditChoice::Nobody,
    }
}

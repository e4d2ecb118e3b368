//! `ralph task edit`.

use crate::app::{self, Draft, Edited, Editing, Failure, Workspace};
use crate::cli::args::One;
use crate::cli::editor;
use crate::cli::{Answer, Outcome, Session, words};

pub fn run(session: &Session<'_>, args: &One) -> Answer {
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

/// Back into the editor as often as the person likes; `None` when they give up. Their text is never thrown away on an
/// error.
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
        let checked = app::check_edit(ws, &editing.id, &text);
        let question = match &checked {
            Ok(problems) if problems.is_empty() => None,
            Ok(problems) => {
                problems.iter().for_each(|problem| session.out.say(&format!("problem: {problem}")));
                Some("[e]dit again, [s]ave as it is, or [d]rop the changes?")
            }
            Err(failure) => {
                session.out.say(&format!("error: {}", failure.message));
                Some("[e]dit again or [d]rop the changes?")
            }
        };
        let answer = question.map(editor::ask);
        match (answer, checked) {
            (None | Some(Some('s')), Ok(_)) => return finish(ws, editing, &text, draft).map(Some),
            (Some(Some('d')), _) => return Ok(None),
            (Some(None), checked) => return Err(draft.kept(checked.err().unwrap_or_else(wrong_values))),
            _ => {}
        }
    }
}

fn finish(ws: &Workspace, editing: &Editing, text: &str, draft: Draft) -> Result<Edited, Failure> {
    app::finish_edit(ws, editing, text).map_err(|failure| draft.kept(failure))
}

fn wrong_values() -> Failure {
    Failure::refused("bad-values", "the edited file has wrong values")
}

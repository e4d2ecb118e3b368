//! `ralph task edit`.

use crate::app::{self, Edited, Editing, Failure, FailureKind, Workspace};
use crate::cli::args::One;
use crate::cli::editor::{self, Draft};
use crate::cli::{Answer, Outcome, Session, words};

pub fn run(session: &Session<'_>, args: &One) -> Answer {
    let edited = session.with(|ws| {
        let editing = app::begin_edit(ws, &ws.find(&args.task)?)?;
        let draft = Draft::new(&format!("{}.toml", editing.id), &editing.text)?;
        until_good(session, ws, &editing, draft)
    })?;
    let Some(edited) = edited else {
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
        let text = draft.edit()?;
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
            (Some(None), checked) => return Err(kept(checked.err(), draft)),
            _ => {}
        }
    }
}

fn finish(ws: &Workspace, editing: &Editing, text: &str, draft: Draft) -> Result<Edited, Failure> {
    app::finish_edit(ws, editing, text).map_err(|failure| kept(Some(failure), draft))
}

/// Nobody can be asked, or it cannot be saved: the text stays where it can be found.
fn kept(failure: Option<Failure>, draft: Draft) -> Failure {
    let failure =
        failure.unwrap_or_else(|| Failure::new(FailureKind::Refused, "bad-values", "the edited file has wrong values"));
    failure.advice(format!("nothing was changed; your text is in {}", draft.keep()))
}

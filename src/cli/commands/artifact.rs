//! `ralph artifact`.

use crate::app;
use crate::cli::args::ArtifactCommand;
use crate::cli::style::{self, paint};
use crate::cli::{Answer, Outcome, Session, words};

pub fn run(session: &Session<'_>, command: &ArtifactCommand) -> Answer {
    match command {
        ArtifactCommand::New { of, slug } => {
            let made = session.with(|ws| app::new_artifact(ws, &of.kind, &ws.find(&of.task)?, slug.as_deref()))?;
            if !session.out.json && !made.created {
                session.out.say(&format!("nothing to do: the {} of {} already exists", made.kind, made.task));
            }
            tell(session, &made, &format!("{}\n", made.path))
        }
        ArtifactCommand::Link { of, path } => {
            let here = session.options.dir.clone();
            let linked =
                session.with(|ws| app::link_artifact(ws, &of.kind, &ws.find(&of.task)?, path.as_deref(), &here))?;
            let text = format!("{} {} {}\n", paint(style::ID, &linked.task), linked.kind, linked.path);
            tell(session, &linked, &text)
        }
        ArtifactCommand::Check { of } => {
            let checked = session.with(|ws| app::check_artifact(ws, &of.kind, &ws.find(&of.task)?))?;
            let mut text: String =
                checked.findings.iter().map(|finding| format!("{}:{finding}\n", checked.path)).collect();
            text.push_str(&match checked.findings.len() {
                0 => format!("{} {}\n", checked.path, paint(style::READY, "is complete")),
                many => format!("{}\n", words::count(many, "finding")),
            });
            tell(session, &checked, &text)?;
            Ok(if checked.findings.is_empty() { Outcome::Done } else { Outcome::Negative })
        }
    }
}

/// The text of a linked document.
pub fn show(session: &Session<'_>, kind: &str, task: &str) -> Answer {
    let document = session.with(|ws| app::linked_artifact(ws, kind, &ws.find(task)?))?;
    if session.out.json {
        session.out.json(&document);
    } else {
        session.out.text(&document.text);
    }
    Ok(Outcome::Done)
}

fn tell(session: &Session<'_>, artifact: &app::Artifact, text: &str) -> Answer {
    if session.out.json {
        session.out.json(artifact);
    } else {
        session.out.text(text);
    }
    Ok(Outcome::Done)
}

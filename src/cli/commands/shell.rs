//! `ralph completions` and `ralph man`.

use clap_complete::Shell;

use crate::app::{Code, Failure};
use crate::cli::args::{self, CompletionsArgs, ManArgs};
use crate::cli::{Answer, Outcome, Session};
use crate::fs;

/// A script that asks this program for the candidates, so that they match the board.
pub fn completions(session: &Session<'_>, args: &CompletionsArgs) -> Answer {
    use clap_complete::env::EnvCompleter;
    let completer: &dyn EnvCompleter = match args.shell {
        Shell::Bash => &clap_complete::env::Bash,
        Shell::Elvish => &clap_complete::env::Elvish,
        Shell::Fish => &clap_complete::env::Fish,
        Shell::PowerShell => &clap_complete::env::Powershell,
        Shell::Zsh => &clap_complete::env::Zsh,
        other => return Err(Failure::usage(Code::UnknownShell, format!("no completions for {other}"))),
    };
    let mut script = Vec::new();
    completer
        .write_registration("COMPLETE", "ralph", "ralph", "ralph", &mut script)
        .map_err(|error| Failure::broken(Code::Io, format!("cannot write the script: {error}")))?;
    let script = String::from_utf8_lossy(&script);
    if session.out.json {
        session.out.json(&serde_json::json!({ "shell": args.shell.to_string(), "script": script }));
    } else {
        session.out.text(&script);
    }
    Ok(Outcome::Done)
}

pub fn man(session: &Session<'_>, args: &ManArgs) -> Answer {
    let failed = |error: std::io::Error| Failure::broken(Code::Io, format!("cannot write the manual: {error}"));
    match &args.dir {
        Some(dir) => {
            fs::make_dir(dir)?;
            clap_mangen::generate_to(args::command(), dir).map_err(failed)?;
            if session.out.json {
                session.out.json(&serde_json::json!({ "dir": dir }));
            }
            session.out.say(&format!("wrote the manual pages to {}", dir.display()));
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(args::command()).render(&mut page).map_err(failed)?;
            let page = String::from_utf8_lossy(&page);
            if session.out.json {
                session.out.json(&serde_json::json!({ "page": page }));
            } else {
                session.out.text(&page);
            }
        }
    }
    Ok(Outcome::Done)
}

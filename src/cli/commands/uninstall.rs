//! `ralph uninstall`.

use crate::app::{self, Code, Failure, Hint, Uninstalled};
use crate::cli::args::UninstallArgs;
use crate::cli::input::confirm;
use crate::cli::style::{self, paint};
use crate::cli::{Answer, Outcome, Session};

pub fn run(session: &Session<'_>, args: &UninstallArgs) -> Answer {
    let planned = session.with(|ws| app::uninstall(ws, args.tasks, true))?;
    if args.dry_run {
        tell(session, &planned);
        return Ok(Outcome::Done);
    }
    if !args.yes {
        session.out.say(words(&planned).trim_end());
        match confirm(session.out, "Remove these?") {
            Some(true) => {}
            Some(false) => {
                session.out.say("nothing changed");
                return Ok(Outcome::Done);
            }
            None => {
                return Err(Failure::usage(Code::NobodyToAsk, "not a terminal: cannot ask whether to remove these")
                    .hint(Hint::option("--yes", "to remove them")));
            }
        }
    }
    let done = session.with(|ws| app::uninstall(ws, args.tasks, false))?;
    tell(session, &done);
    Ok(Outcome::Done)
}

fn tell(session: &Session<'_>, done: &Uninstalled) {
    if session.out.json {
        session.out.json(done);
    } else {
        session.out.text(&words(done));
    }
}

fn words(done: &Uninstalled) -> String {
    let (verb, kept) = if done.dry_run { ("would remove", "would keep") } else { ("removed", "kept") };
    let mut text: String = done.removed.iter().map(|what| format!("{verb} {}\n", paint(style::ID, what))).collect();
    text.extend(done.kept.iter().map(|what| format!("{}\n", paint(style::DIM, format!("{kept} {what}")))));
    text
}

//! `ralph trust`.

use crate::app::{self, Code, Failure, Hint};
use crate::cli::args::TrustArgs;
use crate::cli::input::confirm;
use crate::cli::{Answer, Outcome, Session};

pub fn run(session: &Session<'_>, args: &TrustArgs) -> Answer {
    let there = session.with(app::look_at_trust)?;
    let answer = if args.forget {
        session.with(|ws| app::trust(ws, None))?
    } else if there.trusted || !agrees(session, args, &there.programs)? {
        there
    } else {
        session.with(|ws| app::trust(ws, Some(&there)))?
    };
    let outcome = if answer.trusted { Outcome::Done } else { Outcome::Negative };
    if session.out.json {
        session.out.json(&answer);
    } else {
        session.out.say(match (answer.programs.is_empty(), answer.trusted) {
            (true, _) => "nothing to do: the board's settings run no programs",
            (false, true) => "trusted; ralph asks again if they change",
            (false, false) => "trust removed; these programs will not run",
        });
    }
    Ok(if args.forget { Outcome::Done } else { outcome })
}

fn agrees(session: &Session<'_>, args: &TrustArgs, programs: &[String]) -> Result<bool, Failure> {
    session.out.say("This board's settings run these programs on your machine:");
    for line in programs {
        session.out.say(&format!("  {line}"));
    }
    if args.yes {
        return Ok(true);
    }
    confirm(session.out, "Trust these programs?").ok_or_else(|| {
        Failure::usage(Code::NobodyToAsk, "not a terminal: cannot ask whether to trust these programs")
            .hint(Hint::run("trust", "in a terminal, to review them"))
    })
}

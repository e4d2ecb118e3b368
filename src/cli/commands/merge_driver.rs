//! `ralph merge-driver %O %A %B %P`, called by git.

use crate::app;
use crate::cli::args::MergeDriverArgs;
use crate::cli::{Answer, Outcome, Session};

pub fn run(session: &Session<'_>, args: &MergeDriverArgs) -> Answer {
    let outcome = app::merge_driver(&args.base, &args.ours, &args.theirs, &args.path)?;
    for key in &outcome.conflicts {
        session.out.say(&format!(
            "ralph: {}: both sides changed {key}; keep one of the values between the markers",
            outcome.path
        ));
    }
    Ok(if outcome.clean { Outcome::Done } else { Outcome::Negative })
}

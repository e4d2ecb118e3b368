//! `ralph setup`.

use crate::cli::args::Setup;
use crate::cli::{Answer, Outcome, Session};

pub fn run(_session: &Session<'_>, _command: &Setup) -> Answer {
    Ok(Outcome::Done)
}

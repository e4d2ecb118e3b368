//! `ralph mcp`: the board as a Model Context Protocol server.

use std::io::IsTerminal as _;

use crate::app::Workspace;
use crate::cli::args::{McpArgs, ProfileArg};
use crate::cli::{Answer, Outcome, Session};
use crate::mcp;

pub fn run(session: &Session<'_>, args: &McpArgs) -> Answer {
    let profile = match args.profile {
        ProfileArg::Board => mcp::Profile::Board,
        ProfileArg::RalphHero => mcp::Profile::Hero,
    };
    let wanted = mcp::Wanted { profile, read_only: args.read_only, http: args.http };
    if args.http.is_none() && std::io::stdin().is_terminal() {
        session.out.say("this is for programs: they write to it and read from it, a line of JSON at a time");
        session.out.say("`ralph setup claude` lets Claude Code start it; other hosts take `ralph mcp` as a command");
    }
    // A server without a board says so in every answer, and finds it once it is there.
    if let Err(failure) = Workspace::open(&session.options) {
        session.out.say(&format!("{}; serving all the same", failure.message));
    }
    mcp::serve(&session.options, &wanted, &|text| session.out.say(text))?;
    Ok(Outcome::Done)
}

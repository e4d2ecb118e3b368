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
        session.out.say("ralph mcp speaks JSON-RPC on stdin and stdout; agent hosts start it");
        session.out.say("`ralph setup claude` sets it up for Claude Code; in other hosts, add the command `ralph mcp`");
    }
    // Without a board, the server reports that in every answer, and opens the board once it exists.
    if let Err(failure) = Workspace::open(&session.options) {
        session.out.say(&format!("{}; serving anyway", failure.message));
    }
    mcp::serve(&session.options, &wanted, &|text| session.out.say(text))?;
    Ok(Outcome::Done)
}

//! The options of the commands for hosts of agents.

use clap::{Args, Subcommand, ValueEnum};
use clap_complete::engine::ArgValueCandidates;

use crate::cli::complete;

#[derive(Debug, Args)]
pub struct HookArgs {
    /// The gate; it exits with 2 and says why and what to do instead where it blocks
    #[arg(value_name = "NAME", required_unless_present = "list", add = ArgValueCandidates::new(complete::gates))]
    pub name: Option<String>,
    /// All gates
    #[arg(long, conflicts_with = "name")]
    pub list: bool,
}

#[derive(Debug, Subcommand)]
pub enum SetupCommand {
    /// Claude Code: hooks, agents, skills and the MCP server, beside what is there
    Claude(SetupHostArgs),
    /// Codex: hooks, the MCP server, and a block in AGENTS.md
    Codex(SetupHostArgs),
    /// Gemini CLI: hooks, the MCP server, and a block in GEMINI.md
    Gemini(SetupHostArgs),
    /// opencode: the MCP server, and a block in AGENTS.md
    Opencode(SetupHostArgs),
    /// Print what any other agent needs in its file of instructions, such as AGENTS.md
    Generic,
}

#[derive(Debug, Args)]
pub struct McpArgs {
    /// Which names the tools have: the board's own, or those that ralph-hero's skills call
    #[arg(long, value_name = "NAME", default_value = "board")]
    pub profile: ProfileArg,
    /// Offer only what changes nothing
    #[arg(long)]
    pub read_only: bool,
    /// Serve HTTP on this address of this machine instead, such as 127.0.0.1:7433; port 0 takes a free one
    #[arg(long, value_name = "ADDR")]
    pub http: Option<std::net::SocketAddr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProfileArg {
    Board,
    RalphHero,
}

#[derive(Debug, Args)]
pub struct SetupHostArgs {
    /// Take away what it wrote, and nothing else
    #[arg(long)]
    pub remove: bool,
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
}

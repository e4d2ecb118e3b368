//! The options of the commands for agent hosts.

use clap::{Args, Subcommand, ValueEnum};
use clap_complete::engine::ArgValueCandidates;

use crate::cli::complete;

#[derive(Debug, Args)]
pub struct HookArgs {
    /// The policy check; if it refuses, it exits with 2 and says why and what to do instead
    #[arg(value_name = "NAME", required_unless_present = "list", add = ArgValueCandidates::new(complete::gates))]
    pub name: Option<String>,
    /// List all policy checks
    #[arg(long, conflicts_with = "name")]
    pub list: bool,
}

#[derive(Debug, Subcommand)]
pub enum SetupCommand {
    /// Set up Claude Code: hooks, agents, skills and the MCP server; your own settings stay
    Claude(SetupHostArgs),
    /// Set up Codex: hooks, the MCP server, and a block in AGENTS.md
    Codex(SetupHostArgs),
    /// Set up Gemini CLI: hooks, the MCP server, and a block in GEMINI.md
    Gemini(SetupHostArgs),
    /// Set up opencode: the MCP server, and a block in AGENTS.md
    Opencode(SetupHostArgs),
    /// Print instructions for any other agent, for a file such as AGENTS.md
    Generic,
}

#[derive(Debug, Args)]
pub struct McpArgs {
    /// Which tool names to offer: ralph's own, or those that ralph-hero's skills call
    #[arg(long, value_name = "NAME", default_value = "board")]
    pub profile: ProfileArg,
    /// Offer only read-only tools
    #[arg(long)]
    pub read_only: bool,
    /// Serve HTTP on this local address instead, such as 127.0.0.1:7433; port 0 picks a free port
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
    /// Remove what this command wrote, and nothing else
    #[arg(long)]
    pub remove: bool,
    /// Show what would be done, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

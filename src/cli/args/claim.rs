//! The commands that claim tasks and list claims, with their options.

use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCandidates;

use super::OneArgs;
use super::work::{ForArgs, LocalArgs};
use crate::cli::complete;

#[derive(Debug, Subcommand)]
pub enum ClaimCommand {
    /// Claim a task
    Claim(ClaimArgs),
    /// Renew your claim for another lease
    Renew(OneArgs),
    /// Release your claim
    Release(ReleaseArgs),
    /// List claims
    #[command(subcommand)]
    Claims(ClaimsCommand),
    /// Show who works on a file: the claims that cover it and the worktrees that change it
    Who(WhoArgs),
    /// Release the claims of dead workers
    Reap,
}

#[derive(Debug, Args)]
pub struct ClaimArgs {
    /// The task: its id or a unique prefix
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    #[command(flatten)]
    pub acting: ForArgs,
    /// Take the task over from its holder; the journal records it
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub reach: LocalArgs,
}

#[derive(Debug, Args)]
pub struct ReleaseArgs {
    /// The task: its id or a unique prefix
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// Release another worker's claim, too; the journal records it
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Subcommand)]
pub enum ClaimsCommand {
    /// List claims with holder, command and expiry
    Ls {
        /// Fetch the claims from the remote of `claims.remote` first
        #[arg(long)]
        remote: bool,
        /// Show the files that each claim covers, one per line
        #[arg(long)]
        paths: bool,
    },
}

#[derive(Debug, Args)]
pub struct WhoArgs {
    /// A file or folder; it need not exist
    #[arg(value_name = "PATH", value_hint = clap::ValueHint::AnyPath)]
    pub path: String,
}

//! The options of `sync` and `pr`.

use clap::{Args, Subcommand, ValueEnum};
use clap_complete::engine::ArgValueCandidates;

use crate::cli::complete;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct SyncArgs {
    #[command(subcommand)]
    pub command: Option<SyncCommand>,
    #[command(flatten)]
    pub run: SyncRunArgs,
}

#[derive(Debug, Args)]
pub struct SyncRunArgs {
    /// Sync only these tasks [default: all]
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub tasks: Vec<String>,
    /// Only pull changes from GitHub
    #[arg(long, conflicts_with = "push")]
    pub pull: bool,
    /// Only push local changes to GitHub
    #[arg(long)]
    pub push: bool,
    /// Show what would be done, and change nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Read every issue in full, even those that seem unchanged
    #[arg(long)]
    pub full: bool,
    /// Continue even if many issues are missing or would be closed
    #[arg(long)]
    pub force: bool,
    /// Keep running, and sync when the board changes
    #[arg(long, conflicts_with = "dry_run")]
    pub watch: bool,
    /// With `--watch`: how often to check GitHub
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = crate::cli::input::age)]
    pub every: jiff::SignedDuration,
}

#[derive(Debug, Subcommand)]
pub enum SyncCommand {
    /// Find or create the project on GitHub, and set this board up for it
    Init(SyncInitArgs),
    /// Show local changes that are not on GitHub yet, without the network
    Status {
        /// Check GitHub, too
        #[arg(long)]
        remote: bool,
    },
    /// Resolve conflicts: fields that both sides changed
    Resolve(SyncResolveArgs),
    /// Check for duplicates, orphans and missing permissions
    Doctor,
}

#[derive(Debug, Args)]
pub struct SyncInitArgs {
    /// The repository with the issues [default: the git remote]
    #[arg(short = 'R', long, value_name = "OWNER/NAME")]
    pub repo: Option<String>,
    /// The owner of the project [default: the repository's owner]
    #[arg(long, value_name = "LOGIN")]
    pub owner: Option<String>,
    /// The number of an existing project [default: found by its title, or created]
    #[arg(long, value_name = "NUMBER")]
    pub project: Option<u64>,
    /// The title of the project [default: the board's name]
    #[arg(long, value_name = "TITLE", conflicts_with = "project")]
    pub title: Option<String>,
}

#[derive(Debug, Args)]
pub struct SyncResolveArgs {
    /// The task: its id or a unique prefix
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// Resolve only this field [default: all that are in conflict]
    #[arg(long, value_name = "FIELD")]
    pub field: Option<String>,
    /// Which value to keep
    #[arg(long, value_name = "SIDE")]
    pub take: SideArg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SideArg {
    Local,
    Remote,
}

#[derive(Debug, Args)]
pub struct PrArgs {
    /// The task: its id or a unique prefix
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// Create the pull request as a draft
    #[arg(long)]
    pub draft: bool,
    /// Override another worker's claim
    #[arg(long)]
    pub force: bool,
}

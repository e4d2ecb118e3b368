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
    /// Only these tasks
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub tasks: Vec<String>,
    /// Only take in what has changed on GitHub
    #[arg(long, conflicts_with = "push")]
    pub pull: bool,
    /// Only bring to GitHub what has changed here
    #[arg(long)]
    pub push: bool,
    /// Show what would be done, and do nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Read every issue in full, also those that seem unchanged
    #[arg(long)]
    pub full: bool,
    /// Continue although many issues are missing or would be closed
    #[arg(long)]
    pub anyway: bool,
    /// Keep running, and sync when the board changes
    #[arg(long, conflicts_with = "dry_run")]
    pub watch: bool,
    /// With `--watch`: how often GitHub is looked at
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = crate::cli::input::age)]
    pub every: jiff::SignedDuration,
}

#[derive(Debug, Subcommand)]
pub enum SyncCommand {
    /// Find or make the project, and set this board up for it
    Init(SyncInitArgs),
    /// Show local differences to GitHub, without the network
    Status {
        /// Look at GitHub first
        #[arg(long)]
        remote: bool,
    },
    /// Decide between two values where both sides have changed
    Resolve(SyncResolveArgs),
    /// Find duplicates, orphans and rights that are missing
    Doctor,
}

#[derive(Debug, Args)]
pub struct SyncInitArgs {
    /// The repository with the issues [default: the git remote]
    #[arg(short = 'R', long, value_name = "OWNER/NAME")]
    pub repo: Option<String>,
    /// Who owns the project [default: the repository's owner]
    #[arg(long, value_name = "LOGIN")]
    pub owner: Option<String>,
    /// The number of a project that exists [default: found by its title, or made]
    #[arg(long, value_name = "NUMBER")]
    pub project: Option<u64>,
    /// The title of the project [default: the board's name]
    #[arg(long, value_name = "TITLE", conflicts_with = "project")]
    pub title: Option<String>,
}

#[derive(Debug, Args)]
pub struct SyncResolveArgs {
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// Only this field [default: all that are in conflict]
    #[arg(long, value_name = "FIELD")]
    pub field: Option<String>,
    /// Whose value counts
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
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// As a draft
    #[arg(long)]
    pub draft: bool,
    /// Override a claim of somebody else
    #[arg(long)]
    pub force: bool,
}

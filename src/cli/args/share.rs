//! The options of the commands that bring the board and the work into git, and to others.

use clap::{Args, ValueEnum};
use clap_complete::engine::ArgValueCandidates;

use crate::cli::complete;

#[derive(Debug, Args)]
pub struct ShareArgs {
    /// The remote [default: as git is set up]
    #[arg(value_name = "REMOTE")]
    pub remote: Option<String>,
    /// Whose values count where both changed the same key of a task
    #[arg(long, value_name = "SIDE")]
    pub take: Option<TakeCommand>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TakeCommand {
    Ours,
    Theirs,
}

#[derive(Debug, Args)]
pub struct MergeArgs {
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// Override a claim of somebody else
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct TrustArgs {
    /// Agree without being asked
    #[arg(long)]
    pub yes: bool,
    /// Trust nothing here any more
    #[arg(long, conflicts_with = "yes")]
    pub forget: bool,
}

#[derive(Debug, Args)]
pub struct CommitArgs {
    /// The subject, behind `board: ` [default: the tasks that changed]
    #[arg(short, long, value_name = "TEXT")]
    pub message: Option<String>,
}

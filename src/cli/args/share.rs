//! The options of the commands that commit, push, pull and merge, and of `trust`.

use clap::{Args, ValueEnum};
use clap_complete::engine::ArgValueCandidates;

use crate::cli::complete;

#[derive(Debug, Args)]
pub struct ShareArgs {
    /// The remote [default: the branch's remote, as in git]
    #[arg(value_name = "REMOTE")]
    pub remote: Option<String>,
    /// Which side wins where both changed the same field of a task
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
    /// The task: its id or a unique prefix
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// Override another worker's claim
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct TrustArgs {
    /// Trust without asking
    #[arg(long)]
    pub yes: bool,
    /// Stop trusting the programs of this board
    #[arg(long, conflicts_with = "yes")]
    pub forget: bool,
}

#[derive(Debug, Args)]
pub struct CommitArgs {
    /// The subject after `board: ` [default: the tasks that changed]
    #[arg(short, long, value_name = "TEXT")]
    pub message: Option<String>,
}

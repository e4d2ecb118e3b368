//! The options of `watch`.

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use crate::cli::{complete, input};

#[derive(Debug, Args)]
pub struct WatchArgs {
    /// Start with past events, from this long ago, such as 2h
    #[arg(long, value_name = "AGE", value_parser = input::age)]
    pub since: Option<jiff::SignedDuration>,
    /// Only events of this task; can be repeated
    #[arg(long, value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: Vec<String>,
    /// Only events of this kind: created, changed, moved, claimed, ready …; can be repeated
    #[arg(long, value_name = "EVENT")]
    pub event: Vec<String>,
    /// Only events that concern this role
    #[arg(short, long, value_name = "ROLE", add = ArgValueCandidates::new(complete::roles))]
    pub role: Option<String>,
    /// Stop when TASK is in STATE, ready or free: `TASK STATE`, `TASK ready` or `TASK free`
    #[arg(long, value_name = "TASK STATE")]
    pub until: Option<String>,
    /// Stop after this long, with exit code 5
    #[arg(long, value_name = "TIME", value_parser = input::age)]
    pub timeout: Option<jiff::SignedDuration>,
    /// Show a desktop notification when an agent asks a question, or a task is handed to a person
    #[arg(long)]
    pub notify: bool,
    /// Revert hand edits that the workflow does not allow
    #[arg(long)]
    pub enforce: bool,
    /// Report only; do not journal, reap or run rules
    #[arg(long, conflicts_with = "enforce")]
    pub idle: bool,
    /// Check the files twice a second, for file systems without change events (NFS, some mounts)
    #[arg(long)]
    pub poll: bool,
}

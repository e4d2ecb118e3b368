//! The options of `watch`.

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use crate::cli::{complete, input};

#[derive(Debug, Args)]
pub struct WatchArgs {
    /// Begin with what happened in this time, such as 2h
    #[arg(long, value_name = "AGE", value_parser = input::age)]
    pub since: Option<jiff::SignedDuration>,
    /// Only these tasks
    #[arg(long, value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: Vec<String>,
    /// Only these events: created, changed, moved, claimed, ready …
    #[arg(long, value_name = "EVENT")]
    pub event: Vec<String>,
    /// Only what concerns this role
    #[arg(short, long, value_name = "ROLE", add = ArgValueCandidates::new(complete::roles))]
    pub role: Option<String>,
    /// Stop when TASK is in STATE, ready or free: `TASK STATE`, `TASK ready` or `TASK free`
    #[arg(long, value_name = "TASK STATE")]
    pub until: Option<String>,
    /// End after this long, with exit code 5
    #[arg(long, value_name = "TIME", value_parser = input::age)]
    pub timeout: Option<jiff::SignedDuration>,
    /// Show a desktop notification when somebody asks, or a task needs a person
    #[arg(long)]
    pub notify: bool,
    /// Revert hand edits that the workflow does not allow
    #[arg(long)]
    pub enforce: bool,
    /// Report only; do not journal, reap or run rules
    #[arg(long, conflicts_with = "enforce")]
    pub idle: bool,
    /// Look at the files twice a second, where the file system tells nothing (NFS, some mounts)
    #[arg(long)]
    pub poll: bool,
}

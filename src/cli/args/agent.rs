//! The options of the commands that agents report with.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCandidates;

use crate::cli::complete;

#[derive(Debug, Subcommand)]
pub enum ArtifactCommand {
    /// Create a document from its template, or find the existing one
    New {
        #[command(flatten)]
        of: DocumentArgs,
        /// Words for the file name [default: the task's title]
        #[arg(long, value_name = "WORDS")]
        slug: Option<String>,
    },
    /// Link a complete document to its task
    Link {
        #[command(flatten)]
        of: DocumentArgs,
        /// The document [default: the one that `new` creates]
        #[arg(value_name = "PATH", value_hint = clap::ValueHint::FilePath)]
        path: Option<PathBuf>,
    },
    /// List what a document lacks
    Check {
        #[command(flatten)]
        of: DocumentArgs,
    },
}

#[derive(Debug, Args)]
pub struct PromptArgs {
    /// The command: triage, split, research, plan, review, implement, pr or merge
    #[arg(value_name = "COMMAND", add = ArgValueCandidates::new(complete::commands))]
    pub command: String,
    /// The task: its id or a unique prefix
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
}

#[derive(Debug, Args)]
pub struct SplitArgs {
    /// The task: its id or a unique prefix
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// The parts, of size XS or S: a file of [[task]] tables or JSON lines, or `-`; all or none
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub into: PathBuf,
    /// Plan, build and merge the parts together
    #[arg(long)]
    pub atomic: bool,
}

#[derive(Debug, Subcommand)]
pub enum PlanCommand {
    /// Show the plan of a task
    Show {
        /// The task: its id or a unique prefix
        #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
        task: String,
    },
    /// Add and remove blockers so that the tasks follow the phases of their plan
    Sync {
        /// The task: its id or a unique prefix
        #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
        task: String,
        /// Show what would change, and change nothing
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Debug, Args)]
pub struct DocumentArgs {
    /// The kind of document: research, plan, review or report
    #[arg(value_name = "KIND", add = ArgValueCandidates::new(complete::documents))]
    pub kind: String,
    /// The task: its id or a unique prefix
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
}

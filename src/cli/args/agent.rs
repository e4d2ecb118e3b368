//! The options of the commands that agents report with.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCandidates;

use crate::cli::complete;

#[derive(Debug, Subcommand)]
pub enum ArtifactCommand {
    /// Make the document to fill in, or find the one that is there
    New {
        #[command(flatten)]
        of: DocumentArgs,
        /// Words for its file name [default: the title]
        #[arg(long, value_name = "WORDS")]
        slug: Option<String>,
    },
    /// Link a document to its task, once it is complete
    Link {
        #[command(flatten)]
        of: DocumentArgs,
        /// [default: the one that `new` gives]
        #[arg(value_name = "PATH", value_hint = clap::ValueHint::FilePath)]
        path: Option<PathBuf>,
    },
    /// What a document still lacks
    Check {
        #[command(flatten)]
        of: DocumentArgs,
    },
}

#[derive(Debug, Args)]
pub struct PromptArgs {
    /// triage, split, research, plan, review, implement, pr or merge
    #[arg(value_name = "COMMAND", add = ArgValueCandidates::new(complete::commands))]
    pub command: String,
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
}

#[derive(Debug, Args)]
pub struct SplitArgs {
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// The parts, of size XS or S: a file of [[task]] tables or JSON lines, or `-`; all or none
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub into: PathBuf,
    /// They are planned, built and merged together
    #[arg(long)]
    pub atomic: bool,
}

#[derive(Debug, Subcommand)]
pub enum PlanCommand {
    /// Show the plan of a task
    Show {
        #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
        task: String,
    },
    /// Make tasks wait for each other as the phases of their plan do
    Sync {
        #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
        task: String,
        /// Only say what would change
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Debug, Args)]
pub struct DocumentArgs {
    /// research, plan, review or report
    #[arg(value_name = "KIND", add = ArgValueCandidates::new(complete::documents))]
    pub kind: String,
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
}

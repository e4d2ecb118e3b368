//! Arguments of what people decide: inbox, questions, reviews, diffs.

use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCandidates;

use super::OneArgs;
use super::work::ForArgs;
use crate::cli::complete;

/// What a person is asked, and what they decide.
#[derive(Debug, Subcommand)]
pub enum DecideCommand {
    /// Show everything that waits for you
    Inbox,
    /// Ask a person about a task, and hand it over
    Ask(AskArgs),
    /// Answer the question of a task, and send it back to work
    Answer(AnswerArgs),
    /// Approve the plan of a task
    Approve(OneArgs),
    /// Send a plan or finished work back, with comments
    Reject(RejectArgs),
    /// Show what the worktree of a task changes
    Diff(TaskDiffArgs),
}

#[derive(Debug, Args)]
pub struct AskArgs {
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// The question
    #[arg(value_name = "QUESTION", required = true)]
    pub words: Vec<String>,
    /// A choice; can be repeated
    #[arg(long = "option", value_name = "CHOICE")]
    pub options: Vec<String>,
    /// The choice that you recommend
    #[arg(long, value_name = "CHOICE")]
    pub recommend: Option<String>,
    #[command(flatten)]
    pub acting: ForArgs,
}

#[derive(Debug, Args)]
pub struct AnswerArgs {
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// An option, its number, or your own words
    #[arg(value_name = "ANSWER", required = true)]
    pub words: Vec<String>,
}

#[derive(Debug, Args)]
pub struct RejectArgs {
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// What is to be different
    #[arg(value_name = "WHY")]
    pub words: Vec<String>,
    /// A comment on a line, as FILE:LINE:TEXT; can be repeated
    #[arg(long = "comment", value_name = "FILE:LINE:TEXT")]
    pub comments: Vec<String>,
}

#[derive(Debug, Args)]
pub struct TaskDiffArgs {
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// Only the files, and how much of each changed
    #[arg(long)]
    pub stat: bool,
}

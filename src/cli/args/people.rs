//! Arguments of what people decide: inbox, questions, reviews, feedback, diffs.

use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCandidates;

use super::OneArgs;
use super::work::ForArgs;
use crate::cli::complete;

/// What a person is asked, and what they decide.
#[derive(Debug, Subcommand)]
pub enum DecideCommand {
    /// List what needs your decision
    Inbox,
    /// Ask a person about a task, and hand it over
    Ask(AskArgs),
    /// Answer the question of a task, and send it back to work
    Answer(AnswerArgs),
    /// Approve the plan of a task
    Approve(OneArgs),
    /// Send a plan or finished work back, with comments
    Reject(RejectArgs),
    /// List open review threads, failed checks and comments on a task's work
    Feedback(FeedbackArgs),
    /// Reply to a point of the feedback on a task
    Reply(ReplyArgs),
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
pub struct FeedbackArgs {
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// Ask GitHub first what is open on the task's pull request
    #[arg(long)]
    pub fetch: bool,
}

#[derive(Debug, Args)]
pub struct ReplyArgs {
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// The number of the point, as `ralph feedback` lists it
    #[arg(value_name = "POINT")]
    pub number: usize,
    /// What you did about it, or why nothing
    #[arg(value_name = "TEXT", required = true)]
    pub words: Vec<String>,
    /// Nothing was changed: its review thread stays open
    #[arg(long)]
    pub declined: bool,
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

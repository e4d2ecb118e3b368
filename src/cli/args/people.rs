//! The commands for decisions of people: inbox, questions, reviews, feedback, diffs.

use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCandidates;

use super::OneArgs;
use super::work::ForArgs;
use crate::cli::complete;

/// Commands that ask people, and commands by which they decide.
#[derive(Debug, Subcommand)]
pub enum DecideCommand {
    /// List what needs your decision
    Inbox,
    /// Ask a person about a task, and hand it to them
    Ask(AskArgs),
    /// Answer the question on a task, so that work can continue
    Answer(AnswerArgs),
    /// Approve the plan of a task
    Approve(OneArgs),
    /// Reject a plan or finished work, with comments
    Reject(RejectArgs),
    /// List open review threads, failed checks and comments on a task's work
    Feedback(FeedbackArgs),
    /// Reply to a point of feedback on a task
    Reply(ReplyArgs),
    /// Show what the worktree of a task changes
    Diff(TaskDiffArgs),
}

#[derive(Debug, Args)]
pub struct AskArgs {
    /// The task: its id or a unique prefix
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
    /// The task: its id or a unique prefix
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// An option, its number, or your own words
    #[arg(value_name = "ANSWER", required = true)]
    pub words: Vec<String>,
}

#[derive(Debug, Args)]
pub struct FeedbackArgs {
    /// The task: its id or a unique prefix
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// Fetch the feedback on the task's pull request from GitHub first
    #[arg(long)]
    pub fetch: bool,
}

#[derive(Debug, Args)]
pub struct ReplyArgs {
    /// The task: its id or a unique prefix
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// The number of the point, as `ralph feedback` lists it
    #[arg(value_name = "POINT")]
    pub number: usize,
    /// What you changed, or why you changed nothing
    #[arg(value_name = "TEXT", required = true)]
    pub words: Vec<String>,
    /// Decline the point: nothing was changed, and its review thread stays open
    #[arg(long)]
    pub declined: bool,
}

#[derive(Debug, Args)]
pub struct RejectArgs {
    /// The task: its id or a unique prefix
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// What has to change
    #[arg(value_name = "WHY")]
    pub words: Vec<String>,
    /// Comment on a line, as FILE:LINE:TEXT; can be repeated
    #[arg(long = "comment", value_name = "FILE:LINE:TEXT")]
    pub comments: Vec<String>,
}

#[derive(Debug, Args)]
pub struct TaskDiffArgs {
    /// The task: its id or a unique prefix
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// Show only the files, and how many lines of each changed
    #[arg(long)]
    pub stat: bool,
}

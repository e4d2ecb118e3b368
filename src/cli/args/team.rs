//! The options of the commands that have agents do the work.

use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCandidates;

use crate::cli::{complete, input};

#[derive(Debug, Args)]
pub struct WorkerArgs {
    /// analyst, builder, validator or integrator
    #[arg(value_name = "ROLE", add = ArgValueCandidates::new(complete::roles))]
    pub role: String,
    /// One turn, then end
    #[arg(long, conflicts_with = "max")]
    pub once: bool,
    /// At most this many turns
    #[arg(long, value_name = "N")]
    pub max: Option<usize>,
    /// Wait for work this long, such as 10m [default: end when there is none]
    #[arg(long, value_name = "TIME", value_parser = input::age)]
    pub wait: Option<jiff::SignedDuration>,
    /// Say what would be done next, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Only steps of these teams
    #[arg(long, value_name = "TASK", num_args = 1.., hide = true)]
    pub team: Vec<String>,
    #[arg(long, hide = true)]
    pub bough: bool,
    /// Tell everything as JSON lines, for the team that started it
    #[arg(long, hide = true)]
    pub events: bool,
    /// Another agent program than `agent.command`, with its arguments; {prompt}, {prompt_file}, {task} … are filled in
    #[arg(last = true, value_name = "PROGRAM")]
    pub program: Vec<String>,
}

#[derive(Debug, Args)]
pub struct TeamArgs {
    /// What to work on: tasks, groups or epics
    #[arg(value_name = "TASK", required_unless_present = "ready", add = ArgValueCandidates::new(complete::tasks))]
    pub tasks: Vec<String>,
    /// Everything that can be worked on now
    #[arg(long, conflicts_with = "tasks")]
    pub ready: bool,
    #[command(flatten)]
    pub how: HowArgs,
}

#[derive(Debug, Args)]
pub struct HeroArgs {
    /// What to work on: a task, a group or an epic
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    #[command(flatten)]
    pub how: HowArgs,
}

/// How a pipeline is carried out.
#[derive(Debug, Args)]
pub struct HowArgs {
    /// Make the steps of one phase at a time
    #[arg(long)]
    pub bough: bool,
    /// Say which steps there would be, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Another agent program than `agent.command`, with its arguments
    #[arg(last = true, value_name = "PROGRAM")]
    pub program: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub enum RunsCommand {
    /// The last runs, the newest first
    Ls {
        /// Only those of this task
        #[arg(long, value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
        task: Option<String>,
        /// At most this many
        #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
        limit: usize,
    },
    /// One run: what it was, how it ended, the last it said
    Show {
        /// A run's id or part of it, or a task for its last run
        run: String,
    },
    /// All that a run said
    Tail {
        /// A run's id or part of it, or a task for its last run
        run: String,
        /// Go on until it ends
        #[arg(short, long)]
        follow: bool,
    },
    /// End a run; its task then waits for a person
    Stop {
        /// A run's id or part of it, or a task for its last run
        run: String,
    },
    /// Let workers try a task again at once
    Retry {
        /// A task whose last run failed, was stopped, or handed it to a person
        #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
        task: String,
    },
}

#[derive(Debug, Args)]
pub struct CostsArgs {
    /// Only runs that started within this time, such as 7d or 12h [default: all runs that are kept]
    #[arg(long, value_name = "AGE", value_parser = input::age)]
    pub since: Option<jiff::SignedDuration>,
    /// What to add up by
    #[arg(long, value_name = "WHAT", default_value = "task")]
    pub by: CostsBy,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum CostsBy {
    Task,
    Role,
    Model,
}

#[derive(Debug, Subcommand)]
pub enum AgentCommand {
    /// List the agent programs that ralph knows, and which are installed
    Ls,
    /// Have an agent do a small task in a throw-away repository, and say what it lacks
    Test {
        /// claude, codex, gemini or opencode [default: agent.profile]
        #[arg(value_name = "PROFILE")]
        profile: Option<String>,
    },
}

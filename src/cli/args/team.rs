//! The options of the commands that run agents.

use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCandidates;

use crate::cli::{complete, input};

#[derive(Debug, Args)]
pub struct WorkerArgs {
    /// The role: analyst, builder, validator or integrator
    #[arg(value_name = "ROLE", add = ArgValueCandidates::new(complete::roles))]
    pub role: String,
    /// Stop after one run
    #[arg(long, conflicts_with = "max")]
    pub once: bool,
    /// Stop after this many runs
    #[arg(long, value_name = "N")]
    pub max: Option<usize>,
    /// Wait up to this long for work, such as 10m [default: stop when there is none]
    #[arg(long, value_name = "TIME", value_parser = input::age)]
    pub wait: Option<jiff::SignedDuration>,
    /// Show what would be done next, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Only steps of these teams
    #[arg(long, value_name = "TASK", num_args = 1.., hide = true)]
    pub team: Vec<String>,
    #[arg(long, hide = true)]
    pub bough: bool,
    /// Report everything as JSON lines, for the team that started it
    #[arg(long, hide = true)]
    pub events: bool,
    /// The agent program and its arguments, instead of `agent.command`; {prompt}, {prompt_file}, {task} … are filled in
    #[arg(last = true, value_name = "PROGRAM")]
    pub program: Vec<String>,
}

#[derive(Debug, Args)]
pub struct TeamArgs {
    /// The tasks, groups or epics to work on
    #[arg(value_name = "TASK", required_unless_present = "ready", add = ArgValueCandidates::new(complete::tasks))]
    pub tasks: Vec<String>,
    /// Work on all ready tasks
    #[arg(long, conflicts_with = "tasks")]
    pub ready: bool,
    #[command(flatten)]
    pub how: HowArgs,
}

#[derive(Debug, Args)]
pub struct HeroArgs {
    /// The task, group or epic to work on
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    #[command(flatten)]
    pub how: HowArgs,
}

/// How a pipeline runs.
#[derive(Debug, Args)]
pub struct HowArgs {
    /// Create the steps of one phase at a time
    #[arg(long)]
    pub bough: bool,
    /// Show the steps that would be created, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// The agent program and its arguments, instead of `agent.command`
    #[arg(last = true, value_name = "PROGRAM")]
    pub program: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub enum RunsCommand {
    /// List the last runs, newest first
    Ls {
        /// Only runs of this task
        #[arg(long, value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
        task: Option<String>,
        /// Show at most this many
        #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
        limit: usize,
    },
    /// Show one run: its command, its outcome and the end of its output
    Show {
        /// A run (its id or part of it), or a task (its last run)
        run: String,
    },
    /// Print the output of a run
    Tail {
        /// A run (its id or part of it), or a task (its last run)
        run: String,
        /// Follow it until the run ends
        #[arg(short, long)]
        follow: bool,
    },
    /// Stop a run, and hand its task to a person
    Stop {
        /// A run (its id or part of it), or a task (its last run)
        run: String,
    },
    /// Let workers try a task again
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
    /// Group the sums by this
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
    /// Test an agent: have it do a small task in a throw-away repository
    Test {
        /// The agent host: claude, codex, gemini or opencode [default: agent.profile]
        #[arg(value_name = "PROFILE")]
        profile: Option<String>,
    },
}

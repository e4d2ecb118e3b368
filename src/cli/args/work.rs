//! The options of the commands that move, claim and watch tasks.

use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCandidates;

use super::{AtArgs, OneArgs};
use crate::app::Reach;
use crate::cli::{complete, input};

#[derive(Debug, Args)]
pub struct ForArgs {
    /// The command to act for, such as plan [default: the one that applies]
    #[arg(long = "for", value_name = "COMMAND", add = ArgValueCandidates::new(complete::commands))]
    pub command: Option<String>,
}

#[derive(Debug, Args)]
pub struct LocalArgs {
    /// Claim on this machine only, even if `claims.remote` is set
    #[arg(long)]
    local: bool,
}

impl LocalArgs {
    pub fn reach(&self) -> Reach {
        if self.local { Reach::Local } else { Reach::Remote }
    }
}

#[derive(Debug, Args)]
pub struct MoveArgs {
    /// The task: its id or a unique prefix
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// The new state, or __LOCK__, __COMPLETE__, __ESCALATE__, __CLOSE__, __CANCEL__
    #[arg(value_name = "STATE", add = ArgValueCandidates::new(complete::states))]
    pub to: String,
    #[command(flatten)]
    pub acting: ForArgs,
    /// Override another worker's claim, an open blocker or unmerged commits
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct CloseArgs {
    /// The task: its id or a unique prefix
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    #[command(flatten)]
    pub acting: ForArgs,
    /// Override another worker's claim, an open blocker or unmerged commits
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct NextArgs {
    /// Choose work for this role [default: the worker's own]
    #[arg(short, long, value_name = "ROLE", add = ArgValueCandidates::new(complete::roles))]
    pub role: Option<String>,
    /// Claim it, too
    #[arg(long)]
    pub claim: bool,
    #[command(flatten)]
    pub reach: LocalArgs,
    /// Wait up to this long for work, such as 10m
    #[arg(long, value_name = "TIME", value_parser = input::age)]
    pub wait: Option<jiff::SignedDuration>,
}

#[derive(Debug, Args)]
pub struct RunArgs {
    /// The task: its id or a unique prefix
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    #[command(flatten)]
    pub acting: ForArgs,
    #[command(flatten)]
    pub reach: LocalArgs,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    pub program: Vec<String>,
}

#[derive(Debug, Args)]
pub struct WaitArgs {
    /// The task: its id or a unique prefix
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// What to wait for: a state, `ready`, or `free` (no claim)
    #[arg(long, value_name = "STATE|ready|free", add = ArgValueCandidates::new(complete::states))]
    pub until: String,
    /// Stop waiting after this long, with exit code 5
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = input::age)]
    pub timeout: jiff::SignedDuration,
}

#[derive(Debug, Args)]
pub struct StatusArgs {
    /// Print Markdown
    #[arg(long)]
    pub markdown: bool,
    #[command(flatten)]
    pub at: AtArgs,
}

#[derive(Debug, Args)]
pub struct AdvanceArgs {
    /// The parent: its id or a unique prefix
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// Move every child that is behind this state
    #[arg(long, required = true)]
    pub children: bool,
    /// A gate state of the workflow, such as "Ready for Plan"
    #[arg(long, value_name = "STATE", add = ArgValueCandidates::new(complete::states))]
    pub to: String,
    /// Override another worker's claim, an open blocker or unmerged commits
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = WORKFLOW_EXAMPLES)]
pub struct WorkflowArgs {
    #[command(subcommand)]
    pub command: Option<WorkflowCommand>,
    /// Print a Mermaid diagram
    #[arg(long)]
    pub mermaid: bool,
    /// Print the table as commented TOML, to start from: save it as .ralph/workflow.toml
    #[arg(long, conflicts_with = "mermaid")]
    pub toml: bool,
    /// Show a workflow that ralph ships instead of the board's own: simple, lite or full
    #[arg(long, value_name = "NAME")]
    pub of: Option<String>,
}

const WORKFLOW_EXAMPLES: &str = "\
Examples:
  ralph workflow                             the states, commands and roles of this board
  ralph workflow --of simple --toml          a commented table to start from
  ralph workflow use lite                    convert this board; shows where each state goes first";

#[derive(Debug, Subcommand)]
pub enum WorkflowCommand {
    /// Convert the board to another workflow: simple, lite or full
    Use(WorkflowUseArgs),
}

#[derive(Debug, Args)]
pub struct WorkflowUseArgs {
    /// The workflow: simple, lite or full
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Move the tasks of state OLD to state NEW; can be repeated
    #[arg(long = "map", value_name = "OLD=NEW")]
    pub maps: Vec<String>,
    /// Convert without asking
    #[arg(long, short = 'y')]
    pub yes: bool,
    /// Show the new state of each old one, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// The guard that `run` starts: it holds the claim's lock while the program runs.
#[derive(Debug, Args)]
pub struct GuardedArgs {
    /// End all processes that the program left running, too
    #[arg(long)]
    pub sweep: bool,
    /// Confine the program to the paths that this file names
    #[arg(long)]
    pub confine: Option<std::path::PathBuf>,
    /// Hold this lock while the program runs
    #[arg(long)]
    pub lock: Option<std::path::PathBuf>,
    pub parent: u32,
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub program: Vec<String>,
}

/// The process that the guard starts: it arranges to end with the guard, then becomes the program.
#[derive(Debug, Args)]
pub struct BecomeArgs {
    #[arg(long)]
    pub confine: Option<std::path::PathBuf>,
    pub parent: u32,
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub program: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub enum WorktreeCommand {
    /// Create a task's worktree, on its own branch
    Add {
        /// The task: its id or a unique prefix
        #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
        task: String,
        /// Start the branch from this revision [default: git.main]
        #[arg(long, value_name = "REV")]
        from: Option<String>,
        /// Start it from the branch of the task that blocks this one
        #[arg(long, conflicts_with = "from")]
        stack: bool,
        /// Only check out the files: skip .worktreeinclude, ports and worktree.setup
        #[arg(long)]
        no_setup: bool,
    },
    /// List worktrees: branch, task, state, uncommitted changes, ahead and behind, age
    Ls,
    /// Print the path of a task's worktree, for `cd "$(ralph worktree path t-x7)"`
    Path(OneArgs),
    /// Remove a task's worktree, unless work would be lost
    Rm {
        /// The task: its id or a unique prefix
        #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
        task: String,
        /// Discard uncommitted changes and unmerged commits
        #[arg(long)]
        force: bool,
    },
    /// List worktrees that are merged or orphaned; with --yes, remove them
    Prune {
        /// Remove them
        #[arg(long)]
        yes: bool,
    },
    /// Keep a worktree from being removed
    Lock {
        /// The task: its id or a unique prefix
        #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
        task: String,
        /// The reason, which `ralph worktree ls` shows
        #[arg(default_value = "")]
        reason: String,
    },
    /// Allow a worktree to be removed again
    Unlock(OneArgs),
}

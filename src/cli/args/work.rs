//! The options of the commands that move, claim and watch tasks.

use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCandidates;

use super::{AtArgs, OneArgs};
use crate::app::Reach;
use crate::cli::{complete, input};

#[derive(Debug, Args)]
pub struct ForArgs {
    /// What you act as: triage, research, plan … [default: the only one that fits]
    #[arg(long = "for", value_name = "COMMAND", add = ArgValueCandidates::new(complete::commands))]
    pub command: Option<String>,
}

#[derive(Debug, Args)]
pub struct LocalArgs {
    /// On this machine only, though the board has `claims.remote`
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
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// A state, or __LOCK__, __COMPLETE__, __ESCALATE__, __CLOSE__, __CANCEL__
    #[arg(value_name = "STATE", add = ArgValueCandidates::new(complete::states))]
    pub to: String,
    #[command(flatten)]
    pub acting: ForArgs,
    /// Override a claim of somebody else, an open blocker, or unmerged commits
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct CloseArgs {
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    #[command(flatten)]
    pub acting: ForArgs,
    /// Override a claim of somebody else, an open blocker, or unmerged commits
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct NextArgs {
    /// Work for this role [default: that of the worker]
    #[arg(short, long, value_name = "ROLE", add = ArgValueCandidates::new(complete::roles))]
    pub role: Option<String>,
    /// Claim it, too
    #[arg(long)]
    pub claim: bool,
    #[command(flatten)]
    pub reach: LocalArgs,
    /// Wait for work this long, such as 10m
    #[arg(long, value_name = "TIME", value_parser = input::age)]
    pub wait: Option<jiff::SignedDuration>,
}

#[derive(Debug, Args)]
pub struct RunArgs {
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
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// A state, `ready`, or `free` of any claim
    #[arg(long, value_name = "STATE|ready|free", add = ArgValueCandidates::new(complete::states))]
    pub until: String,
    /// Give up after this long
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = input::age)]
    pub timeout: jiff::SignedDuration,
}

#[derive(Debug, Args)]
pub struct StatusArgs {
    /// As Markdown
    #[arg(long)]
    pub markdown: bool,
    #[command(flatten)]
    pub at: AtArgs,
}

#[derive(Debug, Args)]
pub struct AdvanceArgs {
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// The children that are strictly behind
    #[arg(long, required = true)]
    pub children: bool,
    /// A gate of the workflow, such as "Ready for Plan"
    #[arg(long, value_name = "STATE", add = ArgValueCandidates::new(complete::states))]
    pub to: String,
    /// Override a claim of somebody else, an open blocker, or unmerged commits
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
    /// simple, lite or full
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Send the tasks of a state elsewhere: `OLD=NEW`; can be repeated
    #[arg(long = "map", value_name = "OLD=NEW")]
    pub maps: Vec<String>,
    /// Convert without asking
    #[arg(long, short = 'y')]
    pub yes: bool,
    /// Show where each state goes, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// What `run` starts: it holds the claim's lock while the program runs.
#[derive(Debug, Args)]
pub struct GuardedArgs {
    /// End all that the program has left behind, too
    #[arg(long)]
    pub sweep: bool,
    /// Confine the program to the places that this file names
    #[arg(long)]
    pub confine: Option<std::path::PathBuf>,
    /// Hold this lock while the program runs
    #[arg(long)]
    pub lock: Option<std::path::PathBuf>,
    pub parent: u32,
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub program: Vec<String>,
}

/// What the guard starts: it asks to end with the guard, then becomes the program.
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
    /// Make a task's worktree, on a branch of its own
    Add {
        #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
        task: String,
        /// Start the branch here [default: git.main]
        #[arg(long, value_name = "REV")]
        from: Option<String>,
        /// Start it from the branch of the task that this one waits for
        #[arg(long, conflicts_with = "from")]
        stack: bool,
        /// Only check out the files: no .worktreeinclude, no ports, no worktree.setup
        #[arg(long)]
        no_setup: bool,
    },
    /// All of them: branch, task, state, dirty, ahead and behind, age
    Ls,
    /// Where a task's worktree is, for `cd "$(ralph worktree path t-x7)"`
    Path(OneArgs),
    /// Remove a task's worktree, unless something would be lost with it
    Rm {
        #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
        task: String,
        /// Throw away what is there
        #[arg(long)]
        force: bool,
    },
    /// Name those that are merged or orphaned; with --yes, remove them
    Prune {
        #[arg(long)]
        yes: bool,
    },
    /// Keep a worktree from being removed
    Lock {
        #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
        task: String,
        /// Why
        #[arg(default_value = "")]
        reason: String,
    },
    /// Let it be removed again
    Unlock(OneArgs),
}

//! Every command and option, as typed.

mod agent;
mod claim;
mod host;
mod look;
mod people;
mod share;
mod sync;
mod task;
mod team;
mod watch;
mod work;

use std::path::PathBuf;

use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};
use clap_complete::engine::ArgValueCandidates;

use super::complete;

pub use agent::{ArtifactCommand, PlanCommand, PromptArgs, SplitArgs};
pub use claim::{ClaimArgs, ClaimCommand, ClaimsCommand, ReleaseArgs, WhoArgs};
pub use host::{HookArgs, McpArgs, ProfileArg, SetupCommand};
pub use look::{BoardArgs, ReportArgs, ServeArgs};
pub use people::{AnswerArgs, AskArgs, DecideCommand, FeedbackArgs, RejectArgs, ReplyArgs, TaskDiffArgs};
pub use share::{CommitArgs, MergeArgs, ShareArgs, TakeCommand, TrustArgs};
pub use sync::{PrArgs, SideArg, SyncArgs, SyncCommand, SyncInitArgs, SyncResolveArgs, SyncRunArgs};
pub use task::{AddArgs, ArchiveArgs, DiffArgs, GraphArgs, LsArgs, RmArgs, SearchArgs, SetArgs, TaskCommand, TreeArgs};
pub use team::{AgentCommand, CostsArgs, CostsBy, HeroArgs, RunsCommand, TeamArgs, WorkerArgs};
pub use watch::WatchArgs;
pub use work::{
    AdvanceArgs, BecomeArgs, CloseArgs, GuardedArgs, MoveArgs, NextArgs, RunArgs, StatusArgs, WaitArgs, WorkflowArgs,
    WorkflowCommand, WorkflowUseArgs, WorktreeCommand,
};

pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("RALPH_BUILT_FROM"), ")");

/// A task board in plain files, for people and coding agents who share one repository.
#[derive(Debug, Parser)]
#[command(name = "ralph", version = VERSION, max_term_width = 100, after_help = AFTER, arg_required_else_help = true)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: CliCommand,
}

const AFTER: &str = "\
Tasks are named by id, or by any prefix of it that is unique: t-x7kq, x7kq, x7.
Exit codes: 0 done · 1 refused · 2 usage · 3 claimed or changed by another worker · 4 broken file or disk · 5 no work
            6 offline or unauthorized";

#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Print one JSON document instead of text
    #[arg(long, global = true)]
    pub json: bool,
    /// Act as this worker [default: RALPH_WORKER, else git's user.name]
    #[arg(long = "as", global = true, value_name = "WORKER")]
    pub worker: Option<String>,
    /// Use the board of the repository in this directory
    #[arg(long, global = true, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub board: Option<PathBuf>,
    /// Set a setting for this command; can be repeated
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    pub config: Vec<String>,
    /// When to use color [default: the setting ui.color]
    #[arg(long, global = true, value_name = "WHEN")]
    pub color: Option<ColorWhen>,
    /// Do not pipe long output into a pager
    #[arg(long, global = true)]
    pub no_pager: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Create a board in this repository
    Init(InitArgs),
    #[command(flatten)]
    Short(ShortCommand),
    /// Manage tasks: set fields, search, draw the graph
    #[command(subcommand, visible_alias = "t")]
    Task(TaskCommand),
    /// Add blockers to a task
    Block(BlockArgs),
    /// Remove blockers from a task
    Unblock(UnblockArgs),
    /// Add a note to a task
    Note(NoteArgs),
    /// Move a task to another state
    #[command(visible_alias = "mv")]
    Move(MoveArgs),
    /// Close a task
    Done(CloseArgs),
    /// Cancel a task
    Cancel(CloseArgs),
    /// Hand a task to a person
    Escalate(CloseArgs),
    #[command(flatten)]
    Decide(DecideCommand),
    #[command(flatten)]
    Claim(ClaimCommand),
    /// Show the best task to start now
    Next(NextArgs),
    /// Run a program while holding a claim on a task
    Run(RunArgs),
    /// Wait until a task is in a state, ready, or free
    Wait(WaitArgs),
    /// Follow changes, and run rules
    Watch(WatchArgs),
    /// Explain why a task cannot start
    Why(OneArgs),
    /// Show the board on one screen
    Status(StatusArgs),
    /// Show where a task is in the pipeline, and what remains
    Position(OneArgs),
    /// Show the group of a task: the tasks that are planned, built and merged together
    Group(OneArgs),
    /// Move the children of a task forward to a state
    Advance(AdvanceArgs),
    /// Show the workflow of this board: states, commands and roles
    Workflow(WorkflowArgs),
    /// Run one worker: claim a task, run the agent, repeat
    Worker(WorkerArgs),
    /// Have several agents work on tasks until they are done
    Team(TeamArgs),
    /// Work on a task in one process, one step at a time
    Hero(HeroArgs),
    /// List and test agent programs
    #[command(subcommand)]
    Agent(AgentCommand),
    /// Show the runs of agents and their output
    #[command(subcommand)]
    Runs(RunsCommand),
    /// Show what agents used: tokens, cost and time
    Costs(CostsArgs),
    /// Manage the worktrees of tasks
    #[command(subcommand, visible_alias = "wt")]
    Worktree(WorktreeCommand),
    /// Push a task's branch, and create or find its pull request on GitHub
    Pr(PrArgs),
    /// Merge a task's branch into main, and close the task
    Merge(MergeArgs),
    /// Create, link and check the documents of a task: research, plan, review, report
    #[command(subcommand)]
    Artifact(ArtifactCommand),
    /// Split a large task into small ones
    Split(SplitArgs),
    /// Show the plan of a task, or add blockers from it
    #[command(subcommand)]
    Plan(PlanCommand),
    /// Print the prompt for a task
    Prompt(PromptArgs),
    /// Commit the board and its documents, and nothing else
    Commit(CommitArgs),
    /// Pull the board from the remote, and nothing else
    Pull(ShareArgs),
    /// Push the board to the remote, and nothing else
    Push(ShareArgs),
    /// Mirror the board to GitHub issues and a project, both ways
    Sync(SyncArgs),
    /// Show the journal
    Log(LogArgs),
    /// Undo the last change
    Undo(UndoArgs),
    /// Check the board for problems
    Doctor(DoctorArgs),
    /// Show and change settings
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Review and trust the programs that this board runs
    Trust(TrustArgs),
    /// Run a policy check for an agent hook (JSON on stdin)
    Hook(HookArgs),
    /// Set up Claude Code, Codex, Gemini CLI or opencode for this board
    #[command(subcommand)]
    Setup(SetupCommand),
    /// Serve the board to agents: tools, resources and prompts over the Model Context Protocol
    Mcp(McpArgs),
    /// Open the board in the terminal
    Board(BoardArgs),
    /// Serve the board to a browser on this machine
    Serve(ServeArgs),
    /// Write the board as an HTML file
    Report(ReportArgs),
    #[command(flatten)]
    Around(AroundCommand),
    /// Hold a claim's lock while a program runs (called by `run`)
    #[command(hide = true)]
    Guarded(GuardedArgs),
    /// Become a program that ends with its parent (called by `guarded`)
    #[command(hide = true)]
    Become(BecomeArgs),
    /// Merge three versions of a task file (called by git)
    #[command(hide = true)]
    MergeDriver(MergeDriverArgs),
}

/// Short forms of `ralph task …`.
#[derive(Debug, Subcommand)]
pub enum ShortCommand {
    /// List tasks, and show which are ready, blocked or claimed
    Ls(LsArgs),
    /// Show a task with its description, links and notes
    Show(ShowOneArgs),
    /// Add a task, or many
    Add(AddArgs),
    /// Change a task's file in your editor
    Edit(OneArgs),
    /// Remove tasks
    Rm(RmArgs),
}

/// Commands that need no board, or remove it.
#[derive(Debug, Subcommand)]
pub enum AroundCommand {
    /// Print the JSON Schema of a task, the settings, a workflow or an event
    Schema(SchemaArgs),
    /// Remove what ralph set up in this repository; the tasks stay
    Uninstall(UninstallArgs),
    /// Print the completion script for a shell; it completes ids, states and labels
    Completions(CompletionsArgs),
    /// Print the manual page, or write one per command
    Man(ManArgs),
}

#[derive(Debug, Args)]
pub struct InitArgs {
    /// Add example tasks
    #[arg(long)]
    pub demo: bool,
    /// Create a git repository first, if there is none
    #[arg(long)]
    pub git: bool,
    /// The workflow: simple (Todo, Doing, Done), lite (seven states) or full (eleven states) [default: full]
    #[arg(long, value_name = "NAME")]
    pub workflow: Option<String>,
}

#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// task, config, workflow or event
    #[arg(value_name = "NAME", default_value = "task")]
    pub name: String,
}

#[derive(Debug, Args)]
pub struct UninstallArgs {
    /// Remove the tasks, notes and journal, too
    #[arg(long)]
    pub tasks: bool,
    /// Show what would be removed
    #[arg(long)]
    pub dry_run: bool,
    /// Remove without asking
    #[arg(long, short = 'y')]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub struct OneArgs {
    /// The task: its id or a unique prefix
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
}

/// The option of reading commands that selects another revision.
#[derive(Debug, Args)]
pub struct AtArgs {
    /// Read the board of this branch, tag or commit, without checking it out
    #[arg(long, value_name = "REV")]
    pub at: Option<String>,
}

#[derive(Debug, Args)]
pub struct ShowOneArgs {
    /// The task: its id or a unique prefix
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    #[command(flatten)]
    pub at: AtArgs,
}

#[derive(Debug, Args)]
pub struct TextArgs {
    /// The text
    #[arg(short, long, value_name = "TEXT")]
    pub body: Option<String>,
    /// The text from a file, or `-` for standard input
    #[arg(short = 'F', long, value_name = "FILE", conflicts_with = "body", value_hint = clap::ValueHint::FilePath)]
    pub body_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct BlockArgs {
    /// The task to block: its id or a unique prefix
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// The blockers: tasks that must be done first
    #[arg(long, required = true, num_args = 1.., value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub on: Vec<String>,
}

#[derive(Debug, Args)]
pub struct UnblockArgs {
    /// The task to unblock: its id or a unique prefix
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// The blockers to remove [default: all]
    #[arg(long, num_args = 1.., value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub from: Vec<String>,
}

#[derive(Debug, Args)]
pub struct NoteArgs {
    /// The task: its id or a unique prefix
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// The text [default: from standard input or your editor]
    #[arg(value_name = "TEXT")]
    pub words: Vec<String>,
    #[command(flatten)]
    pub text: TextArgs,
    /// Change the note with this number, as `ralph show` counts them
    #[arg(long, value_name = "NUMBER")]
    pub edit: Option<usize>,
    /// Remove the note with this number
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["edit", "words", "body", "body_file"])]
    pub rm: Option<usize>,
}

#[derive(Debug, Args)]
pub struct LogArgs {
    /// Only changes of this task
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: Option<String>,
    /// Only changes by this worker
    #[arg(long, value_name = "WORKER")]
    pub by: Option<String>,
    /// Only changes by this command, such as claim or move
    #[arg(long, value_name = "VERB")]
    pub verb: Option<String>,
    /// Only changes within this time, such as 2d or 3h
    #[arg(long, value_name = "AGE", value_parser = crate::cli::input::age)]
    pub since: Option<jiff::SignedDuration>,
    /// Show at most this many changes
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    pub limit: usize,
}

#[derive(Debug, Args)]
pub struct UndoArgs {
    /// The id of a change, from `ralph log` [default: the last one]
    pub id: Option<String>,
    /// Undo it even if another worker made it
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Fix what can be fixed safely
    #[arg(long, conflicts_with = "at")]
    pub fix: bool,
    /// Check the board of a branch, tag or commit, without checking it out; exit with 1 if it has errors
    #[arg(long, value_name = "REV")]
    pub at: Option<String>,
    /// With --at: check also which tasks moved since this revision, and whether the workflow allows it
    #[arg(long, value_name = "BASE", requires = "at")]
    pub since: Option<String>,
    /// With --at: exit with 1 also for warnings
    #[arg(long, requires = "at")]
    pub strict: bool,
    /// With --at: print Markdown, for a comment on a pull request
    #[arg(long, requires = "at")]
    pub markdown: bool,
}

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// List all settings
    List {
        /// Show where each value comes from
        #[arg(long)]
        origin: bool,
    },
    /// Show one setting
    Get {
        /// The setting, such as review.mode
        #[arg(add = ArgValueCandidates::new(complete::settings))]
        key: String,
    },
    /// Remove a setting from the board's file, so that its default applies
    Unset {
        /// The setting, such as review.mode
        #[arg(add = ArgValueCandidates::new(complete::settings))]
        key: String,
        /// Remove it from your own file
        #[arg(long)]
        user: bool,
    },
    /// Set a setting of the board
    Set {
        /// The setting, such as review.mode
        #[arg(add = ArgValueCandidates::new(complete::settings))]
        key: String,
        /// The new value
        value: String,
        /// Set it in your own file, for every board
        #[arg(long)]
        user: bool,
    },
}

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell: bash, zsh, fish, elvish or powershell
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct ManArgs {
    /// Write one page per command into this directory
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct MergeDriverArgs {
    pub base: PathBuf,
    pub ours: PathBuf,
    pub theirs: PathBuf,
    pub path: String,
}

pub fn command() -> clap::Command {
    super::help::with_examples(Cli::command())
}

//! Every command and option, as typed.

use std::path::PathBuf;

use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};
use clap_complete::engine::ArgValueCandidates;

use super::complete;

pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (ralph-board)");

/// A task board in plain files, for people and coding agents who share one repository.
#[derive(Debug, Parser)]
#[command(name = "ralph", version = VERSION, max_term_width = 100, after_help = AFTER, arg_required_else_help = true)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

const AFTER: &str = "\
Tasks are named by id, or by any prefix of it that is unique: t-x7kq, x7kq, x7.
Exit codes: 0 done · 1 refused by a rule · 2 usage · 3 raced or held, try again · 4 broken file or disk ·
            5 no work now";

#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Print one JSON document instead of text
    #[arg(long, global = true)]
    pub json: bool,
    /// Who acts [default: RALPH_WORKER, else git's user.name]
    #[arg(long = "as", global = true, value_name = "WORKER")]
    pub worker: Option<String>,
    /// The board of another repository
    #[arg(long, global = true, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub board: Option<PathBuf>,
    /// Set a setting for this run
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    pub config: Vec<String>,
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN")]
    pub color: Option<ColorWhen>,
    /// Do not page long output
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
pub enum Command {
    /// Make a board in this repository
    Init(Init),
    /// Work with tasks
    #[command(subcommand, visible_alias = "t")]
    Task(Task),
    /// Make a task wait for others
    Block(Block),
    /// Let a task wait no longer
    Unblock(Unblock),
    /// Comment on a task
    Note(Note),
    /// Move a task to another state, by the rules of the workflow
    #[command(visible_alias = "mv")]
    Move(Move),
    /// Close a task
    Done(Close),
    /// Cancel a task
    Cancel(Close),
    /// Hand a task to a person
    Escalate(Close),
    /// Take a task, so that nobody else does
    Claim(Claim),
    /// Keep your claim for another lease
    Renew(One),
    /// Give a task back
    Release(Release),
    /// Free what dead workers held
    Reap,
    /// The best task to take now
    Next(Next),
    /// Run a program on a task: the claim lives as long as it does
    Run(Run),
    /// Wait until a task is in a state, ready, or free
    Wait(Wait),
    /// Why a task cannot be started: the chain down to its roots
    Why(One),
    /// The whole board on one screen
    Status(Status),
    /// Where a task stands in the pipeline, and what remains
    Position(One),
    /// The tasks that are planned, built and merged with this one
    Group(One),
    /// Bring the children of a task up to a state
    Advance(Advance),
    /// The states, commands and roles of this board
    Workflow(Workflow),
    /// Who changed what, and when
    Log(Log),
    /// Take back the last change
    Undo(Undo),
    /// Find what is wrong with the board
    Doctor(Doctor),
    /// Settings, and where they come from
    #[command(subcommand)]
    Config(Config),
    /// Print the completion script of a shell, with live ids, states and labels
    Completions(Completions),
    /// Print the manual page, or write all of them
    Man(Man),
    /// Become a program that ends with its parent (called by `run`)
    #[command(hide = true)]
    Guarded(Guarded),
    /// Merge three versions of a task file (called by git)
    #[command(hide = true)]
    MergeDriver(MergeDriver),
}

#[derive(Debug, Args)]
pub struct Init {
    /// Fill the board with tasks worth looking at
    #[arg(long)]
    pub demo: bool,
    /// Make a git repository first, where there is none
    #[arg(long)]
    pub git: bool,
}

#[derive(Debug, Subcommand)]
pub enum Task {
    /// List tasks: ready, blocked and in work at a glance
    #[command(visible_alias = "list")]
    Ls(Ls),
    /// Add a task, or many
    #[command(visible_alias = "new")]
    Add(Add),
    /// Show a task with its description, links and notes
    Show(One),
    /// Change a task's file in your editor
    Edit(One),
    /// Set fields: priority=P1, labels+=bug, owner=
    Set(Set),
    /// Remove tasks
    Rm(Rm),
    /// Show parents with their children
    Tree(Tree),
    /// Draw what waits for what
    Graph(Graph),
    /// Search titles, labels, descriptions and notes
    Search(Search),
    /// Put finished tasks away
    Archive(Archive),
}

#[derive(Debug, Args)]
pub struct One {
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
}

#[derive(Debug, Args)]
pub struct Ls {
    /// In this state, by name or the beginning of it; may be repeated
    #[arg(short, long, value_name = "STATE", add = ArgValueCandidates::new(complete::states))]
    pub state: Vec<String>,
    /// In a state from which this role takes work
    #[arg(short, long, value_name = "ROLE", add = ArgValueCandidates::new(complete::roles))]
    pub role: Option<String>,
    /// That somebody could take now
    #[arg(long)]
    pub ready: bool,
    /// That wait for another
    #[arg(long, conflicts_with = "ready")]
    pub blocked: bool,
    /// Owned by this worker; may be repeated
    #[arg(short, long, value_name = "WORKER")]
    pub owner: Vec<String>,
    /// Owned by you
    #[arg(short, long)]
    pub mine: bool,
    /// With this label; repeated, with all of them
    #[arg(short, long, value_name = "LABEL", add = ArgValueCandidates::new(complete::labels))]
    pub label: Vec<String>,
    /// With this priority; may be repeated
    #[arg(short, long, value_name = "P0..P3")]
    pub priority: Vec<String>,
    /// With this estimate; may be repeated
    #[arg(short, long, value_name = "XS..XL")]
    pub estimate: Vec<String>,
    /// Children of this task
    #[arg(long, value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub parent: Option<String>,
    /// Of this kind: issue, epic, step; may be repeated [default: issue, epic]
    #[arg(short, long, value_name = "KIND")]
    pub kind: Vec<String>,
    /// With finished ones too
    #[arg(short, long)]
    pub all: bool,
    /// What was put away with `task archive`, instead
    #[arg(long)]
    pub archived: bool,
    /// With this text in id, title or labels
    #[arg(long, value_name = "TEXT")]
    pub search: Option<String>,
    /// By priority, state, estimate, created, updated, title, owner or id; `-` turns it round
    #[arg(long, value_name = "FIELD", value_delimiter = ',', allow_hyphen_values = true, add = ArgValueCandidates::new(complete::sorts))]
    pub sort: Vec<String>,
    /// At most this many
    #[arg(short = 'n', long, value_name = "N")]
    pub limit: Option<usize>,
    /// One short line per task, for agents
    #[arg(short, long)]
    pub compact: bool,
}

#[derive(Debug, Args)]
pub struct Text {
    /// The text
    #[arg(short, long, value_name = "TEXT")]
    pub body: Option<String>,
    /// The text from a file, or `-` for standard input
    #[arg(short = 'F', long, value_name = "FILE", conflicts_with = "body", value_hint = clap::ValueHint::FilePath)]
    pub body_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Add {
    /// The title; without it, your editor asks
    pub title: Vec<String>,
    #[command(flatten)]
    pub text: Text,
    /// Many tasks from a file of [[task]] tables or JSON lines, or `-`; all or none
    #[arg(long, value_name = "FILE", conflicts_with_all = ["title", "body", "body_file", "kind", "state", "priority", "estimate", "label", "owner", "parent", "blocked_by", "atomic"], value_hint = clap::ValueHint::FilePath)]
    pub from: Option<PathBuf>,
    /// issue, epic or step
    #[arg(short, long, value_name = "KIND")]
    pub kind: Option<String>,
    /// [default: the first state of the workflow]
    #[arg(short, long, value_name = "STATE", add = ArgValueCandidates::new(complete::states))]
    pub state: Option<String>,
    /// P0, P1, P2 or P3
    #[arg(short, long, value_name = "P0..P3")]
    pub priority: Option<String>,
    /// XS, S, M, L or XL
    #[arg(short, long, value_name = "XS..XL")]
    pub estimate: Option<String>,
    /// A label; may be repeated
    #[arg(short, long, value_name = "LABEL", value_delimiter = ',', add = ArgValueCandidates::new(complete::labels))]
    pub label: Vec<String>,
    /// Who has it
    #[arg(short, long, value_name = "WORKER")]
    pub owner: Option<String>,
    /// The task that it is a part of
    #[arg(long, value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub parent: Option<String>,
    /// A task that must be done first; may be repeated
    #[arg(long, value_name = "TASK", value_delimiter = ',', add = ArgValueCandidates::new(complete::tasks))]
    pub blocked_by: Vec<String>,
    /// Its children are planned, built and merged together
    #[arg(long)]
    pub atomic: bool,
}

#[derive(Debug, Args)]
pub struct Set {
    /// Tasks, then KEY=VALUE, KEY+=VALUE or KEY-=VALUE
    #[arg(required = true, value_name = "TASK… KEY=VALUE", add = ArgValueCandidates::new(complete::tasks))]
    pub words: Vec<String>,
    #[command(flatten)]
    pub text: Text,
    /// Allow keys that ralph does not know
    #[arg(long)]
    pub custom: bool,
}

#[derive(Debug, Args)]
pub struct Rm {
    #[arg(required = true, value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub tasks: Vec<String>,
    /// Also when others name them: those links are taken out
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct Tree {
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: Option<String>,
    /// With finished ones too
    #[arg(short, long)]
    pub all: bool,
}

#[derive(Debug, Args)]
pub struct Graph {
    /// Only what these wait for and what waits for them
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub tasks: Vec<String>,
    /// With finished ones too
    #[arg(short, long)]
    pub all: bool,
    /// For Graphviz
    #[arg(long, conflicts_with = "mermaid")]
    pub dot: bool,
    /// For Mermaid
    #[arg(long)]
    pub mermaid: bool,
}

#[derive(Debug, Args)]
pub struct Search {
    #[arg(required = true, value_name = "WORD")]
    pub words: Vec<String>,
    /// With finished ones too
    #[arg(short, long)]
    pub all: bool,
    /// At most this many
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
    /// One short line per task, for agents
    #[arg(short, long)]
    pub compact: bool,
}

#[derive(Debug, Args)]
pub struct Archive {
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub tasks: Vec<String>,
    /// Without tasks: those untouched for this long, such as 30d or 12h
    #[arg(long, value_name = "AGE", default_value = "30d", value_parser = super::input::age)]
    pub older: jiff::SignedDuration,
}

#[derive(Debug, Args)]
pub struct Block {
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// What it waits for
    #[arg(long, required = true, num_args = 1.., value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub on: Vec<String>,
}

#[derive(Debug, Args)]
pub struct Unblock {
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// What it need not wait for any more [default: anything]
    #[arg(long, num_args = 1.., value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub from: Vec<String>,
}

#[derive(Debug, Args)]
pub struct Note {
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// The text; without it, from standard input or your editor
    #[arg(value_name = "TEXT")]
    pub words: Vec<String>,
    #[command(flatten)]
    pub text: Text,
}

#[derive(Debug, Args)]
pub struct For {
    /// What you act as: triage, research, plan … [default: the only one that fits]
    #[arg(long = "for", value_name = "COMMAND", add = ArgValueCandidates::new(complete::commands))]
    pub command: Option<String>,
}

#[derive(Debug, Args)]
pub struct Move {
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// A state, or __LOCK__, __COMPLETE__, __ESCALATE__, __CLOSE__, __CANCEL__
    #[arg(value_name = "STATE", add = ArgValueCandidates::new(complete::states))]
    pub to: String,
    #[command(flatten)]
    pub acting: For,
    /// A person insists, against the table; it is journaled
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct Close {
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    #[command(flatten)]
    pub acting: For,
    /// A person insists, against the table; it is journaled
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct Claim {
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    #[command(flatten)]
    pub acting: For,
    /// Take it over from its holder; it is journaled
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct Release {
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// Also somebody else's; it is journaled
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct Next {
    /// Work for this role [default: that of the worker]
    #[arg(short, long, value_name = "ROLE", add = ArgValueCandidates::new(complete::roles))]
    pub role: Option<String>,
    /// Claim it in the same breath
    #[arg(long)]
    pub claim: bool,
    /// Wait for work this long, such as 10m
    #[arg(long, value_name = "TIME", value_parser = super::input::age)]
    pub wait: Option<jiff::SignedDuration>,
}

#[derive(Debug, Args)]
pub struct Run {
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    #[command(flatten)]
    pub acting: For,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    pub program: Vec<String>,
}

#[derive(Debug, Args)]
pub struct Wait {
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// A state, `ready`, or `free` of any claim
    #[arg(long, value_name = "STATE|ready|free", add = ArgValueCandidates::new(complete::states))]
    pub until: String,
    /// Give up after this long
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = super::input::age)]
    pub timeout: jiff::SignedDuration,
}

#[derive(Debug, Args)]
pub struct Status {
    /// As Markdown
    #[arg(long)]
    pub markdown: bool,
}

#[derive(Debug, Args)]
pub struct Advance {
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: String,
    /// The children that are strictly behind
    #[arg(long, required = true)]
    pub children: bool,
    /// A gate of the workflow, such as "Ready for Plan"
    #[arg(long, value_name = "STATE", add = ArgValueCandidates::new(complete::states))]
    pub to: String,
    /// Also to a state that is no gate
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct Workflow {
    /// As a Mermaid diagram
    #[arg(long)]
    pub mermaid: bool,
}

/// What `run` starts in its stead: asks the kernel to end it when ralph dies, then becomes the program.
#[derive(Debug, Args)]
pub struct Guarded {
    pub parent: i32,
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub program: Vec<String>,
}

#[derive(Debug, Args)]
pub struct Log {
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: Option<String>,
    /// By this worker
    #[arg(long, value_name = "WORKER")]
    pub by: Option<String>,
    /// Of this verb
    #[arg(long, value_name = "VERB")]
    pub verb: Option<String>,
    /// No older than this, such as 2d or 3h
    #[arg(long, value_name = "AGE", value_parser = super::input::age)]
    pub since: Option<jiff::SignedDuration>,
    /// At most this many
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    pub limit: usize,
}

#[derive(Debug, Args)]
pub struct Undo {
    /// A verb's id from `ralph log` [default: the last one]
    pub id: Option<String>,
    /// Also what somebody else did
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct Doctor {
    /// Put right what is safe
    #[arg(long)]
    pub fix: bool,
}

#[derive(Debug, Subcommand)]
pub enum Config {
    /// All settings
    List {
        /// Show where each value comes from
        #[arg(long)]
        origin: bool,
    },
    /// One setting
    Get {
        #[arg(add = ArgValueCandidates::new(complete::settings))]
        key: String,
    },
    /// Set a setting of the board
    Set {
        #[arg(add = ArgValueCandidates::new(complete::settings))]
        key: String,
        value: String,
        /// For yourself, on every board
        #[arg(long)]
        user: bool,
    },
}

#[derive(Debug, Args)]
pub struct Completions {
    /// bash, zsh, fish, elvish or powershell
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct Man {
    /// Write one page per command into this folder
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct MergeDriver {
    pub base: PathBuf,
    pub ours: PathBuf,
    pub theirs: PathBuf,
    pub path: String,
}

pub fn command() -> clap::Command {
    Cli::command()
}

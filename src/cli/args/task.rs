//! The options of `ralph task`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCandidates;

use super::{AtArgs, OneArgs, ShowOneArgs, TextArgs};
use crate::cli::{complete, input};

#[derive(Debug, Subcommand)]
pub enum TaskCommand {
    /// List tasks, and show which are ready, blocked or claimed
    #[command(visible_alias = "list")]
    Ls(LsArgs),
    /// Add a task, or many
    #[command(visible_alias = "new")]
    Add(AddArgs),
    /// Show a task with its description, links and notes
    Show(ShowOneArgs),
    /// Change a task's file in your editor
    Edit(OneArgs),
    /// Set fields: priority=P1, labels+=bug, owner=
    Set(SetArgs),
    /// Remove tasks
    Rm(RmArgs),
    /// Show parents with their children
    Tree(TreeArgs),
    /// Draw the graph of blockers
    Graph(GraphArgs),
    /// Search titles, labels, descriptions and notes
    Search(SearchArgs),
    /// Archive finished tasks
    Archive(ArchiveArgs),
    /// Compare the boards of two revisions
    Diff(DiffArgs),
}

#[derive(Debug, Args)]
pub struct LsArgs {
    /// Only tasks in this state, by name or prefix; can be repeated
    #[arg(short, long, value_name = "STATE", add = ArgValueCandidates::new(complete::states))]
    pub state: Vec<String>,
    /// Only tasks in a state where this role starts work
    #[arg(short, long, value_name = "ROLE", add = ArgValueCandidates::new(complete::roles))]
    pub role: Option<String>,
    /// Only tasks that can start now
    #[arg(long)]
    pub ready: bool,
    /// Only blocked tasks
    #[arg(long, conflicts_with = "ready")]
    pub blocked: bool,
    /// Only tasks owned by this worker; can be repeated
    #[arg(short, long, value_name = "WORKER")]
    pub owner: Vec<String>,
    /// Only your tasks
    #[arg(short, long)]
    pub mine: bool,
    /// Only tasks with this label; if repeated, with all of them
    #[arg(short, long, value_name = "LABEL", add = ArgValueCandidates::new(complete::labels))]
    pub label: Vec<String>,
    /// Only tasks with this priority; can be repeated
    #[arg(short, long, value_name = "P0..P3")]
    pub priority: Vec<String>,
    /// Only tasks with this estimate; can be repeated
    #[arg(short, long, value_name = "XS..XL")]
    pub estimate: Vec<String>,
    /// Only the children of this task
    #[arg(long, value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub parent: Option<String>,
    /// Only tasks of this kind: issue, epic, step; can be repeated [default: issue, epic]
    #[arg(short, long, value_name = "KIND")]
    pub kind: Vec<String>,
    /// Include finished tasks
    #[arg(short, long)]
    pub all: bool,
    /// List archived tasks instead
    #[arg(long)]
    pub archived: bool,
    /// Only tasks with this text in id, title or labels
    #[arg(long, value_name = "TEXT")]
    pub search: Option<String>,
    /// Sort by priority, state, estimate, created, updated, title, owner or id; a leading `-` reverses
    #[arg(long, value_name = "FIELD", value_delimiter = ',', allow_hyphen_values = true, add = ArgValueCandidates::new(complete::sorts))]
    pub sort: Vec<String>,
    /// Show at most this many
    #[arg(short = 'n', long, value_name = "N")]
    pub limit: Option<usize>,
    /// Print one short line per task, for agents
    #[arg(short, long)]
    pub compact: bool,
    #[command(flatten)]
    pub at: AtArgs,
}

#[derive(Debug, Args)]
pub struct AddArgs {
    /// The title [default: the first line of what you write in your editor]
    pub title: Vec<String>,
    #[command(flatten)]
    pub text: TextArgs,
    /// Add many tasks from a file of [[task]] tables or JSON lines, or `-`; all or none
    #[arg(long, value_name = "FILE", conflicts_with_all = ["title", "body", "body_file", "kind", "state", "priority", "estimate", "label", "owner", "parent", "blocked_by", "atomic"], value_hint = clap::ValueHint::FilePath)]
    pub from: Option<PathBuf>,
    /// The kind: issue, epic or step [default: issue]
    #[arg(short, long, value_name = "KIND")]
    pub kind: Option<String>,
    /// The state [default: the first state of the workflow]
    #[arg(short, long, value_name = "STATE", add = ArgValueCandidates::new(complete::states))]
    pub state: Option<String>,
    /// The priority: P0, P1, P2 or P3
    #[arg(short, long, value_name = "P0..P3")]
    pub priority: Option<String>,
    /// The size: XS, S, M, L or XL
    #[arg(short, long, alias = "size", value_name = "XS..XL")]
    pub estimate: Option<String>,
    /// A label; can be repeated
    #[arg(short, long, value_name = "LABEL", value_delimiter = ',', add = ArgValueCandidates::new(complete::labels))]
    pub label: Vec<String>,
    /// The worker that owns the task
    #[arg(short, long, value_name = "WORKER")]
    pub owner: Option<String>,
    /// The parent: the task that this one is a part of
    #[arg(long, value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub parent: Option<String>,
    /// A task that must be done first; can be repeated
    #[arg(long, value_name = "TASK", value_delimiter = ',', add = ArgValueCandidates::new(complete::tasks))]
    pub blocked_by: Vec<String>,
    /// Plan, build and merge its children together
    #[arg(long)]
    pub atomic: bool,
}

#[derive(Debug, Args)]
pub struct SetArgs {
    /// Tasks, then KEY=VALUE, KEY+=VALUE or KEY-=VALUE
    #[arg(required = true, value_name = "TASK… KEY=VALUE", add = ArgValueCandidates::new(complete::tasks))]
    pub words: Vec<String>,
    #[command(flatten)]
    pub text: TextArgs,
    /// Allow keys that ralph does not know
    #[arg(long)]
    pub custom: bool,
}

#[derive(Debug, Args)]
pub struct RmArgs {
    /// The tasks: their ids or unique prefixes
    #[arg(required = true, value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub tasks: Vec<String>,
    /// Remove them even if other tasks link to them; the links are removed, too
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct TreeArgs {
    /// Only this task and what is below it
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub task: Option<String>,
    /// Include finished tasks
    #[arg(short, long)]
    pub all: bool,
    #[command(flatten)]
    pub at: AtArgs,
}

#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The older revision: a branch, tag or commit
    #[arg(value_name = "REV")]
    pub from: String,
    /// The newer revision [default: the files on disk]
    #[arg(value_name = "REV")]
    pub to: Option<String>,
    /// Print Markdown, for a comment on a pull request
    #[arg(long)]
    pub markdown: bool,
}

#[derive(Debug, Args)]
pub struct GraphArgs {
    /// Only the blockers of these tasks, and the tasks that they block
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub tasks: Vec<String>,
    /// Include finished tasks
    #[arg(short, long)]
    pub all: bool,
    /// Print Graphviz DOT
    #[arg(long, conflicts_with = "mermaid")]
    pub dot: bool,
    /// Print a Mermaid diagram
    #[arg(long)]
    pub mermaid: bool,
    #[command(flatten)]
    pub at: AtArgs,
}

#[derive(Debug, Args)]
pub struct SearchArgs {
    /// The words to find; a task must contain all of them
    #[arg(required = true, value_name = "WORD")]
    pub words: Vec<String>,
    /// Include finished tasks
    #[arg(short, long)]
    pub all: bool,
    /// Show at most this many
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
    /// Print one short line per task, for agents
    #[arg(short, long)]
    pub compact: bool,
}

#[derive(Debug, Args)]
pub struct ArchiveArgs {
    /// The tasks to archive [default: all that are old enough]
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub tasks: Vec<String>,
    /// Without tasks: archive those finished and unchanged for this long, such as 30d or 12h
    #[arg(long, value_name = "AGE", default_value = "30d", value_parser = input::age)]
    pub older: jiff::SignedDuration,
}

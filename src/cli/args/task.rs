//! The options of `ralph task`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCandidates;

use super::{AtArgs, OneArgs, ShowOneArgs, TextArgs};
use crate::cli::{complete, input};

#[derive(Debug, Subcommand)]
pub enum TaskCommand {
    /// List tasks: ready, blocked and in work at a glance
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
    /// Draw what waits for what
    Graph(GraphArgs),
    /// Search titles, labels, descriptions and notes
    Search(SearchArgs),
    /// Put finished tasks away
    Archive(ArchiveArgs),
    /// What differs between the boards of two revisions
    Diff(DiffArgs),
}

#[derive(Debug, Args)]
pub struct LsArgs {
    /// In this state, by name or the beginning of it; may be repeated
    #[arg(short, long, value_name = "STATE", add = ArgValueCandidates::new(complete::states))]
    pub state: Vec<String>,
    /// In a state from which this role takes work
    #[arg(short, long, value_name = "ROLE", add = ArgValueCandidates::new(complete::roles))]
    pub role: Option<String>,
    /// Only tasks that can start now
    #[arg(long)]
    pub ready: bool,
    /// Only blocked tasks
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
    /// Include finished tasks
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
    #[command(flatten)]
    pub at: AtArgs,
}

#[derive(Debug, Args)]
pub struct AddArgs {
    /// The title; without it, your editor asks
    pub title: Vec<String>,
    #[command(flatten)]
    pub text: TextArgs,
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
    #[arg(short, long, alias = "size", value_name = "XS..XL")]
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
    #[arg(required = true, value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub tasks: Vec<String>,
    /// Also when others name them: those links are taken out
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct TreeArgs {
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
    /// A branch, tag or commit
    #[arg(value_name = "REV")]
    pub from: String,
    /// Another one [default: the files as they are]
    #[arg(value_name = "REV")]
    pub to: Option<String>,
    /// Print Markdown, for a comment on a pull request
    #[arg(long)]
    pub markdown: bool,
}

#[derive(Debug, Args)]
pub struct GraphArgs {
    /// Only what these wait for and what waits for them
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub tasks: Vec<String>,
    /// Include finished tasks
    #[arg(short, long)]
    pub all: bool,
    /// For Graphviz
    #[arg(long, conflicts_with = "mermaid")]
    pub dot: bool,
    /// For Mermaid
    #[arg(long)]
    pub mermaid: bool,
    #[command(flatten)]
    pub at: AtArgs,
}

#[derive(Debug, Args)]
pub struct SearchArgs {
    #[arg(required = true, value_name = "WORD")]
    pub words: Vec<String>,
    /// Include finished tasks
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
pub struct ArchiveArgs {
    #[arg(value_name = "TASK", add = ArgValueCandidates::new(complete::tasks))]
    pub tasks: Vec<String>,
    /// Without tasks: those untouched for this long, such as 30d or 12h
    #[arg(long, value_name = "AGE", default_value = "30d", value_parser = input::age)]
    pub older: jiff::SignedDuration,
}

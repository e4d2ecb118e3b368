//! ralph: a git-native, file-based task board for people and coding agents who share one repository.
//!
//! ```text
//! main.rs     argv in, exit code out
//! task/       one task: id, fields, kinds, values, problems                      pure
//! workflow/   states, commands, intents, roles, as data                          pure
//! board/      all tasks at an instant: graph, groups, position, choice           pure
//!   admission/  the one place that decides every change of state                 pure
//! config/     layers → Settings: default < user < board < environment < flag
//! os/         what differs between operating systems, one implementation for each
//! fs/         files and folders, with errors that name the path; `door.rs` keeps them in the repository
//! store/      .ralph/ on disk: codec, guarded files, lock, journal, index, merge
//! git/        gix: worktrees, other revisions, commits, merges, remotes; git itself only for what gix cannot
//! github/     the client, both sides' values of each field, and the pure plan that makes them equal
//! agent/      prompts, documents and agent hooks: what agents are told and what they hand in
//! watch/      file events: which paths may have changed
//! app/        the verbs, one file each, in rooms: edit, work, read, repo, sync, deliver, watch, agents …
//! mcp/        the Model Context Protocol: the same verbs as tools, for agents
//! tui/        the board on the terminal
//! web/        the board for a browser: the same verbs over HTTP, and the page that calls them
//! cli/        the command line: parse → one verb → show; it starts the other faces, which do not know it
//!
//! cli → mcp tui web → app → store git github agent watch → board → workflow → task          (config, os and fs are leaves beside task)
//! ```
//!
//! A verb takes the board's lock, reads what it needs, decides (in `board`, without touching disk), commits once through
//! the store, and returns a struct that every face shows in its own way. `tests/it/architecture.rs` keeps the arrows.
//! `docs/architecture.md` explains the design, `docs/decisions/` the reasons.

// Code that only a disabled face uses is not a mistake.
#![cfg_attr(not(all(feature = "mcp", feature = "tui", feature = "web")), allow(dead_code, unused_imports))]

mod agent;
pub mod app;
pub mod board;
pub mod cli;
mod config;
mod fs;
#[cfg(test)]
mod fuzz;
mod git;
pub mod github;
#[cfg(feature = "mcp")]
mod mcp;
mod os;
pub mod store;
pub mod task;
#[cfg(feature = "tui")]
pub mod tui;
mod watch;
#[cfg(feature = "web")]
mod web;
pub mod workflow;

//! The one integration binary: every face against real directories, real git and real processes.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod anywhere;
mod architecture;
mod artifacts;
mod board_tui;
mod broken;
mod claims;
mod commands;
mod committing;
mod crash;
mod fake;
mod fidelity;
mod gates;
mod github;
mod groups;
mod hero;
mod history;
mod index;
mod integrating;
mod laws;
mod mcp;
mod mcp_client;
mod merging;
mod past;
mod prompts;
mod race;
mod sandbox;
mod setup;
mod sharing;
mod splitting;
mod team;
mod watching;
mod web;
mod workflow;
mod worktree;

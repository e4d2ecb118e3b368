//! The integration tests: every interface with real directories, real git and real processes.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

#[cfg(unix)]
mod action;
mod anywhere;
mod architecture;
mod artifacts;
mod board_tui;
mod bootstrap;
mod broken;
mod claims;
mod commands;
mod committing;
mod crash;
mod docs;
mod doors;
mod fake;
mod fidelity;
mod gates;
mod github;
mod groups;
mod hero;
mod history;
mod hostile;
mod hosts;
mod index;
mod integrating;
mod laws;
#[cfg(target_os = "linux")]
mod machines;
mod mcp;
mod mcp_client;
mod merging;
mod outside;
mod past;
mod people;
mod prompts;
mod race;
mod revision;
mod sandbox;
mod scopes;
mod setup;
mod sharing;
mod splitting;
mod system;
mod team;
mod watching;
mod web;
mod workflow;
mod worktree;

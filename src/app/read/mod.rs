//! Queries of the board, without any changes.

pub(super) mod claim_list;
pub(super) mod diff;
pub(super) mod filter;
pub(super) mod graph;
pub(super) mod inbox;
pub(super) mod list;
pub(super) mod position;
pub(super) mod schema;
pub(super) mod search;
pub(super) mod show;
pub(super) mod status;
pub(super) mod streams;
pub(super) mod targets;
pub(super) mod timeline;
pub(super) mod trends;
pub(super) mod upkeep;
pub(super) mod who;
pub(super) mod why;
pub(super) mod workflow;

//! The context of every verb: the board and its settings, the worker, claims and trust.

pub(super) mod board_files;
pub(super) mod changing;
pub(super) mod drafts;
pub(super) mod git_commit;
pub(super) mod layers;
pub(super) mod open;
pub(super) mod past;
pub(super) mod remote;
pub(super) mod scopes;
pub(super) mod session;
pub(super) mod settings;
pub(super) mod stop;
pub(super) mod sub_agents;
pub(super) mod trust;

//! What every verb works with: the board and its settings, who acts, claims, trust, and the errors of all of it.

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

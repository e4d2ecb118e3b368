//! The records of work: documents, runs, costs, and changes outside of worktrees.

pub(super) mod artifact;
pub(super) mod budgets;
pub(super) mod checks;
pub(super) mod costs;
pub(super) mod failed_merges;
pub(super) mod runs;
pub(super) mod status_update;
pub(super) mod strays;

//! The repository: worktrees and branches of tasks, pull and push, the merge driver.

pub(super) mod bootstrap;
pub(super) mod branch;
pub(super) mod merge_driver;
pub(super) mod pull_push;
pub(super) mod rescue;
pub(super) mod task_diff;
pub(super) mod unmerged;
pub(super) mod worktree;

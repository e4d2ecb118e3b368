//! Agent programs: workers, teams, prompts and hooks.

pub(super) mod hook;
pub(super) mod programs;
pub(super) mod prompt;
pub(super) mod relay;
pub(super) mod review;
pub(super) mod setup;
pub(super) mod team;
pub(super) mod worker;

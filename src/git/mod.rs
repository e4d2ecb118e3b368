//! The repository around the board, through gix: where it is, who works in it, and what ralph sets up there.

mod history;
mod repository;
mod setup;
mod worktree;

pub use repository::{GitError, Repository};
pub use setup::{ATTRIBUTES, DRIVER};
pub use worktree::{Distance, Worktree};

//! The repository around the board, through gix: where it is, who works in it, and what ralph sets up there.

mod commit;
mod history;
mod index;
mod integrate;
mod merge;
mod program;
mod repository;
mod setup;
mod update;
mod worktree;

pub use commit::NewCommit;
pub use integrate::{Landing, Prepared, Style};
pub use merge::MergeFiles;
pub use repository::{GitError, Repository};
pub use setup::{ATTRIBUTES, DRIVER};
pub use worktree::{Distance, Worktree};

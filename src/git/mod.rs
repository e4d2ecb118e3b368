//! The git repository of the board, through gix.

mod commit;
mod diff;
mod files;
mod history;
mod index;
mod integrate;
mod locks;
mod merge;
mod network;
mod patterns;
mod program;
mod progress;
mod remote;
mod repository;
mod said;
mod setup;
mod update;
mod worktree;

pub use diff::{Comparison, DiffLine, FileDiff};
pub use history::{BranchMove, GitHand, OldFile};
pub use integrate::{Landing, Prepared, Style};
pub use merge::{MergeFiles, Settled};
pub use network::start_git_through;
pub use remote::{ClaimRef, Pushed, RefAnswer, RefUpdate, Upstream};
pub use repository::{GitError, Repository};
pub use said::{FailedVerb, NetTrouble, failure_in};
pub use setup::{ATTRIBUTES, DRIVER};
pub use worktree::{Distance, Worktree};

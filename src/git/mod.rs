//! The repository around the board, through gix: where it is, who works in it, and what ralph sets up there.

mod history;
mod repository;
mod setup;

pub use repository::{GitError, Repository};
pub use setup::{ATTRIBUTES, DRIVER};

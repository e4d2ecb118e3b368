//! The terminal board: a key becomes a change of the model or a wish, wishes become verbs, and the model is drawn.
//!
//! ```text
//! model/       everything on the screen, as plain state
//! update/      keys, the mouse and answers → a changed model, and wishes
//! view/        the model → a frame of what is visible
//! desk/        wishes → verbs of `app`, on separate threads
//! feed.rs      changes by others
//! session.rs   the event loop
//! editing.rs   the person's editor
//! leaving.rs   the end: running verbs are completed, and texts are kept
//! frames.rs    frames without a terminal
//! terminal.rs  sets up the terminal and restores it
//! words.rs     refusals and marks of tasks in words
//! ```

mod desk;
mod editing;
mod feed;
mod frames;
mod keys;
mod leaving;
#[cfg(test)]
mod made_up;
mod model;
mod session;
mod terminal;
mod update;
mod view;
mod words;

use crate::app::{Failure, Options};

pub use frames::Frames;

/// How the board is shown.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    pub color: bool,
    /// A filter as for `task ls`.
    pub filter: String,
}

/// Shows the board until the person quits.
pub fn run(options: &Options, wanted: &Wanted) -> Result<(), Failure> {
    session::run(options, wanted)
}

//! The terminal board: what the person presses becomes a change of the model or a wish; wishes are verbs; the model is drawn.
//!
//! ```text
//! model/       everything on the screen, as plain state
//! update/      keys, the mouse and answers → a changed model, and wishes
//! view/        the model → a frame; only what is in sight
//! desk/        wishes → verbs of `app`, on threads of their own
//! feed.rs      what others change meanwhile
//! session.rs   the loop between them
//! editing.rs   the person's editor
//! leaving.rs   the end: nothing is left undone, nothing written is lost
//! frames.rs    frames without a terminal
//! terminal.rs  taking the terminal and giving it back
//! words.rs     refusals and standings in words
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
    /// In the terms of `task ls`.
    pub filter: String,
}

/// Shows the board until the person has seen enough.
pub fn run(options: &Options, wanted: &Wanted) -> Result<(), Failure> {
    session::run(options, wanted)
}

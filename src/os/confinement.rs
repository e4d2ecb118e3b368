//! Which files a confined program may write.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The only places that a program may change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// Files, and folders with their content. Paths that do not exist are left out.
    pub write: Vec<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub enum ConfineError {
    #[error("this system has no sandbox (on Linux: Landlock is missing or disabled)")]
    Unsupported,
    #[error("cannot sandbox the program: {0}")]
    Refused(String),
}

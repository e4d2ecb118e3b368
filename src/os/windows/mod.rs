//! Windows.

pub mod files;
pub mod process;
pub mod signals;
pub mod terminal;

pub use super::unconfined::{confine, relay};

pub const LIMITS: &[&str] = &[
    "Windows does not keep opened files below a folder: links and junctions are looked at before a file is opened, not while it is",
    "files cannot be exchanged in one step here: an editor that saves in the very instant in which ralph writes is noticed after it",
    "a program cannot be asked to end here, only be ended: what would be asked elsewhere ends it at once, with all that it has started",
    "files have no modes here: what only their owner may read depends on the folder that they are in",
];

//! Windows.

pub mod clock;
pub mod files;
pub mod process;
pub mod signals;
pub mod terminal;

pub use super::unconfined::{confine, relay};

pub const LIMITS: &[&str] = &[
    "links are resolved before a file is opened, not by the system while it is opened",
    "two files cannot be exchanged atomically: an editor that replaces a file within microseconds of ralph loses that save",
    "programs cannot be asked to end: stopping one kills it at once, with everything it started",
    "leases of other machines are timed by the wall clock: setting it forward by a lease ends them early",
    "files have no modes: who can read the web token depends on the permissions of .git/ralph",
];

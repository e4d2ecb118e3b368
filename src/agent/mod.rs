//! Prompts, documents and agent hooks.

pub mod document;
pub mod host;
pub mod prompt;

mod ask;
pub mod claude;
mod gate;
mod hook;
pub mod json;
mod shell;

pub use ask::{Ask, Wish, asks};
pub use gate::{GATES, GateSpec, Phase as GatePhase};
pub use hook::HookInput;
pub use shell::{Call, GitCall, Unreadable, calls};

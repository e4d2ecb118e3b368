//! What hosts of coding agents send and read: hooks, the commands in them, and the files that set them up.

mod ask;
mod gate;
mod hook;
mod shell;

pub use ask::{Ask, Wish, asks};
pub use gate::{GATES, GateSpec, Phase as GatePhase};
pub use hook::{HookInput, NotAHook};
pub use shell::{Call, GitCall, calls};

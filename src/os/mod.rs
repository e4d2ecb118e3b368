//! What differs between systems, and nothing else: each part has one implementation per system, with the same functions.
//!
//! ```text
//! unix/       Linux and macOS; `linux.rs` and `other.rs` hold where these two part
//! windows/    Windows
//! ```
//!
//! | part       | what it does                                                                     |
//! |------------|----------------------------------------------------------------------------------|
//! | `files`    | opening below a folder, renames that replace nothing, exchange, identity, modes   |
//! | `process`  | groups, exit codes, the end of a parent, offspring, the name of this machine      |
//! | `signals`  | what asks a program to end                                                       |
//! | `terminal` | waiting for input, readers that go away, the hand-over to an editor or a browser  |
//! | `relay`    | a socket that passes a program's standard streams on                              |
//! | `confine`  | what a program may write, enforced by the kernel                                 |
//!
//! What each system promises is in `docs/platforms.md`; `ralph doctor` tells what this one cannot do ([`limits`]).

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

mod confinement;
mod open;
#[cfg(not(target_os = "linux"))]
mod unconfined;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub use confinement::{ConfineError, Confinement};
pub use open::{Beneath, Create, How};
pub use system::{confine, files, process, relay, signals, terminal};

/// What ralph promises elsewhere and cannot promise on this system, in words for a person.
pub fn limits() -> Vec<&'static str> {
    let mut limits = system::LIMITS.to_vec();
    if !confine::is_supported() {
        limits.push("programs of agents are not confined by the kernel here: their own sandboxes and ralph's hooks are all that holds them");
    }
    limits
}

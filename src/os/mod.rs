//! Everything that differs between operating systems, with one implementation per system behind the same functions.
//!
//! ```text
//! unix/       Linux and macOS; linux.rs and other.rs contain the differences between the two
//! windows/    Windows
//! ```
//!
//! | part       | what it does                                                                          |
//! |------------|---------------------------------------------------------------------------------------|
//! | `files`    | opening files below a folder, rename without overwrite, exchange, file identity, modes |
//! | `process`  | process groups, exit codes, guards and their children, host name, shell               |
//! | `signals`  | receiving signals                                                                     |
//! | `clock`    | a clock that cannot be set                                                            |
//! | `terminal` | waiting for input, closed pipes, default editor and browser, home folder              |
//! | `relay`    | a socket that passes on standard streams                                              |
//! | `confine`  | restricting what a program may write                                                  |
//!
//! `docs/platforms.md` lists what each system guarantees; `ralph doctor` prints the gaps of this one ([`limits`]).

mod confinement;
mod open;
mod signal;
#[cfg(not(target_os = "linux"))]
mod unconfined;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub use confinement::{ConfineError, Confinement};
pub use open::{Beneath, Create, OpenMode};
pub use signal::Signal;
pub use system::{clock, confine, files, process, relay, signals, terminal};

/// Guarantees that ralph gives on other systems but not on this one.
pub fn limits() -> Vec<&'static str> {
    let mut limits = system::LIMITS.to_vec();
    if !confine::is_supported() {
        limits.push("agents are not sandboxed by the kernel; only their own sandboxes and ralph's hooks restrict them");
    }
    limits
}

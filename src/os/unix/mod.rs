//! Linux, macOS and similar systems.

pub mod clock;
pub mod files;
pub mod process;
pub mod signals;
pub mod terminal;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as kernel;
#[cfg(target_os = "linux")]
pub use linux::{LIMITS, confine, relay};

#[cfg(not(target_os = "linux"))]
mod other;
#[cfg(not(target_os = "linux"))]
use other as kernel;
#[cfg(not(target_os = "linux"))]
pub use other::{LIMITS, confine, relay};

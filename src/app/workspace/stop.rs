//! A flag that asks a long-running verb to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Whether to stop: after the current run, or at once.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicU8>);

impl Stop {
    /// The first call asks to stop soon, the second one at once.
    pub fn ask(&self) {
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |level| Some((level + 1).min(2)));
    }

    pub fn insist(&self) {
        self.0.store(2, Ordering::Relaxed);
    }

    /// The request as text.
    pub fn wish(&self) -> Option<&'static str> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            1 => Some("stopping after the current run; press Ctrl-C again to stop at once"),
            _ => Some("stopping"),
        }
    }

    pub fn soon(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }

    pub fn at_once(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 1
    }
}

//! A worker among other machines: exchanges the board with them, and waits for a remote that cannot be reached.

use std::time::{Duration, Instant};

use super::Shift;
use crate::app::{Failure, FailureKind};

/// How often the board is exchanged while there is no work.
const EXCHANGE: Duration = Duration::from_secs(5);
/// How long a worker waits for a remote that cannot be reached.
const CUT_OFF: Duration = Duration::from_secs(120);

impl Shift<'_> {
    /// Exchanges the board if there is no work, because other machines may have unblocked some. Returns whether to look
    /// for work again.
    pub(super) fn catch_up(&mut self) -> bool {
        if self.asked.dry_run
            || self.ws.claims_remote().is_none()
            || self.exchanged.is_some_and(|last| last.elapsed() < EXCHANGE)
        {
            return false;
        }
        self.ws.exchange_now();
        self.exchanged = Some(Instant::now());
        true
    }

    /// Waits a moment if the remote cannot be reached; returns `false` if it has been unreachable for too long.
    pub(super) fn waits_for_remote(&mut self, failure: &Failure) -> bool {
        if failure.kind != FailureKind::Offline || self.ws.claims_remote().is_none() {
            return false;
        }
        let since = *self.cut_off.get_or_insert_with(Instant::now);
        let waits = since.elapsed() < CUT_OFF;
        let pause = Instant::now();
        while waits && !self.stop.soon() && pause.elapsed() < Duration::from_secs(2) {
            std::thread::sleep(Duration::from_millis(50));
        }
        waits
    }
}

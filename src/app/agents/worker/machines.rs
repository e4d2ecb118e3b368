//! A worker among other machines: what they have done, and a remote that cannot be reached.

use std::time::{Duration, Instant};

use super::Shift;
use crate::app::{Failure, FailureKind};

/// How often the board is exchanged while there is nothing to do.
const EXCHANGE: Duration = Duration::from_secs(5);
/// How long a worker waits for a remote that cannot be reached.
const CUT_OFF: Duration = Duration::from_secs(120);

impl Shift<'_> {
    /// Without work, what other machines have done may bring some; what was done here goes out. Whether it is worth another look.
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

    /// A remote that cannot be reached for a moment is waited for; one that stays away ends the worker.
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

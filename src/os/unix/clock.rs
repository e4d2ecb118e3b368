//! A clock that nobody can set.

use std::time::Duration;

use rustix::time::clock_gettime;

use super::kernel::STEADY_CLOCK;

/// The time since some moment, such as the start of the system. It goes on while the machine sleeps, and all processes see the same.
/// After a restart it begins anew, so that two readings are never further apart than the time that has passed.
pub fn ticks() -> Duration {
    let now = clock_gettime(STEADY_CLOCK);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}

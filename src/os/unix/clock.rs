//! A clock that cannot be set.

use std::time::Duration;

use rustix::time::clock_gettime;

use super::kernel::STEADY_CLOCK;

/// The time since some fixed moment, such as the start of the system. It continues while the machine sleeps and is the same for
/// all processes. After a restart it begins again, so the difference of two readings never exceeds the time that has passed.
pub fn ticks() -> Duration {
    let now = clock_gettime(STEADY_CLOCK);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}

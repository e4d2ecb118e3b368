//! The pace of write requests: within the rate limit, and slower after each limit error.

use std::time::Duration;

/// Pauses between write requests, and before a retry.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    least: Duration,
    /// The current pause: longer than `least` after a limit error, then gradually shorter.
    pause: Duration,
    calm: u32,
    budget: Option<Budget>,
}

/// The rest of the hourly limit, from the headers of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    pub requests: u64,
    pub seconds: u64,
}

const LONGEST: Duration = Duration::from_secs(60);
/// After this many writes without a limit error, the pause is shortened.
const CALM: u32 = 20;

impl Pace {
    /// `least` is the shortest pause; zero means none at all.
    pub fn new(least: Duration) -> Self {
        Self { least, pause: least, calm: 0, budget: None }
    }

    /// The pause between two write requests.
    pub fn pause(&self) -> Duration {
        let spread = self.budget.map_or(Duration::ZERO, |left| {
            Duration::from_millis(left.seconds.saturating_mul(1_000) / left.requests.max(1))
        });
        if self.least.is_zero() { Duration::ZERO } else { self.pause.max(spread).min(LONGEST) }
    }

    pub fn before_retry(&self, attempt: u32) -> Duration {
        self.least * 2_u32.pow(attempt.min(5))
    }

    /// Records a write request that was answered.
    pub fn wrote(&mut self, budget: Option<Budget>) {
        self.budget = budget;
        self.calm += 1;
        if self.calm >= CALM {
            self.calm = 0;
            self.pause = (self.pause * 3 / 4).max(self.least);
        }
    }

    /// Records that GitHub reported a limit error.
    pub fn slow_down(&mut self) {
        self.calm = 0;
        self.pause = (self.pause * 2).min(LONGEST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn what_is_left_of_the_hour_is_spread_over_it() {
        let mut pace = Pace::new(SECOND);
        pace.wrote(Some(Budget { requests: 5_000, seconds: 3_600 }));
        assert_eq!(pace.pause(), SECOND);
        pace.wrote(Some(Budget { requests: 100, seconds: 500 }));
        assert_eq!(pace.pause(), SECOND * 5);
        pace.wrote(Some(Budget { requests: 0, seconds: 3_600 }));
        assert_eq!(pace.pause(), LONGEST);
    }

    #[test]
    fn a_limit_doubles_the_pause_and_calm_shortens_it_to_the_least() {
        let mut pace = Pace::new(SECOND);
        pace.slow_down();
        pace.slow_down();
        assert_eq!(pace.pause(), SECOND * 4);
        (0..CALM).for_each(|_| pace.wrote(None));
        assert_eq!(pace.pause(), SECOND * 3);
        (0..CALM * 10).for_each(|_| pace.wrote(None));
        assert_eq!(pace.pause(), SECOND);
    }

    #[test]
    fn without_a_pace_there_is_no_pause() {
        let mut pace = Pace::new(Duration::ZERO);
        pace.slow_down();
        pace.wrote(Some(Budget { requests: 1, seconds: 3_600 }));
        assert_eq!(pace.pause(), Duration::ZERO);
    }
}

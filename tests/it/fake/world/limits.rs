//! The rate limits of the server: points per hour and, if enabled, content creation (§1.3).

use jiff::{SignedDuration, Timestamp};

use super::World;

/// Secondary limits on content creation; `World::limits` is `None` unless a test sets it.
#[derive(Clone, Debug)]
pub struct Limits {
    pub per_minute: usize,
    pub per_hour: usize,
    pub issues_per_minute: usize,
    pub issues_per_hour: usize,
}

impl Limits {
    /// The documented limits: 80 a minute, 500 an hour.
    #[must_use]
    pub fn documented() -> Self {
        Self { per_minute: 80, per_hour: 500, issues_per_minute: 80, issues_per_hour: 500 }
    }

    /// The limits for issues that users measured: about 20 a minute and 150 an hour.
    #[must_use]
    pub fn observed() -> Self {
        Self { issues_per_minute: 20, issues_per_hour: 150, ..Self::documented() }
    }
}

/// Why a request is refused before it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    Points,
}

impl World {
    /// Points left in this window.
    #[must_use]
    pub fn points_remaining(&self) -> u64 {
        self.points_limit.saturating_sub(self.points_used)
    }

    pub(in super::super) fn spend(&mut self, points: u64) -> Result<(), Refusal> {
        if self.now >= self.points_reset {
            self.points_used = 0;
            self.points_reset = self.now + SignedDuration::from_hours(1);
        }
        if self.points_remaining() < points {
            return Err(Refusal::Points);
        }
        self.points_used += points;
        Ok(())
    }

    /// Counts one created issue, comment and so on; false if that exceeds the limit.
    pub(in super::super) fn count_creation(&mut self, issue: bool) -> bool {
        if let Some(limits) = self.limits.clone()
            && self.exceeds(&limits, issue)
        {
            return false;
        }
        self.created_content.push((self.now, issue));
        true
    }

    fn exceeds(&self, limits: &Limits, issue: bool) -> bool {
        let minute = self.now - SignedDuration::from_mins(1);
        let hour = self.now - SignedDuration::from_hours(1);
        let all = |from: Timestamp| self.created_content.iter().filter(|c| c.0 > from).count();
        let issues = |from: Timestamp| self.created_content.iter().filter(|c| c.0 > from && c.1).count();
        all(minute) >= limits.per_minute
            || all(hour) >= limits.per_hour
            || (issue && (issues(minute) >= limits.issues_per_minute || issues(hour) >= limits.issues_per_hour))
    }
}

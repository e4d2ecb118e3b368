//! The content of a claim's reference on the remote.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::board::{Claim, Scope};
use crate::task::Worker;

/// The longest lease that other machines respect, whatever the claim says.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// The text of the object. It has no end time: clocks differ, so each machine counts the lease from when it first saw the object. The
/// nonce makes it unlike any other: an equal one would "win" for two at once.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ClaimEntry {
    pub worker: Worker,
    pub host: String,
    /// For people.
    pub since: Timestamp,
    /// In seconds.
    #[serde(default = "an_hour")]
    pub lease: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The journal line of the move that ended the claim. Other machines may not claim the task before they have that line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<String>,
    #[serde(default, skip_serializing_if = "Scope::is_empty")]
    pub paths: Scope,
    pub nonce: String,
}

fn an_hour() -> u64 {
    3600
}

impl ClaimEntry {
    pub fn of(claim: &Claim, lease: Duration) -> Self {
        let Claim { worker, host, since, command, paths, .. } = claim.clone();
        Self { worker, host, since, lease: lease.as_secs().max(1), command, moved: None, paths, nonce: nonce() }
    }

    /// Replaces the claim of a task that has been moved.
    pub fn moved(worker: Worker, host: String, since: Timestamp, line: String) -> Self {
        let (command, paths) = (None, Scope::default());
        Self { worker, host, since, lease: LONGEST.as_secs(), command, moved: Some(line), paths, nonce: nonce() }
    }

    /// A text that cannot be read counts as an expired claim.
    pub fn read(text: &str) -> Self {
        toml::from_str(text).unwrap_or_else(|_| Self {
            worker: Worker::new("unreadable").expect("a plain word is a name"),
            host: String::new(),
            since: Timestamp::UNIX_EPOCH,
            lease: 0,
            command: None,
            moved: None,
            paths: Scope::default(),
            nonce: String::new(),
        })
    }

    pub fn text(&self) -> String {
        toml::to_string(self).expect("an entry is a flat table")
    }

    pub fn lease(&self) -> Duration {
        Duration::from_secs(self.lease).min(LONGEST)
    }

    /// As a claim of another clone, with the time that is left of its lease.
    pub fn claim(self, object: String, now: Timestamp, left: Duration) -> Claim {
        Claim {
            live: !left.is_zero(),
            worker: self.worker,
            host: self.host,
            since: self.since,
            until: now.checked_add(left).unwrap_or(now),
            held: false,
            token: String::new(),
            command: self.command,
            paths: self.paths,
            remote: Some(object),
            renewing: None,
            published: None,
            leased: None,
            session: None,
            foreign: true,
        }
    }
}

fn nonce() -> String {
    (0..16).map(|_| fastrand::alphanumeric()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_lease_is_longer_than_a_day_and_what_is_no_claim_has_none() {
        let text = "worker = 'ada'\nhost = 'h'\nsince = '2026-11-18T00:00:00Z'\nlease = 8640000\nnonce = 'x'\n";
        assert_eq!(ClaimEntry::read(text).lease(), LONGEST);
        assert_eq!(ClaimEntry::read("not a claim").lease(), Duration::ZERO);
    }

    #[test]
    fn an_end_time_of_an_older_ralph_binds_nobody() {
        let text =
            "worker = 'ada'\nhost = 'h'\nsince = '2026-11-18T00:00:00Z'\nuntil = '2036-11-18T00:00:00Z'\nnonce = 'x'\n";
        assert_eq!(ClaimEntry::read(text).lease(), Duration::from_secs(3600));
    }
}

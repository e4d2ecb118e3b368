//! Formats durations and ages briefly.

use jiff::{SignedDuration, Timestamp};

/// The age of `at`, such as `3h` or `2d`.
pub fn ago(at: Timestamp, now: Timestamp) -> String {
    span(now.duration_since(at))
}

pub fn span(duration: SignedDuration) -> String {
    let seconds = duration.as_secs().max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..172_800 => format!("{}h", seconds / 3_600),
        172_800..5_184_000 => format!("{}d", seconds / 86_400),
        _ => format!("{}mo", seconds / 2_592_000),
    }
}

//! Dates in the format of ralph-hero's filters: `@today-7d`, `@now+2h`, or ISO.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use crate::app::{Code, Failure, Hint};

pub fn parse(text: &str, now: Timestamp) -> Result<Timestamp, Failure> {
    let typed = text.trim();
    let found = match typed.strip_prefix('@') {
        Some(math) => relative(math, now),
        None => typed.parse().ok().or_else(|| midnight(typed.parse().ok()?)),
    };
    found.ok_or_else(|| {
        Failure::usage(Code::BadDate, format!("{text:?} is not a date"))
            .hint(Hint::step("use 2026-11-16, 2026-11-16T10:00:00Z, @today-7d or @now-2h; the units are h, d, w and m"))
    })
}

fn midnight(date: Date) -> Option<Timestamp> {
    date.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

fn relative(math: &str, now: Timestamp) -> Option<Timestamp> {
    let (base, rest) = math.split_at(math.find(['+', '-']).unwrap_or(math.len()));
    let base = match base.trim() {
        "now" => now,
        "today" => midnight(now.to_zoned(TimeZone::UTC).date())?,
        _ => return None,
    };
    if rest.is_empty() {
        return Some(base);
    }
    let (sign, rest) = rest.split_at(1);
    let unit = rest.chars().last()?;
    let count: i64 = rest[..rest.len() - unit.len_utf8()].trim().parse().ok().filter(|count| *count >= 0)?;
    let span = match unit {
        'h' => Span::new().try_hours(count),
        'd' => Span::new().try_days(count),
        'w' => Span::new().try_weeks(count),
        'm' => Span::new().try_months(count),
        _ => return None,
    };
    let span = if sign == "-" { span.ok()?.negate() } else { span.ok()? };
    base.to_zoned(TimeZone::UTC).checked_add(span).ok().map(|zoned| zoned.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_from_now_or_from_the_start_of_today() {
        let now: Timestamp = "2026-03-31T15:30:00Z".parse().unwrap();
        let read = |text: &str| parse(text, now).map(|at| at.to_string());
        for (text, at) in [
            ("@now", "2026-03-31T15:30:00Z"),
            ("@today", "2026-03-31T00:00:00Z"),
            ("@now-2h", "2026-03-31T13:30:00Z"),
            ("@today-7d", "2026-03-24T00:00:00Z"),
            ("@today+1w", "2026-04-07T00:00:00Z"),
            ("@today-1m", "2026-02-28T00:00:00Z"),
            ("2026-03-01", "2026-03-01T00:00:00Z"),
            ("2026-03-01T10:00:00+02:00", "2026-03-01T08:00:00Z"),
        ] {
            assert_eq!(read(text).unwrap(), at, "{text}");
        }
        for wrong in [
            "",
            "@",
            "yesterday",
            "@today-",
            "@today-d",
            "@today--1d",
            "@now-5x",
            "@now-99999999999h",
            "@now-1ü",
            "@tomorrow",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}

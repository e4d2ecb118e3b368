//! Why an agent could not work at all: not logged in, out of credit, at its limit, offline, or broken at start.
//!
//! Programs word these reasons differently, so the text is passed on unchanged; only the time at which a limit ends is parsed.

use jiff::civil::Time;
use jiff::{SignedDuration, Timestamp, ToSpan as _, Zoned};

use super::event::Report;

/// A failure of the agent program, not of its task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    Unavailable {
        said: String,
    },
    /// The program said when it can continue.
    Limited {
        said: String,
        until: Timestamp,
    },
}

/// Decides from the end of a run whether the program could not work: its turn failed, or it ended with an error before it used
/// any tool. A program that was killed after it had begun may have failed because of its task.
pub fn trouble_in(report: &Report, code: i32, now: &Zoned) -> Option<Trouble> {
    let failed = match &report.ended {
        Some(ended) => !ended.ok,
        None => code != 0 && report.tools == 0 && !(code > 128 && report.session.is_some()),
    };
    if !failed {
        return None;
    }
    let said = last_words(report, code);
    let told = report.limit.flatten_time().or_else(|| time_in(&said, now));
    Some(match told.filter(|until| *until > now.timestamp()) {
        Some(until) => Trouble::Limited { said, until },
        None => Trouble::Unavailable { said },
    })
}

fn last_words(report: &Report, code: i32) -> String {
    let ended = report.ended.as_ref().map(|ended| ended.text.clone());
    let all = [ended, report.failure.clone(), report.said.clone(), report.text.clone()];
    let found = all.into_iter().flatten().find(|text| !text.trim().is_empty());
    found.unwrap_or_else(|| format!("exited with status {code} and no output"))
}

/// Parses `…limit reached|1794935249`, `try again at 6:11 PM`, `resets 3pm` or `resets at 15:30` into the next such time. A
/// time of day means the end of that minute, because programs cut off the seconds.
pub fn time_in(said: &str, now: &Zoned) -> Option<Timestamp> {
    let lower = said.to_lowercase();
    if let Some((_, seconds)) = lower.split_once("limit reached|") {
        let digits: String = seconds.chars().take_while(char::is_ascii_digit).collect();
        return Timestamp::from_second(digits.parse().ok()?).ok();
    }
    let markers = ["try again at ", "resets at ", "reset at ", "resets "];
    let rest = markers.iter().find_map(|marker| lower.split_once(marker).map(|(_, rest)| rest))?;
    let time = clock(rest)?;
    let today = now.with().time(time.with().second(59).build().ok()?).build().ok()?;
    let next = if today > *now { today } else { today.checked_add(1.day()).ok()? };
    Some(next.timestamp())
}

/// Parses `6:11 pm`, `3pm` or `15:30`.
fn clock(text: &str) -> Option<Time> {
    let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
    let mut hour: i8 = digits.parse().ok()?;
    let mut rest = &text[digits.len()..];
    let mut minute = 0;
    if let Some(after) = rest.strip_prefix(':') {
        let digits: String = after.chars().take(2).take_while(char::is_ascii_digit).collect();
        minute = digits.parse().ok()?;
        rest = &after[digits.len()..];
    }
    let rest = rest.trim_start();
    let half = if rest.starts_with("pm") { Some(12) } else { rest.starts_with("am").then_some(0) };
    match half {
        Some(more) => hour = hour % 12 + more,
        // A bare number is not a time of day.
        None if !text[digits.len()..].starts_with(':') => return None,
        None => {}
    }
    Time::new(hour, minute, 0, 0).ok()
}

/// Paths that programs said they were not allowed to write, each once.
pub fn denied_paths<'t>(answers: impl Iterator<Item = &'t str>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in answers.flat_map(str::lines) {
        let lower = line.to_lowercase();
        let denied = lower.contains("permission denied") || lower.contains("read-only file system");
        // git tries to take this lock with every commit, and continues without it.
        if !denied || lower.contains("packed-refs.lock") {
            continue;
        }
        let words = line.split(|c: char| c.is_whitespace() || "'\"`".contains(c));
        let path = words
            .map(|word| word.trim_end_matches([':', ',', ';']))
            .find(|word| word.starts_with('/') && word.len() > 1);
        // A message may begin with the path of the shell, which is not the denied path.
        found.extend(
            path.filter(|path| !path.starts_with("/bin/") && !path.starts_with("/usr/bin/")).map(str::to_owned),
        );
    }
    found.sort();
    found.dedup();
    found
}

/// The longest time that a limit can last; a later time is considered a mistake of the program.
pub const LONGEST_LIMIT: SignedDuration = SignedDuration::from_hours(24 * 8);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::host::Host;

    fn now() -> Zoned {
        "2026-11-17T17:20:00+01:00[Europe/Prague]".parse().unwrap()
    }

    fn read(host: &str, log: &str, code: i32) -> Option<Trouble> {
        trouble_in(&Report::read(Host::find(host).unwrap(), log), code, &now())
    }

    fn unavailable(said: &str) -> Option<Trouble> {
        Some(Trouble::Unavailable { said: said.into() })
    }

    #[test]
    fn who_is_not_logged_in_says_so_in_its_own_words() {
        let claude = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Not logged in · Please run /login"}]}}
{"type":"result","is_error":true,"result":"Not logged in · Please run /login"}"#;
        assert_eq!(read("claude", claude, 1), unavailable("Not logged in · Please run /login"));
        let codex = r#"{"type":"turn.failed","error":{"message":"Missing environment variable: `OPENAI_API_KEY`."}}"#;
        assert_eq!(read("codex", codex, 1), unavailable("Missing environment variable: `OPENAI_API_KEY`."));
        let gemini = "When using Gemini API, you must specify the GEMINI_API_KEY environment variable.\n";
        assert_eq!(read("gemini", gemini, 41), unavailable(gemini.trim()));
        let opencode = r#"{"type":"error","error":{"name":"APIError","data":{"message":"invalid x-api-key"}}}"#;
        assert_eq!(read("opencode", opencode, 1), unavailable("invalid x-api-key"));
    }

    #[test]
    fn a_run_that_worked_and_then_crashed_is_not_the_programs_trouble() {
        let log = r#"{"type":"item.started","item":{"id":"1","type":"command_execution","command":"cargo test"}}"#;
        assert_eq!(read("codex", log, 137), None);
        assert!(read("codex", "", 137).is_some());
        assert_eq!(read("codex", r#"{"type":"turn.completed","usage":{}}"#, 0), None);
    }

    #[test]
    fn what_was_denied_is_named_once() {
        let said = "sed: couldn't open temporary file /b/src/sedX: Permission denied\nfatal: Unable to create \
                    '/b/.git/index.lock': Permission denied\nfatal: Unable to create '/b/.git/index.lock': Permission denied\nok\n";
        assert_eq!(denied_paths([said].into_iter()), ["/b/.git/index.lock", "/b/src/sedX"]);
        assert_eq!(denied_paths(["touch: cannot touch '/x': Read-only file system"].into_iter()), ["/x"]);
    }

    #[test]
    fn the_time_of_a_limit_is_the_one_that_was_said() {
        let at = |said: &str| time_in(said, &now()).map(|time| time.to_string());
        assert_eq!(at("You’ve hit your usage limit, try again at 6:11 PM."), Some("2026-11-17T17:11:59Z".into()));
        assert_eq!(at("You've hit your limit · resets 3pm (Europe/Prague)"), Some("2026-11-18T14:00:59Z".into()));
        let minute = now().strftime("%H:%M").to_string();
        let this = time_in(&format!("try again at {minute}"), &now()).unwrap();
        assert!(this.duration_since(now().timestamp()).as_secs() < 60, "the minute that has begun is not tomorrow");
        assert_eq!(at("resets at 15:30"), Some("2026-11-18T14:30:59Z".into()));
        assert_eq!(at("Claude AI usage limit reached|1794935249"), Some("2026-11-17T17:07:29Z".into()));
        assert_eq!(at("You have exhausted your daily quota. Please try again later."), None);
        assert_eq!(at("resets 7 times"), None);
        let log = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1794999999}}
{"type":"result","is_error":true,"result":"limit"}"#;
        let until = Timestamp::from_second(1_794_999_999).unwrap();
        assert_eq!(read("claude", log, 1), Some(Trouble::Limited { said: "limit".into(), until }));
    }
}

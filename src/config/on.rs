//! `[[on]]` tables: rules, which run a program on an event of the board.

use std::collections::BTreeMap;
use std::fmt;

use jiff::SignedDuration;
use toml::Value;

use super::{ConfigError, Source, duration};
use crate::task::Problem;

/// A rule: a program that runs on an event of the board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnRule {
    pub event: String,
    /// The values that the event must have, by field.
    pub when: BTreeMap<String, String>,
    /// The program and its arguments, with placeholders such as `{task}`.
    pub run: Vec<String>,
    pub timeout: SignedDuration,
    pub source: Source,
    /// The line of the table in its file.
    pub line: u32,
}

/// A rule as it is written in a file.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct OnTable {
    event: String,
    #[serde(default)]
    when: BTreeMap<String, String>,
    run: Vec<String>,
    timeout: Option<String>,
}

/// Parses the `[[on]]` tables of a file and checks each.
pub(super) fn rules(file: &str, text: &str, rules: Value, source: &Source) -> Result<Vec<OnRule>, ConfigError> {
    let start = text.find("[[on]]").or_else(|| text.find("on")).unwrap_or(0);
    let bad = |message: String| ConfigError::Syntax(Problem::at(file, text, start, &message));
    let tables: Vec<OnTable> =
        rules.try_into().map_err(|e: toml::de::Error| bad(format!("[[on]]: {}", e.message())))?;
    let mut found = Vec::new();
    let starts: Vec<usize> = text.match_indices("[[on]]").map(|(at, _)| at).collect();
    for (at, OnTable { event, when, run, timeout }) in tables.into_iter().enumerate() {
        let place = starts.get(at).copied().unwrap_or(start);
        if run.first().is_none_or(String::is_empty) {
            return Err(bad(format!("the rule on {event} has no program: add run = [program, arguments…]")));
        }
        if let Some(place) = shell_place(&run) {
            let advice = format!("use ${} instead", place.to_uppercase().replace('{', "RALPH_").replace('}', ""));
            return Err(bad(format!(
                "the rule on {event} puts {place} into shell code, where its text could run as a command: {advice}"
            )));
        }
        let limit = timeout.as_deref().unwrap_or("60s");
        let Some(timeout) = duration(limit) else {
            return Err(bad(format!("{limit:?} is not a timeout: use 90s, 60m or 12h")));
        };
        let line = Problem::at(file, text, place, "").line;
        found.push(OnRule { event, when, run, timeout, source: source.clone(), line });
    }
    Ok(found)
}

/// Whether a placeholder with untrusted text is inside shell code, where it could become a command.
fn shell_place(run: &[String]) -> Option<&'static str> {
    let shell = run.first().and_then(|name| name.rsplit('/').next())?;
    let is_shell = ["sh", "bash", "dash", "zsh", "fish", "ksh"].contains(&shell);
    let script =
        run.iter().position(|word| word.starts_with('-') && word.ends_with('c')).and_then(|at| run.get(at + 1))?;
    let free = ["{title}", "{by}", "{owner}", "{message}"];
    free.into_iter().find(|place| is_shell && script.contains(place))
}

impl fmt::Display for OnRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let when: Vec<String> = self.when.iter().map(|(key, value)| format!("{key} = {value:?}")).collect();
        let when = if when.is_empty() { String::new() } else { format!(" when {{ {} }}", when.join(", ")) };
        write!(f, "on {}{when}: {:?}", self.event, self.run)
    }
}

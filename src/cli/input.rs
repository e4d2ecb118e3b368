//! Text that a command takes: from an option, a file, standard input or the editor.

use std::io::{IsTerminal as _, Read as _};
use std::path::Path;

use jiff::SignedDuration;

use super::args::Text;
use super::editor;
use crate::app::Failure;
use crate::fs;

/// An age such as `30d`, `12h` or `90m`.
pub fn age(text: &str) -> Result<SignedDuration, String> {
    let wrong = || format!("{text:?} is not an age: use 30d, 12h, 90m or 45s");
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: i64 = digits.parse().map_err(|_| wrong())?;
    let seconds = match &text[digits.len()..] {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 604_800,
        _ => return Err(wrong()),
    };
    number.checked_mul(seconds).filter(|n| *n >= 0).map(SignedDuration::from_secs).ok_or_else(wrong)
}

pub fn read(path: &Path) -> Result<String, Failure> {
    if path == Path::new("-") {
        return stdin();
    }
    let text = fs::read_text(path)?;
    text.ok_or_else(|| Failure::broken("no-file", format!("there is no file {}", path.display())))
}

fn stdin() -> Result<String, Failure> {
    let mut text = String::new();
    match std::io::stdin().read_to_string(&mut text) {
        Ok(_) => Ok(text),
        Err(error) => Err(Failure::broken("io", format!("cannot read standard input: {error}"))),
    }
}

impl Text {
    /// What was given by option, if anything was.
    pub fn given(&self) -> Result<Option<String>, Failure> {
        match (&self.body, &self.body_file) {
            (Some(text), _) => Ok(Some(text.clone())),
            (None, Some(path)) => read(path).map(Some),
            (None, None) => Ok(None),
        }
    }
}

/// Words, else options, else standard input when something is piped in, else the editor.
pub fn text_or_editor(words: &[String], text: &Text, what: &str) -> Result<String, Failure> {
    if !words.is_empty() {
        return Ok(words.join(" "));
    }
    if let Some(given) = text.given()? {
        return Ok(given);
    }
    if !std::io::stdin().is_terminal() {
        return stdin();
    }
    editor::compose(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_need_a_number_and_a_unit() {
        assert_eq!(age("30d").unwrap().as_hours(), 720);
        assert_eq!(age("90m").unwrap().as_secs(), 5_400);
        for bad in ["", "d", "30", "-3d", "3y", "99999999999999999d"] {
            assert!(age(bad).is_err(), "{bad}");
        }
    }
}

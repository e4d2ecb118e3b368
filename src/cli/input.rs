//! Text that a command takes: from an option, a file, standard input or the editor.

use std::io::{IsTerminal as _, Read as _};
use std::path::Path;

use jiff::SignedDuration;

use super::args::Text;
use super::editor;
use crate::app::Failure;
use crate::config::duration;
use crate::fs;

/// An age such as `30d`, `12h` or `90m`.
pub fn age(text: &str) -> Result<SignedDuration, String> {
    duration(text).ok_or_else(|| format!("{text:?} is not a length of time: use 30d, 12h, 90m or 45s"))
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

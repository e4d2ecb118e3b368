//! Text that a command takes: from an option, a file, standard input or the editor.

use std::io::{BufRead as _, IsTerminal as _, Read as _};
use std::path::Path;

use jiff::SignedDuration;

use super::args::TextArgs;
use super::editor::{self, Typed};
use super::out::Out;
use crate::app::{Code, Failure, Hint, duration};
use crate::fs;

/// An age such as `30d`, `12h` or `90m`.
pub fn age(text: &str) -> Result<SignedDuration, String> {
    duration(text).ok_or_else(|| format!("{text:?} is not a duration: use 30d, 12h, 90m or 45s"))
}

/// Makes a relative path of a program absolute, because agents start in worktrees.
pub fn program_from(dir: &Path, typed: &[String]) -> Vec<String> {
    let mut words = typed.to_vec();
    let is_path = |name: &&mut String| {
        name.contains(std::path::is_separator) && !name.contains('{') && Path::new(name.as_str()).is_relative()
    };
    if let Some(name) = words.first_mut().filter(is_path) {
        *name = dir.join(name.trim_start_matches("./")).display().to_string();
    }
    words
}

/// Asks on the terminal; `None` if standard input is not a terminal.
pub fn confirm(out: &Out, question: &str) -> Option<bool> {
    if out.json || !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return None;
    }
    out.ask(&format!("{question} [y/N] "));
    let mut answer = String::new();
    let _ = std::io::stdin().lock().read_line(&mut answer);
    Some(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Asks for one of several choices on the terminal, by number or name; an empty line means the default. `None` if standard
/// input is not a terminal.
pub fn choose(out: &Out, question: &str, choices: &[(&str, &str)], default: &str) -> Option<String> {
    if out.json || !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return None;
    }
    out.say(question);
    let width = choices.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (number, (name, what)) in choices.iter().enumerate() {
        out.say(&format!("  {}  {name:width$}  {what}", number + 1));
    }
    loop {
        out.ask(&format!("[{default}] "));
        let mut answer = String::new();
        if std::io::stdin().lock().read_line(&mut answer).is_ok_and(|read| read == 0) {
            return Some(default.to_owned());
        }
        let answer = answer.trim();
        let by_number = answer.parse::<usize>().ok().and_then(|number| choices.get(number.checked_sub(1)?));
        let by_name = choices.iter().find(|(name, _)| name.eq_ignore_ascii_case(answer));
        match by_number.or(by_name) {
            Some((name, _)) => return Some((*name).to_owned()),
            None if answer.is_empty() => return Some(default.to_owned()),
            None => out.say("type a number or a name"),
        }
    }
}

pub fn read(path: &Path) -> Result<String, Failure> {
    if path == Path::new("-") {
        return stdin();
    }
    let text = fs::read_text(path)?;
    let text = text.ok_or_else(|| {
        Failure::usage(Code::NoFile, format!("no such file: {}", path.display()))
            .hint(Hint::option("-", "to read standard input"))
    });
    text.map(|text| text.replace("\r\n", "\n"))
}

fn stdin() -> Result<String, Failure> {
    let mut text = String::new();
    match std::io::stdin().read_to_string(&mut text) {
        Ok(_) => Ok(text.replace("\r\n", "\n")),
        Err(error) => Err(Failure::broken(Code::Io, format!("cannot read standard input: {error}"))),
    }
}

impl TextArgs {
    /// The text that an option provides, if any.
    pub fn given(&self) -> Result<Option<String>, Failure> {
        match (&self.body, &self.body_file) {
            (Some(text), _) => Ok(Some(text.clone())),
            (None, Some(path)) => read(path).map(Some),
            (None, None) => Ok(None),
        }
    }
}

/// The text from the words, otherwise from options, from standard input if it is not a terminal, or from the editor.
pub fn text_or_editor(words: &[String], text: &TextArgs, what: &str, initial: &str) -> Result<Typed, Failure> {
    let given = text.given()?;
    match (words.is_empty(), given) {
        (false, Some(_)) => Err(Failure::usage(
            Code::TwoTexts,
            "the text is given twice: as an argument, and with --body or --body-file",
        )),
        (false, None) => Ok(Typed::plain(words.join(" "))),
        (true, Some(given)) => Ok(Typed::plain(given)),
        (true, None) if std::io::stdin().is_terminal() => editor::compose(what, initial),
        (true, None) => stdin().map(Typed::plain),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_path_to_a_program_is_one_from_here_and_a_name_stays() {
        let typed = |name: &str| program_from(Path::new("/shop"), &[name.to_owned(), "{prompt}".to_owned()]);
        assert_eq!(typed("./agent.py"), ["/shop/agent.py", "{prompt}"]);
        for kept in ["claude", "/usr/bin/agent", "{worktree}/agent"] {
            assert_eq!(typed(kept)[0], kept);
        }
    }
}

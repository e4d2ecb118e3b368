//! Output: stdout is the answer, stderr is everything else.

use std::cell::{Cell, RefCell};
use std::io::{IsTerminal as _, Write as _};

use anstream::ColorChoice;
use serde::Serialize;

use super::args::{ColorWhen, Global};
use super::door::{Escaped, escaped, shown};
use super::style::{self, paint};
use super::words;
use crate::app::Failure;
use crate::task::Problem;

pub struct Out {
    pub json: bool,
    pager: bool,
    asked: Option<ColorWhen>,
    color: Cell<bool>,
    pub terminal: bool,
    /// Why the output could not be written. A closed pipe does not count.
    failed: RefCell<Option<String>>,
}

impl Out {
    pub fn new(global: &Global) -> Self {
        let terminal = std::io::stdout().is_terminal();
        let out = Self {
            json: global.json,
            pager: !global.no_pager,
            asked: global.color,
            color: Cell::new(false),
            terminal,
            failed: RefCell::default(),
        };
        out.set_color("auto");
        out
    }

    /// Applies the setting, unless the option `--color` was given.
    pub fn set_color(&self, setting: &str) {
        let auto = || anstream::AutoStream::choice(&std::io::stdout()) != ColorChoice::Never;
        self.color.set(match (self.asked, setting) {
            (Some(ColorWhen::Always), _) | (None, "always") => true,
            (Some(ColorWhen::Never), _) | (None, "never") => false,
            _ => auto(),
        });
    }

    pub fn color(&self) -> bool {
        self.color.get()
    }

    /// The width of a line; `None` without a terminal.
    pub fn width(&self) -> Option<usize> {
        let columns = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
        if !self.terminal {
            return columns.filter(|_| self.asked == Some(ColorWhen::Always));
        }
        columns.or_else(|| terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)))
    }

    pub fn json<T: Serialize + ?Sized>(&self, value: &T) {
        let mut out = std::io::BufWriter::with_capacity(1 << 16, Escaped::new(std::io::stdout().lock()));
        let written = if self.terminal {
            serde_json::to_writer_pretty(&mut out, value)
        } else {
            serde_json::to_writer(&mut out, value)
        };
        let written =
            written.map_err(std::io::Error::from).and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush());
        self.note(written);
    }

    /// The answer as text, in a pager if it is longer than the screen.
    pub fn text(&self, text: &str) {
        let text = shown(text, self.color.get());
        let height = terminal_size::terminal_size().map_or(usize::MAX, |(_, height)| usize::from(height.0));
        if self.terminal && self.pager && text.lines().count() >= height && self.page(&text) {
            return;
        }
        let mut out = std::io::stdout().lock();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        self.note(written);
    }

    /// Records an error of writing; `false` if nothing more can be written.
    fn note(&self, written: std::io::Result<()>) -> bool {
        if let Err(error) = &written
            && error.kind() != std::io::ErrorKind::BrokenPipe
        {
            *self.failed.borrow_mut() = Some(format!("cannot write the output: {error}"));
        }
        written.is_ok()
    }

    /// Why the output is incomplete, if it is.
    pub fn unwritten(&self) -> Option<String> {
        self.failed.borrow().clone()
    }

    fn page(&self, text: &str) -> bool {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let command = set("RALPH_PAGER").or_else(|| set("PAGER")).unwrap_or_else(|| crate::os::terminal::PAGER.into());
        let mut pager = crate::os::process::shell(&command, None);
        pager.stdin(std::process::Stdio::piped());
        if set("LESS").is_none() {
            pager.env("LESS", "FRX");
        }
        let Ok(mut child) = pager.spawn() else { return false };
        if let Some(mut pipe) = child.stdin.take() {
            let _ = pipe.write_all(text.as_bytes());
        }
        child.wait().is_ok_and(|status| status.success())
    }

    /// Writes one line of a stream; `false` once the reader is gone.
    pub fn line(&self, text: &str) -> bool {
        self.part(&format!("{text}\n"))
    }

    /// Writes a part of a stream; `false` once the reader is gone.
    pub fn part(&self, text: &str) -> bool {
        let text = shown(text, self.color.get());
        let mut out = std::io::stdout().lock();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        self.note(written)
    }

    /// A line as the terminal shows it. A line that is too long is cut and loses its colors.
    pub fn fitted(&self, line: &str, width: usize) -> String {
        use unicode_width::UnicodeWidthStr as _;
        let plain = shown(line, false);
        match plain.width() > width {
            true => super::table::cut(&plain, width),
            false => shown(line, self.color.get()),
        }
    }

    /// A status line on the terminal; the next one replaces it.
    pub fn status(&self, text: Option<&str>) {
        let mut err = anstream::stderr().lock();
        let text = shown(text.unwrap_or_default(), true).replace('\n', " ");
        let _ = write!(err, "\r\x1b[2K{text}").and_then(|()| err.flush());
    }

    /// A message for the person, on stderr.
    pub fn say(&self, text: &str) {
        let mut err = anstream::stderr().lock();
        let _ = writeln!(err, "{}", shown(text, true));
    }

    /// A question, without a line end, so that the answer is typed after it.
    pub fn ask(&self, text: &str) {
        let mut err = anstream::stderr().lock();
        let _ = write!(err, "{}", shown(text, true)).and_then(|()| err.flush());
    }

    /// A JSON document for a program, on stderr.
    fn tell(&self, document: &serde_json::Value) {
        let mut err = std::io::stderr().lock();
        let _ = writeln!(err, "{}", escaped(&document.to_string()));
    }

    pub fn failure(&self, failure: &Failure) {
        if self.json {
            self.tell(&serde_json::json!({ "error": failure }));
            return;
        }
        self.say(&format!("{} {}", paint(style::ERROR, "error:"), failure.message));
        if failure.has_output() {
            self.say("output:");
            failure.causes.iter().for_each(|line| self.say(&format!("  {line}")));
        } else {
            failure.causes.iter().for_each(|cause| self.say(&format!("  because {cause}")));
        }
        for line in failure.hints.iter().flat_map(words::hint) {
            self.say(&format!("{} {line}", paint(style::HINT, "hint:")));
        }
    }

    /// Prints notes on stderr.
    pub fn notices(&self, notices: &[String]) {
        for notice in notices {
            if self.json {
                self.tell(&serde_json::json!({ "notice": notice }));
            } else {
                self.say(&format!("{} {notice}", paint(style::WARN, "note:")));
            }
        }
    }

    /// Prints the problems of the files that were read.
    pub fn problems(&self, problems: &[Problem]) {
        let mut shown: Vec<&Problem> = problems.iter().collect();
        shown.sort();
        shown.dedup();
        if self.json {
            for problem in shown {
                self.tell(&serde_json::json!({ "problem": problem }));
            }
            return;
        }
        const MOST: usize = 10;
        for problem in shown.iter().take(MOST) {
            let hint = problem.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
            self.say(&format!("{} {problem}{hint}", paint(style::WARN, "problem:")));
        }
        if shown.len() > MOST {
            self.say(&format!("{} more problems: `ralph doctor` lists all of them", shown.len() - MOST));
        }
    }
}

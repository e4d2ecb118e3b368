//! A problem of a file: what is wrong, where, and how to fix it.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Problem {
    /// The path relative to the board's root, as a person would type it.
    pub file: String,
    /// The line from 1; 0 if the problem is about the whole file.
    pub line: u32,
    pub column: u32,
    pub message: String,
    pub hint: Option<String>,
}

impl Problem {
    pub fn whole(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self { file: file.into(), line: 0, column: 0, message: message.into(), hint: None }
    }

    /// A problem at a byte offset of `text`.
    pub fn at(file: impl Into<String>, text: &str, offset: usize, message: impl Into<String>) -> Self {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &text[..offset];
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.matches('\n').count() as u32 + 1;
        let column = before[start..].chars().count() as u32 + 1;
        Self { file: file.into(), line, column, message: message.into(), hint: None }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        write!(f, ": {}", self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_not_bytes() {
        let text = "title = \"é\"\nkind = 3\r\n";
        let at = text.find('3').unwrap();
        let problem = Problem::at("x.toml", text, at, "no");
        assert_eq!((problem.line, problem.column), (2, 8));
        assert_eq!(Problem::at("x.toml", "é", 1, "no").column, 1);
    }

    #[test]
    fn a_problem_names_its_place_where_it_has_one() {
        let at = |offset| Problem::at("x.toml", "a\nbc", offset, "no").to_string();
        assert_eq!(
            [at(0), at(1), at(2), at(4)],
            ["x.toml:1:1: no", "x.toml:1:2: no", "x.toml:2:1: no", "x.toml:2:3: no"]
        );
        assert_eq!(at(99), at(4), "past the end is at the end");
        let whole = Problem::whole("x.toml", "no").hint("write one");
        assert_eq!((whole.to_string(), whole.hint.as_deref()), ("x.toml: no".into(), Some("write one")));
    }
}

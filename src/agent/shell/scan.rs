//! Splits a command line into commands, lists, redirections and here-documents; quotes are kept.

use std::rc::Rc;

use super::{DEEPEST, Unreadable};

/// A part of a line.
pub(super) enum Piece {
    Command(Simple),
    /// A nested list of commands.
    Sub(Vec<Piece>),
    /// A file that output is redirected to, as it was typed.
    Write(String),
}

/// A simple command and its standard input.
pub(super) struct Simple {
    pub text: String,
    /// Texts of here-documents and here-strings.
    pub fed: Rc<[String]>,
    /// The standard input is a pipe or a file, whose content is unknown.
    pub piped: bool,
}

pub(super) struct Scanner {
    chars: Vec<char>,
    at: usize,
    depth: usize,
    /// The ends of here-documents whose text begins on the next line.
    awaited: Vec<String>,
    /// Here-strings of this line.
    fed: Vec<String>,
    /// Whether a command of this line may read input that is unknown.
    piped: bool,
}

/// The characters that end a command or a word, besides spaces.
const OPERATORS: &str = "\n;&|()<>";

impl Scanner {
    pub fn read(text: &str) -> Result<Vec<Piece>, Unreadable> {
        let chars = text.chars().collect();
        Self { chars, at: 0, depth: 0, awaited: Vec::new(), fed: Vec::new(), piped: false }.list(None)
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    /// The pieces up to a closing character, or the end.
    fn list(&mut self, until: Option<char>) -> Result<Vec<Piece>, Unreadable> {
        let mut pieces = Vec::new();
        let mut text = String::new();
        // `line` is the index of the first piece of this line; `fresh` is true at the start of a word, where `#` begins a comment.
        let (mut line, mut fresh) = (0, true);
        loop {
            let c = self.peek(0);
            self.at += 1;
            if c == until {
                break;
            }
            let Some(c) = c else { return Err(Unreadable::OpenList) };
            match c {
                '\\' if self.peek(0) == Some('\n') => {
                    self.at += 1;
                    continue;
                }
                '\n' => {
                    self.finish(&mut pieces, &mut text);
                    self.piped &= self.depth > 0;
                    self.feed(&mut pieces[line..]);
                    line = pieces.len();
                }
                '&' if self.peek(0) == Some('>') => self.redirection(&mut text, &mut pieces)?,
                '|' => {
                    self.finish(&mut pieces, &mut text);
                    match self.peek(0) == Some('|') {
                        true => self.at += 1,
                        false => self.piped = true,
                    }
                }
                // An unmatched parenthesis ends a pattern of `case`.
                ';' | '&' | ')' => self.finish(&mut pieces, &mut text),
                '(' => {
                    self.finish(&mut pieces, &mut text);
                    pieces.push(Piece::Sub(self.nested(')')?));
                }
                '#' if fresh => self.skip_line(),
                '<' | '>' if self.peek(0) != Some('(') => self.redirection(&mut text, &mut pieces)?,
                _ => self.part_of_word(c, &mut text, &mut pieces)?,
            }
            fresh = c == ' ' || c == '\t' || OPERATORS.contains(c);
        }
        self.finish(&mut pieces, &mut text);
        if until.is_some() && !self.awaited.is_empty() {
            return Err(Unreadable::HereDocument);
        }
        self.feed(&mut pieces[line..]);
        Ok(pieces)
    }

    fn nested(&mut self, until: char) -> Result<Vec<Piece>, Unreadable> {
        if self.depth == DEEPEST {
            return Err(Unreadable::TooDeep);
        }
        self.depth += 1;
        let pieces = self.list(Some(until))?;
        self.depth -= 1;
        Ok(pieces)
    }

    /// Keeps quotes, because the text is split into words later; a substitution becomes a nested list.
    fn part_of_word(&mut self, c: char, text: &mut String, pieces: &mut Vec<Piece>) -> Result<(), Unreadable> {
        match c {
            '\\' => self.escaped(text)?,
            '$' if self.peek(0) == Some('\'') => self.ansi_quoted(text)?,
            '\'' => {
                let quoted = self.chars[self.at..].iter().position(|c| *c == '\'').ok_or(Unreadable::OpenQuote)?;
                text.push(c);
                text.extend(&self.chars[self.at..=self.at + quoted]);
                self.at += quoted + 1;
            }
            '"' => {
                text.push(c);
                while let Some(quoted) = self.peek(0).filter(|quoted| *quoted != '"') {
                    self.at += 1;
                    match quoted {
                        '\\' => self.escaped(text)?,
                        // `<(` and `>(` have no meaning in double quotes.
                        '$' | '`' if self.substitution(quoted, text, pieces)? => {}
                        _ => text.push(quoted),
                    }
                }
                text.push(self.peek(0).ok_or(Unreadable::OpenQuote)?);
                self.at += 1;
            }
            _ if self.substitution(c, text, pieces)? => {}
            _ => text.push(c),
        }
        Ok(())
    }

    fn escaped(&mut self, text: &mut String) -> Result<(), Unreadable> {
        text.extend(['\\', self.peek(0).ok_or(Unreadable::OpenEscape)?]);
        self.at += 1;
        Ok(())
    }

    /// `$'it\'s'`: its exact text is not needed, only its end.
    fn ansi_quoted(&mut self, text: &mut String) -> Result<(), Unreadable> {
        self.at += 1;
        let mut word = String::new();
        loop {
            let c = self.peek(0).ok_or(Unreadable::OpenQuote)?;
            self.at += 1;
            match c {
                '\'' => break,
                '\\' => {
                    word.extend(self.peek(0));
                    self.at += 1;
                }
                _ => word.push(c),
            }
        }
        text.push_str(&format!("'{}'", word.replace('\'', "_")));
        Ok(())
    }

    fn substitution(&mut self, c: char, text: &mut String, pieces: &mut Vec<Piece>) -> Result<bool, Unreadable> {
        let inner = match c {
            '$' | '<' | '>' if self.peek(0) == Some('(') => {
                self.at += 1;
                self.nested(')')?
            }
            '`' => self.nested('`')?,
            _ => return Ok(false),
        };
        pieces.push(Piece::Sub(inner));
        text.push_str("$_");
        Ok(true)
    }

    fn skip_line(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    fn skip_blanks(&mut self) {
        while self.peek(0).is_some_and(|c| c == ' ' || c == '\t') {
            self.at += 1;
        }
    }

    /// `2>&1`, `< file`, `<<EOF`, `<<< text`: neither the operator nor its word is an argument.
    fn redirection(&mut self, text: &mut String, pieces: &mut Vec<Piece>) -> Result<(), Unreadable> {
        let fd = text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        if text[..fd].is_empty() || text[..fd].ends_with([' ', '\t']) {
            text.truncate(fd);
        }
        let from = self.at - 1;
        while self.peek(0).is_some_and(|c| "<>|&".contains(c)) && self.peek(1) != Some('(') {
            self.at += 1;
        }
        let operator: String = self.chars[from..self.at].iter().collect();
        if operator == "<<" && self.peek(0) == Some('-') {
            self.at += 1;
        }
        self.skip_blanks();
        let mut word = String::new();
        while let Some(c) = self.peek(0).filter(|c| !" \t".contains(*c)) {
            let substitutes = "<>".contains(c) && self.peek(1) == Some('(');
            if OPERATORS.contains(c) && !substitutes {
                break;
            }
            self.at += 1;
            self.part_of_word(c, &mut word, pieces)?;
        }
        let word = || shlex::split(&word).unwrap_or_default().concat();
        match operator.as_str() {
            "<<" => self.awaited.push(word()),
            "<<<" => self.fed.push(word()),
            "<" => self.piped = true,
            _ if operator.contains('>') => {
                let target = word();
                let copies = operator.ends_with('&') && target.chars().all(|c| c.is_ascii_digit() || c == '-');
                if !copies && !target.starts_with("/dev/") {
                    pieces.push(Piece::Write(target));
                }
            }
            _ => {}
        }
        text.push(' ');
        Ok(())
    }

    /// Gives the here-documents of this line to all its commands: for a policy check, it does not matter which of them reads one.
    fn feed(&mut self, line: &mut [Piece]) {
        let mut texts = std::mem::take(&mut self.fed);
        for end in std::mem::take(&mut self.awaited) {
            texts.push(self.here_document(&end));
        }
        let texts: Rc<[String]> = texts.into();
        for piece in line {
            if let Piece::Command(command) = piece {
                command.fed = Rc::clone(&texts);
            }
        }
    }

    fn here_document(&mut self, end: &str) -> String {
        let mut text = String::new();
        while self.at < self.chars.len() {
            let line: String = self.chars[self.at..].iter().take_while(|c| **c != '\n').collect();
            self.at = (self.at + line.chars().count() + 1).min(self.chars.len());
            if line.trim_start_matches('\t').trim_end_matches('\r') == end {
                break;
            }
            text.push_str(&line);
            text.push('\n');
        }
        text
    }

    fn finish(&self, pieces: &mut Vec<Piece>, text: &mut String) {
        let text = std::mem::take(text);
        if !text.trim().is_empty() {
            pieces.push(Piece::Command(Simple { text, fed: Rc::default(), piped: self.piped }));
        }
    }
}

//! A text that is being typed: one line or several, with a cursor that is always between two visible characters.

use unicode_segmentation::UnicodeSegmentation as _;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Input {
    text: String,
    /// The cursor in bytes, always between two visible characters.
    at: usize,
    pub lines: Lines,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Lines {
    #[default]
    One,
    Many,
}

impl Input {
    pub fn new(text: impl Into<String>, lines: Lines) -> Self {
        let text = text.into();
        Self { at: text.len(), text, lines }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn before(&self) -> &str {
        &self.text[..self.at]
    }

    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    pub fn put(&mut self, c: char) {
        self.paste(c.encode_utf8(&mut [0; 4]));
    }

    pub fn paste(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let kept: String = match self.lines {
            Lines::One => text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect(),
            Lines::Many => text.replace('\t', "    ").chars().filter(|c| *c == '\n' || !c.is_control()).collect(),
        };
        self.text.insert_str(self.at, &kept);
        self.at += kept.len();
    }

    pub fn left(&mut self) {
        self.at -= self.before().graphemes(true).next_back().map_or(0, str::len);
    }

    pub fn right(&mut self) {
        self.at += self.text[self.at..].graphemes(true).next().map_or(0, str::len);
    }

    pub fn home(&mut self) {
        self.at = self.line_start();
    }

    pub fn end(&mut self) {
        self.at += self.text[self.at..].find('\n').unwrap_or(self.text.len() - self.at);
    }

    pub fn up(&mut self) {
        let (start, column) = (self.line_start(), self.column());
        if start > 0 {
            self.at = start - 1;
            self.at = self.line_start();
            self.step_right(column);
        }
    }

    pub fn down(&mut self) {
        let column = self.column();
        if let Some(next) = self.text[self.at..].find('\n') {
            self.at += next + 1;
            self.step_right(column);
        }
    }

    pub fn backspace(&mut self) {
        let end = self.at;
        self.left();
        self.text.replace_range(self.at..end, "");
    }

    pub fn delete(&mut self) {
        let length = self.text[self.at..].graphemes(true).next().map_or(0, str::len);
        self.text.replace_range(self.at..self.at + length, "");
    }

    /// Deletes back to the start of the word.
    pub fn rub_word(&mut self) {
        let kept = self.before().trim_end();
        let start = kept.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        self.text.replace_range(start..self.at, "");
        self.at = start;
    }

    /// Deletes back to the start of the line.
    pub fn rub_line(&mut self) {
        let start = self.line_start();
        self.text.replace_range(start..self.at, "");
        self.at = start;
    }

    fn line_start(&self) -> usize {
        self.before().rfind('\n').map_or(0, |at| at + 1)
    }

    fn column(&self) -> usize {
        self.text[self.line_start()..self.at].graphemes(true).count()
    }

    fn step_right(&mut self, most: usize) {
        for _ in 0..most {
            if self.text[self.at..].starts_with('\n') {
                return;
            }
            self.right();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_with_its_accent_is_one_step_and_goes_at_once() {
        let mut input = Input::new("ne\u{301}e", Lines::One);
        input.left();
        input.backspace();
        assert_eq!((input.text(), input.before()), ("ne", "n"));
    }

    #[test]
    fn up_and_down_keep_the_column_where_the_line_is_long_enough() {
        let mut input = Input::new("first\nab\nthird", Lines::Many);
        input.up();
        assert_eq!(input.before(), "first\nab");
        input.up();
        assert_eq!(input.before(), "fi");
        input.rub_line();
        assert_eq!(input.text(), "rst\nab\nthird");
    }

    #[test]
    fn one_line_stays_one_line_whatever_is_pasted() {
        let mut input = Input::new("", Lines::One);
        input.paste("a\r\nb\x1b[2J");
        assert_eq!(input.text(), "a b [2J");
        input.rub_word();
        assert_eq!(input.text(), "a b ");
    }
}

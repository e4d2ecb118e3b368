//! Escapes text for the terminal: no control character in the text of a task or a program reaches it.
//!
//! Color codes carry a random mark per process, so that text cannot contain color codes of its own. Every other control
//! character, and those that change the direction of text, become `�`.

use std::sync::LazyLock;

use anstyle::Style;

/// The beginning of a color code until it is printed.
static MARK: LazyLock<String> = LazyLock::new(|| {
    let tail: String = (0..16).map(|_| fastrand::alphanumeric()).collect();
    format!("\u{1b}{tail}[")
});

/// A text in a color.
pub fn painted(style: Style, text: impl std::fmt::Display) -> String {
    let mark = |codes: String| codes.replace("\u{1b}[", &MARK);
    format!("{}{text}{}", mark(style.render().to_string()), mark(style.render_reset().to_string()))
}

/// A text as it is printed, with or without colors.
pub fn shown(text: &str, color: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(acts) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix(MARK.as_str()) {
            let end = after.find('m').map_or(after.len(), |at| at + 1);
            if color {
                out.push_str("\u{1b}[");
                out.push_str(&after[..end]);
            }
            rest = &after[end..];
        } else {
            let c = rest.chars().next().unwrap_or_default();
            rest = &rest[c.len_utf8()..];
            match c {
                '\n' | '\t' => out.push(c),
                // Part of a Windows line end.
                '\r' if rest.starts_with('\n') => {}
                _ => out.push('\u{fffd}'),
            }
        }
    }
    out.push_str(rest);
    out
}

/// Whether a character controls the terminal instead of being shown.
fn acts(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

/// Writes JSON with all such characters escaped; JSON itself requires that for some of them only.
pub struct Escaped<W> {
    to: W,
    /// The first bytes of an incomplete character.
    rest: Vec<u8>,
}

impl<W: std::io::Write> Escaped<W> {
    pub fn new(to: W) -> Self {
        Self { to, rest: Vec::new() }
    }
}

impl<W: std::io::Write> std::io::Write for Escaped<W> {
    fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
        // All of these characters begin with one of these bytes.
        if self.rest.is_empty() && memchr::memchr3(0x7f, 0xc2, 0xe2, buf).is_none() {
            return self.to.write_all(buf).map(|()| buf.len());
        }
        let mut bytes = std::mem::take(&mut self.rest);
        bytes.extend(buf);
        let end = match std::str::from_utf8(&bytes) {
            Ok(_) => bytes.len(),
            Err(error) => error.valid_up_to(),
        };
        self.rest = bytes.split_off(end);
        let mut text = String::with_capacity(bytes.len());
        for c in String::from_utf8_lossy(&bytes).chars() {
            match acts(c) && c >= '\u{7f}' {
                true => text.push_str(&format!("\\u{:04x}", u32::from(c))),
                false => text.push(c),
            }
        }
        self.to.write_all(text.as_bytes()).map(|()| buf.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.to.flush()
    }
}

/// Escapes a JSON document that is already text.
pub fn escaped(json: &str) -> String {
    use std::io::Write as _;
    let mut out = Escaped::new(Vec::new());
    let _ = out.write_all(json.as_bytes());
    String::from_utf8(out.to).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_acts_on_the_terminal_and_colours_do() {
        let red = Style::new().bold();
        let hostile = "a\u{1b}[31mb\u{1b}]0;title\u{7}c\u{9b}2Jd\re\u{202e}f\r\n";
        let text = painted(red, hostile);
        assert_eq!(shown(&text, true), "\u{1b}[1ma�[31mb�]0;title�c�2Jd�e�f\n\u{1b}[0m");
        assert_eq!(shown(&text, false), "a�[31mb�]0;title�c�2Jd�e�f\n");
        assert_eq!(shown("plain ž 日本\ttext\n", true), "plain ž 日本\ttext\n");
    }

    #[test]
    fn json_has_no_such_character_and_means_the_same() {
        let value = serde_json::json!({ "a": "x\u{9b}2J\u{7f}\u{202e}ž’\u{1b}" });
        let text = escaped(&value.to_string());
        assert!(!text.contains(acts), "{text:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}

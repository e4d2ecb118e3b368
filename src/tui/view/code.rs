//! Colors for a line of code: comments, strings, numbers and keywords. Each line is handled separately, so the result is a guess
//! for strings over several lines. `web/assets/colour.js` does the same in the browser.

use super::pen::Row;
use crate::tui::model::Tone;

const C_LIKE: &str = "as async await bool break case catch class const continue crate default do else enum export extends \
     false final fn for from func function go if impl import in int interface let loop match mod move mut new nil null \
     package private pub public ref return self static string struct super switch this throw trait true try type typeof \
     unsafe use var void where while yield";
const SCRIPTS: &str = "and as assert async await break case class continue def del do done elif else esac except exit export \
     False fi finally for from function global if import in is lambda local None nonlocal not or pass raise return self set \
     then True try until while with yield";
const QUERIES: &str = "and begin by create delete do else end false from function if insert into join local nil not null on \
     or order return select set table then true update values where";

/// The start of comments, the file extensions, and the keywords of these languages.
const LANGUAGES: [(&str, &str, &str); 3] = [
    ("//", "c cc cpp cs css dart go h hpp java js jsx kt mjs proto rs scala scss swift ts tsx zig", C_LIKE),
    ("#", "bash cfg conf dockerfile fish ini makefile nix pl properties py r rb sh tf toml yaml yml zsh", SCRIPTS),
    ("--", "hs lua sql", QUERIES),
];

/// Longer lines are not colored.
const LONGEST: usize = 500;

#[derive(Debug, Clone, Copy)]
pub struct Language {
    comment: &'static str,
    words: &'static str,
}

pub fn language_of(path: &str) -> Option<Language> {
    let name = path.rsplit('/').next()?.to_lowercase();
    let ending = name.rsplit('.').next()?;
    let fits = |(_, endings, _): &&(&str, &str, &str)| endings.split(' ').any(|known| known == ending);
    LANGUAGES.iter().find(fits).map(|&(comment, _, words)| Language { comment, words })
}

/// Splits a line into pieces; those without a color of their own have the tone of the line.
pub fn coloured(line: &str, language: Option<Language>, tone: Tone) -> Row {
    let Some(language) = language.filter(|_| line.len() <= LONGEST) else { return vec![(line.to_owned(), tone)] };
    let mut row = Row::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let (length, found) = match first {
            _ if is_comment(line, rest, language.comment) => (rest.len(), Some(Tone::Dim)),
            '"' | '`' => (quoted(rest, first), Some(Tone::Label)),
            c if c.is_ascii_digit() => {
                (while_of(rest, |c| c.is_alphanumeric() || c == '.' || c == '_'), Some(Tone::Warn))
            }
            c if c.is_alphabetic() || c == '_' => {
                let length = while_of(rest, |c| c.is_alphanumeric() || c == '_');
                let known = language.words.split_whitespace().any(|word| word == &rest[..length]);
                (length, known.then_some(Tone::Work))
            }
            c => (c.len_utf8(), None),
        };
        let (piece, after) = rest.split_at(length);
        let tone = found.unwrap_or(tone);
        match row.last_mut().filter(|(_, before)| *before == tone) {
            Some((text, _)) => text.push_str(piece),
            None => row.push((piece.to_owned(), tone)),
        }
        rest = after;
    }
    row
}

/// Whether a comment begins here. A `#` inside a word does not begin one.
fn is_comment(line: &str, rest: &str, mark: &str) -> bool {
    let before = line[..line.len() - rest.len()].chars().next_back();
    rest.starts_with(mark) && (mark != "#" || before.is_none_or(char::is_whitespace))
}

fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

fn while_of(text: &str, is: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is(c)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toned(line: &str, path: &str) -> Vec<(String, Tone)> {
        coloured(line, language_of(path), Tone::Plain)
    }

    #[test]
    fn words_texts_numbers_and_comments_stand_out_and_nothing_is_lost() {
        let line = r#"let x = "a // b" + 12; // fn"#;
        let row = toned(line, "src/a.rs");
        let of = |tone| row.iter().filter(|(_, t)| *t == tone).map(|(text, _)| text.as_str()).collect::<Vec<_>>();
        assert_eq!(of(Tone::Work), ["let"]);
        assert_eq!(of(Tone::Label), [r#""a // b""#]);
        assert_eq!(of(Tone::Warn), ["12"]);
        assert_eq!(of(Tone::Dim), ["// fn"]);
        assert_eq!(row.iter().map(|(text, _)| text.as_str()).collect::<String>(), line);
        assert_eq!(toned("let x", "notes.txt"), [("let x".to_owned(), Tone::Plain)]);
        assert_eq!(toned("日本 \"語", "a.rs")[1], ("\"語".to_owned(), Tone::Label));
    }
}

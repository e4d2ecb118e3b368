//! Text measured in terminal cells: wide characters take two, combining accents none.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// The width as it is drawn, character by character: some libraries count joined letters as one, but terminals do not join them.
pub fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.graphemes(true).map(|piece| piece.width()).sum() }
}

/// Removes characters that could move the cursor or reverse the line.
pub fn clean(text: &str) -> String {
    let harmless = |c: char| match c {
        '\t' => ' ',
        c if c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') => ' ',
        c => c,
    };
    text.chars().map(harmless).collect()
}

/// The text in at most this number of cells, with an ellipsis if it was cut.
pub fn cut(text: &str, most: usize) -> String {
    if fits(text, most) {
        return text.to_owned();
    }
    format!("{}…", head(text, most.saturating_sub(1)).0)
}

/// Whether a text fits. It looks at no more than that, because a text may be very long.
fn fits(text: &str, most: usize) -> bool {
    head(text, most).1.is_empty()
}

/// The beginning that fits, and the rest.
pub fn head(text: &str, most: usize) -> (&str, &str) {
    let mut used = 0;
    for (at, piece) in text.grapheme_indices(true) {
        used += piece.width();
        if used > most {
            return text.split_at(at);
        }
    }
    (text, "")
}

/// Wraps a text at spaces. A word that is longer than a line is broken at the end of the line.
pub fn wrap(text: &str, most: usize) -> Vec<String> {
    wrap_to(text, most, usize::MAX)
}

/// The same, but stops after `enough` lines.
fn wrap_to(text: &str, most: usize, enough: usize) -> Vec<String> {
    let most = most.max(2);
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for mut word in text.split_whitespace() {
        let room = most.saturating_sub(width(&line) + usize::from(!line.is_empty()));
        if !line.is_empty() && !fits(word, room) {
            lines.push(std::mem::take(&mut line));
        }
        while lines.len() < enough {
            let (start, rest) = head(word, most);
            // Either nothing is left, or a single character is wider than the line.
            if rest.is_empty() || start.is_empty() {
                break;
            }
            lines.push(start.to_owned());
            word = rest;
        }
        if lines.len() >= enough {
            return lines;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// Wraps a text into at most this number of lines, with an ellipsis in the last one if it was cut.
pub fn wrap_in(text: &str, most: usize, lines: usize) -> Vec<String> {
    let mut wrapped = wrap_to(text, most, lines + 1);
    if wrapped.len() > lines {
        // The last line takes as much of the next word as fits.
        let rest = wrapped.split_off(lines.max(1) - 1).join(" ");
        wrapped.push(cut(&rest, most));
    }
    wrapped
}

/// Wraps typed lines, and returns the position of a cursor after `before`.
pub fn typed(text: &str, before: &str, most: usize) -> (Vec<String>, (usize, usize)) {
    let most = most.max(2);
    let mut lines = vec![String::new()];
    let mut place = (0, 0);
    for (at, piece) in text.grapheme_indices(true) {
        if at == before.len() {
            place = end(&lines);
        }
        let full = lines.last().is_some_and(|line| width(line) + piece.width() > most);
        if piece == "\n" || full {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut().filter(|_| piece != "\n") {
            line.push_str(piece);
        }
    }
    if before.len() == text.len() {
        place = end(&lines);
    }
    (lines, place)
}

fn end(lines: &[String]) -> (usize, usize) {
    (lines.len() - 1, lines.last().map_or(0, |line| width(line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_are_never_cut_in_half() {
        assert_eq!(cut("日本語の題", 6), "日本…");
        assert_eq!(cut("日本語の題", 10), "日本語の題");
        assert_eq!(wrap("日本語の題", 5), ["日本", "語の", "題"]);
    }

    #[test]
    fn an_accent_or_a_family_stays_with_its_letter() {
        assert_eq!(cut("e\u{301}e\u{301}e\u{301}", 2), "e\u{301}…");
        assert_eq!(wrap("👩‍👩‍👧👩‍👩‍👧", 3), ["👩‍👩‍👧", "👩‍👩‍👧"]);
    }

    #[test]
    fn lines_break_at_blanks_and_say_what_is_missing() {
        assert_eq!(wrap("the quick brown fox", 10), ["the quick", "brown fox"]);
        assert_eq!(wrap_in("one two three four five", 8, 2), ["one two", "three f…"]);
        assert_eq!(wrap("a extraordinarily b", 6), ["a", "extrao", "rdinar", "ily b"]);
    }

    #[test]
    fn a_cursor_is_where_the_next_letter_goes() {
        assert_eq!(typed("ab\ncd", "ab", 10).1, (0, 2));
        assert_eq!(typed("ab\ncd", "ab\n", 10).1, (1, 0));
        assert_eq!(typed("日本語", "日本", 4).1, (0, 4));
        assert_eq!(typed("ab\n", "ab\n", 4), (vec!["ab".into(), String::new()], (1, 0)));
    }

    #[test]
    fn letters_that_a_font_would_join_are_counted_as_they_are_drawn() {
        assert_eq!(width("\u{644}\u{627}"), 2);
        assert_eq!(cut("\u{644}\u{627}\u{644}\u{627}", 2), "\u{644}…");
    }

    /// This once took quadratic time.
    #[test]
    fn a_very_long_word_is_broken_to_its_end_and_looked_at_no_further_than_needed() {
        let word = "x".repeat(1 << 20);
        assert_eq!(wrap(&word, 80).iter().map(String::len).sum::<usize>(), 1 << 20);
        assert_eq!(wrap_in(&format!("a b {word}"), 8, 2), ["a b", "xxxxxxx…"]);
        assert_eq!(wrap_to(&word, 80, 3).len(), 3);
    }

    #[test]
    fn nobody_elses_text_moves_the_cursor() {
        assert_eq!(clean("a\x1b[2J\u{202e}b"), "a [2J b");
    }
}

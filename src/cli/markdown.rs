//! Markdown for GitHub: tables whose text cannot become markup, a link or a mention.

use super::table::{clean, cut};

/// The number of rows that are visible without a click.
const OPEN_ROWS: usize = 15;
/// GitHub accepts comments of up to 65,536 characters. Two tables with the text around them stay below that.
const MOST_BYTES: usize = 28_000;

/// One line of plain text. Entities never act as markup. GitHub looks for mentions, references and links after it has
/// decoded entities, so a zero-width space follows each character that could begin one.
pub fn escape(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in clean(text).chars().filter(|c| !is_bidi(*c)) {
        match c {
            '@' | '#' | ':' => shown.push_str(&format!("&#{};&#8203;", u32::from(c))),
            '&' | '<' | '>' | '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' => {
                shown.push_str(&format!("&#{};", u32::from(c)));
            }
            '.' if ends_with(&shown, "www") => shown.push_str(".&#8203;"),
            '-' if ends_with(&shown, "gh") => shown.push_str("-&#8203;"),
            _ => shown.push(c),
        }
    }
    shown
}

fn ends_with(text: &str, end: &str) -> bool {
    let start = text.len().checked_sub(end.len());
    start.and_then(|start| text.get(start..)).is_some_and(|last| last.eq_ignore_ascii_case(end))
}

/// Characters that change the direction of the text after them.
fn is_bidi(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The same, cut to this width.
pub fn short(text: &str, width: usize) -> String {
    escape(&cut(&clean(text).split_whitespace().collect::<Vec<_>>().join(" "), width))
}

/// A table of cells that are Markdown already. Rows beyond the first few are folded; those that do not fit into a comment
/// are counted.
pub fn table(heads: &[&str], rows: &[Vec<String>], what: &str) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rule = format!("|{}\n", "---|".repeat(heads.len()));
    let head = format!("| {} |\n{rule}", heads.join(" | "));
    let lines: Vec<String> = rows.iter().map(|row| line(row)).collect();
    let mut left = MOST_BYTES;
    let fits = lines.iter().take_while(|line| left.checked_sub(line.len()).map(|rest| left = rest).is_some()).count();
    let (open, folded) = lines[..fits].split_at(fits.min(OPEN_ROWS));
    let mut text = format!("{head}{}", open.concat());
    if !folded.is_empty() {
        let summary = format!("{} more {what}", folded.len());
        text.push_str(&format!("\n<details><summary>{summary}</summary>\n\n{head}{}\n</details>\n", folded.concat()));
    }
    if fits < lines.len() {
        text.push_str(&format!("\n{} more {what} are not shown here.\n", lines.len() - fits));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_markup_a_mention_or_a_link() {
        for (text, shown) in [
            ("plain text, (so) it - stays!", "plain text, (so) it - stays!"),
            ("@acme/team fixes #12", "&#64;&#8203;acme/team fixes &#35;&#8203;12"),
            ("a | b\n| c", "a &#124; b &#124; c"),
            ("<img src=x> & <!-- -->", "&#60;img src=x&#62; &#38; &#60;!-- --&#62;"),
            ("[x](https://e.org)", "&#91;x&#93;(https&#58;&#8203;//e.org)"),
            ("WWW.e.org and GH-12", "WWW.&#8203;e.org and GH-&#8203;12"),
            ("`a` \\| *b* _c_ ~d~ $e$", "&#96;a&#96; &#92;&#124; &#42;b&#42; &#95;c&#95; &#126;d&#126; &#36;e&#36;"),
            ("a\u{202e}b\u{1b}[1m", "ab &#91;1m"),
        ] {
            assert_eq!(escape(text), shown);
        }
    }

    fn rows(count: usize, cell: &str) -> Vec<Vec<String>> {
        (0..count).map(|row| vec![format!("{row}"), cell.to_owned()]).collect()
    }

    #[test]
    fn a_long_table_is_folded() {
        let few = table(&["A", "B"], &rows(2, "x"), "tasks");
        assert_eq!(few, "| A | B |\n|---|---|\n| 0 | x |\n| 1 | x |\n");
        let many = table(&["A", "B"], &rows(20, "x"), "tasks");
        let (open, folded) = many.split_once("<details><summary>5 more tasks</summary>\n\n").unwrap();
        assert!(open.ends_with("| 14 | x |\n\n") && folded.contains("|---|---|\n| 15 | x |\n"), "{many}");
        assert!(folded.ends_with("| 19 | x |\n\n</details>\n"), "{many}");
    }

    #[test]
    fn a_table_that_no_comment_could_hold_says_what_is_missing() {
        let text = table(&["A", "B"], &rows(4000, "some text"), "tasks");
        assert!(text.len() < 30_000, "{}", text.len());
        let shown = text.matches("some text").count();
        assert!(text.ends_with(&format!("{} more tasks are not shown here.\n", 4000 - shown)), "{shown}");
    }
}

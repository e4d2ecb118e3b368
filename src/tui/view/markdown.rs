//! Markdown as far as a terminal needs it: headings, lists, boxes and code are highlighted; everything else is text.

use super::pen::{Row, piece};
use super::text;
use crate::tui::model::Tone;

pub fn rows(markdown: &str, width: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut code = false;
    for line in markdown.lines() {
        let line = text::clean(&line.replace('\t', "    "));
        if line.trim_start().starts_with("```") {
            code = !code;
            continue;
        }
        match code {
            true => rows.push(vec![piece(text::cut(&format!("  {line}"), width), Tone::Label)]),
            false => rows.extend(prose(&line, width)),
        }
    }
    rows
}

fn prose(line: &str, width: usize) -> Vec<Row> {
    let trimmed = line.trim_start();
    let depth = (line.len() - trimmed.len()).min(width / 2);
    if trimmed.is_empty() {
        return vec![Row::new()];
    }
    let heading = trimmed.trim_start_matches('#');
    if heading.len() < trimmed.len() && heading.starts_with(' ') {
        return text::wrap(heading, width).into_iter().map(|line| vec![piece(line, Tone::Head)]).collect();
    }
    let (mark, rest, tone) = marked(trimmed);
    let indent = depth + text::width(&mark);
    let wrapped = text::wrap(rest, width.saturating_sub(indent));
    let lead = |at: usize| match at {
        0 => format!("{}{mark}", " ".repeat(depth)),
        _ => " ".repeat(indent),
    };
    let row = |(at, line): (usize, String)| vec![piece(lead(at), tone), piece(line, Tone::Plain)];
    wrapped.into_iter().enumerate().map(row).collect()
}

/// The mark at the beginning of a list item or a quotation, and the rest of the line.
fn marked(line: &str) -> (String, &str, Tone) {
    let marks = [
        ("- [ ] ", "☐ ", Tone::Warn),
        ("- [x] ", "☑ ", Tone::Ready),
        ("- [X] ", "☑ ", Tone::Ready),
        ("- ", "• ", Tone::Accent),
        ("* ", "• ", Tone::Accent),
        ("> ", "▎ ", Tone::Dim),
    ];
    let found = marks.iter().find_map(|(start, mark, tone)| Some((*mark, line.strip_prefix(start)?, *tone)));
    if let Some((mark, rest, tone)) = found {
        return (mark.to_owned(), rest, tone);
    }
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    match line.get(digits..digits + 2) {
        Some(". ") if digits > 0 => (line[..digits + 2].to_owned(), &line[digits + 2..], Tone::Accent),
        _ => (String::new(), line, Tone::Plain),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(markdown: &str, width: usize) -> Vec<String> {
        rows(markdown, width).iter().map(|row| row.iter().map(|(text, _)| text.as_str()).collect()).collect()
    }

    #[test]
    fn points_and_boxes_hang_and_code_stays_as_it_is() {
        let text = "# Head\n- [ ] one two three\n1. first\n```\nlet  x;\n```\n";
        assert_eq!(shown(text, 12), ["Head", "☐ one two", "  three", "1. first", "  let  x;"]);
    }
}

//! A document as sections: headings with the lines and check boxes below them, as pulldown-cmark reads it.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// A line with its number, from 1.
pub type Line<'a> = (u32, &'a str);

#[derive(Debug, Clone)]
pub struct Section<'a> {
    pub line: u32,
    pub level: usize,
    pub title: &'a str,
    /// The lines up to the next heading of any level.
    pub body: Vec<Line<'a>>,
    /// The check boxes in these lines, and whether each is ticked.
    pub boxes: Vec<bool>,
    /// The first line below the heading.
    below: u32,
}

/// The lines after the front matter that are neither in fences nor in HTML comments.
pub fn lines(text: &str) -> Vec<Line<'_>> {
    Outline::read(text).lines
}

pub fn sections(text: &str) -> Vec<Section<'_>> {
    let Outline { lines, mut sections, boxes } = Outline::read(text);
    let above = |sections: &[Section<'_>], line: u32| {
        let at = sections.partition_point(|section| section.line <= line).checked_sub(1)?;
        (sections[at].below <= line).then_some(at)
    };
    for (line, text) in lines {
        above(&sections, line).into_iter().for_each(|at| sections[at].body.push((line, text)));
    }
    for (line, done) in boxes {
        above(&sections, line).into_iter().for_each(|at| sections[at].boxes.push(done));
    }
    sections
}

/// The parts of a document, in the order of their lines; the sections do not have their lines and check boxes yet.
struct Outline<'a> {
    lines: Vec<Line<'a>>,
    sections: Vec<Section<'a>>,
    boxes: Vec<(u32, bool)>,
}

impl<'a> Outline<'a> {
    fn read(text: &'a str) -> Self {
        let front = super::FrontMatter::read(text).end.unwrap_or(0);
        let start: usize = text.split_inclusive('\n').take(front as usize).map(str::len).sum();
        let body = &text[start..];
        let breaks: Vec<usize> = body.match_indices('\n').map(|(at, _)| at).collect();
        let line_at = |at: usize| front + 1 + breaks.partition_point(|newline| *newline < at) as u32;
        let line_after = |range: &Range<usize>| line_at(range.end.saturating_sub(1)) + 1;
        let (mut sections, mut boxes, mut hidden) = (Vec::new(), Vec::new(), Vec::new());
        let (mut quotes, mut items, mut title) = (0, 0, None);
        for (event, range) in Parser::new_ext(body, Options::ENABLE_TASKLISTS).into_offset_iter() {
            let line = line_at(range.start);
            match event {
                Event::Start(Tag::BlockQuote(_)) => quotes += 1,
                Event::End(TagEnd::BlockQuote(_)) => quotes -= 1,
                Event::Start(Tag::Item) => items += 1,
                Event::End(TagEnd::Item) => items -= 1,
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => hidden.push(line..line_after(&range)),
                Event::Start(Tag::HtmlBlock) if body[range.clone()].trim_start().starts_with("<!--") => {
                    hidden.push(line..line_after(&range));
                }
                Event::TaskListMarker(done) if quotes == 0 => {
                    // A box without text does not count.
                    let rest = body[range.end..].lines().next().unwrap_or_default();
                    boxes.extend((!rest.trim().is_empty()).then_some((line, done)));
                }
                Event::Start(Tag::Heading { .. }) if quotes + items == 0 => title = Some(body.len()..0),
                Event::End(TagEnd::Heading(level)) => sections.extend(title.take().map(|title| Section {
                    line,
                    level: level as usize,
                    title: body.get(title).unwrap_or_default().trim(),
                    body: Vec::new(),
                    boxes: Vec::new(),
                    below: line_after(&range),
                })),
                // A title is the source text of everything inside it, with its markup.
                _ => title = title.map(|title| title.start.min(range.start)..title.end.max(range.end)),
            }
        }
        let is_shown = |(line, _): &Line<'_>| !hidden.iter().any(|lines: &Range<u32>| lines.contains(line));
        Self { lines: (front + 1..).zip(body.lines()).filter(is_shown).collect(), sections, boxes }
    }
}

impl Section<'_> {
    pub fn is(&self, level: usize, title: &str) -> bool {
        self.level == level && self.title.eq_ignore_ascii_case(title)
    }

    pub fn is_empty(&self) -> bool {
        self.body.iter().all(|(_, line)| line.trim().is_empty())
    }
}

/// The section at `at` with its subsections.
pub fn within<'s, 'a>(all: &'s [Section<'a>], at: usize) -> &'s [Section<'a>] {
    let level = all[at].level;
    let end = all[at + 1..].iter().position(|section| section.level <= level);
    &all[at..end.map_or(all.len(), |end| at + 1 + end)]
}

/// The words in backticks that a line lists, up to the first one that other text follows.
pub fn ticked(line: &str) -> Vec<&str> {
    let parts: Vec<&str> = line.split('`').collect();
    let mut found = Vec::new();
    // Parts with an odd index are between backticks, if another backtick follows.
    for at in (1..parts.len().saturating_sub(1)).step_by(2) {
        if at > 1 && !matches!(parts[at - 1].trim(), "," | "and" | ", and") {
            break;
        }
        found.extend(Some(parts[at].trim()).filter(|word| !word.is_empty()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<(u32, usize, &str, Vec<bool>)> {
        sections(text).into_iter().map(|section| (section.line, section.level, section.title, section.boxes)).collect()
    }

    #[test]
    fn headings_in_fences_are_no_sections() {
        let text = "# A\n````md\n## B\n```\n## B\n````\n## C\ntext\n";
        assert_eq!(told(text), [(1, 1, "A", vec![]), (7, 2, "C", vec![])]);
    }

    #[test]
    fn what_is_quoted_commented_out_or_code_is_neither_a_heading_nor_a_box() {
        for hidden in [
            "```\n# B\n- [ ] b\n```\n",
            "~~~~ md\n# B\n~~~\n- [ ] b\n~~~~\n",
            "- x\n  ```\n  # B\n  - [ ] b\n  ```\n",
            "> # B\n> - [ ] b\n",
            "<!--\n# B\n\n- [ ] b\n-->\n",
            "<!-- # B -->\n",
            "    # B\n    - [ ] b\n",
            "\t# B\n",
            "\\# B\n\n\\- [ ] b\n",
        ] {
            let text = format!("# A\n\n{hidden}\n- [x] a\n\n## C\n");
            let line = 5 + hidden.lines().count() as u32 + 1;
            assert_eq!(told(&text), [(1, 1, "A", vec![true]), (line, 2, "C", vec![])], "{text}");
        }
    }

    #[test]
    fn a_line_in_a_fence_or_comment_is_not_a_line_of_the_document() {
        let text = "---\na: b\n---\nVERDICT: 1\n```\nVERDICT: 2\n```\n<!--\nVERDICT: 3\n-->\nVERDICT: 4\n";
        assert_eq!(lines(text), [(4, "VERDICT: 1"), (11, "VERDICT: 4")]);
    }

    #[test]
    fn headings_of_both_kinds_are_sections() {
        let text = "One\n===\na\n\nTwo `x`\n---\nb\r\n### Three **y** ###\r\nc\n####\td\n";
        assert_eq!(
            told(text),
            [(1, 1, "One", vec![]), (5, 2, "Two `x`", vec![]), (8, 3, "Three **y**", vec![]), (10, 4, "d", vec![])]
        );
        let bodies: Vec<_> = sections(text).into_iter().map(|section| section.body).collect();
        assert_eq!(bodies, [vec![(3, "a"), (4, "")], vec![(7, "b")], vec![(9, "c")], vec![]]);
    }

    #[test]
    fn boxes_are_counted_in_every_list() {
        let text = "- [ ] a\n# A\n- [x] a\n  * [X] b\n    + [ ] c\n\n1. [x] d\n2. e\n\t- [ ] f\n";
        assert_eq!(told(text), [(2, 1, "A", vec![true, true, false, true, false])]);
    }

    #[test]
    fn a_box_needs_something_to_do() {
        assert_eq!(told("# A\n- [ ] a\n- [ ]\n- [ ] \n- [-] a\n- a\n"), [(1, 1, "A", vec![false])]);
    }

    #[test]
    fn a_back_tick_without_its_pair_quotes_nothing() {
        assert_eq!(ticked("- `a.rs` and `b.rs`, `c"), ["a.rs", "b.rs"]);
        assert_eq!(ticked("- `a.rs`: the function `b`"), ["a.rs"]);
    }
}

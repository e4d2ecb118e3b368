//! A document as sections: headings with what stands below them, where code in fences is text and nothing else.

/// A line with its number, from 1.
pub type Line<'a> = (u32, &'a str);

#[derive(Debug, Clone)]
pub struct Section<'a> {
    pub line: u32,
    pub level: usize,
    pub title: &'a str,
    /// Up to the next heading of whatever level.
    pub body: Vec<Line<'a>>,
}

/// The lines that are not in fences, behind the front matter.
pub fn lines(text: &str) -> Vec<Line<'_>> {
    let skip = super::FrontMatter::read(text).end.unwrap_or(0);
    let mut fence: Option<&str> = None;
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(number, _)| *number > skip) {
        match (fence, fence_of(line)) {
            (None, Some(mark)) => fence = Some(mark),
            // A shorter one, or one with words behind it, is part of the code.
            (Some(open), Some(mark)) if mark.starts_with(open) && line.trim() == mark => fence = None,
            (None, None) => found.push((number, line)),
            _ => {}
        }
    }
    found
}

/// The run of back-ticks or tildes that a line begins with, if it is a fence.
fn fence_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|c| ['`', '~'].contains(c))?;
    let length = line.len() - line.trim_start_matches(mark).len();
    (length > 2).then(|| &line[..length])
}

pub fn sections(text: &str) -> Vec<Section<'_>> {
    let mut found: Vec<Section<'_>> = Vec::new();
    for (number, line) in lines(text) {
        if let Some((level, title)) = heading(line) {
            found.push(Section { line: number, level, title, body: Vec::new() });
        } else if let Some(section) = found.last_mut() {
            section.body.push((number, line));
        }
    }
    found
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let title = line[level..].strip_prefix([' ', '\t'])?;
    (1..=6).contains(&level).then(|| (level, title.trim()))
}

impl Section<'_> {
    pub fn is(&self, level: usize, title: &str) -> bool {
        self.level == level && self.title.eq_ignore_ascii_case(title)
    }

    pub fn is_empty(&self) -> bool {
        self.body.iter().all(|(_, line)| line.trim().is_empty())
    }
}

/// The sections that belong to the one at `at`: itself, and the deeper ones that follow.
pub fn within<'s, 'a>(all: &'s [Section<'a>], at: usize) -> &'s [Section<'a>] {
    let level = all[at].level;
    let end = all[at + 1..].iter().position(|section| section.level <= level);
    &all[at..end.map_or(all.len(), |end| at + 1 + end)]
}

/// The back-ticked words that a line lists, up to the first that is said something about.
pub fn ticked(line: &str) -> Vec<&str> {
    let parts: Vec<&str> = line.split('`').collect();
    let mut found = Vec::new();
    // Odd places are inside, as long as another back-tick follows.
    for at in (1..parts.len().saturating_sub(1)).step_by(2) {
        if at > 1 && !matches!(parts[at - 1].trim(), "," | "and" | ", and") {
            break;
        }
        found.extend(Some(parts[at].trim()).filter(|word| !word.is_empty()));
    }
    found
}

/// Whether a line is a box to tick, and whether it is ticked.
pub fn checkbox(line: &str) -> Option<bool> {
    let rest = line.trim_start().strip_prefix(['-', '*', '+'])?.trim_start();
    let (mark, what) = rest.strip_prefix('[')?.split_once(']')?;
    match (mark, what.trim().is_empty()) {
        (" ", false) => Some(false),
        ("x" | "X", false) => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_in_fences_are_no_sections() {
        let text = "# A\n````md\n## B\n```\n## B\n````\n## C\ntext\n";
        let titles: Vec<_> = sections(text).iter().map(|section| (section.line, section.title.to_owned())).collect();
        assert_eq!(titles, [(1, "A".into()), (7, "C".into())]);
    }

    #[test]
    fn a_box_needs_something_to_do() {
        assert_eq!(
            [checkbox("- [ ] a"), checkbox("  * [X] a"), checkbox("- [ ]"), checkbox("- a")],
            [Some(false), Some(true), None, None]
        );
    }

    #[test]
    fn a_back_tick_without_its_pair_quotes_nothing() {
        assert_eq!(ticked("- `a.rs` and `b.rs`, `c"), ["a.rs", "b.rs"]);
        assert_eq!(ticked("- `a.rs`: the function `b`"), ["a.rs"]);
    }
}

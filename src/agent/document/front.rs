//! Front matter: `key: value` lines between two lines of `---` at the top of a document, with YAML's quotes and comments.

/// The keys of a document, with the line of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FrontMatter {
    entries: Vec<(String, String, u32)>,
    /// The line of the closing `---`; none if there is no front matter.
    pub end: Option<u32>,
}

impl FrontMatter {
    pub fn read(text: &str) -> Self {
        let mut lines = text.trim_start_matches('\u{feff}').lines().zip(1..);
        if lines.next().is_none_or(|(first, _)| first.trim_end() != "---") {
            return Self::default();
        }
        let mut entries = Vec::new();
        for (line, number) in lines {
            if line.trim_end() == "---" {
                return Self { entries, end: Some(number) };
            }
            if let Some((key, value)) = line.split_once(':') {
                entries.push((key.trim().to_owned(), scalar(value).to_owned(), number));
            }
        }
        Self::default()
    }

    /// The value of a key; none if it is empty.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.entry(key).map(|(value, _)| value).filter(|value| !value.is_empty())
    }

    /// The items of `[a, b]`, or the one value.
    pub fn list(&self, key: &str) -> Vec<&str> {
        let Some(value) = self.get(key) else { return Vec::new() };
        let inner = value.trim_start_matches('[').trim_end_matches(']');
        inner.split(',').map(unquoted).filter(|item| !item.is_empty()).collect()
    }

    /// Every key with its value, in order; empty values are left out.
    pub fn entries(&self) -> Vec<(String, String)> {
        let said = self.entries.iter().filter(|(_, value, _)| !value.is_empty());
        said.map(|(key, value, _)| (key.clone(), value.clone())).collect()
    }

    /// The line of a key, or the first line if the key is missing.
    pub fn line(&self, key: &str) -> u32 {
        self.entry(key).map_or(1, |(_, line)| line)
    }

    fn entry(&self, key: &str) -> Option<(&str, u32)> {
        let found = self.entries.iter().find(|(name, ..)| name == key);
        found.map(|(_, value, line)| (value.as_str(), *line))
    }
}

/// A value without its quotes and without a comment after it.
fn scalar(text: &str) -> &str {
    let text = text.trim();
    let end = match text.chars().next() {
        Some(quote @ ('"' | '\'')) => text[1..].find(quote).map(|at| at + 2),
        // `[#44, #45]` is a list of issues, though YAML has comments there.
        Some('[') => text.find(']').map(|at| at + 1),
        _ => None,
    };
    let closed = end.filter(|end| text[*end..].is_empty() || is_comment(&text[*end..]));
    unquoted(&text[..closed.or_else(|| comment(text)).unwrap_or(text.len())])
}

/// Where the comment of an unquoted value starts: at a `#` after a space. `#44` alone is the number of an issue.
fn comment(text: &str) -> Option<usize> {
    match text.strip_prefix('#') {
        Some(rest) if rest.is_empty() || rest.starts_with(char::is_whitespace) => Some(0),
        _ => text.match_indices('#').map(|(at, _)| at).find(|at| text[..*at].ends_with(char::is_whitespace)),
    }
}

fn is_comment(rest: &str) -> bool {
    rest.starts_with(char::is_whitespace) && rest.trim_start().starts_with('#')
}

fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let inner = |quote: char| text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_with_their_lines_and_only_between_the_dashes() {
        let front =
            FrontMatter::read("---\r\ndate: 2026-11-16\r\ntasks: [t-a, \"t-b\"]\nurl: https://x/1\n---\nstatus: no\n");
        assert_eq!(front.get("date"), Some("2026-11-16"));
        assert_eq!(front.list("tasks"), ["t-a", "t-b"]);
        assert_eq!(front.get("url"), Some("https://x/1"));
        assert_eq!((front.get("status"), front.line("tasks"), front.end), (None, 3, Some(5)));
    }

    #[test]
    fn a_comment_is_no_part_of_a_value() {
        for (line, expected) in [
            ("t-x7kq        # optional - only if linked to an issue", Some("t-x7kq")),
            ("approved\t# or needs-iteration", Some("approved")),
            ("# empty", None),
            ("#", None),
            ("#44", Some("#44")),
            ("#44 # the issue", Some("#44")),
            ("https://x/1#part", Some("https://x/1#part")),
            ("\"a # b\"", Some("a # b")),
            ("'t-a' # quoted", Some("t-a")),
            ("\"never closed # x", Some("\"never closed")),
            ("C# and F#", Some("C# and F#")),
        ] {
            let front = FrontMatter::read(&format!("---\nkey: {line}\n---\n"));
            assert_eq!(front.get("key"), expected, "{line}");
        }
        let listed = |line: &str| {
            let front = FrontMatter::read(&format!("---\nkey: {line}\n---\n"));
            front.list("key").into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(listed("[44, \"t-b\"] # both"), ["44", "t-b"]);
        assert_eq!(listed("[#44, #45]"), ["#44", "#45"]);
        assert_eq!(listed("[]  # none"), [""; 0]);
    }

    #[test]
    fn front_matter_that_is_never_closed_is_none() {
        assert_eq!(FrontMatter::read("---\ndate: x\n# Title\n"), FrontMatter::default());
        assert_eq!(FrontMatter::read("date: x\n---\n"), FrontMatter::default());
    }
}

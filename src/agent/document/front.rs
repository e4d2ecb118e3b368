//! Front matter: `key: value` lines between two lines of `---` at the top of a document.

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
                entries.push((key.trim().to_owned(), unquoted(value).to_owned(), number));
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
    fn front_matter_that_is_never_closed_is_none() {
        assert_eq!(FrontMatter::read("---\ndate: x\n# Title\n"), FrontMatter::default());
        assert_eq!(FrontMatter::read("date: x\n---\n"), FrontMatter::default());
    }
}

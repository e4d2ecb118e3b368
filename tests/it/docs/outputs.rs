//! Compares the output of a command with a page: `…` matches anything, ids are mapped, times and hashes are masked.

/// The ids in the page, with the real ids of the tasks.
#[derive(Debug, Default)]
pub struct Names {
    known: Vec<(String, String)>,
}

/// Ids such as `t-x7kq` in a text.
pub fn ids(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    for (at, _) in text.match_indices("t-") {
        let end = at + 2 + text[at + 2..].find(|c: char| !is_word(c)).unwrap_or(text.len() - at - 2);
        let (id, before) = (&text[at..end], text[..at].chars().next_back());
        if end - at == 6 && !before.is_some_and(is_word) && id[2..].chars().all(|c| c.is_ascii_alphanumeric()) {
            found.push(id.to_owned());
        }
    }
    found
}

impl Names {
    pub fn bind(&mut self, page: &str, real: &str) {
        let taken = self.known.iter().any(|(known, id)| known == page || id == real);
        if !taken {
            self.known.push((page.to_owned(), real.to_owned()));
        }
    }

    fn is_bound(&self, page: &str) -> bool {
        self.known.iter().any(|(known, _)| known == page)
    }

    /// Replaces the ids of the page by the real ones, also without their prefix.
    pub fn typed(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (page, real) in &self.known {
            text = replace_word(&text, page, real);
            text = replace_word(&text, &page[2..], &real[2..]);
        }
        text
    }

    /// Replaces the real ids by those of the page.
    pub fn shown(&self, text: &str) -> String {
        self.known.iter().fold(text.to_owned(), |text, (page, real)| text.replace(real, page))
    }

    /// Maps the first id of an output to the one in the page's comment: `# prints the new task, such as t-x7kq`.
    pub fn learn_from_comment(&mut self, command: &str, output: &str) {
        let Some((_, comment)) = command.rsplit_once(" # ") else { return };
        if let (Some(page), Some(real)) = (ids(comment).first(), ids(output).first()) {
            self.bind(page, real);
        }
    }

    /// Maps ids in lines that differ only in their ids.
    pub fn learn(&mut self, expected: &[String], actual: &str) {
        let mut lines = actual.lines();
        for line in expected {
            if ids(line).iter().all(|id| self.is_bound(id)) {
                continue;
            }
            let blank = without_ids(line);
            let mut rest = lines.clone();
            if let Some(found) = rest.find(|actual| fits(&blank, &without_ids(actual))) {
                for (page, real) in ids(line).iter().zip(ids(found)) {
                    self.bind(page, &real);
                }
                lines = rest;
            }
        }
    }
}

fn replace_word(text: &str, from: &str, to: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (mut done, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(from) {
        let before = done.chars().chain(rest[..at].chars()).next_back();
        let after = rest[at + from.len()..].chars().next();
        let whole = !before.is_some_and(is_word) && !after.is_some_and(is_word);
        done.push_str(&rest[..at]);
        done.push_str(if whole { to } else { from });
        rest = &rest[at + from.len()..];
    }
    done + rest
}

fn without_ids(line: &str) -> String {
    ids(line).iter().fold(line.to_owned(), |line, id| line.replace(id, "t-____"))
}

/// Replaces times, durations, hashes, ports and tokens, which differ between runs, and collapses spaces.
fn masked(line: &str) -> String {
    let words = line.split_whitespace().enumerate().map(|(at, word)| {
        let core = word.trim_matches([',', ';', '(', ')', '.', '"']);
        let digits = core.chars().filter(char::is_ascii_digit).count();
        let is_time =
            digits >= 4 && core.chars().all(|c| c.is_ascii_digit() || "TZ:-.".contains(c)) && core.contains([':', '-']);
        let is_length = digits > 0
            && core.trim_start_matches(|c: char| c.is_ascii_digit()).len() == 1
            && core.ends_with(['s', 'm', 'h']);
        let is_hash = core.len() == 8 && digits > 0 && core.chars().all(|c| c.is_ascii_hexdigit());
        // The id at the start of a line of the journal.
        let is_id = at == 0 && core.len() == 10 && core.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
        let is_number = digits >= 4 && core.len() == digits;
        match () {
            () if is_time || is_length || is_hash || is_id || is_number => word.replace(core, "*"),
            () => undated(word),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A path without its date.
fn undated(word: &str) -> String {
    let is_date =
        |part: &str| part.char_indices().all(|(at, c)| if at == 4 || at == 7 { c == '-' } else { c.is_ascii_digit() });
    for (at, _) in word.char_indices() {
        if let Some(part) = word.get(at..at + 10).filter(|part| is_date(part)) {
            return word.replace(part, "*");
        }
    }
    word.to_owned()
}

/// Whether a line matches the page; `…` matches any text.
pub fn fits(expected: &str, actual: &str) -> bool {
    let (expected, actual) = (masked(expected), masked(actual));
    let mut parts = expected.split('…').map(str::trim);
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = actual.strip_prefix(first) else { return false };
    if !expected.contains('…') {
        return rest.is_empty();
    }
    let parts: Vec<&str> = parts.collect();
    let (last, between) = parts.split_last().unwrap();
    for part in between {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Whether an output matches the page; a line of `…` matches any lines. Tasks that differ only in their random ids may
/// come in any order.
pub fn is_as_shown(expected: &[String], actual: &[String]) -> bool {
    let sorted = |lines: &[String]| {
        let mut lines: Vec<String> =
            lines.iter().map(|line| masked(line.trim_start_matches(['├', '└', '─', '│', ' ']))).collect();
        lines.sort();
        lines
    };
    is_in_order(expected, actual) || (expected.len() == actual.len() && sorted(expected) == sorted(actual))
}

fn is_in_order(expected: &[String], actual: &[String]) -> bool {
    match (expected.split_first(), actual.split_first()) {
        (None, rest) => rest.is_none(),
        (Some((line, after)), rest) if line.trim() == "…" => {
            is_in_order(after, actual) || rest.is_some_and(|(_, rest)| is_in_order(expected, rest))
        }
        (Some(_), None) => false,
        (Some((line, after)), Some((first, rest))) => fits(line, first) && is_in_order(after, rest),
    }
}

/// The lines of a text, without empty ones at the end.
pub fn lines(text: &str) -> Vec<String> {
    text.trim_end().lines().map(|line| line.trim_end().to_owned()).collect()
}

#[test]
fn an_output_fits_with_other_ids_times_and_what_is_left_out() {
    let expected = lines("t-aaaa claimed by Anna, until 19:24Z\n…\n…/shop/x  from main  port 31980\nexit 0s");
    let actual =
        lines("t-aaaa claimed by Anna, until 2026-11-18T10:00Z\na\nb\n/tmp/y/shop/x from main  port 40000\nexit 12s\n");
    assert!(is_as_shown(&expected, &actual));
    assert!(!is_as_shown(&expected[..3], &actual) && !is_as_shown(&expected, &actual[..4]));
    assert!(!fits("t-aaaa Todo", "t-aaaa Doing") && !fits("a…c", "ab") && !fits("2 tasks", "3 tasks"));
}

#[test]
fn ids_of_a_page_become_those_of_its_tasks() {
    let mut names = Names::default();
    names.learn(&lines("t-hhm9 Fix it (Todo)"), "made:\nt-abcd Fix it (Todo)\n");
    names.learn_from_comment("ralph add B  # such as t-x7kq", "t-efgh B");
    assert_eq!(names.typed("ralph x hhm9 t-x7kq feature/t-hhm9 hhm9s"), "ralph x abcd t-efgh feature/t-abcd hhm9s");
    assert_eq!(names.shown("t-abcd and t-efgh"), "t-hhm9 and t-x7kq");
}

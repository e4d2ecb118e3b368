//! The machine-readable parts of a plan or research: phases, their dependencies, and the files to change.

use serde::Serialize;

use super::markdown::{Section, sections, ticked, within};

/// A heading such as `## Phase 2: Store the labels (t-x7kq)`, with the lines below it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Phase {
    pub line: u32,
    pub number: u32,
    pub title: String,
    /// The tasks that it names in parentheses, as written. An entry may also be a plain word, which names no task.
    pub ids: Vec<String>,
    /// The values of `depends_on`: `phase-1`, ids and issues, as written.
    pub depends_on: Vec<String>,
    /// The line of `depends_on`.
    pub depends_line: Option<u32>,
    pub done: usize,
    pub total: usize,
}

pub fn phases(text: &str) -> Vec<Phase> {
    let all = sections(text);
    let starts = (0..all.len()).filter(|&at| all[at].level == 2);
    starts.filter_map(|at| phase(&all[at], within(&all, at))).collect()
}

fn phase(head: &Section<'_>, parts: &[Section<'_>]) -> Option<Phase> {
    let (_, rest) = head.title.split_at_checked(5).filter(|(word, _)| word.eq_ignore_ascii_case("phase"))?;
    let (number, title) = rest.split_once(':')?;
    let number = number.trim().parse().ok()?;
    let (title, ids) = named_tasks(title.trim());
    let boxes = || parts.iter().flat_map(|part| &part.boxes);
    let depends = parts
        .iter()
        // The tasks within a phase can have dependencies on each other, which are not those of the phase.
        .filter(|part| !part.title.to_ascii_lowercase().starts_with("task "))
        .flat_map(|part| &part.body)
        .find_map(|(line, text)| field(text, "depends_on").map(|value| (*line, value)));
    Some(Phase {
        line: head.line,
        number,
        title: title.to_owned(),
        ids,
        depends_on: depends.map(|(_, value)| items(value)).unwrap_or_default(),
        depends_line: depends.map(|(line, _)| line),
        done: boxes().filter(|done| **done).count(),
        total: boxes().count(),
    })
}

/// `Store the labels (t-x7kq, GH-9)` → the title, and the ids of the parentheses at its end.
fn named_tasks(title: &str) -> (&str, Vec<String>) {
    let Some((front, inner)) = title.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')) else {
        return (title, Vec::new());
    };
    let words: Vec<String> = items(inner);
    if words.is_empty() || words.iter().any(|word| word.contains(char::is_whitespace)) {
        return (title, Vec::new());
    }
    let sure = words.iter().all(|word| is_surely_name(word));
    (if sure { front.trim_end() } else { title }, words)
}

/// Whether a word is meant as a task's name, and not as a plain word.
pub fn is_surely_name(word: &str) -> bool {
    word.contains(['-', '#'])
}

/// The value of `- **name**: value`, with or without the bullet and the stars.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let line = line.trim_start().trim_start_matches(['-', '*', '+', ' ']);
    let rest = line.strip_prefix(name)?.trim_start_matches('*').trim_start();
    Some(rest.strip_prefix(':')?.trim_start_matches('*').trim())
}

fn items(value: &str) -> Vec<String> {
    let inner = value.trim().trim_start_matches('[').trim_end_matches(']');
    let words = inner.split(',').map(|word| word.trim().trim_matches(['`', '"', '\'']).trim());
    words.filter(|word| !word.is_empty() && !["null", "none", "-"].contains(word)).map(str::to_owned).collect()
}

/// The paths that a document plans to change: under `Will Modify`, and in the `files` lines of a plan.
pub fn files_modified(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for section in sections(text) {
        let listed = section.level > 2 && section.title.eq_ignore_ascii_case("Will Modify");
        for (_, line) in &section.body {
            let files = field(line, "files").filter(|files| !files.ends_with("(read)"));
            let paths = if listed { ticked(line) } else { files.map(ticked).unwrap_or_default() };
            found.extend(paths.iter().map(|path| without_lines(path.trim_start_matches("./")).to_owned()));
        }
    }
    found.sort();
    found.dedup();
    found
}

/// `src/a.rs:12-30` → `src/a.rs`.
fn without_lines(path: &str) -> &str {
    let is_lines = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_digit()) && !text.contains(|c: char| !matches!(c, '0'..='9' | '-' | ','))
    };
    match path.rsplit_once(':') {
        Some((file, lines)) if is_lines(lines) => without_lines(file),
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "\
---
type: plan
---
# P
## Phase 1: Read them (GH-44)
- **depends_on**: null
- **files**: `src/a.rs:3-12`, `src/b.rs`, `src/b.rs:7:1`
### Tasks
#### Task 1.2
- **depends_on**: [task-1.1]
- **files**: `src/c.rs` (read)
- [x] one
- [ ] two
## Phase 2: Store (and load) them (t-x7kq, GH-45)
- **depends_on**: [phase-1, `GH-9`]
- [ ] all of it
```
## Phase 3: not one
```
## Phases
## Phase x: nor this
";

    #[test]
    fn phases_have_their_tasks_boxes_and_what_they_wait_for() {
        let phases = phases(PLAN);
        let told: Vec<_> = phases.iter().map(|p| (p.line, p.number, p.title.as_str(), p.done, p.total)).collect();
        assert_eq!(told, [(5, 1, "Read them", 1, 2), (14, 2, "Store (and load) them", 0, 1)]);
        assert_eq!(phases[0].depends_on, Vec::<String>::new());
        assert_eq!((phases[1].depends_on.join(" "), phases[1].depends_line), ("phase-1 GH-9".into(), Some(15)));
        assert_eq!(phases[1].ids, ["t-x7kq", "GH-45"]);
    }

    #[test]
    fn words_in_parentheses_stay_in_the_title() {
        assert_eq!(named_tasks("Tidy up (optional)"), ("Tidy up (optional)", vec!["optional".into()]));
        assert!(!is_surely_name("optional"));
        assert_eq!(named_tasks("Tidy (a-b and c)"), ("Tidy (a-b and c)", Vec::new()));
    }

    #[test]
    fn files_that_are_only_read_are_not_modified() {
        assert_eq!(files_modified(PLAN), ["src/a.rs", "src/b.rs"]);
        let research = "## Files Affected\n### Will Modify\n- `./src/x.rs`: why `it`\n### Will Read\n- `src/y.rs`\n";
        assert_eq!(files_modified(research), ["src/x.rs"]);
    }
}

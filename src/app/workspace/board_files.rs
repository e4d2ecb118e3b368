//! Merges two versions of the board's files, in merges and pulls.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::git::{MergeFiles, Settled};
use crate::store::merge::{Side, merge_note, merge_taking};
use crate::store::{codec, is_board, merge::merge, merge_journals};
use crate::task::{Key, StateName, Value};

/// Merges files of the board, and records conflicts for the person who has to resolve them.
#[derive(Default)]
pub(in crate::app) struct BoardFiles {
    /// Which side wins a conflict.
    take: Option<Side>,
    /// The state of a task whose file names none.
    initial: Option<StateName>,
    /// Descriptions of the conflicts, by path.
    conflicts: RefCell<BTreeMap<String, String>>,
}

impl BoardFiles {
    pub fn taking(take: Option<Side>) -> Self {
        Self { take, ..Self::default() }
    }

    /// A task whose file names no state is in this one: one side that names it, such as after an undo, has changed nothing.
    pub fn starting_in(self, initial: &StateName) -> Self {
        Self { initial: Some(initial.clone()), ..self }
    }

    /// The common version, with the initial state written out if it names none and a side writes it out.
    fn stated<'t>(&self, path: &str, base: &'t str, sides: [&str; 2]) -> Cow<'t, str> {
        let key = Key::new("state");
        let state = |text: &str| codec::Doc::new(text).ok().and_then(|doc| doc.get(&key));
        let Some(initial) = self.initial.as_ref().map(Value::text).filter(|_| path.starts_with(".ralph/tasks/")) else {
            return Cow::Borrowed(base);
        };
        if base.is_empty() || state(base).is_some() || !sides.iter().any(|side| state(side).as_ref() == Some(&initial))
        {
            return Cow::Borrowed(base);
        }
        let written = codec::Doc::new(base).and_then(|doc| doc.with(&key, Some(&initial)));
        written.map_or(Cow::Borrowed(base), Cow::Owned)
    }

    /// A path with the conflicting fields, such as `t-x7kq.toml (priority)`.
    pub fn describe(&self, path: &str) -> String {
        match self.conflicts.borrow().get(path) {
            Some(words) => format!("{path} ({words})"),
            None => path.to_owned(),
        }
    }

    fn merge_task(&self, path: &str, base: &str, ours: &str, theirs: &str) -> Option<String> {
        let base = &*self.stated(path, base, [ours, theirs]);
        let merged = match self.take {
            Some(side) => merge_taking(base, ours, theirs, side),
            None => merge(base, ours, theirs),
        };
        match merged {
            Some(merged) if merged.conflicts.is_empty() => Some(merged.text),
            Some(merged) => {
                let keys: Vec<&str> = merged.conflicts.iter().map(Key::as_str).collect();
                self.conflicts.borrow_mut().insert(path.to_owned(), keys.join(", "));
                None
            }
            None => self.merge_lines(base, ours, theirs),
        }
    }

    /// Takes one side as a whole, for files that cannot be merged; `words` describe the conflict.
    fn taken(&self, path: &str, ours: Option<&[u8]>, theirs: Option<&[u8]>, words: Option<&str>) -> Settled<Vec<u8>> {
        match self.take {
            Some(side) => Settled::side(if side == Side::Ours { ours } else { theirs }.map(<[u8]>::to_vec)),
            None => {
                let said = words.map(|words| (path.to_owned(), words.to_owned()));
                self.conflicts.borrow_mut().extend(said);
                Settled::Open
            }
        }
    }

    fn merge_lines(&self, base: &str, ours: &str, theirs: &str) -> Option<String> {
        // Longer than any similar line in the texts, so that no line of text counts as a marker.
        let length = [base, ours, theirs].iter().map(|text| longest_marker(text)).max().unwrap_or(0).max(6) + 1;
        let merged = diffy::MergeOptions::new().set_conflict_marker_length(length).merge(base, ours, theirs);
        match (merged, self.take) {
            (Ok(text), _) => Some(text),
            (Err(marked), Some(side)) => Some(settled(&marked, side, length)),
            (Err(_), None) => None,
        }
    }
}

impl MergeFiles for BoardFiles {
    fn covers(&self, path: &str) -> bool {
        is_board(path)
    }

    fn merge(&self, path: &str, base: Option<&[u8]>, ours: Option<&[u8]>, theirs: Option<&[u8]>) -> Settled<Vec<u8>> {
        let (Some(ours), Some(theirs)) = (ours, theirs) else {
            let words = if ours.is_none() { "removed here, changed there" } else { "changed here, removed there" };
            return self.taken(path, ours, theirs, Some(words));
        };
        let text = |bytes| std::str::from_utf8(bytes).ok();
        let (Some(base), Some(our_text), Some(their_text)) = (text(base.unwrap_or_default()), text(ours), text(theirs))
        else {
            return self.taken(path, Some(ours), Some(theirs), None);
        };
        let merged = if path.ends_with(".jsonl") {
            Some(merge_journals(our_text, their_text))
        } else if is_table(path) {
            self.merge_task(path, base, our_text, their_text)
        } else {
            let note = is_note(path).then(|| merge_note(base, our_text, their_text)).flatten();
            note.or_else(|| self.merge_lines(base, our_text, their_text))
        };
        merged.map_or(Settled::Open, |text| Settled::Is(text.into_bytes()))
    }

    /// One side may have archived the task while the other changed it.
    fn moves_to(&self, path: &str) -> Option<String> {
        let name = path.strip_prefix(".ralph/tasks/")?;
        Some(format!(".ralph/archive/{name}"))
    }
}

/// Tasks and settings are merged key by key.
fn is_table(path: &str) -> bool {
    path.starts_with(".ralph/") && path.ends_with(".toml")
}

pub(in crate::app) fn is_note(path: &str) -> bool {
    path.starts_with(".ralph/notes/") && path.ends_with(".md")
}

/// The length of the longest run of marker characters at the start of a line.
fn longest_marker(text: &str) -> usize {
    let run = |line: &str| {
        let first = line.chars().next().filter(|c| "<=>|".contains(*c));
        first.map_or(0, |first| line.chars().take_while(|c| *c == first).count())
    };
    text.lines().map(run).max().unwrap_or(0)
}

/// Resolves conflicts between markers of that length in favour of one side, and keeps all other lines.
fn settled(marked: &str, side: Side, length: usize) -> String {
    #[derive(PartialEq)]
    enum FilePart {
        Both,
        Ours,
        Base,
        Theirs,
    }
    let mut part = FilePart::Both;
    let mut text = String::new();
    for line in marked.split_inclusive('\n') {
        let marker = if longest_marker(line) == length { line.chars().next() } else { None };
        match marker {
            Some('<') => part = FilePart::Ours,
            Some('|') => part = FilePart::Base,
            Some('=') => part = FilePart::Theirs,
            Some('>') => part = FilePart::Both,
            _ => match (&part, side) {
                (FilePart::Both, _) | (FilePart::Ours, Side::Ours) | (FilePart::Theirs, Side::Theirs) => {
                    text.push_str(line);
                }
                _ => {}
            },
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_that_names_the_initial_state_has_not_changed_the_state() {
        let merge = |files: BoardFiles, [base, ours, theirs]: [&str; 3]| {
            let text = |state: &str| format!("title = \"A\"\n{state}");
            files.merge_task(".ralph/tasks/t-a.toml", &text(base), &text(ours), &text(theirs))
        };
        let files = || BoardFiles::default().starting_in(&StateName::new("Todo"));
        let (todo, doing, done) = ("state = \"Todo\"\n", "state = \"Doing\"\n", "state = \"Done\"\n");
        assert_eq!(merge(files(), ["", done, todo]).unwrap(), format!("title = \"A\"\n{done}"));
        assert_eq!(merge(files(), ["", todo, done]).unwrap(), format!("title = \"A\"\n{done}"));
        assert_eq!(merge(files(), ["", doing, done]), None);
        assert_eq!(merge(BoardFiles::default(), ["", done, todo]), None);
    }

    #[test]
    fn lines_that_look_like_markers_are_somebodys_text() {
        let files = BoardFiles::taking;
        let text =
            |first: &str, last: &str| format!("{first}\n=======\n\nUnder a heading\n<<<<<<<<<<<\n>>>>>>> x\n{last}\n");
        let (base, ours, theirs) = (text("Title", "end"), text("Ours", "end"), text("Theirs", "changed"));
        for (side, first) in [(Side::Ours, "Ours"), (Side::Theirs, "Theirs")] {
            let merged = files(Some(side)).merge_lines(&base, &ours, &theirs).unwrap();
            assert_eq!(merged, text(first, "changed"));
        }
        assert_eq!(files(None).merge_lines(&base, &ours, &theirs), None);
    }
}

//! How two versions of the board's files become one, wherever git's histories meet.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::commit::is_board;
use crate::git::MergeFiles;
use crate::store::merge::{Side, merge_taking};
use crate::store::{merge::merge, merge_journals};
use crate::task::Key;

/// Merges files of the board; what it could not is remembered, for the person who has to.
#[derive(Default)]
pub(super) struct BoardFiles {
    /// Which side wins where both changed the same thing.
    take: Option<Side>,
    conflicts: RefCell<BTreeMap<String, Vec<Key>>>,
}

impl BoardFiles {
    pub fn taking(take: Option<Side>) -> Self {
        Self { take, ..Self::default() }
    }

    /// `t-x7kq.toml (priority)`: a path and what of it both sides changed.
    pub fn describe(&self, path: &str) -> String {
        match self.conflicts.borrow().get(path) {
            Some(keys) if !keys.is_empty() => {
                let keys: Vec<&str> = keys.iter().map(Key::as_str).collect();
                format!("{path} ({})", keys.join(", "))
            }
            _ => path.to_owned(),
        }
    }

    fn merge_task(&self, path: &str, base: &str, ours: &str, theirs: &str) -> Option<String> {
        let merged = match self.take {
            Some(side) => merge_taking(base, ours, theirs, side),
            None => merge(base, ours, theirs),
        };
        match merged {
            Some(merged) if merged.conflicts.is_empty() => Some(merged.text),
            Some(merged) => {
                self.conflicts.borrow_mut().insert(path.to_owned(), merged.conflicts);
                None
            }
            None => self.merge_lines(base, ours, theirs),
        }
    }

    fn merge_lines(&self, base: &str, ours: &str, theirs: &str) -> Option<String> {
        let taken = self.take.map(|side| if side == Side::Ours { ours } else { theirs }.to_owned());
        diffy::merge(base, ours, theirs).ok().or(taken)
    }
}

impl MergeFiles for BoardFiles {
    fn covers(&self, path: &str) -> bool {
        is_board(path)
    }

    fn merge(
        &self,
        path: &str,
        base: Option<&[u8]>,
        ours: Option<&[u8]>,
        theirs: Option<&[u8]>,
    ) -> Option<Option<Vec<u8>>> {
        let (Some(ours), Some(theirs)) = (ours, theirs) else {
            // Changed here, gone there.
            let side = self.take?;
            return Some(if side == Side::Ours { ours } else { theirs }.map(<[u8]>::to_vec));
        };
        let text = |bytes| std::str::from_utf8(bytes).ok();
        let (Some(base), Some(our_text), Some(their_text)) = (text(base.unwrap_or_default()), text(ours), text(theirs))
        else {
            let side = self.take?;
            return Some(Some(if side == Side::Ours { ours } else { theirs }.to_vec()));
        };
        let merged = if path.ends_with(".jsonl") {
            Some(merge_journals(our_text, their_text))
        } else if is_task(path) {
            self.merge_task(path, base, our_text, their_text)
        } else {
            self.merge_lines(base, our_text, their_text)
        };
        merged.map(|text| Some(text.into_bytes()))
    }

    /// A task that one side archived while the other changed it.
    fn moves_to(&self, path: &str) -> Option<String> {
        let name = path.strip_prefix(".ralph/tasks/")?;
        Some(format!(".ralph/archive/{name}"))
    }
}

fn is_task(path: &str) -> bool {
    let inside = path.starts_with(".ralph/tasks/") || path.starts_with(".ralph/archive/");
    inside && path.ends_with(".toml")
}

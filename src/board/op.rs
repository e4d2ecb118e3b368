//! The effect of a command as a value: the expected old content, and the new content.

use serde::{Deserialize, Serialize};

use crate::task::{Key, StateName, TaskId, Value};

/// The changes of one command. The store commits either all of them or none.
#[derive(Debug, Clone, PartialEq)]
pub struct Op {
    pub verb: String,
    pub changes: Vec<Change>,
    /// The id of the journal line that this one undoes.
    pub undoes: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Change {
    /// A file is created, removed, or replaced as a whole.
    File { task: TaskId, file: Place, old: Option<String>, new: Option<String> },
    /// One key of a task's file.
    Set { task: TaskId, key: Key, old: Option<Value>, new: Option<Value> },
}

/// One of a task's files; the store maps it to a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    Task,
    Archive,
    /// The name of a note's file.
    Note(String),
}

impl Change {
    /// Whether it only records facts about a task's issue. Such a change is never undone, because nobody decided it.
    pub fn is_bookkeeping(&self) -> bool {
        matches!(self, Self::Set { key, .. } if key.as_str().starts_with("github."))
    }

    /// The state to which it moves a task.
    pub fn new_state(&self) -> Option<(&TaskId, StateName)> {
        match self {
            Self::Set { task, key, new: Some(new), .. } if key.as_str() == "state" => {
                Some((task, StateName::new(new.to_string())))
            }
            _ => None,
        }
    }

    /// Whether it sets or clears a key of a task.
    pub fn is_key_of(&self, id: &TaskId) -> bool {
        matches!(self, Self::Set { task, .. } if task == id)
    }

    /// Whether it sets this key of a task to a value.
    pub fn sets(&self, id: &TaskId, name: &str) -> bool {
        matches!(self, Self::Set { task, key, new: Some(_), .. } if task == id && key.as_str() == name)
    }

    /// Whether it changes the state of this task.
    pub fn is_state_of(&self, id: &TaskId) -> bool {
        matches!(self, Self::Set { task, key, .. } if task == id && key.as_str() == "state")
    }
}

impl Op {
    pub fn new(verb: impl Into<String>, changes: Vec<Change>) -> Self {
        Self { verb: verb.into(), changes, undoes: None }
    }
}

impl Change {
    pub fn task(&self) -> &TaskId {
        match self {
            Self::File { task, .. } | Self::Set { task, .. } => task,
        }
    }

    pub fn set(task: &TaskId, key: &str, old: Option<Value>, new: Option<Value>) -> Self {
        Self::Set { task: task.clone(), key: Key::new(key), old, new }
    }

    #[must_use]
    pub fn inverse(&self) -> Self {
        match self.clone() {
            Self::File { task, file, old, new } => Self::File { task, file, old: new, new: old },
            Self::Set { task, key, old, new } => Self::Set { task, key, old: new, new: old },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::testing::id;

    #[test]
    fn the_inverse_expects_what_was_written_and_writes_what_was_expected() {
        let text = |text: &str| Some(Value::text(text));
        let set = Change::set(&id("a"), "owner", None, text("anna"));
        let file = |old: Option<&str>, new: Option<&str>| Change::File {
            task: id("a"),
            file: Place::Note("n.md".into()),
            old: old.map(Into::into),
            new: new.map(Into::into),
        };
        assert_eq!(set.inverse(), Change::set(&id("a"), "owner", text("anna"), None));
        assert_eq!(file(None, Some("x")).inverse(), file(Some("x"), None));
        assert_eq!((set.inverse().inverse(), set.task(), file(None, None).task()), (set.clone(), &id("a"), &id("a")));
    }

    #[test]
    fn what_is_known_of_an_issue_is_bookkeeping_and_a_state_is_a_move_of_its_own_task() {
        let set = |key: &str| Change::set(&id("a"), key, None, None);
        for (key, bookkeeping, moves) in
            [("github.number", true, false), ("github", false, false), ("state", false, true), ("title", false, false)]
        {
            assert_eq!((set(key).is_bookkeeping(), set(key).is_state_of(&id("a"))), (bookkeeping, moves), "{key}");
            assert!(!set(key).is_state_of(&id("b")));
        }
    }
}

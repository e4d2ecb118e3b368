//! Task ids: their syntax, and how a new one is generated without a counter.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Digits and consonants: no vowels, so that no words appear; no `l`, because it looks like a digit.
const ALPHABET: &[u8] = b"0123456789bcdfghjkmnpqrstvwxyz";
const MAX_LENGTH: usize = 64;

/// The name of a task's file without its extension.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TaskId(String);

impl TryFrom<String> for TaskId {
    type Error = InvalidId;
    fn try_from(text: String) -> Result<Self, InvalidId> {
        Self::new(text)
    }
}

impl From<TaskId> for String {
    fn from(id: TaskId) -> Self {
        id.0
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a valid task id: {why}")]
pub struct InvalidId {
    text: String,
    why: &'static str,
}

impl TaskId {
    pub fn new(text: impl Into<String>) -> Result<Self, InvalidId> {
        let text = text.into();
        let why = if text.is_empty() {
            "it is empty"
        } else if text.len() > MAX_LENGTH {
            "it is longer than 64 characters"
        } else if text.starts_with(['.', '-']) {
            "it starts with a dot or a dash"
        } else if !text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)) {
            "it can contain only letters, digits, `-`, `_` and `.`"
        } else {
            return Ok(Self(text));
        };
        Err(InvalidId { text, why })
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl std::str::FromStr for TaskId {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        Self::new(text)
    }
}

/// A length with which a hundred boards of this size would hardly share an id, because clones choose ids independently.
pub fn id_length(tasks: usize) -> usize {
    let mut length = 4;
    while ALPHABET.len().pow(length as u32) < tasks.saturating_mul(100) && length < 12 {
        length += 1;
    }
    length
}

/// A random id; the caller checks that it is not in use.
pub fn mint(prefix: &str, length: usize, rng: &mut fastrand::Rng) -> TaskId {
    loop {
        let tail: String = (0..length).map(|_| char::from(ALPHABET[rng.usize(..ALPHABET.len())])).collect();
        // Digits alone would look like the number of a GitHub issue.
        if tail.bytes().any(|b| b.is_ascii_alphabetic()) {
            return TaskId(format!("{prefix}{tail}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_or_an_option_is_no_id() {
        for bad in ["", "../x", "a/b", "-x", ".hidden", "a b", "é", &"x".repeat(65)] {
            assert!(TaskId::new(bad).is_err(), "{bad:?}");
        }
        assert!(TaskId::new("fix-login_2.0").is_ok());
    }

    #[test]
    fn ids_grow_with_the_board_and_never_look_like_numbers() {
        assert_eq!(id_length(0), 4);
        assert_eq!(id_length(8_100), 4);
        assert_eq!(id_length(10_000), 5);
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..20_000 {
            let id = mint("t-", 4, &mut rng);
            let tail = id.as_str().strip_prefix("t-").unwrap();
            assert!(tail.len() == 4 && tail.parse::<u64>().is_err() && !tail.contains(['a', 'e', 'i', 'o', 'u', 'l']));
        }
    }

    #[test]
    fn an_id_that_is_refused_comes_with_the_reason() {
        for (text, why) in [
            ("", "it is empty"),
            ("-x", "it starts with a dot or a dash"),
            (".x", "it starts with a dot or a dash"),
            ("a b", "it can contain only letters, digits, `-`, `_` and `.`"),
        ] {
            assert_eq!(
                text.parse::<TaskId>().unwrap_err().to_string(),
                format!("{text:?} is not a valid task id: {why}")
            );
        }
        assert!(TaskId::new("x".repeat(64)).is_ok());
        assert!(serde_json::from_str::<TaskId>("\"../x\"").is_err(), "a file cannot smuggle a path in");
    }

    #[test]
    fn ids_stop_growing_at_twelve_characters() {
        assert_eq!((id_length(8_101), id_length(usize::MAX)), (5, 12));
    }
}

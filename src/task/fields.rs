//! The value types of a task: kind, priority and estimate have fixed values; state and worker are open.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not {what}: use {allowed}")]
pub struct ParseError {
    pub what: &'static str,
    pub text: String,
    pub allowed: String,
}

/// Defines an enum whose variants each have one spelling, parsed in any case.
macro_rules! vocabulary {
    ($(#[$doc:meta])* $name:ident, $what:literal, $($variant:ident = $text:literal),+) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name { $($variant),+ }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = ParseError;
            fn from_str(text: &str) -> Result<Self, ParseError> {
                Self::ALL.iter().copied().find(|v| v.as_str().eq_ignore_ascii_case(text.trim())).ok_or_else(|| ParseError {
                    what: $what,
                    text: text.to_owned(),
                    allowed: Self::ALL.iter().map(|v| v.as_str()).collect::<Vec<_>>().join(", "),
                })
            }
        }
    };
}

vocabulary!(
    /// What a task is: work, a parent of work, or a step of a team.
    Kind, "a kind", Issue = "issue", Epic = "epic", Step = "step"
);
vocabulary!(
    /// The priority; P0 is the highest.
    Priority, "a priority", P0 = "P0", P1 = "P1", P2 = "P2", P3 = "P3"
);
vocabulary!(
    /// Size; M and above must be split before research.
    Estimate, "an estimate", Xs = "XS", S = "S", M = "M", L = "L", Xl = "XL"
);

impl Estimate {
    pub fn points(self) -> u32 {
        self as u32 + 1
    }

    pub fn is_oversized(self) -> bool {
        self >= Self::M
    }
}

/// The name of a state; the workflow decides which states exist.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StateName(String);

/// The worker that acts: an agent such as `builder-2`, or a person.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Worker(String);

impl StateName {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn into_string(self) -> String {
        self.0
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Worker {
    pub fn new(text: impl AsRef<str>) -> Result<Self, ParseError> {
        let text = text.as_ref().trim();
        if text.is_empty() || text.chars().any(char::is_control) {
            return Err(ParseError {
                what: "a worker's name",
                text: text.to_owned(),
                allowed: "a name such as builder-2".into(),
            });
        }
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name without a trailing `-N`, or without the program that acts under it: `builder-2` and `builder@claude-code-7` have
    /// the role `builder`, if the workflow has one of that name.
    pub fn stem(&self) -> &str {
        if let Some((stem, _)) = self.0.split_once('@') {
            return stem;
        }
        match self.0.rsplit_once('-') {
            Some((stem, number)) if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => stem,
            _ => &self.0,
        }
    }
}

impl fmt::Display for StateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Display for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_role_is_what_stands_before_the_number() {
        let stem = |name: &str| Worker::new(name).unwrap().stem().to_owned();
        assert_eq!(
            (stem("builder-2"), stem("builder"), stem("anna-maria")),
            ("builder".into(), "builder".into(), "anna-maria".into())
        );
    }

    #[test]
    fn a_wrong_priority_says_which_ones_there_are() {
        assert_eq!("P9".parse::<Priority>().unwrap_err().to_string(), r#""P9" is not a priority: use P0, P1, P2, P3"#);
        assert_eq!("xl".parse::<Estimate>().unwrap().points(), 5);
    }

    #[test]
    fn the_stem_drops_the_program_and_the_number_and_nothing_else() {
        for (name, stem) in [
            ("builder@claude-code-7", "builder"),
            ("anna@mac-2", "anna"),
            ("builder-", "builder-"),
            ("builder-2a", "builder-2a"),
            ("a-b-10", "a-b"),
        ] {
            assert_eq!(Worker::new(name).unwrap().stem(), stem);
        }
    }

    #[test]
    fn a_worker_has_a_name_of_one_line() {
        assert_eq!(Worker::new("  anna ").unwrap().as_str(), "anna");
        for bad in ["", "   ", "a\nb", "a\tb"] {
            assert!(Worker::new(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn every_spelling_is_read_in_any_case_and_written_in_one() {
        for kind in Kind::ALL {
            assert_eq!(kind.to_string().to_uppercase().parse::<Kind>().as_ref(), Ok(kind));
        }
        for estimate in Estimate::ALL {
            assert_eq!(format!(" {estimate} ").to_lowercase().parse::<Estimate>().as_ref(), Ok(estimate));
        }
        assert_eq!(
            (format!("{:>4}", Priority::P1), format!("{:<3}|", StateName::new("X"))),
            ("  P1".into(), "X  |".into())
        );
    }

    #[test]
    fn m_and_above_are_oversized_and_sizes_count_from_one() {
        let sizes: Vec<(u32, bool)> = Estimate::ALL.iter().map(|size| (size.points(), size.is_oversized())).collect();
        assert_eq!(sizes, [(1, false), (2, false), (3, true), (4, true), (5, true)]);
    }
}

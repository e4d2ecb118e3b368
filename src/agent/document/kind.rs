//! The kinds of documents, and the verdicts of a review.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::FrontMatter;
use crate::task::ParseError;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DocumentKind {
    Research,
    Plan,
    Review,
    Report,
}

impl DocumentKind {
    pub const ALL: [Self; 4] = [Self::Research, Self::Plan, Self::Review, Self::Report];

    /// The name, as in `type` in front matter and as the key under `[artifacts]`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Research => "research",
            Self::Plan => "plan",
            Self::Review => "review",
            Self::Report => "report",
        }
    }

    /// The folder of its files, from the root of the repository.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Research => "thoughts/shared/research",
            Self::Plan => "thoughts/shared/plans",
            Self::Review => "thoughts/shared/reviews",
            Self::Report => "thoughts/shared/reports",
        }
    }

    /// Whether a group has one for all of its tasks, on its first member.
    pub fn is_of_group(self) -> bool {
        matches!(self, Self::Plan | Self::Review)
    }
}

impl fmt::Display for DocumentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for DocumentKind {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::ALL.into_iter().find(|kind| kind.as_str().eq_ignore_ascii_case(text.trim())).ok_or_else(|| ParseError {
            what: "a kind of document",
            text: text.to_owned(),
            allowed: Self::ALL.map(Self::as_str).join(", "),
        })
    }
}

/// The template that a document was written from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Template {
    /// ralph's own, which names the task.
    Own,
    /// The template of ralph-hero's skills, which names issues.
    Hero,
}

impl Template {
    pub fn of(front: &FrontMatter) -> Self {
        let has = |keys: &[&str]| keys.iter().any(|key| front.get(key).is_some());
        let issues = has(&["github_issue", "github_issues", "primary_issue"]);
        if issues && !has(&["task", "tasks"]) { Self::Hero } else { Self::Own }
    }

    /// Whether `type` in the front matter says that a document is of this kind.
    pub fn names(self, kind: DocumentKind, typed: Option<&str>) -> bool {
        match (self, kind, typed) {
            (Self::Hero, DocumentKind::Plan, None) | (Self::Hero, DocumentKind::Review, Some("critique")) => true,
            (_, _, typed) => typed == Some(kind.as_str()),
        }
    }

    /// Whether the front matter names this path; ralph-hero also writes it as the URL of the file.
    pub fn is_path(self, named: &str, path: &str) -> bool {
        let url = self == Self::Hero && named.strip_suffix(path).is_some_and(|front| front.ends_with('/'));
        named == path || url
    }
}

/// The verdict of a review on a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    Approved,
    NeedsIteration,
}

impl Status {
    /// The word in front matter.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::NeedsIteration => "needs-iteration",
        }
    }

    /// The word in the line that gives the verdict.
    pub fn verdict(self) -> &'static str {
        match self {
            Self::Approved => "APPROVED",
            Self::NeedsIteration => "NEEDS_ITERATION",
        }
    }

    /// Reads either word.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        [Self::Approved, Self::NeedsIteration].into_iter().find(|it| it.as_str() == text || it.verdict() == text)
    }
}

//! The errors of GitHub requests, by what the caller can do.

use serde::Deserialize;

#[derive(Debug, thiserror::Error)]
pub enum GithubError {
    #[error("no token for {host}")]
    NoToken { host: String, variable: &'static str },
    #[error("the token contains invalid characters")]
    OddToken,
    #[error("refusing plain HTTP to another machine: {0}")]
    Unsafe(String),
    #[error("GitHub rejected the token (unauthorized): {0}")]
    BadToken(String),
    #[error("the token lacks a permission: {message}")]
    Scopes { message: String, wanted: Vec<String> },
    #[error("GitHub denied access (forbidden): {0}")]
    Forbidden(String),
    #[error("cannot reach GitHub: {0}")]
    Unreachable(String),
    #[error("the certificate of GitHub is not trusted: {0}")]
    Untrusted(String),
    #[error("GitHub returned an error: {0}")]
    Outage(String),
    #[error("GitHub's rate limit is reached: {reason}")]
    Limited { reason: String, seconds: u64 },
    #[error("{0}")]
    NotFound(String),
    #[error("GitHub did not confirm the request: {0}")]
    Ambiguous(String),
    /// A merge that failed because its base moved, and that can be tried again.
    #[error("GitHub refused the request: {0}")]
    BaseMoved(String),
    #[error("GitHub refused the request: {0}")]
    Refused(String),
    #[error("unexpected response from GitHub: {0}")]
    Odd(String),
    #[error("stopped")]
    Stopped,
}

/// One of `errors` in an answer; `type` is GitHub's own addition to GraphQL.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ApiError {
    #[serde(default, rename = "type")]
    pub kind: Option<String>,
    #[serde(default)]
    pub code: Option<String>,
    pub message: String,
    #[serde(default)]
    pub path: Vec<serde_json::Value>,
}

impl ApiError {
    /// The alias or field that the error is about.
    pub fn about(&self) -> Option<&str> {
        self.path.first().and_then(serde_json::Value::as_str)
    }

    pub fn is(&self, kind: &str) -> bool {
        self.kind.as_deref() == Some(kind)
    }

    /// Whether this is the primary rate limit, in any of its spellings.
    pub(super) fn is_rate_limit(&self) -> bool {
        self.is("RATE_LIMITED") || self.is("RATE_LIMIT") || self.code.as_deref() == Some("graphql_rate_limit")
    }

    /// Whether this is a secondary rate limit, which has no type of its own.
    pub(super) fn is_secondary(&self) -> bool {
        is_secondary(&self.message)
    }

    pub(super) fn is_too_large(&self) -> bool {
        self.is("RESOURCE_LIMITS_EXCEEDED") || self.is("MAX_NODE_LIMIT_EXCEEDED")
    }

    /// Whether the requested change has already been made.
    pub fn is_already(&self) -> bool {
        let text = self.message.to_lowercase();
        self.is("UNPROCESSABLE") && (text.contains("already") || text.contains("duplicate sub-issues"))
    }
}

pub(super) fn is_secondary(message: &str) -> bool {
    let text = message.to_lowercase();
    text.contains("secondary rate limit") || text.contains("submitted too quickly") || text.contains("abuse detection")
}

/// The message of an error for which GitHub has no type.
const BASE_MOVED: &str = "Base branch was modified";

impl From<&ApiError> for GithubError {
    fn from(error: &ApiError) -> Self {
        let message = error.message.clone();
        match error.kind.as_deref() {
            Some("INSUFFICIENT_SCOPES") => Self::Scopes { wanted: scopes_in(&message), message },
            Some("FORBIDDEN") => Self::Forbidden(message),
            Some("NOT_FOUND") => Self::NotFound(message),
            _ if message.contains(BASE_MOVED) => Self::BaseMoved(message),
            _ => Self::Refused(message),
        }
    }
}

/// The scopes in `requires one of the following scopes: ['read:project', …]`, which gh parses in the same way.
fn scopes_in(message: &str) -> Vec<String> {
    let list = message.split_once("following scopes: [").and_then(|(_, rest)| rest.split_once(']'));
    let names = list.map_or("", |(names, _)| names).split(',');
    names.map(|name| name.trim().trim_matches('\'').to_owned()).filter(|name| !name.is_empty()).collect()
}

impl GithubError {
    /// Whether the request certainly had no effect.
    pub fn is_definite(&self) -> bool {
        !matches!(self, Self::Ambiguous(_) | Self::Outage(_) | Self::Odd(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_missing_scopes_are_read_from_the_message() {
        let message =
            "The 'projectV2' field requires one of the following scopes: ['read:project', 'project'], but your token";
        assert_eq!(scopes_in(message), ["read:project", "project"]);
        assert!(scopes_in("something else").is_empty());
    }
}

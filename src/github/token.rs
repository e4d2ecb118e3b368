//! The token: found in the same places as by gh, and never stored or shown.

use std::fmt;
use std::process::{Command, Stdio};

use super::{GithubError, Host};

/// A secret. Neither `Debug` nor an error prints it.
#[derive(Clone)]
pub struct Token(String);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

impl Token {
    pub(super) fn header(&self) -> String {
        format!("bearer {}", self.0)
    }

    /// Replaces the token in a text from outside.
    pub(super) fn redact(&self, text: &str) -> String {
        text.replace(&self.0, "…")
    }
}

/// Looks for a token in the environment, as gh does, then asks gh itself if it is installed.
pub fn find_token(host: &Host, environment: &dyn Fn(&str) -> Option<String>) -> Result<Token, GithubError> {
    let names: [&str; 2] = match host.is_dotcom() {
        true => ["GH_TOKEN", "GITHUB_TOKEN"],
        false => ["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"],
    };
    let set =
        names.iter().find_map(|name| environment(name).map(|text| text.trim().to_owned()).filter(|t| !t.is_empty()));
    let token = set
        .or_else(|| ask_gh(host))
        .ok_or_else(|| GithubError::NoToken { host: host.0.clone(), variable: names[0] })?;
    match token.chars().all(|c| c.is_ascii_graphic()) {
        true => Ok(Token(token)),
        false => Err(GithubError::OddToken),
    }
}

fn ask_gh(host: &Host) -> Option<String> {
    let mut gh = Command::new("gh");
    gh.args(["auth", "token", "--hostname", &host.0]).stdin(Stdio::null()).stderr(Stdio::null());
    let output = gh.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_never_printed() {
        let token =
            find_token(&Host("github.com".into()), &|name| (name == "GITHUB_TOKEN").then(|| "ghp_secret\n".into()));
        let token = token.unwrap();
        assert!(!format!("{token:?}").contains("secret"));
        assert_eq!(token.redact("no such user ghp_secret here"), "no such user … here");
    }

    #[test]
    fn each_host_has_its_own_variables() {
        let of = |host: &str, set: &'static str| {
            find_token(&Host(host.into()), &|name| (name == set).then(|| "x".into())).is_ok()
        };
        assert!(
            of("github.com", "GH_TOKEN")
                && of("firm.ghe.com", "GITHUB_TOKEN")
                && of("git.firm.example", "GH_ENTERPRISE_TOKEN")
        );
        assert!(!of("git.firm.example", "GH_TOKEN"));
    }
}

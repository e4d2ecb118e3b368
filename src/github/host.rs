//! The GitHub host: from the URL of a git remote to the API endpoint.

use std::fmt;

use super::GithubError;

/// A repository as `owner/name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slug {
    pub owner: String,
    pub name: String,
}

impl fmt::Display for Slug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.name)
    }
}

impl Slug {
    /// Parses `owner/name`, also with a host before it, as in gh.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_matches('/').trim_end_matches(".git");
        let mut parts = text.rsplit('/');
        let (name, owner) = (parts.next()?, parts.next()?);
        let fits =
            |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
        (fits(name) && fits(owner)).then(|| Self { owner: owner.to_owned(), name: name.to_owned() })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host(pub String);

impl Host {
    /// The host and the repository in the URL of a remote: `https://…`, `ssh://…` or `git@host:owner/name`.
    pub fn of_remote(url: &str) -> Option<(Self, Slug)> {
        let rest = url.split_once("://");
        let (place, path) = match rest {
            Some(("https" | "http" | "ssh" | "git", rest)) => rest.split_once('/')?,
            Some(_) => return None,
            None => url.split_once(':')?,
        };
        let name = place.rsplit('@').next()?.split(':').next()?;
        let slug = Slug::parse(path)?;
        let only = path.trim_matches('/').matches('/').count() == 1;
        (only && name.contains('.')).then(|| (Self(name.trim_start_matches("ssh.").to_lowercase()), slug))
    }

    /// Whether the host is a GitHub server according to its name; other servers are named in the settings.
    pub fn is_github(&self) -> bool {
        self.is_dotcom() || self.0.split('.').any(|part| part.contains("github") || part == "ghe")
    }

    /// Whether it has only letters, digits, dashes and dots, and possibly a port: other characters could change the URL.
    pub fn is_valid(&self) -> bool {
        let (name, port) = self.0.split_once(':').unwrap_or((&self.0, "0"));
        let fits = |part: &str| {
            !part.is_empty() && !part.starts_with('-') && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        };
        name.split('.').all(fits) && port.parse::<u16>().is_ok()
    }

    /// Whether it is github.com or a domain of GitHub's customers there, which use the same tokens.
    pub fn is_dotcom(&self) -> bool {
        self.0 == "github.com" || self.0.ends_with(".ghe.com")
    }
}

/// The GraphQL endpoint of a host, or the one in the settings, which must use TLS unless it is on this machine.
pub fn endpoint(host: &Host, named: &str) -> Result<String, GithubError> {
    if !host.is_valid() {
        return Err(GithubError::Unsafe(host.0.clone()));
    }
    if !named.is_empty() {
        return match is_safe(named) {
            true => Ok(named.to_owned()),
            false => Err(GithubError::Unsafe(named.to_owned())),
        };
    }
    Ok(match host.0.as_str() {
        "github.com" => "https://api.github.com/graphql".to_owned(),
        name if host.is_dotcom() => format!("https://api.{name}/graphql"),
        name => format!("https://{name}/api/graphql"),
    })
}

pub(super) fn is_loopback(url: &str) -> bool {
    let place = url.split_once("://").map_or("", |(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or_default());
    if place.contains('@') {
        return false;
    }
    let name = place.rsplit_once(':').map_or(place, |(name, _)| name);
    matches!(name, "127.0.0.1" | "localhost" | "[::1]")
}

pub(super) fn is_safe(url: &str) -> bool {
    url.starts_with("https://") || (url.starts_with("http://") && is_loopback(url))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str) -> Option<String> {
        Host::of_remote(url).map(|(host, slug)| format!("{} {slug}", host.0))
    }

    #[test]
    fn a_remote_names_its_host_and_repository() {
        for url in [
            "https://github.com/acme/app.git",
            "https://user@github.com/acme/app",
            "git@github.com:acme/app.git",
            "ssh://git@github.com:22/acme/app.git",
            "ssh://git@ssh.github.com:443/acme/app.git",
        ] {
            assert_eq!(of(url).as_deref(), Some("github.com acme/app"), "{url}");
        }
        assert_eq!(of("git@git.firm.example:team/tool.git").as_deref(), Some("git.firm.example team/tool"));
        for url in
            ["/srv/git/app.git", "file:///srv/app", "../app", "C:/x/y", "https://github.com/acme", "https://h.x/a/b/c"]
        {
            assert_eq!(of(url), None, "{url}");
        }
    }

    #[test]
    fn another_forge_is_no_github() {
        let is = |host: &str| Host(host.into()).is_github();
        assert!(is("github.com") && is("firm.ghe.com") && is("github.firm.example") && is("ghe.firm.example"));
        assert!(!is("gitlab.com") && !is("codeberg.org") && !is("git.firm.example"));
    }

    #[test]
    fn every_host_has_its_endpoint_and_nothing_is_sent_in_the_clear() {
        let at = |host: &str, named: &str| endpoint(&Host(host.into()), named).ok();
        assert_eq!(at("github.com", "").as_deref(), Some("https://api.github.com/graphql"));
        assert_eq!(at("firm.ghe.com", "").as_deref(), Some("https://api.firm.ghe.com/graphql"));
        assert_eq!(at("git.firm.example", "").as_deref(), Some("https://git.firm.example/api/graphql"));
        for bad in ["evil.example/.ghe.com", "evil.example#.ghe.com", "a@b.ghe.com", "", "x..ghe.com", "h:99999999"] {
            assert_eq!(at(bad, ""), None, "{bad}");
        }
        assert!(at("github.com", "http://127.0.0.1:99/graphql").is_some());
        for bad in [
            "http://example.com/graphql",
            "http://127.0.0.1.evil.example/",
            "http://localhost@evil.example/",
            "ftp://x",
        ] {
            assert_eq!(at("github.com", bad), None, "{bad}");
        }
    }
}

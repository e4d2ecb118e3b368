//! Access control: host name, origin and token; and the security headers of responses.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;

use super::api::refusal;
use super::{Site, Wanted};
use crate::app::{Code, Failure, Hint, is_same_token};

/// The header with the token of the page: the page of another site cannot send it without a preflight request.
pub const HEADER: &str = "ralph-token";

/// Allows only our own scripts and styles, and only connections to this server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub struct AccessRules {
    place: SocketAddr,
    hosts: Vec<String>,
    token: String,
    pub read_only: bool,
}

impl AccessRules {
    pub fn new(place: SocketAddr, wanted: &Wanted, token: String) -> Self {
        let mut hosts: Vec<String> = wanted.hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
        hosts.push("localhost".into());
        Self { place, hosts, token, read_only: wanted.read_only }
    }

    pub fn is_remote(&self) -> bool {
        !self.place.ip().is_loopback()
    }

    /// Whether the server answers for this host name. Others are refused, because an attacker's domain may resolve to this address.
    fn is_host(&self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
            _ => (host, Some(80)),
        };
        let ip: Option<IpAddr> = name.trim_start_matches('[').trim_end_matches(']').parse().ok();
        let known = match ip {
            Some(ip) => ip.is_loopback() || ip == self.place.ip() || self.place.ip().is_unspecified(),
            None => self.hosts.contains(&name.to_ascii_lowercase()),
        };
        known && port == Some(self.place.port())
    }

    pub fn knows(&self, headers: &HeaderMap) -> bool {
        text(headers, HEADER).is_some_and(|shown| is_same_token(shown, &self.token))
    }

    fn judge(&self, request: &Request) -> Result<(), (StatusCode, Failure)> {
        let headers = request.headers();
        let no = |status, code, message: String, step: &str| {
            Err((status, Failure::refused(code, message).hint(Hint::step(step))))
        };
        let host = text(headers, "host").unwrap_or_default();
        if !self.is_host(host) {
            let message = format!("unknown host {host:?}");
            return no(
                StatusCode::MISDIRECTED_REQUEST,
                Code::WrongHost,
                message,
                "open the URL that the server printed",
            );
        }
        if let Some(origin) = text(headers, "origin").filter(|origin| *origin != format!("http://{host}")) {
            let message = format!("requests from pages of {origin} are not allowed");
            return no(StatusCode::FORBIDDEN, Code::ForeignOrigin, message, "open the board directly");
        }
        let api = request.uri().path().starts_with("/api/");
        let reads = [Method::GET, Method::HEAD].contains(request.method());
        if is_from_elsewhere(headers) && !(reads && !api && is_opened(headers)) {
            let message = "requests from pages of other sites are not allowed".to_owned();
            return no(StatusCode::FORBIDDEN, Code::ForeignOrigin, message, "open the board directly");
        }
        // The token is required for reading and on this machine, too, because the machine may have other users.
        if api && !self.knows(headers) {
            let step = "open the URL that the server printed, including the part after the #";
            return no(StatusCode::UNAUTHORIZED, Code::NoToken, "the token of the server is required".into(), step);
        }
        if !reads && self.read_only {
            let message = "this server is read-only".to_owned();
            return no(StatusCode::FORBIDDEN, Code::ReadOnly, message, "restart it without `--read-only`");
        }
        if !reads && !text(headers, "content-type").is_some_and(|kind| kind.starts_with("application/json")) {
            let message = "changes must be sent as application/json".to_owned();
            return no(StatusCode::UNSUPPORTED_MEDIA_TYPE, Code::NotJson, message, "set the header Content-Type");
        }
        Ok(())
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).map(|value| value.to_str().unwrap_or("?"))
}

/// Whether a page of another site made the request, according to the browser, which pages cannot forge.
fn is_from_elsewhere(headers: &HeaderMap) -> bool {
    text(headers, "sec-fetch-site").is_some_and(|site| !["same-origin", "none"].contains(&site))
}

/// Whether a person followed a link to the board, which opens as a page and not in a frame.
fn is_opened(headers: &HeaderMap) -> bool {
    text(headers, "sec-fetch-mode") == Some("navigate") && text(headers, "sec-fetch-dest") == Some("document")
}

pub async fn let_in(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let mut response = match site.access.judge(&request) {
        Ok(()) => next.run(request).await,
        Err((status, failure)) => refusal(status, &failure),
    };
    let headers = response.headers_mut();
    let fixed = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    // Browsers only accept this header on trustworthy origins, and log a warning on others.
    if !site.access.is_remote() {
        headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(place: &str, hosts: &[&str]) -> AccessRules {
        let wanted = Wanted { hosts: hosts.iter().map(ToString::to_string).collect(), ..Wanted::default() };
        AccessRules::new(place.parse().unwrap(), &wanted, "secret".into())
    }

    #[test]
    fn only_names_that_cannot_be_made_to_lead_here_are_answered() {
        let here = rules("127.0.0.1:7431", &[]);
        for host in ["127.0.0.1:7431", "localhost:7431", "LOCALHOST:7431", "[::1]:7431"] {
            assert!(here.is_host(host), "{host}");
        }
        let wrong =
            ["", "evil.example:7431", "localhost", "127.0.0.1:80", "localhost.evil.example:7431", "10.0.0.1:7431"];
        for host in wrong {
            assert!(!here.is_host(host), "{host}");
        }
        let remote = rules("0.0.0.0:7431", &["Board.lan"]);
        assert!(remote.is_host("10.0.0.1:7431") && remote.is_host("board.lan:7431"));
        assert!(!remote.is_host("evil.example:7431"));
    }
}

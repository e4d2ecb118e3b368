//! The client: sends requests one after the other, with pauses and retries. A create is never sent twice.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::error::is_secondary;
use super::host::is_loopback;
use super::pace::{Budget, Pace};
use super::{ApiError, GithubError, Token, unanswered};

/// The effect of a request, which determines whether it can be repeated if its outcome is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Read,
    /// Sets a value, which can be repeated.
    Set,
    /// Creates something, which must not be repeated.
    Create,
}

/// A pause, for the display.
#[derive(Debug, Clone)]
pub struct Wait {
    pub seconds: u64,
    pub why: String,
}

/// Is told of pauses, and can end them.
pub trait Patience {
    fn waiting(&self, wait: &Wait);
    fn is_over(&self) -> bool;
}

/// A response of GitHub, which can have data and errors at the same time.
#[derive(Debug)]
pub struct Answer<T> {
    pub data: T,
    pub errors: Vec<ApiError>,
}

pub struct Client<'a> {
    agent: ureq::Agent,
    url: String,
    token: Token,
    pace: Cell<Pace>,
    patience: &'a dyn Patience,
    last_write: Cell<Option<Instant>>,
    requests: Cell<usize>,
    server_now: Cell<Option<Timestamp>>,
    scopes: RefCell<Option<Vec<String>>>,
}

const TRIES: u32 = 5;
/// How often the client waits because of a rate limit before it gives up.
const LIMIT_TRIES: u32 = 6;
const SECONDARY_WAIT: u64 = 60;
/// Longer pauses are reported.
const NOTICED: Duration = Duration::from_secs(5);

impl<'a> Client<'a> {
    pub fn new(url: String, token: Token, pace: Pace, patience: &'a dyn Patience) -> Self {
        let mut config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(Duration::from_secs(10)))
            .timeout_global(Some(Duration::from_secs(60)))
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("ralph-board/", env!("CARGO_PKG_VERSION")))
            .tls_config(ureq::tls::TlsConfig::builder().root_certs(ureq::tls::RootCerts::PlatformVerifier).build());
        if is_loopback(&url) {
            config = config.proxy(None);
        }
        Self {
            agent: config.build().new_agent(),
            url,
            token,
            pace: Cell::new(pace),
            patience,
            last_write: Cell::new(None),
            requests: Cell::new(0),
            server_now: Cell::new(None),
            scopes: RefCell::default(),
        }
    }

    /// The endpoint of GraphQL.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// A plain GET request; none if it fails.
    pub(super) fn get(&self, url: &str, authorized: bool) -> Option<ureq::http::Response<ureq::Body>> {
        self.requests.set(self.requests.get() + 1);
        let mut request = self.agent.get(url);
        if authorized {
            request = request.header("authorization", self.token.header());
        }
        request.call().ok()
    }

    /// The number of requests that were made.
    pub fn requests(&self) -> usize {
        self.requests.get()
    }

    /// GitHub's time in its last response. It is used instead of this machine's clock.
    pub fn server_now(&self) -> Option<Timestamp> {
        self.server_now.get()
    }

    /// The scopes of a classic token; other tokens do not report any.
    pub fn scopes(&self) -> Option<Vec<String>> {
        self.scopes.borrow().clone()
    }

    /// The data of an answer without errors, or the first error.
    pub fn ask<T: DeserializeOwned>(
        &self,
        document: &str,
        name: &str,
        variables: Value,
        effect: Effect,
    ) -> Result<T, GithubError> {
        let answer: Answer<Option<T>> = self.ask_partly(document, name, variables, effect)?;
        if let Some(error) = answer.errors.first() {
            return Err(error.into());
        }
        answer.data.ok_or_else(|| GithubError::Odd(format!("{name} has no data")))
    }

    /// The result of a creation. If it is in the answer, errors are ignored, because the object was created.
    pub fn create<T: DeserializeOwned>(
        &self,
        document: &str,
        name: &str,
        variables: Value,
        made: impl FnOnce(Value) -> Option<T>,
    ) -> Result<T, GithubError> {
        let answer: Answer<Option<Value>> = self.ask_partly(document, name, variables, Effect::Create)?;
        match (answer.data.and_then(made), answer.errors.first()) {
            (Some(made), _) => Ok(made),
            (None, Some(error)) => Err(error.into()),
            (None, None) => Err(GithubError::Ambiguous(format!("the response does not contain the result of {name}"))),
        }
    }

    /// The data of an answer, which may be incomplete, with its errors.
    pub fn ask_partly<T: DeserializeOwned>(
        &self,
        document: &str,
        name: &str,
        variables: Value,
        effect: Effect,
    ) -> Result<Answer<Option<T>>, GithubError> {
        let request = json!({ "query": document, "operationName": name, "variables": variables });
        let (mut failures, mut limits) = (0, 0);
        loop {
            match self.once(&request, effect) {
                Ok(answer) => return decoded(answer, name, effect),
                Err(GithubError::Limited { reason, seconds }) if limits < LIMIT_TRIES => {
                    limits += 1;
                    self.adapt(Pace::slow_down);
                    self.wait(Duration::from_secs(seconds), &reason)?;
                }
                Err(error @ (GithubError::Unreachable(_) | GithubError::Outage(_) | GithubError::Odd(_)))
                    if effect != Effect::Create && failures + 1 < TRIES =>
                {
                    failures += 1;
                    self.wait(self.pace.get().before_retry(failures - 1), &error.to_string())?;
                }
                // The request may have been received although there was no answer.
                Err(error @ (GithubError::Outage(_) | GithubError::Odd(_))) if effect == Effect::Create => {
                    return Err(GithubError::Ambiguous(error.to_string()));
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn once(&self, request: &Value, effect: Effect) -> Result<Answer<Option<Value>>, GithubError> {
        self.keep_pace(effect)?;
        self.requests.set(self.requests.get() + 1);
        let sent = self
            .agent
            .post(&self.url)
            .header("authorization", self.token.header())
            .header("accept", "application/json")
            .header("x-github-next-global-id", "1")
            .send_json(request);
        if effect != Effect::Read {
            self.last_write.set(Some(Instant::now()));
        }
        let mut reply = sent.map_err(|error| {
            let text = self.token.redact(&error.to_string());
            unanswered::classify(&error, effect, text)
        })?;
        let head = ResponseHead::of(&reply);
        self.server_now.set(head.date.or(self.server_now.get()));
        if effect != Effect::Read {
            self.adapt(|pace| pace.wrote(head.budget()));
        }
        if head.scopes.is_some() {
            self.scopes.replace(head.scopes.clone());
        }
        let text = reply.body_mut().with_config().limit(64 << 20).read_to_string();
        let text = text
            .map_err(|error| GithubError::Outage(self.token.redact(&format!("the response was cut off: {error}"))))?;
        head.judge(&self.token.redact(&text), effect)
    }

    /// Waits until GitHub has applied the last writes.
    pub fn pause(&self, times: u64) -> Result<(), GithubError> {
        self.sleep(self.pace.get().pause() * times as u32)
    }

    fn adapt(&self, change: impl FnOnce(&mut Pace)) {
        let mut pace = self.pace.get();
        change(&mut pace);
        self.pace.set(pace);
    }

    fn keep_pace(&self, effect: Effect) -> Result<(), GithubError> {
        if self.patience.is_over() {
            return Err(GithubError::Stopped);
        }
        let Some(at) = self.last_write.get().filter(|_| effect != Effect::Read) else { return Ok(()) };
        let left = self.pace.get().pause().saturating_sub(at.elapsed());
        match left < NOTICED {
            true => self.sleep(left),
            false => self.wait(left, "to stay within GitHub's rate limit"),
        }
    }

    fn wait(&self, time: Duration, why: &str) -> Result<(), GithubError> {
        if time >= Duration::from_secs(1) {
            self.patience.waiting(&Wait { seconds: time.as_secs(), why: why.to_owned() });
        }
        self.sleep(time)
    }

    fn sleep(&self, time: Duration) -> Result<(), GithubError> {
        let end = Instant::now() + time;
        while let Some(left) = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            if self.patience.is_over() {
                return Err(GithubError::Stopped);
            }
            std::thread::sleep(left.min(Duration::from_millis(200)));
        }
        Ok(())
    }
}

fn decoded<T: DeserializeOwned>(
    answer: Answer<Option<Value>>,
    name: &str,
    effect: Effect,
) -> Result<Answer<Option<T>>, GithubError> {
    let data = answer.data.filter(|data| !data.is_null()).map(serde_json::from_value).transpose();
    match (data, effect) {
        (Ok(data), _) => Ok(Answer { data, errors: answer.errors }),
        (Err(error), Effect::Create) => Err(GithubError::Ambiguous(format!("{name}: {error}"))),
        (Err(error), _) => Err(GithubError::Odd(format!("{name}: {error}"))),
    }
}

/// The header of the response.
struct ResponseHead {
    status: u16,
    date: Option<Timestamp>,
    retry_after: Option<u64>,
    remaining: Option<u64>,
    reset: Option<i64>,
    scopes: Option<Vec<String>>,
    sso: bool,
    request: String,
}

impl ResponseHead {
    fn of<B>(reply: &ureq::http::Response<B>) -> Self {
        let text = |name: &str| reply.headers().get(name).and_then(|value| value.to_str().ok()).map(str::trim);
        let date = text("date").and_then(|date| jiff::fmt::rfc2822::parse(date).ok()).map(|date| date.timestamp());
        let scopes = text("x-oauth-scopes").filter(|list| !list.is_empty());
        Self {
            status: reply.status().as_u16(),
            date,
            retry_after: text("retry-after").and_then(|seconds| seconds.parse().ok()),
            remaining: text("x-ratelimit-remaining").and_then(|count| count.parse().ok()),
            reset: text("x-ratelimit-reset").and_then(|at| at.parse().ok()),
            scopes: scopes.map(|list| list.split(',').map(|scope| scope.trim().to_owned()).collect()),
            sso: text("x-github-sso").is_some(),
            request: text("x-github-request-id").map(|id| format!(" (request {id})")).unwrap_or_default(),
        }
    }

    fn judge(&self, text: &str, effect: Effect) -> Result<Answer<Option<Value>>, GithubError> {
        let body: Option<Value> = serde_json::from_str(text).ok();
        let said = body.as_ref().and_then(|body| body["message"].as_str()).unwrap_or_default().to_owned();
        let told = |what: &str| format!("{}{}", if said.is_empty() { what } else { &said }, self.request);
        match self.status {
            401 => return Err(GithubError::BadToken(told("unknown token"))),
            403 | 429 if is_secondary(&said) || self.retry_after.is_some() || self.is_spent() || self.status == 429 => {
                return Err(self.limited("the secondary rate limit"));
            }
            403 if self.sso => {
                return Err(GithubError::Forbidden(told("the organization requires single sign-on for this token")));
            }
            403 => return Err(GithubError::Forbidden(told("no reason given"))),
            status @ 500.. => return Err(GithubError::Outage(told(&format!("status {status}")))),
            200 => {}
            status => return Err(GithubError::Refused(told(&format!("status {status}")))),
        }
        let Some(Value::Object(mut body)) = body else {
            return Err(GithubError::Odd(format!("not JSON{}", self.request)));
        };
        let errors = body.remove("errors").map_or(Ok(Vec::new()), serde_json::from_value::<Vec<ApiError>>);
        let errors = errors.map_err(|error| GithubError::Odd(format!("cannot read its errors: {error}")))?;
        // A mutation with a result was executed in spite of errors, so it must not be repeated.
        let fields = body.get("data").and_then(Value::as_object);
        if effect != Effect::Read && fields.is_some_and(|fields| fields.values().any(|field| !field.is_null())) {
            return Ok(Answer { data: body.remove("data"), errors });
        }
        if errors.iter().any(ApiError::is_rate_limit) {
            return Err(self.limited("the hourly rate limit"));
        }
        if is_secondary(&said) || errors.iter().any(ApiError::is_secondary) {
            return Err(self.limited("the secondary rate limit"));
        }
        if errors.iter().any(ApiError::is_too_large) {
            return Err(GithubError::Outage(format!("the response would be too large{}", self.request)));
        }
        if body.is_empty() && errors.is_empty() {
            return Err(GithubError::Odd(format!("empty{}", self.request)));
        }
        Ok(Answer { data: body.remove("data"), errors })
    }

    fn is_spent(&self) -> bool {
        self.remaining == Some(0)
    }

    fn budget(&self) -> Option<Budget> {
        let seconds = self.reset? - self.date?.as_second();
        Some(Budget { requests: self.remaining?, seconds: u64::try_from(seconds).ok()? })
    }

    /// A limit error with the time to wait, by GitHub's own clock; a minute if GitHub does not name a time.
    fn limited(&self, reason: &str) -> GithubError {
        let until_reset = || {
            let seconds = self.reset? - self.date?.as_second();
            self.is_spent().then_some(seconds.clamp(0, 3_600) as u64 + 1)
        };
        let seconds = self.retry_after.or_else(until_reset).unwrap_or(SECONDARY_WAIT);
        GithubError::Limited { reason: reason.to_owned(), seconds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(status: u16) -> ResponseHead {
        let date = "2026-11-16T12:00:00Z".parse().ok();
        ResponseHead {
            status,
            date,
            retry_after: None,
            remaining: None,
            reset: None,
            scopes: None,
            sso: false,
            request: String::new(),
        }
    }

    #[test]
    fn each_way_to_say_no_is_told_apart() {
        let says = |head: ResponseHead, text: &str| {
            head.judge(text, Effect::Read).map(|_| ()).map_err(|error| error.to_string()).unwrap_err()
        };
        assert!(says(head(401), r#"{"message":"Bad credentials"}"#).contains("rejected the token"));
        assert!(says(head(502), "<html>").contains("status 502"));
        assert!(says(head(403), r#"{"message":"You have exceeded a secondary rate limit."}"#).contains("secondary"));
        assert!(says(head(403), r#"{"message":"Resource protected"}"#).contains("forbidden"));
        assert!(says(head(200), r#"{"data":{"#).contains("not JSON"));
        for kind in ["RATE_LIMITED", "RATE_LIMIT"] {
            let text = format!(r#"{{"errors":[{{"type":"{kind}","message":"API rate limit exceeded"}}]}}"#);
            assert!(says(head(200), &text).contains("hourly"), "{kind}");
        }
    }

    #[test]
    fn what_was_made_is_not_asked_for_again_because_of_an_error_beside_it() {
        let text = r#"{"data":{"createIssue":{"issue":{"id":"I"}}},"errors":[{"type":"RATE_LIMITED","message":"x"}]}"#;
        assert!(head(200).judge(text, Effect::Create).is_ok());
        let nothing = r#"{"data":{"createIssue":null},"errors":[{"type":"RATE_LIMITED","message":"x"}]}"#;
        assert!(matches!(head(200).judge(nothing, Effect::Create), Err(GithubError::Limited { .. })));
    }

    #[test]
    fn the_wait_is_counted_by_the_clock_of_github() {
        let reset = "2026-11-16T12:05:00Z".parse::<Timestamp>().unwrap().as_second();
        let limit = ResponseHead { remaining: Some(0), reset: Some(reset), ..head(200) }.limited("x");
        assert!(matches!(limit, GithubError::Limited { seconds: 301, .. }));
        assert!(matches!(head(403).limited("x"), GithubError::Limited { seconds: SECONDARY_WAIT, .. }));
        assert!(matches!(
            ResponseHead { retry_after: Some(7), ..head(403) }.limited("x"),
            GithubError::Limited { seconds: 7, .. }
        ));
    }
}

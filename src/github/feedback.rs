//! Reads the feedback on a pull request: open review threads, requested changes, failed checks with the end of their logs.

use std::io::Read as _;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{Login, Maybe, Nodes, OfNode};
use super::host::is_safe;
use super::{Client, Effect, GithubError, Node, Slug, documents};

/// The maximum number of bytes that are read of a log, and of its end that is kept.
const LONGEST_LOG: u64 = 64 << 20;
const KEPT: usize = 32 << 10;

/// The open feedback on a pull request.
#[derive(Debug)]
pub struct PullFeedback {
    pub pull: Node,
    pub is_open: bool,
    pub conflicts: bool,
    pub head: String,
    pub base: String,
    /// Reviews with a text that request changes.
    pub reviews: Vec<ReviewText>,
    /// Unresolved threads.
    pub threads: Vec<Thread>,
}

#[derive(Debug)]
pub struct ReviewText {
    pub id: Node,
    pub author: String,
    pub body: String,
    pub at: Option<Timestamp>,
}

#[derive(Debug)]
pub struct Thread {
    pub id: Node,
    pub path: String,
    pub line: Option<u32>,
    /// The comments, oldest first.
    pub comments: Vec<ThreadComment>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ThreadComment {
    pub id: Node,
    pub body: String,
    pub created_at: Timestamp,
    pub url: String,
    pub viewer_did_author: bool,
    author: Option<Login>,
}

impl ThreadComment {
    pub fn author(&self) -> &str {
        self.author.as_ref().map_or("ghost", |author| &author.login)
    }
}

/// A check that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedCheck {
    pub name: String,
    /// The number of the job in GitHub Actions, which names its log.
    pub job: Option<u64>,
    /// The output of the check.
    pub text: String,
    pub url: Option<String>,
}

impl Client<'_> {
    pub fn feedback(&self, slug: &Slug, number: u64) -> Result<PullFeedback, GithubError> {
        let missing = || {
            GithubError::NotFound(format!(
                "pull request {slug}#{number} does not exist, or this token has no access to it"
            ))
        };
        let mut after = None::<String>;
        let mut threads = Vec::new();
        loop {
            let variables = json!({ "owner": slug.owner, "name": slug.name, "number": number, "after": after });
            let answer: OfRepository = self.ask(documents::FEEDBACK, "PullFeedback", variables, Effect::Read)?;
            let raw = answer.repository.and_then(|repository| repository.pull_request).ok_or_else(missing)?;
            after = raw.review_threads.page_info.as_ref().and_then(|page| page.next()).map(str::to_owned);
            let mut page = raw.into_feedback();
            threads.append(&mut page.threads);
            if after.is_none() {
                return Ok(PullFeedback { threads, ..page });
            }
        }
    }

    /// The failed checks; none if the token has no access to them.
    pub fn failed_checks(&self, pull: &Node) -> Result<Vec<FailedCheck>, GithubError> {
        let mut failed = Vec::new();
        let mut after = None::<String>;
        loop {
            let variables = json!({ "pr": pull, "after": after });
            let answer: Result<OfNode<OfFailures>, _> =
                self.ask(documents::FEEDBACK, "PullFailures", variables, Effect::Read);
            let contexts = match answer {
                Err(GithubError::Forbidden(_) | GithubError::Scopes { .. } | GithubError::NotFound(_)) => None,
                other => other?.node.and_then(Maybe::it).and_then(|pull| pull.status_check_rollup),
            };
            let Some(contexts) = contexts.map(|rollup| rollup.contexts) else { return Ok(failed) };
            after = contexts.page_info.as_ref().and_then(|page| page.next()).map(str::to_owned);
            failed.extend(contexts.into_vec().into_iter().filter_map(RawCheck::failed));
            if after.is_none() {
                return Ok(failed);
            }
        }
    }

    pub fn reply_to_thread(&self, thread: &str, body: &str) -> Result<(), GithubError> {
        let input = json!({ "pullRequestReviewThreadId": thread, "body": body });
        let made = |data: Value| data["addPullRequestReviewThreadReply"]["comment"]["id"].as_str().map(str::to_owned);
        self.create(documents::FEEDBACK, "ThreadReply", json!({ "input": input }), made).map(|_| ())
    }

    pub fn resolve_thread(&self, thread: &str) -> Result<(), GithubError> {
        let input = json!({ "threadId": thread });
        self.ask::<Value>(documents::FEEDBACK, "ThreadResolve", json!({ "input": input }), Effect::Set).map(|_| ())
    }

    pub fn comment_on_pull(&self, pull: &Node, body: &str) -> Result<(), GithubError> {
        let input = json!({ "subjectId": pull, "body": body });
        let made = |data: Value| data["addComment"]["commentEdge"]["node"]["id"].as_str().map(str::to_owned);
        self.create(documents::FEEDBACK, "PullComment", json!({ "input": input }), made).map(|_| ())
    }

    /// The end of a job's log; none if there is no log, or if the token has no access to it.
    pub fn job_log(&self, slug: &Slug, job: u64) -> Option<String> {
        let url = format!("{}/repos/{slug}/actions/jobs/{job}/logs", rest(self.url()));
        let answer = self.get(&url, true)?;
        if !answer.status().is_redirection() {
            return answer.status().is_success().then(|| end_of(answer)).flatten();
        }
        // GitHub redirects to a signed URL, to which the token must not be sent.
        let place = answer.headers().get("location")?.to_str().ok()?.to_owned();
        let answer = Some(&place).filter(|place| is_safe(place)).and_then(|place| self.get(place, false))?;
        answer.status().is_success().then(|| end_of(answer)).flatten()
    }
}

/// The URL of the REST API for a GraphQL endpoint.
fn rest(graphql: &str) -> String {
    let base = graphql.strip_suffix("/graphql").unwrap_or(graphql);
    if base.ends_with("/api") { format!("{base}/v3") } else { base.to_owned() }
}

fn end_of(mut answer: ureq::http::Response<ureq::Body>) -> Option<String> {
    let mut reader = answer.body_mut().as_reader().take(LONGEST_LOG);
    let (mut kept, mut part) = (Vec::new(), [0; 16 << 10]);
    loop {
        match reader.read(&mut part).ok()? {
            0 => return Some(plain(&String::from_utf8_lossy(&kept))),
            count => kept.extend_from_slice(&part[..count]),
        }
        if kept.len() > 2 * KEPT {
            kept.drain(..kept.len() - KEPT);
        }
    }
}

/// The log without colors and without the time that GitHub adds to each line.
fn plain(log: &str) -> String {
    let mut text = String::new();
    for line in log.lines() {
        let timed = line.split_once(' ').filter(|(time, _)| time.parse::<Timestamp>().is_ok());
        let mut rest = timed.map_or(line, |(_, rest)| rest);
        while let Some((before, after)) = rest.split_once('\u{1b}') {
            text.push_str(before);
            rest = after.find(|c: char| c.is_ascii_alphabetic()).map_or("", |end| &after[end + 1..]);
        }
        text.push_str(rest.trim_end());
        text.push('\n');
    }
    text
}

#[derive(Deserialize)]
struct OfRepository {
    repository: Option<OfPull>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfPull {
    pull_request: Option<RawFeedback>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawFeedback {
    id: Node,
    state: String,
    mergeable: String,
    head_ref_oid: String,
    base_ref_name: String,
    latest_reviews: Option<Nodes<RawReview>>,
    review_threads: Nodes<RawThread>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawReview {
    id: Node,
    state: String,
    body: String,
    submitted_at: Option<Timestamp>,
    author: Option<Login>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawThread {
    id: Node,
    is_resolved: bool,
    path: String,
    line: Option<u32>,
    original_line: Option<u32>,
    comments: Nodes<ThreadComment>,
}

impl RawFeedback {
    fn into_feedback(self) -> PullFeedback {
        let asks = |review: &RawReview| review.state == "CHANGES_REQUESTED" && !review.body.trim().is_empty();
        let reviews = self.latest_reviews.map(Nodes::into_vec).unwrap_or_default().into_iter().filter(asks);
        let text = |review: RawReview| ReviewText {
            id: review.id,
            author: review.author.map_or_else(|| "ghost".into(), |author| author.login),
            body: review.body,
            at: review.submitted_at,
        };
        let open = self.review_threads.into_vec().into_iter().filter(|thread| !thread.is_resolved);
        let thread = |raw: RawThread| Thread {
            id: raw.id,
            path: raw.path,
            line: raw.line.or(raw.original_line),
            comments: raw.comments.into_vec(),
        };
        PullFeedback {
            pull: self.id,
            is_open: self.state == "OPEN",
            conflicts: self.mergeable == "CONFLICTING",
            head: self.head_ref_oid,
            base: self.base_ref_name,
            reviews: reviews.map(text).collect(),
            threads: open.map(thread).collect(),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfFailures {
    status_check_rollup: Option<RawRollup>,
}

#[derive(Deserialize)]
struct RawRollup {
    contexts: Nodes<RawCheck>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawCheck {
    database_id: Option<u64>,
    name: Option<String>,
    context: Option<String>,
    status: Option<String>,
    conclusion: Option<String>,
    state: Option<String>,
    title: Option<String>,
    summary: Option<String>,
    description: Option<String>,
    details_url: Option<String>,
    target_url: Option<String>,
}

impl RawCheck {
    fn failed(self) -> Option<FailedCheck> {
        let failed = match (self.status.as_deref(), self.conclusion.as_deref(), self.state.as_deref()) {
            (Some("COMPLETED"), Some(conclusion), _) => !matches!(conclusion, "SUCCESS" | "NEUTRAL" | "SKIPPED"),
            (None, _, Some(state)) => matches!(state, "FAILURE" | "ERROR"),
            _ => false,
        };
        let url = self.details_url.or(self.target_url);
        let is_action = url.as_deref().is_some_and(|url| url.contains("/actions/runs/"));
        let said = [self.title, self.summary, self.description];
        failed.then(|| FailedCheck {
            name: self.name.or(self.context).unwrap_or_default(),
            job: self.database_id.filter(|_| is_action),
            text: said.into_iter().flatten().filter(|text| !text.trim().is_empty()).collect::<Vec<_>>().join("\n\n"),
            url,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_read_without_times_and_colours() {
        let log = "2026-11-18T17:00:00.1234567Z \u{1b}[31mfailed\u{1b}[0m here\nplain line\n";
        assert_eq!(plain(log), "failed here\nplain line\n");
    }

    #[test]
    fn the_rest_api_is_beside_graphql() {
        assert_eq!(rest("https://api.github.com/graphql"), "https://api.github.com");
        assert_eq!(rest("https://git.firm.example/api/graphql"), "https://git.firm.example/api/v3");
        assert_eq!(rest("http://127.0.0.1:99/graphql"), "http://127.0.0.1:99");
    }
}

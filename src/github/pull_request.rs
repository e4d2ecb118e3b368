//! Pull requests: finds, creates, checks and merges them.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::answer::{Login, Maybe, NamedNode, Nodes, OfNode};
use super::{Client, Effect, GithubError, Node, Slug, documents};

/// A pull request as it is in a list.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PullRequest {
    pub id: Node,
    pub number: u64,
    pub url: String,
    pub state: String,
    pub head_ref_oid: String,
    pub is_cross_repository: bool,
    pub base_ref_name: String,
}

/// The repository for pull requests of a branch, and the existing ones.
#[derive(Debug)]
pub struct Head {
    pub repository: Node,
    pub default_branch: Option<String>,
    pub archived: bool,
    pub pulls: Vec<PullRequest>,
}

/// The values that decide whether a pull request can be merged.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PullState {
    pub id: Node,
    pub number: u64,
    pub url: String,
    pub state: String,
    pub is_draft: bool,
    pub merged: bool,
    pub mergeable: String,
    pub merge_state_status: String,
    pub review_decision: Option<String>,
    pub head_ref_name: String,
    pub head_ref_oid: String,
    pub base_ref_name: String,
    pub is_in_merge_queue: bool,
    pub is_merge_queue_enabled: bool,
    merge_commit: Option<HeadCommit>,
    latest_reviews: Option<Nodes<Review>>,
    review_threads: Option<Nodes<ThreadState>>,
    #[serde(skip)]
    pub methods: Vec<&'static str>,
}

#[derive(Debug, Deserialize)]
struct HeadCommit {
    oid: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ThreadState {
    is_resolved: bool,
}

#[derive(Debug, Deserialize)]
struct Review {
    state: String,
    author: Option<Login>,
}

/// The result of the checks. An unknown result never counts as passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checks {
    None,
    Known(Vec<Check>),
    Unknown(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    pub name: String,
    pub result: CheckResult,
    pub required: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckResult {
    Passed,
    Failed,
    Running,
}

impl PullState {
    pub fn merge_commit(&self) -> Option<&str> {
        self.merge_commit.as_ref().map(|commit| commit.oid.as_str())
    }

    /// The number of unresolved review threads.
    pub fn open_threads(&self) -> usize {
        let threads = self.review_threads.iter().flat_map(|threads| threads.iter());
        threads.filter(|thread| !thread.is_resolved).count()
    }

    /// The reviewers who request changes.
    pub fn objectors(&self) -> Vec<String> {
        let reviews = self.latest_reviews.iter().flat_map(|reviews| reviews.iter());
        let asking = reviews.filter(|review| review.state == "CHANGES_REQUESTED");
        asking.filter_map(|review| review.author.as_ref().map(|author| author.login.clone())).collect()
    }
}

impl Client<'_> {
    pub fn pulls_of(&self, slug: &Slug, branch: &str) -> Result<Head, GithubError> {
        let variables = json!({ "owner": slug.owner, "name": slug.name, "head": branch });
        let answer: OfHead = self.ask(documents::PULL, "PullByHead", variables, Effect::Read)?;
        let missing =
            || GithubError::NotFound(format!("repository {slug} does not exist, or this token has no access to it"));
        let found = answer.repository.ok_or_else(missing)?;
        let pulls = found.pull_requests.into_vec().into_iter().filter(|pull| !pull.is_cross_repository);
        Ok(Head {
            repository: found.id,
            default_branch: found.default_branch_ref.map(|branch| branch.name),
            archived: found.is_archived,
            pulls: pulls.collect(),
        })
    }

    pub fn create_pull(&self, input: Value) -> Result<PullRequest, GithubError> {
        let made = |data: Value| serde_json::from_value(data["createPullRequest"]["pullRequest"].clone()).ok();
        self.create(documents::PULL, "PullCreate", json!({ "input": input }), made)
    }

    pub fn pull_state(&self, slug: &Slug, number: u64) -> Result<PullState, GithubError> {
        let variables = json!({ "owner": slug.owner, "name": slug.name, "number": number });
        let answer: OfPull = self.ask(documents::PULL, "PullStatus", variables, Effect::Read)?;
        let missing = || {
            GithubError::NotFound(format!(
                "pull request {slug}#{number} does not exist, or this token has no access to it"
            ))
        };
        let repository = answer.repository.ok_or_else(missing)?;
        let mut pull = repository.pull_request.ok_or_else(missing)?;
        let allowed = [
            ("MERGE", repository.merge_commit_allowed),
            ("SQUASH", repository.squash_merge_allowed),
            ("REBASE", repository.rebase_merge_allowed),
        ];
        pull.methods = allowed.into_iter().filter(|(_, allowed)| *allowed).map(|(name, _)| name).collect();
        Ok(pull)
    }

    /// The result of the checks; unknown if the token has no access to them.
    pub fn checks(&self, pull: &Node) -> Result<Checks, GithubError> {
        let mut checks = Vec::new();
        let mut after = None::<String>;
        loop {
            let variables = json!({ "pr": pull, "after": after });
            let answer: Result<OfNode<OfChecks>, _> = self.ask(documents::PULL, "PullChecks", variables, Effect::Read);
            let rollup = match answer {
                Err(error @ (GithubError::Forbidden(_) | GithubError::Scopes { .. } | GithubError::NotFound(_))) => {
                    return Ok(Checks::Unknown(error.to_string()));
                }
                other => other?.node.and_then(Maybe::it),
            };
            let Some(rollup) = rollup else {
                return Ok(Checks::Unknown("GitHub does not show them to this token".into()));
            };
            let Some(rollup) = rollup.status_check_rollup else { return Ok(Checks::None) };
            after = rollup.contexts.page_info.as_ref().and_then(|page| page.next()).map(str::to_owned);
            checks.extend(rollup.contexts.into_vec().into_iter().map(CheckContext::check));
            if after.is_none() {
                return Ok(Checks::Known(checks));
            }
        }
    }

    pub fn merge_pull(&self, pull: &PullState, method: &str) -> Result<Option<String>, GithubError> {
        let input = json!({ "pullRequestId": pull.id, "expectedHeadOid": pull.head_ref_oid, "mergeMethod": method });
        let answer: Value = self.ask(documents::PULL, "PullMerge", json!({ "input": input }), Effect::Create)?;
        let commit = &answer["mergePullRequest"]["pullRequest"]["mergeCommit"]["oid"];
        Ok(commit.as_str().map(str::to_owned))
    }

    pub fn enqueue_pull(&self, pull: &PullState) -> Result<(), GithubError> {
        let input = json!({ "pullRequestId": pull.id, "expectedHeadOid": pull.head_ref_oid });
        self.ask::<Value>(documents::PULL, "PullEnqueue", json!({ "input": input }), Effect::Create).map(|_| ())
    }
}

#[derive(Deserialize)]
struct OfHead {
    repository: Option<RawHead>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawHead {
    id: Node,
    is_archived: bool,
    default_branch_ref: Option<NamedNode>,
    pull_requests: Nodes<PullRequest>,
}

#[derive(Deserialize)]
struct OfPull {
    repository: Option<RawPull>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawPull {
    merge_commit_allowed: bool,
    squash_merge_allowed: bool,
    rebase_merge_allowed: bool,
    pull_request: Option<PullState>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfChecks {
    status_check_rollup: Option<Rollup>,
}

#[derive(Deserialize)]
struct Rollup {
    contexts: Nodes<CheckContext>,
}

/// A check run has a status and a conclusion, a status context only a state.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CheckContext {
    name: Option<String>,
    context: Option<String>,
    status: Option<String>,
    conclusion: Option<String>,
    state: Option<String>,
    is_required: bool,
}

impl CheckContext {
    fn check(self) -> Check {
        let result = match (self.status.as_deref(), self.conclusion.as_deref(), self.state.as_deref()) {
            (Some("COMPLETED"), Some("SUCCESS" | "NEUTRAL" | "SKIPPED"), _) | (None, _, Some("SUCCESS")) => {
                CheckResult::Passed
            }
            (Some("COMPLETED"), _, _) | (None, _, Some("FAILURE" | "ERROR")) => CheckResult::Failed,
            _ => CheckResult::Running,
        };
        Check { name: self.name.or(self.context).unwrap_or_default(), result, required: self.is_required }
    }
}

//! The entities of the fake GitHub, as plain data.

use std::collections::BTreeMap;

use jiff::Timestamp;

/// A node id: opaque to clients, and in creation order within one kind.
pub type Id = String;

#[derive(Clone, Debug)]
pub struct Owner {
    pub id: Id,
    pub login: String,
    pub is_organization: bool,
}

#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // GitHub's own settings, each independent
pub struct Repository {
    pub id: Id,
    pub owner: String,
    pub name: String,
    pub has_issues: bool,
    pub archived: bool,
    /// ADMIN, MAINTAIN, WRITE, TRIAGE or READ, for the viewer.
    pub permission: String,
    pub visibility: String,
    pub default_branch: String,
    pub merge_commit: bool,
    pub squash: bool,
    pub rebase: bool,
    pub auto_merge: bool,
    pub delete_branch_on_merge: bool,
    pub merge_queue: bool,
    /// Issues and pull requests share one sequence of numbers.
    pub next_number: u32,
}

impl Repository {
    #[must_use]
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.owner, self.name)
    }
}

#[derive(Clone, Debug)]
pub struct Label {
    pub id: Id,
    pub repo: Id,
    pub name: String,
    pub color: String,
    pub description: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Issue {
    pub id: Id,
    pub repo: Id,
    pub number: u32,
    pub title: String,
    pub body: String,
    pub closed: bool,
    /// COMPLETED, `NOT_PLANNED`, DUPLICATE or REOPENED.
    pub reason: Option<String>,
    pub duplicate_of: Option<Id>,
    pub author: String,
    pub editor: Option<String>,
    pub labels: Vec<Id>,
    pub assignees: Vec<Id>,
    pub parent: Option<Id>,
    /// Sub-issues in their order.
    pub children: Vec<Id>,
    pub blocked_by: Vec<Id>,
    pub created: Timestamp,
    pub updated: Timestamp,
    pub closed_at: Option<Timestamp>,
    pub edited: Option<Timestamp>,
    /// How many attempts to add it to a project still answer `NOT_FOUND`.
    pub not_yet_addable: u32,
}

#[derive(Clone, Debug)]
pub struct Comment {
    pub id: Id,
    pub serial: u64,
    /// The issue or pull request of the comment.
    pub subject: Id,
    pub author: String,
    pub body: String,
    pub created: Timestamp,
    pub updated: Timestamp,
    pub edited: Option<Timestamp>,
    pub minimized: bool,
}

#[derive(Clone, Debug)]
pub struct Project {
    pub id: Id,
    pub number: u32,
    pub owner: String,
    pub title: String,
    pub closed: bool,
    pub public: bool,
    pub viewer_can_update: bool,
    pub updated: Timestamp,
    pub created: Timestamp,
    pub repositories: Vec<Id>,
    pub workflows: Vec<Workflow>,
}

#[derive(Clone, Debug)]
pub struct Workflow {
    pub id: Id,
    pub number: u32,
    pub name: String,
    pub enabled: bool,
}

#[derive(Clone, Debug)]
pub struct Field {
    pub id: Id,
    pub project: Id,
    pub name: String,
    /// A value of `ProjectV2FieldType`.
    pub kind: String,
    pub options: Vec<Choice>,
    pub updated: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Eight hex digits, not a node id.
    pub id: String,
    pub name: String,
    pub color: String,
    pub description: String,
}

#[derive(Clone, Debug)]
pub struct Item {
    pub id: Id,
    pub project: Id,
    pub content: Content,
    pub archived: bool,
    pub created: Timestamp,
    pub updated: Timestamp,
    /// By field id; a field without a value is missing.
    pub values: BTreeMap<Id, FieldValue>,
    /// Not listed by `Issue.projectItems` yet, because of index lag.
    pub unlisted: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    Issue(Id),
    Pull(Id),
    Draft { id: Id, title: String, body: String, updated: Timestamp },
}

#[derive(Clone, Debug)]
pub struct FieldValue {
    pub id: Id,
    /// The login of the person who set it.
    pub by: String,
    pub updated: Timestamp,
    pub set: Setting,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    Option(String),
    Text(String),
    Number(f64),
    Date(String),
}

#[derive(Clone, Debug)]
pub struct Ref {
    pub id: Id,
    pub repo: Id,
    /// Fully qualified, as in `refs/heads/main`.
    pub name: String,
    pub oid: String,
}

impl Ref {
    #[must_use]
    pub fn short(&self) -> &str {
        self.name.strip_prefix("refs/heads/").unwrap_or(&self.name)
    }
}

#[derive(Clone, Debug)]
pub struct Pull {
    pub id: Id,
    pub repo: Id,
    pub number: u32,
    pub title: String,
    pub body: String,
    pub author: String,
    pub head: String,
    pub base: String,
    pub head_oid: String,
    pub draft: bool,
    pub cross_repository: bool,
    /// OPEN, CLOSED or MERGED.
    pub state: String,
    pub mergeable: String,
    /// How many reads still answer UNKNOWN, as GitHub computes it lazily (§6).
    pub unknown_reads: u32,
    pub merge_state: String,
    pub review_decision: Option<String>,
    pub reviews: Vec<Review>,
    pub checks: Vec<Check>,
    pub threads: Vec<Thread>,
    pub labels: Vec<Id>,
    pub queue: Option<QueueEntry>,
    pub auto_merge: Option<AutoMerge>,
    pub merge_commit: Option<String>,
    pub merged_at: Option<Timestamp>,
    pub created: Timestamp,
    pub updated: Timestamp,
}

/// A review thread on a line.
#[derive(Clone, Debug)]
pub struct Thread {
    pub id: Id,
    pub path: String,
    pub line: u32,
    pub resolved: bool,
    pub comments: Vec<ThreadComment>,
}

#[derive(Clone, Debug)]
pub struct ThreadComment {
    pub id: Id,
    pub author: String,
    pub body: String,
    pub created: Timestamp,
}

#[derive(Clone, Debug)]
pub struct Review {
    pub id: Id,
    pub author: String,
    pub state: String,
    pub body: String,
    pub submitted: Option<Timestamp>,
}

#[derive(Clone, Debug)]
pub struct Check {
    pub id: Id,
    pub name: String,
    /// A value of `CheckStatusState`; a `StatusContext` if empty.
    pub status: String,
    /// The log of a job of GitHub Actions.
    pub log: Option<String>,
    pub job: u64,
    /// A value of `CheckConclusionState`, or of `StatusState` for a `StatusContext`.
    pub conclusion: Option<String>,
    pub required: bool,
}

#[derive(Clone, Debug)]
pub struct QueueEntry {
    pub id: Id,
    pub position: u32,
    pub state: String,
}

#[derive(Clone, Debug)]
pub struct AutoMerge {
    pub enabled: Timestamp,
    pub method: String,
}

//! The responses of GitHub as structs. Nullable fields are optional and enums are strings, so that new values do not break parsing.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A global id, which is opaque.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Node(String);

impl Node {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Page {
    pub has_next_page: bool,
    pub end_cursor: Option<String>,
}

impl Page {
    pub fn next(&self) -> Option<&str> {
        self.end_cursor.as_deref().filter(|_| self.has_next_page)
    }
}

/// A connection: nodes may be missing, and each may be null.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", bound = "T: serde::de::DeserializeOwned")]
pub struct Nodes<T> {
    #[serde(default)]
    nodes: Option<Vec<Option<T>>>,
    #[serde(default)]
    pub total_count: Option<u64>,
    #[serde(default)]
    pub page_info: Option<Page>,
}

impl<T> Nodes<T> {
    pub fn into_vec(self) -> Vec<T> {
        self.nodes.unwrap_or_default().into_iter().flatten().collect()
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.nodes.iter().flatten().flatten()
    }
}

#[derive(Debug, Deserialize)]
pub struct Id {
    pub id: Node,
}

#[derive(Debug, Deserialize)]
pub struct NamedNode {
    pub name: String,
}

#[derive(Debug, Deserialize)]
pub struct Login {
    pub login: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NameWithOwner {
    pub name_with_owner: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Total {
    #[serde(alias = "totalCount", alias = "totalBlockedBy")]
    pub total: u64,
}

/// A single-select value; values of other kinds are parsed as an empty object.
#[derive(Debug, Default, Deserialize)]
pub struct ChosenOption {
    #[serde(default)]
    pub name: Option<String>,
    #[serde(default, rename = "updatedAt")]
    pub at: Option<String>,
    #[serde(default, rename = "creator")]
    pub by: Option<Login>,
}

/// An answer with one node, which may be of another type than the query asked about.
#[derive(Debug, Deserialize)]
#[serde(bound = "T: serde::de::DeserializeOwned")]
pub struct OfNode<T> {
    pub node: Option<Maybe<T>>,
}

/// The requested type, or an object of another type.
#[derive(Debug, Deserialize)]
#[serde(untagged, bound = "T: serde::de::DeserializeOwned")]
pub enum Maybe<T> {
    It(T),
    Else(serde::de::IgnoredAny),
}

impl<T> Maybe<T> {
    pub fn it(self) -> Option<T> {
        match self {
            Self::It(it) => Some(it),
            Self::Else(_) => None,
        }
    }
}

#[derive(Debug, Deserialize)]
pub struct ItemsPage {
    pub items: Nodes<ScannedItem>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScannedItem {
    pub id: Node,
    pub is_archived: bool,
    pub state: Option<ChosenOption>,
    pub status: Option<ChosenOption>,
    pub priority: Option<ChosenOption>,
    pub estimate: Option<ChosenOption>,
    pub content: Option<ItemContent>,
}

/// Every field is optional, because pull requests and drafts have fewer fields.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemContent {
    #[serde(rename = "__typename")]
    pub kind: String,
    pub id: Option<Node>,
    pub number: Option<u64>,
    pub updated_at: Option<String>,
    pub title: Option<String>,
    pub state: Option<String>,
    pub state_reason: Option<String>,
    pub closed_at: Option<String>,
    pub repository: Option<NameWithOwner>,
    pub parent: Option<Id>,
    pub sub_issues_summary: Option<Total>,
    pub comments: Option<Total>,
    pub issue_dependencies_summary: Option<Total>,
}

#[derive(Debug, Deserialize)]
pub struct Details {
    /// Parsed one by one: a node that is no issue is none, but an issue that cannot be parsed must not count as missing.
    pub nodes: Vec<Option<serde_json::Value>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DetailedIssue {
    pub id: Node,
    pub number: u64,
    pub url: String,
    pub title: String,
    pub body: String,
    pub state: String,
    pub state_reason: Option<String>,
    pub updated_at: String,
    pub created_at: String,
    pub author: Option<Login>,
    pub repository: NameWithOwner,
    pub labels: Option<Nodes<NamedNode>>,
    pub parent: Option<Id>,
    pub sub_issues_summary: Total,
    pub comments: Nodes<DetailedComment>,
    pub closed_by_pull_requests_references: Option<Nodes<LinkedPull>>,
    pub project_items: Option<Nodes<ItemOfIssue>>,
    pub blocked_by: Option<Nodes<Id>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DetailedComment {
    pub id: Node,
    pub body: String,
    pub created_at: String,
    pub author: Option<Login>,
    pub viewer_did_author: bool,
}

#[derive(Debug, Deserialize)]
pub struct LinkedPull {
    pub number: u64,
    pub url: String,
    pub state: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemOfIssue {
    pub id: Node,
    #[serde(default)]
    pub is_archived: bool,
    pub project: Id,
}

#[derive(Debug, Deserialize)]
pub struct CommentPages {
    pub comments: Nodes<DetailedComment>,
}

#[derive(Debug, Deserialize)]
pub struct Heads {
    pub nodes: Vec<Option<Maybe<IssueHead>>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IssueHead {
    pub id: Node,
    pub updated_at: String,
}

#[derive(Debug, Deserialize)]
pub struct Recent {
    pub repository: Option<RecentIssues>,
}

#[derive(Debug, Deserialize)]
pub struct RecentIssues {
    pub issues: Nodes<RecentIssue>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecentIssue {
    pub id: Node,
    pub number: u64,
    pub created_at: String,
    pub body: String,
}

#[derive(Debug, Deserialize)]
pub struct CreatedIssue {
    pub issue: Option<NewIssue>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewIssue {
    pub id: Node,
    pub number: u64,
    pub url: String,
    pub title: String,
    pub body: String,
    pub project_items: Option<Nodes<ItemOfIssue>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AddComment {
    pub add_comment: Option<AddedComment>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AddedComment {
    pub comment_edge: Option<CommentEdge>,
}

#[derive(Debug, Deserialize)]
pub struct CommentEdge {
    pub node: Option<NewComment>,
}

#[derive(Debug, Deserialize)]
pub struct NewComment {
    pub id: Node,
    pub body: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateLabel {
    pub create_label: Option<CreatedLabel>,
}

#[derive(Debug, Deserialize)]
pub struct CreatedLabel {
    pub label: Option<Label>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Label {
    pub id: Node,
    pub name: String,
}

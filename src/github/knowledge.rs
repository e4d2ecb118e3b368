//! A cache of what this machine last read from GitHub, which saves requests and lets `sync status` work offline.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::answer::{DetailedComment, DetailedIssue, ItemContent, ScannedItem};
use super::{Call, Field, Node, Representation, issue_body, read_issue_body};
use crate::fs::{self, FsError};
use crate::task::{Estimate, Priority, StateName, Value};
use crate::workflow::Workflow;

/// The features of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Features {
    pub dependencies: bool,
    /// An issue can be added to a project when it is created.
    pub create_in_project: bool,
    /// Archived items can be listed.
    pub archived_items: bool,
    /// Options of a field can be sent with their ids, so that they are kept.
    pub option_ids: bool,
}

/// A row of the project.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Item {
    pub id: Node,
    pub issue: Node,
    pub number: u64,
    pub repo: String,
    pub title: String,
    pub archived: bool,
    pub state: Option<String>,
    pub status: Option<String>,
    pub priority: Option<String>,
    pub estimate: Option<String>,
    pub closed: bool,
    pub reason: Option<String>,
    /// The time at which its state was chosen.
    pub chosen: Option<String>,
    /// The user who chose it.
    #[serde(default)]
    pub chosen_by: Option<String>,
    pub closed_at: Option<String>,
    head: IssueHead,
    #[serde(default)]
    partial: bool,
}

/// The values that show whether the issue of a row has changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct IssueHead {
    updated: String,
    parent: Option<Node>,
    children: u64,
    comments: u64,
    blockers: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RemoteIssue {
    pub node: Node,
    pub number: u64,
    pub url: String,
    pub repo: String,
    pub title: String,
    pub body: String,
    pub closed: bool,
    pub reason: Option<String>,
    pub created: String,
    pub author: Option<String>,
    pub labels: Vec<String>,
    pub parent: Option<Node>,
    pub children: u64,
    pub blocked_by: Vec<Node>,
    pub comments: Vec<RemoteComment>,
    /// The newest pull request that closes it and is not itself closed without a merge.
    pub pull: Option<String>,
    pub items: Vec<(Node, Node, bool)>,
    head: IssueHead,
    /// It had not changed for two seconds when it was read. Times have a resolution of one second, so a later change within the
    /// same second would not be noticed.
    settled: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RemoteComment {
    pub id: Node,
    pub body: String,
    pub author: Option<String>,
    pub created: String,
    pub mine: bool,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Knowledge {
    /// The project that the cache is about.
    pub project: Option<Node>,
    pub features: Option<Features>,
    pub features_at: Option<Timestamp>,
    /// The time of the last full reading of all issues, by GitHub's clock.
    pub full_at: Option<Timestamp>,
    pub scanned_at: Option<Timestamp>,
    pub items: Vec<Item>,
    pub issues: BTreeMap<Node, RemoteIssue>,
}

impl Item {
    pub(super) fn of(item: ScannedItem) -> Option<Self> {
        let ScannedItem { id, is_archived, state, status, priority, estimate, content } = item;
        let content = content.filter(|content| content.kind == "Issue")?;
        let name = |chosen: Option<super::answer::ChosenOption>| chosen.and_then(|chosen| chosen.name);
        let head = IssueHead::of(&content);
        let chosen = state.as_ref().and_then(|state| state.at.clone());
        let chosen_by = state.as_ref().and_then(|state| state.by.as_ref()).map(|by| by.login.clone());
        Some(Self {
            id,
            issue: content.id?,
            number: content.number?,
            repo: content.repository?.name_with_owner,
            title: content.title.unwrap_or_default(),
            archived: is_archived,
            state: name(state),
            status: name(status),
            priority: name(priority),
            estimate: name(estimate),
            closed: content.state.as_deref() == Some("CLOSED"),
            reason: content.state_reason,
            closed_at: content.closed_at,
            chosen,
            chosen_by,
            head,
            partial: false,
        })
    }
}

impl Item {
    pub(super) fn seen(&self) -> super::state::Seen<'_> {
        super::state::Seen {
            option: self.state.as_deref(),
            chosen: self.chosen.as_deref(),
            closed: self.closed,
            closed_at: self.closed_at.as_deref(),
            reason: self.reason.as_deref(),
        }
    }

    /// The representation of the issue, if it does not match the state.
    pub fn unlike(&self, flow: &Workflow, state: &StateName) -> Option<super::Shown> {
        super::Shown::unlike(flow, state, self.seen())
    }

    /// A new row, whose fields have no values yet.
    pub fn new(id: Node, issue: &RemoteIssue) -> Self {
        Self {
            id,
            issue: issue.node.clone(),
            number: issue.number,
            repo: issue.repo.clone(),
            title: issue.title.clone(),
            archived: false,
            state: None,
            status: None,
            priority: None,
            estimate: None,
            closed: issue.closed,
            reason: issue.reason.clone(),
            chosen: None,
            chosen_by: None,
            closed_at: None,
            head: issue.head.clone(),
            partial: false,
        }
    }

    /// A row that the issue names but the scan does not list. The values of its fields are unknown.
    pub fn unlisted(id: Node, issue: &RemoteIssue, archived: bool) -> Self {
        Self { archived, partial: true, ..Self::new(id, issue) }
    }

    /// Whether the field has a value that ralph does not know. Such a value is ignored.
    pub fn is_foreign(&self, field: Field) -> bool {
        match field {
            Field::Priority => self.priority.as_ref().is_some_and(|name| name.parse::<Priority>().is_err()),
            Field::Estimate => self.estimate.as_ref().is_some_and(|name| name.parse::<Estimate>().is_err()),
            _ => false,
        }
    }

    /// Whether the values of its fields are unknown.
    pub fn is_partial(&self) -> bool {
        self.partial
    }
}

impl IssueHead {
    /// Whether nothing has changed. Scans of older servers do not count blockers, which are then not compared.
    fn is_like(&self, other: &Self) -> bool {
        let blockers = self.blockers.zip(other.blockers).is_none_or(|(one, two)| one == two);
        let of = |head: &Self| (head.updated.clone(), head.parent.clone(), head.children, head.comments);
        blockers && of(self) == of(other)
    }

    fn of(content: &ItemContent) -> Self {
        Self {
            updated: content.updated_at.clone().unwrap_or_default(),
            parent: content.parent.as_ref().map(|parent| parent.id.clone()),
            children: content.sub_issues_summary.as_ref().map_or(0, |summary| summary.total),
            comments: content.comments.as_ref().map_or(0, |comments| comments.total),
            blockers: content.issue_dependencies_summary.as_ref().map(|summary| summary.total),
        }
    }
}

impl RemoteIssue {
    /// `now` is GitHub's time when the issue was read.
    pub(super) fn of(issue: DetailedIssue, now: Option<Timestamp>) -> Self {
        let blockers = issue.blocked_by.as_ref().and_then(|list| list.total_count);
        let head = IssueHead {
            updated: issue.updated_at.clone(),
            parent: issue.parent.as_ref().map(|parent| parent.id.clone()),
            children: issue.sub_issues_summary.total,
            comments: issue.comments.total_count.unwrap_or(0),
            blockers,
        };
        let changed: Option<Timestamp> = issue.updated_at.parse().ok();
        let settled = matches!((changed, now), (Some(at), Some(now)) if now.as_second() - at.as_second() >= 2);
        let pulls = issue.closed_by_pull_requests_references.into_iter().flat_map(|list| list.into_vec());
        let pull = pulls.filter(|pull| pull.state != "CLOSED").max_by_key(|pull| pull.number).map(|pull| pull.url);
        let items = issue.project_items.into_iter().flat_map(|list| list.into_vec());
        Self {
            node: issue.id,
            number: issue.number,
            url: issue.url,
            repo: issue.repository.name_with_owner,
            title: issue.title,
            body: issue.body,
            closed: issue.state == "CLOSED",
            reason: issue.state_reason,
            created: issue.created_at,
            author: issue.author.map(|author| author.login),
            labels: issue.labels.into_iter().flat_map(|list| list.into_vec()).map(|label| label.name).collect(),
            parent: issue.parent.map(|parent| parent.id),
            children: issue.sub_issues_summary.total,
            blocked_by: issue.blocked_by.into_iter().flat_map(|list| list.into_vec()).map(|id| id.id).collect(),
            comments: issue.comments.into_vec().into_iter().map(RemoteComment::of).collect(),
            pull,
            items: items.map(|item| (item.id, item.project.id, item.is_archived)).collect(),
            head,
            settled,
        }
    }

    /// An issue that was just created.
    pub fn fresh(created: &super::Created, repo: &str, labels: Vec<String>) -> Self {
        Self {
            node: created.node.clone(),
            number: created.number,
            url: created.url.clone(),
            repo: repo.to_owned(),
            title: created.title.clone(),
            body: created.body.clone(),
            closed: false,
            reason: None,
            created: String::new(),
            author: None,
            labels,
            parent: None,
            children: 0,
            blocked_by: Vec::new(),
            comments: Vec::new(),
            pull: None,
            items: Vec::new(),
            head: IssueHead { updated: String::new(), parent: None, children: 0, comments: 0, blockers: None },
            settled: false,
        }
    }

    /// Makes the next sync read the issue again, because it is about to be changed.
    pub fn unsettle(&mut self) {
        self.settled = false;
    }

    /// Whether it was last updated at this time when it was read.
    pub(super) fn is_of(&self, updated: &str) -> bool {
        self.head.updated == updated
    }

    /// Whether the cached issue is still current, according to a row that was just scanned.
    pub fn is_current(&self, item: &Item) -> bool {
        self.settled && self.head.is_like(&item.head) && self.closed == item.closed && self.title == item.title
    }
}

impl RemoteComment {
    pub(super) fn of(comment: DetailedComment) -> Self {
        Self {
            id: comment.id,
            body: comment.body,
            author: comment.author.map(|author| author.login),
            created: comment.created_at,
            mine: comment.viewer_did_author,
        }
    }
}

impl Knowledge {
    /// Loads the cache. A missing or damaged file gives an empty cache.
    pub fn load(path: &Path) -> Self {
        let text = fs::read_text(path).ok().flatten();
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    pub fn save(&self, path: &Path) -> Result<(), FsError> {
        let text = serde_json::to_string(self).expect("a cache is text");
        fs::replace(path, text.as_bytes(), false)
    }

    /// Records a value that was just sent, so that the next sync does not take it for a change.
    pub fn note(&mut self, issue: &Node, field: Field, value: Option<&Value>, flow: &Workflow) {
        let text = value.map(ToString::to_string);
        let list = || match value {
            Some(Value::List(list)) => list.iter().map(ToString::to_string).collect(),
            _ => Vec::new(),
        };
        let Some(item) = self.items.iter_mut().find(|item| item.issue == *issue) else { return };
        match field {
            Field::State => {
                let shown = Representation::of(flow, &StateName::new(text.unwrap_or_default()));
                item.closed = shown.closed.is_some();
                item.reason = shown.closed.map(str::to_owned);
                item.state = Some(shown.option);
                item.status = shown.status.or(item.status.take());
            }
            Field::Priority => item.priority = text,
            Field::Estimate => item.estimate = text,
            Field::Archived => item.archived = value.is_some(),
            _ => {
                let Some(known) = self.issues.get_mut(issue) else { return };
                match field {
                    Field::Title => known.title = text.unwrap_or_default(),
                    // The marker is kept.
                    Field::Description => {
                        let marker = read_issue_body(&known.body).1;
                        let text = text.unwrap_or_default();
                        known.body = marker.map_or_else(|| text.clone(), |marker| issue_body(&text, &marker));
                    }
                    Field::Labels => known.labels = list(),
                    _ => {}
                }
            }
        }
    }

    /// Records the effect of a successful call, apart from values of fields.
    pub fn note_call(&mut self, call: &Call) {
        match call {
            Call::AddChild { parent, child } => {
                self.issues.entry(child.clone()).and_modify(|issue| issue.parent = Some(parent.clone()));
            }
            Call::RemoveChild { child, .. } => {
                self.issues.entry(child.clone()).and_modify(|issue| issue.parent = None);
            }
            Call::AddBlocker { issue, blocker } => {
                self.issues.entry(issue.clone()).and_modify(|issue| issue.blocked_by.push(blocker.clone()));
            }
            Call::RemoveBlocker { issue, blocker } => {
                self.issues.entry(issue.clone()).and_modify(|issue| issue.blocked_by.retain(|other| other != blocker));
            }
            Call::EditComment { comment, body } => {
                let comments = self.issues.values_mut().flat_map(|issue| &mut issue.comments);
                comments.filter(|other| other.id == *comment).for_each(|other| other.body.clone_from(body));
            }
            Call::Body { issue, body } => {
                self.issues.entry(issue.clone()).and_modify(|issue| issue.body.clone_from(body));
            }
            Call::Close { issue, .. } | Call::CloseDuplicate { issue, .. } => {
                self.items.iter_mut().filter(|item| item.issue == *issue).for_each(|item| item.closed = true);
            }
            _ => {}
        }
    }

    /// Records a comment that was just posted.
    pub fn note_comment(&mut self, issue: &Node, comment: RemoteComment) {
        self.issues.entry(issue.clone()).and_modify(|issue| issue.comments.push(comment));
    }

    pub fn item_of(&self, issue: &Node) -> Option<&Item> {
        self.items.iter().find(|item| item.issue == *issue)
    }
}

//! Reads the project: its items, its changes since the last sync, and their values as fields of tasks.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::json;

use super::answer::{
    CommentPages, DetailedIssue, Details, Heads, IssueHead, ItemsPage, Maybe, OfNode, Recent, RecentIssue,
};
use super::knowledge::RemoteComment;
use super::state::read as read_state;
use super::{
    Client, Effect, Features, Field, GithubError, Item, Knowledge, Link, Node, RemoteIssue, Slug, Values, documents,
    fingerprint, read_issue_body, title_of,
};
use crate::task::{Estimate, Priority, TaskId, Value};
use crate::workflow::{State, Workflow};

/// The names of the project's fields that ralph uses.
#[derive(Debug, Clone)]
pub struct FieldNames {
    pub state: String,
    pub priority: String,
    pub estimate: String,
}

const PAGE: u64 = 100;
const SMALLEST_PAGE: u64 = 10;
const DETAILS_AT_ONCE: usize = 50;
/// Some changes do not change the time of an issue, so everything is read once a day.
const FULL_AFTER: SignedDuration = SignedDuration::from_hours(24);

/// Which issue mirrors which task.
#[derive(Debug, Default)]
pub struct Names {
    tasks: BTreeMap<Node, TaskId>,
    issues: BTreeMap<TaskId, Node>,
}

impl Names {
    pub fn insert(&mut self, issue: Node, task: TaskId) {
        self.issues.insert(task.clone(), issue.clone());
        self.tasks.insert(issue, task);
    }

    pub fn task(&self, issue: &Node) -> Option<&TaskId> {
        self.tasks.get(issue)
    }

    pub fn issue(&self, task: &TaskId) -> Option<&Node> {
        self.issues.get(task)
    }
}

impl Client<'_> {
    /// The features of this server; read once a day.
    pub fn features(&self, known: &mut Knowledge) -> Result<Features, GithubError> {
        let fresh = |at: Timestamp| self.server_now().is_some_and(|now| now.duration_since(at) < FULL_AFTER);
        if let (Some(features), Some(true)) = (known.features, known.features_at.map(fresh)) {
            return Ok(features);
        }
        let issue: TypesOf = self.ask(documents::FEATURES, "IssueFeatures", json!({}), Effect::Read)?;
        let project: TypesOf = self.ask(documents::FEATURES, "ProjectFeatures", json!({}), Effect::Read)?;
        let items =
            project.project.iter().flat_map(|kind| kind.fields.iter().flatten()).find(|field| field.name == "items");
        let features = Features {
            dependencies: has(issue.issue.as_ref().and_then(|kind| kind.fields.as_ref()), "blockedBy"),
            create_in_project: has(issue.create.as_ref().and_then(|kind| kind.input_fields.as_ref()), "projectV2Ids"),
            archived_items: has(items.and_then(|field| field.args.as_ref()), "archivedStates"),
            option_ids: has(project.option.as_ref().and_then(|kind| kind.input_fields.as_ref()), "id"),
        };
        known.features = Some(features);
        known.features_at = self.server_now();
        Ok(features)
    }

    /// Every row of the project that is an issue. The page size is halved if GitHub fails.
    pub fn scan(
        &self,
        project: &Node,
        names: &FieldNames,
        features: Features,
        tell: &mut dyn FnMut(usize, usize),
    ) -> Result<Vec<Item>, GithubError> {
        let document =
            if features.archived_items && features.dependencies { documents::SCAN } else { documents::SCAN_PLAIN };
        let (mut items, mut seen) = (Vec::new(), 0);
        let (mut first, mut after) = (PAGE, None::<String>);
        loop {
            let variables = json!({
                "project": project, "first": first, "after": after,
                "state": names.state, "priority": names.priority, "estimate": names.estimate,
            });
            let page: Result<OfNode<ItemsPage>, _> = self.ask(document, "ScanItems", variables, Effect::Read);
            let page = match page {
                Err(GithubError::Outage(_)) if first > SMALLEST_PAGE => {
                    first = (first / 2).max(SMALLEST_PAGE);
                    continue;
                }
                other => other?.node.and_then(Maybe::it).ok_or_else(|| gone("the project"))?.items,
            };
            after = page.page_info.as_ref().and_then(|info| info.next()).map(str::to_owned);
            let total = page.total_count.unwrap_or(0) as usize;
            let rows = page.into_vec();
            seen += rows.len();
            items.extend(rows.into_iter().filter_map(Item::of));
            tell(seen, total);
            if after.is_none() {
                return Ok(items);
            }
        }
    }

    /// Reads the issues that are missing or outdated in `known` and returns their number. With `all`, it reads every issue.
    pub fn refresh(
        &self,
        known: &mut Knowledge,
        features: Features,
        wanted: &BTreeSet<Node>,
        all: bool,
        tell: &mut dyn FnMut(usize, usize),
    ) -> Result<usize, GithubError> {
        let now = self.server_now();
        let due = known.full_at.zip(now).is_none_or(|(at, now)| now.duration_since(at) >= FULL_AFTER);
        let all = all || due;
        let current = |item: &Item| known.issues.get(&item.issue).is_some_and(|issue| issue.is_current(item));
        let stale = known.items.iter().filter(|item| all || wanted.contains(&item.issue) || !current(item));
        let mut ids: Vec<Node> = stale.map(|item| item.issue.clone()).collect();
        ids.extend(wanted.iter().filter(|id| known.item_of(id).is_none()).cloned());
        let (total, mut done) = (ids.len(), 0);
        for chunk in ids.chunks(DETAILS_AT_ONCE) {
            for (id, issue) in self.details(chunk, features)? {
                match issue {
                    Some(issue) => known.issues.insert(id, issue),
                    None => known.issues.remove(&id),
                };
            }
            done += chunk.len();
            tell(done, total);
        }
        if all {
            known.full_at = now;
        }
        Ok(total)
    }

    /// Complete issues; `None` for an issue that does not exist or that the token has no access to.
    pub fn details(&self, ids: &[Node], features: Features) -> Result<Vec<(Node, Option<RemoteIssue>)>, GithubError> {
        let document = if features.dependencies { documents::DETAILS } else { documents::DETAILS_PLAIN };
        let answer = self.ask_partly::<Details>(document, "IssueDetails", json!({ "ids": ids }), Effect::Read);
        let answer = match answer {
            Err(GithubError::Outage(_)) if ids.len() > 1 => {
                let (left, right) = ids.split_at(ids.len() / 2);
                let mut both = self.details(left, features)?;
                both.extend(self.details(right, features)?);
                return Ok(both);
            }
            other => other?,
        };
        if let Some(error) = answer.errors.iter().find(|error| !error.is("NOT_FOUND")) {
            return Err(error.into());
        }
        let nodes = answer.data.ok_or_else(|| GithubError::Odd("IssueDetails has no data".into()))?.nodes;
        if nodes.len() != ids.len() {
            return Err(GithubError::Odd(format!(
                "{} issues were requested, {} were returned",
                ids.len(),
                nodes.len()
            )));
        }
        let mut found = Vec::new();
        for (id, node) in ids.iter().zip(nodes) {
            let issue = node.filter(|node| node["__typename"] == "Issue").map(|node| {
                let issue =
                    serde_json::from_value(node).map_err(|error| GithubError::Odd(format!("an issue: {error}")))?;
                self.whole(issue)
            });
            let issue = issue.transpose()?;
            found.push((id.clone(), issue));
        }
        Ok(found)
    }

    /// The issue with all of its comments.
    fn whole(&self, issue: DetailedIssue) -> Result<RemoteIssue, GithubError> {
        let mut after = issue.comments.page_info.as_ref().and_then(|page| page.next()).map(str::to_owned);
        let id = issue.id.clone();
        let mut issue = RemoteIssue::of(issue, self.server_now());
        while let Some(cursor) = after {
            let variables = json!({ "id": id, "after": cursor });
            let more: OfNode<CommentPages> = self.ask(documents::COMMENTS, "IssueComments", variables, Effect::Read)?;
            let page = more.node.and_then(Maybe::it).ok_or_else(|| gone("an issue"))?.comments;
            after = page.page_info.as_ref().and_then(|page| page.next()).map(str::to_owned);
            issue.comments.extend(page.into_vec().into_iter().map(RemoteComment::of));
        }
        Ok(issue)
    }

    /// Which of these issues have changed since they were read.
    pub fn changed_since(&self, known: &Knowledge, ids: &BTreeSet<Node>) -> Result<BTreeSet<Node>, GithubError> {
        let mut changed = BTreeSet::new();
        for chunk in ids.iter().collect::<Vec<_>>().chunks(100) {
            let answer =
                self.ask_partly::<Heads>(documents::HEADS, "IssueHeads", json!({ "ids": chunk }), Effect::Read)?;
            let heads: Vec<IssueHead> =
                answer.data.into_iter().flat_map(|data| data.nodes).flatten().filter_map(Maybe::it).collect();
            let same = |id: &Node| {
                let head = heads.iter().find(|head| head.id == *id);
                head.is_some_and(|head| known.issues.get(id).is_some_and(|issue| issue.is_of(&head.updated_at)))
            };
            changed.extend(chunk.iter().filter(|id| !same(id)).map(|id| (*id).clone()));
        }
        Ok(changed)
    }

    /// Issues that the token's owner created since then, by GitHub's clock. They are listed, because search results lag behind.
    pub fn created_since(
        &self,
        slug: &Slug,
        me: &str,
        since: Timestamp,
    ) -> Result<Vec<(Node, u64, String)>, GithubError> {
        let mut found = Vec::new();
        let mut after = None::<String>;
        loop {
            let variables = json!({ "owner": slug.owner, "name": slug.name, "me": me, "after": after });
            let page: Recent = self.ask(documents::RECENT, "RecentCreated", variables, Effect::Read)?;
            let issues = page.repository.ok_or_else(|| gone("the repository"))?.issues;
            after = issues.page_info.as_ref().and_then(|page| page.next()).map(str::to_owned);
            let old = |issue: &RecentIssue| issue.created_at.parse::<Timestamp>().is_ok_and(|at| at < since);
            let ends = issues.iter().any(old);
            found.extend(
                issues
                    .into_vec()
                    .into_iter()
                    .filter(|issue| !old(issue))
                    .map(|issue| (issue.id, issue.number, issue.body)),
            );
            if ends || after.is_none() {
                return Ok(found);
            }
        }
    }
}

impl RemoteIssue {
    /// The labels as a value of a task; none if there are none.
    pub(super) fn label_values(&self) -> Option<Value> {
        let mut labels = self.labels.clone();
        labels.sort();
        (!labels.is_empty()).then(|| Value::texts(labels))
    }
}

/// The values of an issue and its row, as fields of a task. `link` determines the state of a closed issue.
pub fn remote_values(item: &Item, issue: &RemoteIssue, names: &Names, link: Option<&Link>, flow: &Workflow) -> Values {
    let base = link.and_then(|link| link.base.as_ref());
    let mut values = Values::new();
    values.insert(Field::Title, Value::Text(title_of(&issue.title)));
    let text = read_issue_body(&issue.body).0;
    if !text.is_empty() {
        values.insert(Field::Description, Value::Text(text));
    }
    let agreed = base.and_then(|base| base.get(&Field::State));
    let is_it = |state: &&State| Some(&fingerprint(Field::State, &Value::text(&state.name))) == agreed;
    let before = flow.states().iter().find(is_it).map(|state| state.name.clone());
    // An open item without an option has no state.
    let says = before.is_some() || item.closed || item.state.is_some();
    values.extend(says.then(|| {
        (
            Field::State,
            Value::text(read_state(flow, item.seen(), before.as_ref(), link.and_then(|link| link.shown.as_ref()))),
        )
    }));
    let priority = item.priority.as_deref().and_then(|name| name.parse::<Priority>().ok()).map(Value::text);
    let estimate = item.estimate.as_deref().and_then(|name| name.parse::<Estimate>().ok()).map(Value::text);
    let mut blockers: Vec<&TaskId> = issue.blocked_by.iter().filter_map(|node| names.task(node)).collect();
    blockers.sort();
    let parent = issue.parent.as_ref().and_then(|node| names.task(node)).map(Value::text);
    values.extend(priority.map(|value| (Field::Priority, value)));
    values.extend(estimate.map(|value| (Field::Estimate, value)));
    values.extend(issue.label_values().map(|value| (Field::Labels, value)));
    values.extend(parent.map(|value| (Field::Parent, value)));
    values.extend((!blockers.is_empty()).then(|| (Field::BlockedBy, Value::texts(blockers))));
    values.extend(item.archived.then_some((Field::Archived, Value::Bool(true))));
    values
}

fn gone(what: &str) -> GithubError {
    GithubError::NotFound(format!("{what} does not exist, or this token has no access to it"))
}

#[derive(Deserialize)]
struct TypesOf {
    issue: Option<TypeOf>,
    create: Option<TypeOf>,
    project: Option<TypeOf>,
    option: Option<TypeOf>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TypeOf {
    fields: Option<Vec<ScanPart>>,
    input_fields: Option<Vec<ScanPart>>,
}

#[derive(Deserialize)]
struct ScanPart {
    name: String,
    args: Option<Vec<ScanPart>>,
}

fn has(parts: Option<&Vec<ScanPart>>, name: &str) -> bool {
    parts.is_some_and(|parts| parts.iter().any(|part| part.name == name))
}

//! The filter of a list of issues, and the tasks that match it.

use std::collections::BTreeSet;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

use super::keeps::Keeps;
use crate::app::{self, Code, Failure, ListAsk, TaskView};
use crate::mcp::caller::Call;
use crate::mcp::tools::value::Many;
use crate::task::TaskId;

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct IssueFilter {
    /// analyst-triage, analyst-research, builder-planned, builder-active, review-queue, validator-review, integrator-merge: issues
    /// without sub-issues
    profile: Option<String>,
    workflow_state: Many,
    estimate: Many,
    priority: Many,
    label: Many,
    /// Words in title, body, labels and comments
    query: Option<String>,
    /// OPEN (default) or CLOSED
    #[schemars(with = "Option<String>")]
    pub state: IssueStanding,
    /// completed, not_planned or reopened
    pub reason: Option<String>,
    /// workflowState, estimate, priority, labels, assignees
    pub has: Many,
    pub no: Many,
    pub exclude_workflow_states: Many,
    pub exclude_estimates: Many,
    pub exclude_priorities: Many,
    pub exclude_labels: Many,
    /// ISO, or such as @today-7d
    pub updated_since: Option<String>,
    pub updated_before: Option<String>,
    /// createdAt: oldest first; UPDATED_AT: newest first; priority. Default: newest first
    order_by: Option<String>,
    /// 50 by default
    limit: Option<Count>,
    #[schemars(skip)]
    iteration: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum IssueStanding {
    /// Not set: open issues, and those in a requested workflow state.
    #[default]
    #[serde(skip)]
    Usual,
    #[serde(alias = "open")]
    Open,
    #[serde(alias = "closed")]
    Closed,
    #[serde(alias = "all")]
    All,
}

const LIMIT: usize = 50;

/// The state of each profile.
pub const PROFILES: [(&str, &str); 7] = [
    ("analyst-triage", "Backlog"),
    ("analyst-research", "Research Needed"),
    ("builder-planned", "Ready for Plan"),
    ("builder-active", "In Progress"),
    ("review-queue", "Plan in Review"),
    ("validator-review", "Plan in Review"),
    ("integrator-merge", "In Review"),
];

/// The matching tasks, and their number before the limit.
pub struct Found {
    pub tasks: Vec<TaskView>,
    pub total: usize,
}

impl IssueFilter {
    pub fn run(&self, call: &Call<'_>) -> Result<Found, Failure> {
        let ws = call.ws;
        let asked = ListAsk {
            state: self.states()?,
            label: self.label.0.clone(),
            priority: self.priority.0.clone(),
            estimate: self.estimate.0.clone(),
            all: self.state != IssueStanding::Usual || self.reason.is_some(),
            sort: self.order()?,
            ..ListAsk::default()
        };
        let keeps = Keeps::read(self, ws)?;
        let words = self.query.as_deref().filter(|text| !text.trim().is_empty());
        let hits = words.map(|text| app::search(ws, text, true, usize::MAX)).transpose()?;
        let hits: Option<BTreeSet<TaskId>> = hits.map(|hits| hits.into_iter().map(|hit| hit.task.id).collect());
        let mut tasks = app::list(ws, &asked.query(ws)?)?.tasks;
        tasks.retain(|task| keeps.admits(task) && hits.as_ref().is_none_or(|hits| hits.contains(&task.id)));
        // A parent moves with its sub-issues, so it is no work for a role.
        tasks.retain(|task| self.profile().is_none() || task.children.is_empty());
        // This board has no iterations.
        tasks.retain(|_| self.iteration.is_none());
        let total = tasks.len();
        tasks.truncate(self.limit.map_or(LIMIT, |limit| limit.0));
        Ok(Found { tasks, total })
    }

    fn profile(&self) -> Option<&str> {
        self.profile.as_deref().map(str::trim).filter(|name| !name.is_empty())
    }

    /// The requested states. A named state has priority over that of the profile.
    fn states(&self) -> Result<Vec<String>, Failure> {
        let Some(name) = self.profile() else { return Ok(self.workflow_state.0.clone()) };
        let found = PROFILES.iter().find(|(profile, _)| profile.eq_ignore_ascii_case(name));
        let (_, state) = found.ok_or_else(|| {
            let all = PROFILES.map(|(name, _)| name).join(", ");
            Failure::usage(Code::UnknownProfile, format!("{name:?} is not a profile: use {all}"))
        })?;
        Ok(if self.workflow_state.0.is_empty() { vec![(*state).to_owned()] } else { self.workflow_state.0.clone() })
    }

    fn order(&self) -> Result<Vec<String>, Failure> {
        let Some(typed) = self.order_by.as_deref() else { return Ok(vec!["-created".to_owned()]) };
        let key = match typed.replace('_', "").to_ascii_lowercase().as_str() {
            // The skills take the first of them as the oldest.
            "createdat" | "created" => "created",
            "updatedat" | "updated" => "-updated",
            "priority" => "priority",
            _ => {
                let message = format!("cannot order by {typed:?}: use CREATED_AT, UPDATED_AT or priority");
                return Err(Failure::usage(Code::UnknownSort, message));
            }
        };
        Ok(vec![key.to_owned()])
    }
}

/// A number, which may be given as a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count(pub usize);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let number = value.as_u64().or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()));
        let count = number.and_then(|number| usize::try_from(number).ok()).map(Self);
        count.ok_or_else(|| serde::de::Error::custom(format!("{value} is not a count")))
    }
}

impl JsonSchema for Count {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Count".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer" })
    }
}

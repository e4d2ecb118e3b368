//! The conditions of a filter that the list of the board does not support.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::dates;
use super::filter::{IssueFilter, IssueStanding};
use super::shape::{kind_of, reason_of, state_of};
use crate::app::{self, Code, Failure, LogQuery, TaskView, Workspace};
use crate::mcp::tools::value::Many;
use crate::task::{Kind, StateName, TaskId, Value};

const REOPENED: &str = "REOPENED";

/// Tasks that were finished before, according to the journal.
fn reopened(ws: &Workspace) -> Result<BTreeSet<TaskId>, Failure> {
    let over = |value: &Option<Value>| {
        let state = value.as_ref().map(|value| StateName::new(value.to_string()));
        state.is_some_and(|state| ws.flow().is_terminal(Kind::Issue, &state))
    };
    let lines = app::log(ws, &LogQuery::default())?;
    let changes = lines.into_iter().flat_map(|line| line.fields);
    let back = changes.filter(|change| change.key.as_str() == "state" && over(&change.old) && !over(&change.new));
    Ok(back.map(|change| change.task).collect())
}

/// A filter with its dates and names parsed.
pub struct Keeps<'a> {
    filter: &'a IssueFilter,
    ws: &'a Workspace,
    reason: Option<String>,
    reopened: Option<BTreeSet<TaskId>>,
    has: Vec<Presence>,
    no: Vec<Presence>,
    left_out: Vec<StateName>,
    since: Option<Timestamp>,
    before: Option<Timestamp>,
}

impl<'a> Keeps<'a> {
    pub fn read(filter: &'a IssueFilter, ws: &'a Workspace) -> Result<Self, Failure> {
        let date = |text: &Option<String>| text.as_deref().map(|text| dates::parse(text, ws.now())).transpose();
        let fields = |names: &Many| names.0.iter().map(|name| Presence::parse(name)).collect::<Result<_, _>>();
        let mut left_out = Vec::new();
        for typed in &filter.exclude_workflow_states.0 {
            left_out.push(ws.flow().find_state(Kind::Issue, typed)?.name.clone());
        }
        let reason = filter.reason.as_deref().map(|text| text.trim().to_ascii_uppercase());
        if let Some(reason) = &reason
            && !["COMPLETED", "NOT_PLANNED", REOPENED].contains(&reason.as_str())
        {
            let message = format!("{reason:?} is not a reason: use completed, not_planned or reopened");
            return Err(Failure::usage(Code::BadValue, message));
        }
        Ok(Self {
            filter,
            ws,
            reopened: (reason.as_deref() == Some(REOPENED)).then(|| reopened(ws)).transpose()?,
            reason,
            has: fields(&filter.has)?,
            no: fields(&filter.no)?,
            left_out,
            since: date(&filter.updated_since)?,
            before: date(&filter.updated_before)?,
        })
    }

    pub fn admits(&self, task: &TaskView) -> bool {
        self.stands(task)
            && self.has.iter().all(|field| field.is_on(task))
            && !self.no.iter().any(|field| field.is_on(task))
            && !self.excluded(task)
            && self.since.is_none_or(|since| task.updated.is_some_and(|at| at >= since))
            && self.before.is_none_or(|before| task.updated.is_some_and(|at| at < before))
    }

    fn stands(&self, task: &TaskView) -> bool {
        let standing = match self.filter.state {
            IssueStanding::Open => state_of(self.ws, task) == "OPEN",
            IssueStanding::Closed => state_of(self.ws, task) == "CLOSED",
            IssueStanding::Usual | IssueStanding::All => true,
        };
        let for_reason = match (&self.reason, &self.reopened) {
            (_, Some(reopened)) => state_of(self.ws, task) == "OPEN" && reopened.contains(&task.id),
            (Some(reason), None) => reason_of(self.ws, task) == Some(reason.as_str()),
            (None, None) => true,
        };
        standing && for_reason && kind_of(task) != Kind::Step
    }

    fn excluded(&self, task: &TaskView) -> bool {
        let named = |names: &Many, value: Option<&str>| {
            value.is_some_and(|value| names.0.iter().any(|name| name.eq_ignore_ascii_case(value)))
        };
        self.left_out.contains(&task.state)
            || named(&self.filter.exclude_estimates, task.estimate)
            || named(&self.filter.exclude_priorities, task.priority)
            || task.labels.iter().any(|label| named(&self.filter.exclude_labels, Some(label)))
    }
}

/// A field that a task may have or not.
#[derive(Clone, Copy)]
enum Presence {
    WorkflowState,
    Estimate,
    Priority,
    Labels,
    Assignees,
}

impl Presence {
    fn parse(name: &str) -> Result<Self, Failure> {
        match name.to_ascii_lowercase().as_str() {
            "workflowstate" => Ok(Self::WorkflowState),
            "estimate" => Ok(Self::Estimate),
            "priority" => Ok(Self::Priority),
            "labels" => Ok(Self::Labels),
            "assignees" => Ok(Self::Assignees),
            _ => {
                let all = "workflowState, estimate, priority, labels, assignees";
                Err(Failure::usage(Code::UnknownField, format!("{name:?} is not a field: use {all}")))
            }
        }
    }

    fn is_on(self, task: &TaskView) -> bool {
        match self {
            Self::WorkflowState => true,
            Self::Estimate => task.estimate.is_some(),
            Self::Priority => task.priority.is_some(),
            Self::Labels => !task.labels.is_empty(),
            Self::Assignees => task.owner.is_some(),
        }
    }
}

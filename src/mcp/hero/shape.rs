//! Issues as ralph-hero's tools show them.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::app::{self, Board, Failure, GithubView, TaskView, Workspace};
use crate::mcp::reply;
use crate::mcp::resources::task_uri;
use crate::task::{Kind, StateName, TaskId};

/// The number of the task's issue, or its id if it has none. Always a string, so that the type does not change when a task is
/// mirrored.
pub fn number(id: &TaskId, issue: Option<u64>) -> Value {
    issue.map_or_else(|| json!(id), |number| json!(number.to_string()))
}

pub fn number_of(task: &TaskView) -> Value {
    number(&task.id, task.github.as_ref().map(|issue| issue.number))
}

pub fn url_of(task: &TaskView) -> String {
    let url = task.github.as_ref().and_then(|GithubView { url, .. }| url.clone());
    url.unwrap_or_else(|| task_uri(&task.id))
}

/// A time in whole seconds, in GitHub's format.
pub fn stamp(at: Option<Timestamp>) -> Option<String> {
    at.map(reply::stamp)
}

pub fn is_closed(ws: &Workspace, kind: Kind, state: &StateName) -> bool {
    ws.flow().is_terminal(kind, state)
}

fn open_or_closed(closed: bool) -> &'static str {
    if closed { "CLOSED" } else { "OPEN" }
}

pub fn kind_of(task: &TaskView) -> Kind {
    task.kind.parse().unwrap_or(Kind::Issue)
}

pub fn state_of(ws: &Workspace, task: &TaskView) -> &'static str {
    open_or_closed(is_closed(ws, kind_of(task), &task.state))
}

/// The reason for which it is closed.
pub fn reason_of(ws: &Workspace, task: &TaskView) -> Option<&'static str> {
    let canceled = ws.flow().canceling().is_some_and(|state| *state == task.state);
    match (state_of(ws, task), canceled) {
        ("OPEN", _) => None,
        (_, true) => Some("NOT_PLANNED"),
        _ => Some("COMPLETED"),
    }
}

/// A task as an entry of a list.
pub fn item(ws: &Workspace, task: &TaskView) -> Value {
    json!({
        "number": number_of(task),
        "id": task.id,
        "title": task.title,
        "state": state_of(ws, task),
        "stateReason": reason_of(ws, task),
        "url": url_of(task),
        "updatedAt": stamp(task.updated),
        "workflowState": task.state,
        "estimate": task.estimate,
        "priority": task.priority,
        "iteration": null,
        "labels": task.labels,
        "assignees": task.owner.iter().collect::<Vec<_>>(),
    })
}

/// A task and its related tasks, to look up tasks that are referred to by id.
pub struct Around<'a> {
    ws: &'a Workspace,
    board: Board,
}

impl<'a> Around<'a> {
    pub fn of(ws: &'a Workspace, id: &TaskId) -> Result<Self, Failure> {
        Ok(Self { ws, board: ws.family(id)? })
    }

    /// All tasks, for those that need not be related.
    pub fn all(ws: &'a Workspace) -> Result<Self, Failure> {
        Ok(Self { ws, board: ws.board()? })
    }

    /// The number of the issue that mirrors a task on the board.
    pub fn issue(&self, id: &TaskId) -> Option<u64> {
        self.board.get(id).and_then(|task| task.github.as_ref()).map(|issue| issue.number)
    }

    pub fn number(&self, id: &TaskId) -> Value {
        self.archived(id).map_or_else(|| number(id, self.issue(id)), |task| number_of(&task))
    }

    /// A task that is not among these, if it is archived.
    fn archived(&self, id: &TaskId) -> Option<TaskView> {
        let absent = self.board.get(id).is_none();
        absent.then(|| app::show_without_moves(self.ws, id).ok()).flatten().map(|shown| shown.task)
    }

    pub fn state(&self, id: &TaskId) -> Option<&StateName> {
        self.board.get(id).map(|task| &task.state).or_else(|| self.board.archived(id))
    }

    /// A task as `{id, number, title}`.
    pub fn named(&self, id: &TaskId) -> Value {
        let title = |task: TaskView| task.title;
        let title = self.board.get(id).map(|task| task.title.clone()).or_else(|| self.archived(id).map(title));
        json!({ "id": id, "number": self.number(id), "title": title })
    }

    /// The same with its states.
    pub fn linked(&self, id: &TaskId) -> Value {
        let mut named = self.named(id);
        let kind = self.board.get(id).map_or(Kind::Issue, |task| task.kind);
        let state = self.state(id);
        named["state"] = json!(state.map(|state| open_or_closed(is_closed(self.ws, kind, state))));
        named["workflowState"] = json!(state);
        named
    }

    pub fn all_linked(&self, ids: &[TaskId]) -> Vec<Value> {
        ids.iter().map(|id| self.linked(id)).collect()
    }

    pub fn estimate(&self, id: &TaskId) -> Option<&'static str> {
        self.board.get(id).and_then(|task| task.estimate).map(|estimate| estimate.as_str())
    }

    pub fn children(&self, id: &TaskId) -> usize {
        self.board.tasks().iter().filter(|task| task.parent.as_ref() == Some(id)).count()
    }
}

/// How many of these states are closed.
pub fn summary<'a>(states: impl Iterator<Item = &'a Value>) -> Value {
    let (mut total, mut completed) = (0, 0);
    for state in states {
        total += 1;
        completed += usize::from(state == "CLOSED");
    }
    let percent = (completed * 100 + total / 2).checked_div(total).unwrap_or(0);
    json!({ "total": total, "completed": completed, "percentCompleted": percent })
}
